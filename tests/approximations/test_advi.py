"""Variational inference against closed forms and a long run; its messages."""

import numpy as np
import optax
import pytest
from tests.approximations.models import (
    COVARIANCE,
    MEAN,
    check_moments,
    correlated,
    evidence,
    funnel,
    logistic,
)
from tests.optimizers.models import compound

import kinetograph as kg


def test_a_normal_mean_is_exact():
    model, mean, deviation, log_z = evidence()
    tree = kg.advi(model, draws=2000, seed=1)
    for name in ("elbo", "log_marginal_likelihood"):
        np.testing.assert_allclose(tree.attrs[name], log_z, atol=1e-4)
    assert tree.attrs["pareto_k"] < 0.3
    assert tree.attrs["converged"] == 1
    draws = tree["posterior/mu"].values[0, :, None]
    check_moments(draws, np.array([mean]), np.array([[deviation**2]]))
    np.testing.assert_array_equal(tree["unconstrained_posterior/q"].values[0], draws)
    assert tree["history/elbo"].size * 200 == tree.attrs["iterations"]
    np.testing.assert_allclose(tree["history/elbo"][-1], log_z, atol=0.01)
    assert (np.diff(tree["history/rate"]) <= 0).all()


def test_a_free_covariance_recovers_a_correlated_normal():
    tree = kg.advi(correlated(), draws=4000, rank=3, seed=1)
    np.testing.assert_allclose(tree.attrs["elbo"], 0.0, atol=0.01)
    assert tree.attrs["pareto_k"] < 0.5
    draws = tree["posterior/x"].values[0]
    check_moments(draws, MEAN, COVARIANCE)
    lp = tree["sample_stats/lp"].values[0]
    np.testing.assert_allclose(lp, correlated().log_prob(draws), rtol=1e-10)


def test_mean_field_is_mended_by_weights():
    """The divergence of mean field is log(prod P_ii / |P|) / 2."""
    tree = kg.advi(correlated(), draws=4000, seed=1)
    precision = np.linalg.inv(COVARIANCE)
    divergence = 0.5 * (np.log(np.diag(precision)).sum() - np.linalg.slogdet(precision)[1])
    # The standard deviation of log p - log q is below 2; the parameters are not exactly optimal.
    assert abs(tree.attrs["elbo"] + divergence) < 6 * 2 / np.sqrt(tree.attrs["pool"] / 8) + 0.02
    check_moments(tree["posterior/x"].values[0], MEAN, COVARIANCE)
    assert abs(tree.attrs["log_marginal_likelihood"]) < 6 * 0.01
    more = kg.advi(correlated(), rank=1, seed=1)
    assert more.attrs["elbo"] > tree.attrs["elbo"] + 0.5


def test_numbers_of_very_different_scales():
    centre, scale = np.array([100.0, -3.0, 0.001]), np.array([30.0, 1.0, 0.001])
    x = kg.normal(centre, scale, name="x")
    tree = kg.advi(kg.model(x), draws=2000, seed=1)
    np.testing.assert_allclose(tree.attrs["elbo"], 0.0, atol=0.01)
    check_moments(tree["posterior/x"].values[0], centre, np.diag(scale**2))


@pytest.mark.filterwarnings("error::kinetograph.ApproximationWarning")
def test_a_logistic_regression_against_nuts():
    tree = kg.advi(logistic(), draws=4000, rank=2, seed=1)
    assert 0 < tree.attrs["log_marginal_likelihood"] - tree.attrs["elbo"] < 0.05
    draws = tree["posterior/slope"].values[0]
    long = kg.mcmc(logistic(), draws=5000, seed=1, progress=False)["posterior/slope"].values
    # NUTS gives about 20,000 effective draws; the pool more than 4000.
    bound = 6 * np.sqrt(2 / 4000 + 1 / 10_000)
    sd = long.std((0, 1))
    np.testing.assert_allclose((draws.mean(0) - long.mean((0, 1))) / sd, 0.0, atol=bound)
    np.testing.assert_allclose(draws.std(0) / sd, 1.0, atol=bound)


def test_a_funnel_is_not_to_be_believed():
    text = r"advi: .* give a rank=, reparametrise"
    with pytest.warns(kg.ApproximationWarning, match=text):
        kg.advi(funnel(), seed=1)


def test_seeds():
    one, again, two = (kg.advi(evidence()[0], draws=50, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one["posterior/mu"], again["posterior/mu"])
    np.testing.assert_array_equal(one["history/elbo"], again["history/elbo"])
    assert not np.any(one["posterior/mu"].values == two["posterior/mu"].values)


@pytest.mark.parametrize("optimizer", ["rmsprop", kg.optimizers.adam(0.05), optax.adam(0.1)])
def test_optimisers(optimizer):
    model, _, _, log_z = evidence()
    tree = kg.advi(model, optimizer=optimizer, seed=1)
    np.testing.assert_allclose(tree.attrs["elbo"], log_z, atol=0.02)


@pytest.mark.filterwarnings("error::kinetograph.ApproximationWarning")
def test_loops_that_need_room():
    """The log of a sum that grows in a loop.

    With a flat prior and an error of 0.5, Z is 1.
    """
    tree = kg.advi(compound(1.0), seed=1)
    np.testing.assert_allclose(tree.attrs["log_marginal_likelihood"], 0.005, atol=1e-4)


def test_it_tells_that_it_has_not_converged():
    text = "advi: not converged in max_iterations = 10: the ELBO gained"
    with pytest.warns(kg.ApproximationWarning, match=text):
        tree = kg.advi(evidence()[0], max_iterations=10, seed=1)
    assert (tree.attrs["converged"], tree.attrs["iterations"]) == (0, 200)


def test_a_start_at_the_mode():
    """A path from the mode makes no step."""
    tree = kg.advi(correlated(), initial=MEAN, rank=3, seed=1)
    np.testing.assert_allclose(tree.attrs["elbo"], 0.0, atol=0.01)


def test_chains_start_from_it():
    tree = kg.advi(correlated(), draws=100, rank=3, seed=1)
    chain = kg.chain(correlated(), initial=tree, seed=1)
    np.testing.assert_array_equal(chain.state.position.q, tree["unconstrained_posterior/q"][0, 0])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"draws": 0}, ValueError, "advi: draws must be a whole number of at least 1, got 0"),
        ({"rank": -1}, ValueError, "advi: rank must be a whole number of at least 0"),
        ({"rank": 4}, ValueError, "advi: rank must be at most 3, the size of the free state"),
        ({"elbo_draws": 0}, ValueError, "advi: elbo_draws must be"),
        ({"tolerance": np.nan}, ValueError, "advi: tolerance must be"),
        ({"max_iterations": 0}, ValueError, "advi: max_iterations must be"),
        ({"seed": "a"}, ValueError, "advi: seed must be"),
        ({"optimizer": "lbfgs"}, ValueError, "advi: lbfgs uses line searches"),
        ({"optimizer": "adamm"}, ValueError, "advi: .* did you mean 'adam'"),
    ],
)
def test_arguments(options, error, text):
    with pytest.raises(error, match=text):
        kg.advi(correlated(), **options)


def test_densities_that_are_not_finite():
    with pytest.raises(TypeError, match=r"advi: the first argument is the array .*, not a"):
        kg.advi(kg.normal(0, 1))
    x = kg.variable(shape=200, name="x")
    # Finite only near 0: no path leads there, and all draws miss it.
    edge = kg.model(x, factors=[kg.sum(kg.log(1e-3 - kg.abs(x)))])
    with pytest.raises(
        kg.ModelError, match=r"advi: the log density or gradient is not finite at dr"
    ):
        kg.advi(edge, initial=np.full(200, 1e-5), seed=1)
