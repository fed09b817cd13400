"""kg.simulate: draws from the prior and the prior predictive distribution."""

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.models.ancestral import rows

LEVEL = 1e-6

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def hierarchy(more=False):
    mu = kg.normal(1, 2, name="mu")
    tau = kg.half_normal(3, name="tau")
    if more:
        other = kg.gamma(2, 1, name="other")
        tau = tau + 0 * other
    theta = kg.normal(mu, tau, shape=3, name="theta", dims="school")
    y = kg.observe(np.zeros(3), kg.normal(theta, [1.0, 2.0, 3.0]), name="y")
    return kg.model(mu, theta, total=theta.sum(), coords={"school": ["a", "b", "c"]}), y


def test_groups_dims_and_labels():
    model, _ = hierarchy()
    tree = kg.simulate(model, 7, seed=1)
    assert set(tree.children) == {"prior", "prior_predictive", "observed_data", "constant_data"} - {
        "constant_data"
    }
    prior = tree["prior"]
    assert {n: v.shape for n, v in prior.data_vars.items()} == {
        "mu": (1, 7),
        "tau": (1, 7),
        "theta": (1, 7, 3),
        "total": (1, 7),
    }
    assert prior["theta"].dims == ("chain", "draw", "school")
    assert prior["school"].values.tolist() == ["a", "b", "c"]
    assert tree["prior_predictive"]["y"].shape == (1, 7, 3)
    np.testing.assert_allclose(prior["total"], prior["theta"].sum("school"))
    assert tree.attrs["seed"] == "1"


def test_every_draw_goes_through_the_graph():
    """Each unknown is drawn given its parents in the same draw."""
    model, _ = hierarchy()
    tree = kg.simulate(model, 20_000, seed=2)
    mu, tau, theta = (tree["prior"][name].values[0] for name in ("mu", "tau", "theta"))
    y = tree["prior_predictive"]["y"].values[0]
    for z in (
        (mu - 1) / 2,
        *((theta - mu[:, None]) / tau[:, None]).T,
        *((y - theta) / [1.0, 2.0, 3.0]).T,
    ):
        assert stats.kstest(z, "norm").pvalue > LEVEL
    assert stats.kstest(tau, stats.halfnorm(scale=3).cdf).pvalue > LEVEL
    # It is independent of the parents in other draws.
    assert stats.kstest((theta[1:, 0] - mu[:-1]) / tau[:-1], "norm").pvalue < LEVEL
    # The marginal distribution is right, too: y_0 has the variance 4 + 9 + 1.
    assert abs(np.var(y[:, 0]) - 14) < 6 * np.std((y[:, 0] - 1) ** 2) / np.sqrt(len(y))


def test_a_number_depends_on_seed_name_and_place_alone():
    model, _ = hierarchy()
    some, many = (kg.simulate(model, n, seed=5) for n in (10, 1000))
    for group in ("prior", "prior_predictive"):
        for name, values in some[group].data_vars.items():
            np.testing.assert_allclose(values[0], many[group][name][0, :10], rtol=1e-13)
    richer = kg.simulate(hierarchy(more=True)[0], 10, seed=5)
    for name in ("mu", "theta"):
        np.testing.assert_allclose(richer["prior"][name], some["prior"][name], rtol=1e-12)
    other = kg.simulate(model, 10, seed=6)
    assert not np.any(other["prior"]["mu"].values == some["prior"]["mu"].values)
    names = ("mu", "tau")
    first, second = (some["prior"][name].values[0] for name in names)
    assert abs(np.corrcoef(first, second)[0, 1]) < 1


def test_parts_of_the_draws_are_those_at_once(monkeypatch):
    mu = kg.normal(0, 1, name="mu")
    at_once = kg.simulate(kg.model(mu), 20, seed=5)["prior"]["mu"].values
    parts, check = [], rows._check
    monkeypatch.setattr(rows, "NUMBERS", 7)
    monkeypatch.setattr(rows, "_check", lambda *found: parts.append(check(*found)))
    in_parts = kg.simulate(kg.model(mu), 20, seed=5)["prior"]["mu"].values
    assert len(parts) > 1
    np.testing.assert_allclose(in_parts, at_once, rtol=1e-13)
    assert len(np.unique(in_parts)) == 20


@pytest.mark.slow
def test_rows_are_computed_some_at_a_time(monkeypatch):

    model, _ = hierarchy()
    at_once = kg.simulate(model, 50, seed=5)
    monkeypatch.setattr(rows, "NUMBERS", 200)
    in_parts = kg.simulate(model, 50, seed=5)
    for name, values in at_once["prior"].data_vars.items():
        np.testing.assert_allclose(in_parts["prior"][name], values, rtol=1e-13)
        assert in_parts["prior"][name].shape == values.shape


def test_a_second_call_compiles_nothing():

    model, _ = hierarchy()
    kg.simulate(model, 20, seed=1)
    before = rows._compiled.cache_info().misses
    kg.simulate(model, 20, seed=2)
    assert rows._compiled.cache_info().misses == before


@pytest.mark.slow
def test_counts_vectors_matrices_and_bounds():
    p = kg.dirichlet([1.0, 2.0, 3.0], name="p")
    r = kg.lkj_correlation(2.0, 3, name="r")
    low = kg.uniform(0, 1, name="low")
    high = kg.uniform(low, 2, name="high")
    k = kg.observe([0, 1, 2, 1], kg.categorical(p), name="k")
    n = kg.observe([3, 4], kg.poisson(log_rate=low), name="n")
    b = kg.observe([1, 0], kg.bernoulli(logit=high), name="b")
    v = kg.observe(np.zeros((2, 3)), kg.multivariate_normal([0.0, 0, 0], r), name="v")
    assert all(array.shape for array in (k, n, b, v))
    tree = kg.simulate(kg.model(p, r, low, high), 4000, seed=3)
    prior, seen = tree["prior"], tree["prior_predictive"]
    assert (prior["high"] > prior["low"]).all()
    np.testing.assert_allclose(prior["p"].sum("p_dim_0"), 1)
    error = np.sqrt(prior["p"].var(("chain", "draw")) / 4000)
    assert (abs(prior["p"].mean(("chain", "draw")) - np.array([1, 2, 3]) / 6) < 6 * error).all()
    assert set(np.unique(seen["k"])) == {0, 1, 2}
    assert seen["k"].dtype == np.int64
    assert set(np.unique(seen["b"])) == {0, 1}
    rate = np.exp(prior["low"].values)[..., None]
    z = (seen["n"] - rate) / np.sqrt(rate)
    assert abs(float(z.mean())) < 6 / np.sqrt(z.size)
    factor = np.linalg.cholesky(prior["r"].values)
    white = np.linalg.solve(factor[:, :, None], seen["v"].values[..., None])[..., 0]
    assert stats.kstest(white.ravel(), "norm").pvalue > LEVEL


def test_a_model_with_loops_and_factors():
    phi = kg.uniform(-1, 1, name="phi")
    e = kg.normal(0, 1, shape=20, name="e")
    _, path = kg.scan(lambda x, step: (phi * x + step,) * 2, 0.0, e)
    kg.factor(-0.5 * phi**2)
    kg.observe(np.zeros(20), kg.normal(path, 1), name="y")
    model = kg.model(phi, path=path)
    with pytest.warns(kg.KinetographWarning, match="simulate: the model has factors") as seen:
        tree = kg.simulate(model, 30, seed=1)
    assert seen[0].filename == __file__
    x, prior = 0.0, tree["prior"]
    for t in range(20):
        x = prior["phi"] * x + prior["e"][..., t]
        np.testing.assert_allclose(prior["path"][..., t], x, atol=1e-12)


def test_a_loop_that_reaches_its_bound_is_an_error():
    rate = kg.uniform(1.5, 3, name="rate")
    options = {"on_limit": "error", "name": "climb"}
    (y,) = kg.while_loop(lambda y: y < 8, lambda y: y * rate, [1.0], 6, **options)
    found = kg.calculate(y, rate, draws=20, seed=1)
    steps = np.ceil(np.log(8) / np.log(found["rate"]))
    np.testing.assert_allclose(found["y"], found["rate"] ** steps)
    (y,) = kg.while_loop(lambda y: y < 8, lambda y: y * rate, [1.0], 3, **options)
    with pytest.raises(kg.LoopError, match="climb"):
        kg.calculate(y, draws=20, seed=1)


def test_data_that_follow_two_distributions():
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    y = kg.data([1.0, 2.0], name="y")
    kg.observe(y, kg.normal(a, 1))
    kg.observe(y, kg.normal(b, 1))
    model = kg.model(a, b)
    results = kg.mcmc(model, seed=1, draws=20, warmup=100, progress=False)
    for ask in (
        kg.simulate,
        lambda m: kg.predict(m, results),
        lambda m: kg.log_likelihood(m, results),
    ):
        with pytest.raises(kg.ModelError, match=r": y .*is observed twice"):
            ask(model)


def test_single_precision():
    with kg.precision("float32"):
        x = kg.normal(0, 1, shape=4, name="x")
        y = kg.observe(np.zeros(4, "f4"), kg.normal(x, 1), name="y")
        tree = kg.simulate(kg.model(x), 5, seed=1)
    assert y.shape == (4,)
    assert tree["prior"]["x"].dtype == np.float32


def test_what_cannot_be_drawn():
    flat = kg.variable(name="flat")
    kg.observe([1.0], kg.normal(flat, 1), name="y")
    with pytest.raises(kg.ModelError, match=r"flat .*test_simulate.py.*without a distribution"):
        kg.simulate(kg.model(flat), 5)
    with pytest.raises(TypeError, match=r"simulate: .*, not a model .*; make one with kg.model"):
        kg.simulate(kg.normal(0, 1))
    model, _ = hierarchy()
    with pytest.raises(ValueError, match="draws"):
        kg.simulate(model, 0)
    with pytest.raises(ValueError, match="simulate: seed must be"):
        kg.simulate(model, 5, seed=-1)
    j = kg.poisson(100.0, name="j")
    table = kg.data([1.0, 2.0])
    with pytest.raises(kg.BoundsError, match=r"out of bounds for length 2"):
        kg.calculate(table[j], draws=3, seed=1)
