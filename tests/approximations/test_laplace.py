"""The Laplace approximation."""

import numpy as np
import pytest
from scipy import stats
from tests.approximations.models import funnel
from tests.optimizers.models import regression

import kinetograph as kg


def test_conjugate_normal_is_exact():
    y = np.array([1.2, 0.7, 1.9])
    mu = kg.normal(-1.0, 2.0, name="mu")
    double = 2.0 * mu
    likelihood = kg.observe(kg.data(y, name="y"), kg.normal(mu, 0.5))  # noqa: F841
    tree = kg.laplace_approximation(kg.model(mu, double=double), draws=4000, seed=3)
    covariance = 0.25 * np.eye(3) + 4.0
    evidence = stats.multivariate_normal.logpdf(y, np.full(3, -1.0), covariance)
    for name in ("log_marginal_likelihood_at_mode", "log_marginal_likelihood"):
        np.testing.assert_allclose(tree.attrs[name], evidence, rtol=1e-9)
    assert tree.attrs["log_marginal_likelihood_error"] < 1e-9
    assert tree.attrs["efficiency"] > 0.6  # most of the pool are draws of the approximation
    assert (tree.attrs["resampled"], tree.attrs["doubt"]) == (1, "")
    precision = 1 / 4.0 + 3 / 0.25
    exact = stats.norm((-1.0 / 4.0 + y.sum() / 0.25) / precision, precision**-0.5)
    draws = tree["posterior"]["mu"].values
    assert draws.shape == (1, 4000)
    assert stats.kstest(draws[0], exact.cdf).pvalue > 1e-6
    np.testing.assert_array_equal(tree["posterior"]["double"], 2.0 * draws)
    np.testing.assert_array_equal(tree["observed_data"]["y"], y)


@pytest.mark.slow
def test_correlations_and_seeds():
    model, design, _ = regression()
    one, two = (kg.laplace_approximation(model, draws=4000, seed=s) for s in (1, 2))
    draws = one["posterior"]["slope"].values[0]
    covariance = 0.49 * np.linalg.inv(design.T @ design)
    # Standardised by the exact covariance, the estimate is a Wishart matrix: sd sqrt(2 / 4000).
    white = np.linalg.solve(np.linalg.cholesky(covariance), (draws - draws.mean(0)).T)
    np.testing.assert_allclose(np.cov(white), np.eye(3), atol=6 * np.sqrt(2 / 4000))
    assert not np.any(draws == two["posterior"]["slope"].values[0])
    again = kg.laplace_approximation(model, draws=4000, seed=1)
    np.testing.assert_array_equal(again["posterior"]["slope"][0], draws)


def test_results_have_labels_and_a_summary():
    waits = kg.exponential(kg.data([1.0, 2.0], dims="lamp"), dims="lamp", name="waits")
    tree = kg.laplace_approximation(kg.model(waits, coords={"lamp": ["a", "b"]}), draws=100, seed=1)
    assert tree["posterior"]["waits"].dims == ("chain", "draw", "lamp")
    assert 0 < tree.attrs["efficiency"] < 1
    table = kg.summary(tree)
    assert np.isfinite(table["mean", "waits[b]"])


def test_a_funnel_is_not_to_be_believed():
    with pytest.warns(kg.ApproximationWarning, match=r"laplace_approximation: .* Sample with kg"):
        tree = kg.laplace_approximation(funnel(), draws=10, seed=1)
    assert tree["sample_stats/log_q"].shape == (1, 10)
    # The closed form is far off: at the mode the funnel is narrow.
    assert tree.attrs["log_marginal_likelihood_at_mode"] < -10


def test_what_is_no_maximum():
    x = kg.variable(name="x")
    model = kg.model(x, factors=[-((x * x - 1.0) ** 2)])
    with pytest.raises(kg.ModelError, match=r"not positive definite, its least eigenvalue is -4"):
        kg.laplace_approximation(model, initial=[0.0])
    with pytest.raises(ValueError, match="laplace_approximation: draws must be"):
        kg.laplace_approximation(model, draws=0)
    with pytest.raises(ValueError, match=r"laplace_approximation: unknown .optimizer. 'best'"):
        kg.laplace_approximation(model, optimizer="best")
