"""Pointwise log densities of observations and unknowns, and their use in ArviZ."""

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@pytest.fixture(scope="module")
def fitted():
    mu = kg.normal(0, 10, name="mu")
    tau = kg.half_cauchy(5, name="tau")
    theta = kg.normal(mu, tau, shape=8, name="theta", dims="school")
    sd = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    kg.observe(kg.data(y, name="y", dims="school"), kg.normal(theta, sd))
    k = kg.observe([3, 0], kg.poisson(kg.exp(0.1 * mu)), name="k")
    p = kg.observe(np.zeros((4, 2)), kg.multivariate_normal(mu * np.ones(2), np.eye(2)), name="p")
    assert k.shape
    assert p.shape
    model = kg.model(mu, tau, theta)
    sampler = kg.samplers.NUTS(target_acceptance=0.95)
    return model, kg.mcmc(model, sampler, seed=1, draws=300, progress=False), y, sd


def test_log_likelihood(fitted):
    model, results, y, sd = fitted
    group = kg.log_likelihood(model, results)["log_likelihood"]
    posterior = results["posterior"]
    want = stats.norm(posterior["theta"].values, sd).logpdf(y)
    np.testing.assert_allclose(group["y"], want, rtol=1e-10)
    assert group["y"].dims == ("chain", "draw", "school")
    rate = np.exp(0.1 * posterior["mu"].values)[..., None]
    np.testing.assert_allclose(group["k"], stats.poisson(rate).logpmf([3, 0]), rtol=1e-10)
    assert group["p"].shape == (4, 300, 4)  # one for each vector
    mean = posterior["mu"].values[..., None]
    want = -np.log(2 * np.pi) - np.broadcast_to(mean**2, (4, 300, 4))
    np.testing.assert_allclose(group["p"], want, rtol=1e-10)


def test_log_prior_and_the_whole(fitted):
    model, results, *_ = fitted
    tree = kg.log_prior(model, kg.log_likelihood(model, results))
    group, posterior = tree["log_prior"], results["posterior"]
    mu, tau, theta = (posterior[name].values for name in ("mu", "tau", "theta"))
    np.testing.assert_allclose(group["mu"], stats.norm(0, 10).logpdf(mu), rtol=1e-10)
    np.testing.assert_allclose(group["tau"], stats.halfcauchy(scale=5).logpdf(tau), rtol=1e-10)
    want = stats.norm(mu[..., None], tau[..., None]).logpdf(theta)
    np.testing.assert_allclose(group["theta"], want, rtol=1e-9, atol=1e-9)
    # Together they sum to the log density without the Jacobians of the free state.
    parts = [*group.data_vars.values(), *tree["log_likelihood"].data_vars.values()]
    total = sum(p.sum([d for d in p.dims if d not in ("chain", "draw")]) for p in parts)
    free = model.untransform(
        {name: posterior[name].values[0, 0] for name in ("mu", "tau", "theta")}
    )
    assert float(total[0, 0]) == pytest.approx(model.log_prob(free, adjusted=False), rel=1e-10)


def test_loops_and_indices_are_part_of_it():
    a = kg.normal(0, 1, shape=3, name="a")
    j = kg.data([0, 2, 2, 1])
    kg.observe(kg.data([0.5, 1.0, 2.0, 0.0], name="y"), kg.normal(a[j], 1))
    model = kg.model(a)
    results = kg.mcmc(model, seed=1, draws=50, warmup=200, progress=False)
    found = kg.log_likelihood(model, results)["log_likelihood"]["y"].values
    at = results["posterior"]["a"].values[..., [0, 2, 2, 1]]
    np.testing.assert_allclose(found, stats.norm(at, 1).logpdf([0.5, 1, 2, 0]), rtol=1e-10)


def test_arviz_takes_them(fitted):
    azs = pytest.importorskip("arviz_stats")
    model, results, *_ = fitted
    tree = kg.log_prior(model, kg.log_likelihood(model, results))
    loo = azs.loo(tree, var_name="y")
    assert np.isfinite(loo.elpd)
    # Importance sampling without smoothing, from the same numbers, is close.
    values = tree["log_likelihood"]["y"].values.reshape(-1, 8)
    plain = -np.log(np.exp(-values).mean(0)).sum()
    assert abs(loo.elpd - plain) < 1.0
    found = kg.predict(model, tree, seed=1)
    assert np.isfinite(azs.loo_pit(found, var_names="y")["y"]).all()
    assert azs.psense_summary(tree, var_names=["mu"]).shape[0] == 1


def test_mistakes(fitted):
    model, _results, *_ = fitted
    x = kg.normal(0, 1, name="x")
    alone = kg.model(x)
    draws = kg.mcmc(alone, seed=1, draws=20, warmup=100, progress=False)
    with pytest.raises(kg.ModelError, match="log_likelihood: the model observes nothing"):
        kg.log_likelihood(alone, draws)
    with pytest.raises(kg.ModelError, match="they hold x, and the model has mu, tau, theta"):
        kg.log_likelihood(model, draws)
    with pytest.raises(TypeError, match="expected results"):
        kg.log_prior(model, 3)


def test_a_flat_unknown_has_no_density_of_its_own():
    flat = kg.variable(name="flat")
    x = kg.normal(flat, 1, name="x")
    settings = {"seed": 1, "draws": 20, "warmup": 100, "progress": False}
    both = kg.model(flat, x, factors=-(flat**2))
    group = kg.log_prior(both, kg.mcmc(both, **settings))["log_prior"]
    assert list(group.data_vars) == ["x"]
    alone = kg.model(flat, factors=-(flat**2))
    with pytest.raises(kg.ModelError, match="log_prior: the model has no distributions"):
        kg.log_prior(alone, kg.mcmc(alone, **settings))


NAN = np.nan
ROWS = np.array(
    [[1.0, NAN, 0.5], [0.3, 0.1, -1.0], [NAN, NAN, 2.0], [NAN, NAN, NAN], [1.5, 0.2, NAN]]
)
COV = np.array([[2.0, 0.8, -0.3], [0.8, 1.5, 0.4], [-0.3, 0.4, 1.0]])


def of_part(family, shift, row):
    """The density of the observed part of a row, by SciPy."""
    seen = ~np.isnan(row)
    mean, cov = shift + np.array([0.5, -0.5, 1.0])[seen], COV[np.ix_(seen, seen)]
    if family == "student":
        return stats.multivariate_t(mean, cov, 5.0).logpdf(row[seen])
    return stats.multivariate_normal(mean, cov).logpdf(row[seen])


@pytest.mark.parametrize("family", ["cov", "precision", "student"])
def test_vectors_that_are_seen_in_part(family):
    rows = kg.data(ROWS, "rows", missing="impute")
    shift = kg.normal(0, 1, name="shift")
    mean = shift + np.array([0.5, -0.5, 1.0])
    if family == "student":
        kg.observe(rows, kg.multivariate_student(5.0, mean, COV))
    elif family == "precision":
        kg.observe(rows, kg.multivariate_normal(mean, precision=np.linalg.inv(COV)))
    else:
        kg.observe(rows, kg.multivariate_normal(mean, cov=COV))
    model = kg.model(shift, rows)
    results = kg.mcmc(model, seed=1, draws=20, warmup=100, progress=False)
    group = kg.log_likelihood(model, results)["log_likelihood"]
    assert set(group.data_vars) == {"rows_observed", "rows_seen_in_part"}
    at = results["posterior"]["shift"].values[1, 3]
    found = group["rows_seen_in_part"].values[1, 3]
    wanted = [of_part(family, at, ROWS[i]) for i in (0, 2, 4)]  # the fourth row is missing
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    whole = group["rows_observed"].values[1, 3]
    np.testing.assert_allclose(whole, [of_part(family, at, ROWS[1])], rtol=1e-9)
