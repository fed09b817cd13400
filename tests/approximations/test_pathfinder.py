"""Pathfinder: recovered posteriors, diagnostics of weights, starting points."""

import warnings

import numpy as np
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
from tests.optimizers.models import bimodal

import kinetograph as kg

STILL = kg.samplers.RandomWalk(step_size=1e-9)  # hardly leaves its starting point


def test_a_correlated_normal_is_recovered():
    tree = kg.pathfinder(correlated(), draws=4000, seed=2)
    draws = tree["posterior/x"].values[0]
    assert draws.shape == (4000, 3)
    assert tree.attrs["pareto_k"] < 0.5
    check_moments(draws, MEAN, COVARIANCE, 0.5)
    with pytest.raises(AssertionError):  # the check can fail: for a correlation of 0.85
        check_moments(draws, MEAN, COVARIANCE * [[1, 0.944, 1], [0.944, 1, 1], [1, 1, 1]])
    error = tree.attrs["log_marginal_likelihood_error"]
    assert abs(tree.attrs["log_marginal_likelihood"]) < 6 * error < 0.02
    assert len(np.unique(draws[:, 0])) > 3900
    lp = tree["sample_stats/lp"].values[0, 7]
    np.testing.assert_allclose(lp, correlated().log_prob(draws[7]), rtol=1e-12)


def test_a_normal_mean_is_exact():
    model, mean, deviation, log_z = evidence()
    tree = kg.pathfinder(model, draws=1000, paths=1, seed=1)
    for name in ("elbo", "log_marginal_likelihood"):
        np.testing.assert_allclose(tree.attrs[name], log_z, rtol=1e-6)
    draws = tree["posterior/mu"].values[0, :, None]
    check_moments(draws, np.array([mean]), np.array([[deviation**2]]))
    np.testing.assert_array_equal(tree["unconstrained_posterior/q"].values[0], draws)
    np.testing.assert_array_equal(tree["observed_data/y"], [1.2, 0.7, 1.9, 1.1])


def test_a_logistic_regression_against_nuts():
    tree = kg.pathfinder(logistic(), draws=4000, seed=1)
    assert tree.attrs["pareto_k"] < 0.7
    draws = tree["posterior/slope"].values[0]
    long = kg.mcmc(logistic(), draws=5000, seed=1, progress=False)["posterior/slope"].values
    sd = long.std((0, 1))
    # NUTS gives about 20,000 effective draws; the pool more than 4000.
    error = np.sqrt(2 / 4000 + 1 / 10_000)
    np.testing.assert_allclose(draws.mean(0), long.mean((0, 1)), atol=6 * error * sd.max())
    np.testing.assert_allclose(draws.std(0) / sd, 1.0, atol=6 * error)


def test_a_funnel_is_not_to_be_believed():
    with pytest.warns(kg.ApproximationWarning, match="pathfinder: .* or sample with kg.mcmc"):
        kg.pathfinder(funnel(), seed=1)


def test_two_modes_have_their_weights():
    tree = kg.pathfinder(bimodal(), draws=4000, paths=8, seed=1)
    x = np.linspace(-4, 4, 20_001)
    density = np.exp(bimodal().log_prob(x[:, None]))
    exact = density[x > 0].sum() / density.sum()
    part = (tree["posterior/x"].values > 0).mean()
    error = np.sqrt(2 * exact * (1 - exact) / 4000)
    assert abs(part - exact) < 6 * error
    log_z = np.log(density.sum() * (x[1] - x[0]))
    error = tree.attrs["log_marginal_likelihood_error"]
    assert abs(tree.attrs["log_marginal_likelihood"] - log_z) < 6 * error < 0.1
    assert len(np.unique(tree["sample_stats/path"])) > 1


def test_seeds_and_paths():
    one, again, two = (kg.pathfinder(correlated(), draws=100, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one["posterior/x"], again["posterior/x"])
    assert not np.any(one["posterior/x"].values == two["posterior/x"].values)
    assert one.attrs["seed"] == "1"
    fewer = kg.pathfinder(correlated(), draws=100, paths=6, seed=1)
    assert fewer["paths"].sizes["path"] == 6
    np.testing.assert_array_equal(fewer["paths/evaluations"], one["paths/evaluations"][:6])
    drawn = kg.pathfinder(correlated(), draws=10)
    same = kg.pathfinder(correlated(), draws=10, seed=int(drawn.attrs["seed"]))
    np.testing.assert_array_equal(drawn["posterior/x"], same["posterior/x"])


def test_a_path_is_better_than_its_mode():
    """Eight schools: the mode, at scale 0, is far from the mass."""
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_cauchy(5, name="tau")
    theta = kg.normal(mu, tau, shape=8, name="theta")
    effects = kg.data([28.0, 8, -3, 7, -1, 1, 18, 12])
    kg.observe(effects, kg.normal(theta, kg.data([15.0, 10, 16, 11, 9, 11, 10, 18])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.ApproximationWarning)
        tree = kg.pathfinder(kg.model(mu, tau, theta), draws=200, paths=4, seed=1)
    assert 0.5 < float(tree["posterior/tau"].median()) < 10
    assert np.isfinite(kg.summary(tree)["mean", "mu"])


def test_results_have_labels():
    waits = kg.exponential(kg.data([1.0, 2.0], dims="lamp"), dims="lamp", name="waits")
    tree = kg.pathfinder(kg.model(waits, coords={"lamp": ["a", "b"]}), draws=100, seed=1)
    assert tree["posterior/waits"].dims == ("chain", "draw", "lamp")
    assert tree["posterior/waits"].coords["lamp"].values.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"draws": 0}, ValueError, "pathfinder: draws must be a whole number of at least 1, got 0"),
        ({"paths": 1.5}, ValueError, "pathfinder: paths must be"),
        ({"memory": 0}, ValueError, "pathfinder: memory must be"),
        ({"elbo_draws": 0}, ValueError, "pathfinder: elbo_draws must be"),
        ({"tolerance": -1}, ValueError, "pathfinder: tolerance must be"),
        ({"seed": -1}, ValueError, "pathfinder: seed must be"),
        ({"initial": "here"}, ValueError, "pathfinder: initial must be"),
        ({"initial": [MEAN] * 10}, kg.ModelError, r"none of 10 paths has a .* starts at a mode"),
        ({"initial": [MEAN], "paths": 1}, kg.ModelError, "the path has no .* starts at a mode"),
    ],
)
def test_arguments(options, error, text):
    with pytest.raises(error, match=text):
        kg.pathfinder(correlated(), **options)


def test_densities_that_are_not_finite():
    with pytest.raises(TypeError, match=r"pathfinder: .* is the array .*, not a model"):
        kg.pathfinder(kg.normal(0, 1))
    x = kg.variable(name="x")
    nowhere = kg.model(x, factors=[kg.log(-kg.exp(x))])
    with pytest.raises(kg.StartError, match=r"pathfinder: 10 of 10 starts: no finite log density"):
        kg.pathfinder(nowhere)


def test_chains_start_from_it():
    tree = kg.pathfinder(correlated(), draws=100, seed=1)
    run = {"draws": 1, "warmup": 0, "sampler": STILL, "seed": 3, "progress": False}
    given = kg.mcmc(correlated(), initial=tree, **run)
    np.testing.assert_allclose(given["posterior/x"][:, 0], tree["posterior/x"][0, :4], atol=1e-6)
    laplace = kg.laplace_approximation(correlated(), draws=100, seed=1)
    chain = kg.chain(correlated(), initial=laplace, seed=1)
    np.testing.assert_array_equal(
        chain.state.position.q, laplace["unconstrained_posterior/q"][0, 0]
    )
    for tree, text in (
        (kg.pathfinder(evidence()[0], draws=10, seed=1), r"another model: .*{'mu': 1}.*{'x': 3}"),
        (kg.pathfinder(correlated(), draws=3, seed=1), "3 draws for 4 starts"),
    ):
        with pytest.raises(kg.ModelError, match=text):
            kg.mcmc(correlated(), initial=tree, **run)


def test_each_chain_has_a_pathfinder_of_its_own():
    model = correlated()
    chains = [kg.chain(model, initial="pathfinder", seed=1, index=i) for i in range(3)]
    states = np.array([chain.state.position.q for chain in chains])
    assert len(np.unique(states)) == states.size
    # Starting points follow the posterior: the squared distance is chi-squared with 3 degrees.
    apart = states - MEAN
    assert (np.sum(apart * np.linalg.solve(COVARIANCE, apart.T).T, 1) < 40).all()
    run = {"initial": "pathfinder", "draws": 1, "warmup": 0, "seed": 1, "progress": False}
    run["sampler"] = STILL
    two, three = (kg.mcmc(model, chains=n, **run)["posterior/x"].values for n in (2, 3))
    np.testing.assert_array_equal(two, three[:2])


def test_walkers_start_from_it():
    sampler = kg.samplers.Stretch(walkers=8)
    run = {"draws": 1, "warmup": 0, "chains": 2, "seed": 1, "progress": False}
    tree = kg.mcmc(correlated(), sampler, initial="pathfinder", **run)
    assert tree["posterior/x"].shape == (16, 1, 3)
    assert len(np.unique(tree["posterior/x"].values[:, 0, 0])) == 16
    draws = kg.pathfinder(correlated(), draws=16, seed=1)
    made = kg.mcmc(correlated(), sampler, initial=draws, **run)
    states = draws["unconstrained_posterior/q"].values[0].reshape(2, 8, 3)
    again = kg.mcmc(correlated(), sampler, initial=states, **run)
    np.testing.assert_array_equal(made["posterior/x"], again["posterior/x"])
