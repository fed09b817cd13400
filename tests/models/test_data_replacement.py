"""`model.set_data`: a model with other data is the model that would be written with these."""

import copy
import logging
import pickle

import jax
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg


def regression(x, y, error):
    """Compressed by groups and by known errors, and a plain term."""
    a, b, s = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b"), kg.half_normal(1, name="s")
    x, y, error = kg.data(x, "x"), kg.data(y, "y"), kg.data(error, "error")
    kg.observe(y, kg.normal(a + b * x, error))
    kg.observe(kg.data(np.round(np.abs(y.node.value)).astype(int), "n"), kg.poisson(s))
    return kg.model(a, b, s)


def drawn(seed, n=40):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=n), rng.uniform(0.5, 2, size=n)


def counts(y):
    return np.round(np.abs(y)).astype(int)


def set_all(model, x, y, error):
    model.set_data(x=x, y=y, error=error, n=counts(y))


AT = [0.3, -0.2, 0.5]


def test_the_model_is_the_one_written_with_the_new_data():
    model, other = regression(*drawn(0)), regression(*drawn(1))
    assert model.density.terms[-2].compressed or model.density.terms[-1].compressed
    set_all(model, *drawn(1))
    np.testing.assert_allclose(model.log_prob(AT), other.log_prob(AT), rtol=1e-13)
    np.testing.assert_allclose(model.gradient(AT), other.gradient(AT), rtol=1e-12)
    x, y, error = drawn(1)
    a, b, s = (float(v) for v in model.transform(AT).values())
    by_hand = (
        stats.norm.logpdf(y, a + b * x, error).sum() + stats.poisson.logpmf(counts(y), s).sum()
    )
    by_hand += stats.norm.logpdf([a, b]).sum() + stats.halfnorm.logpdf(s) + np.log(s)
    np.testing.assert_allclose(model.log_prob(AT), by_hand, rtol=1e-12)
    assert model.debug(AT).log_density == pytest.approx(by_hand)


def test_nothing_is_compiled_for_other_data(monkeypatch):
    monkeypatch.setenv("KINETOGRAPH_CACHE", "off")
    model = regression(*drawn(0))

    def use(seed):
        set_all(model, *drawn(seed))
        results = kg.mcmc(model, seed=1, chains=2, draws=20, warmup=20, progress=False)
        results = kg.predict(model, results, seed=1)
        results = kg.log_likelihood(model, results)
        slopes = model.gradient(AT), model.hessian(AT), kg.opt(model, hessian=True)
        return results, slopes, kg.simulate(model, 5, seed=1)

    seen = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(record.getMessage())
    logger = logging.getLogger("jax")
    with jax.log_compiles():
        logger.addHandler(handler)
        try:
            use(1)
            compiled = [text for text in seen if "Finished XLA compilation" in text]
            seen.clear()
            everything = [use(seed) for seed in range(2, 6)]
            again = [text for text in seen if "Finished XLA compilation" in text]
        finally:
            logger.removeHandler(handler)
    assert compiled
    assert again == []
    means = {float(results["posterior"]["a"].mean()) for results, *_ in everything}
    assert len(means) == 4
    results, (gradient, hessian, fit), prior = everything[-1]
    fresh = regression(*drawn(5))
    np.testing.assert_allclose(gradient, fresh.gradient(AT), rtol=1e-12)
    np.testing.assert_allclose(hessian, fresh.hessian(AT), rtol=1e-12, atol=1e-12)
    for name, value in kg.opt(fresh, hessian=True).standard_errors.items():
        np.testing.assert_allclose(fit.standard_errors[name], value, rtol=1e-4)
    wanted = kg.mcmc(fresh, seed=1, chains=2, draws=20, warmup=20, progress=False)
    wanted = kg.log_likelihood(fresh, kg.predict(fresh, wanted, seed=1))
    for group in ("posterior", "posterior_predictive", "log_likelihood", "observed_data"):
        for name, values in wanted[group].data_vars.items():
            np.testing.assert_allclose(results[group][name], values, rtol=1e-6, err_msg=name)
    x, _, error = drawn(5)
    np.testing.assert_array_equal(results["constant_data"]["x"], x)
    np.testing.assert_array_equal(prior["constant_data"]["error"], error)


def scale_of(y):
    """A normal likelihood with unknown scale, and a target that is computed from its data."""
    s, y = kg.half_normal(1, name="s"), kg.data(y, "y")
    kg.observe(y, kg.normal(0, s))
    return kg.model(s, t=s * kg.sum(y))


def test_second_derivatives_and_targets_are_those_of_the_new_data():
    """In closed form: with s = exp(u), the second derivative is -2 sum(y^2) / s^2 - 2 s^2."""
    old, new, u = np.array([1.0, 2.0, 3.0]), np.array([5.0, 6.0, 7.0]), 0.1
    model = scale_of(old)
    for y in (old, new):
        model.set_data(y=y)
        expected = -2 * np.sum(y**2) * np.exp(-2 * u) - 2 * np.exp(2 * u)
        np.testing.assert_allclose(model.hessian([u]), [[expected]], rtol=1e-12)
        mode = kg.opt(model)
        np.testing.assert_allclose(mode.targets["t"], mode["s"] * y.sum(), rtol=1e-12)
        draws = kg.laplace_approximation(model, seed=1, draws=20)["posterior"]
        np.testing.assert_allclose(draws["t"], draws["s"] * y.sum(), rtol=1e-12)


def test_others_keep_their_data():
    mu = kg.normal(0, 1, name="mu")
    y = kg.data([1.0, 2.0], "y")
    kg.observe(y, kg.normal(mu, 1))
    model, other = kg.model(mu), kg.model(mu)
    before = other.log_prob([0.5])
    model.set_data({y: [3.0, 5.0]})
    assert model.log_prob([0.5]) != before
    assert other.log_prob([0.5]) == before
    np.testing.assert_array_equal(y, [1.0, 2.0])
    for way in (copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))):
        twin = way(model)
        assert twin.log_prob([0.5]) == model.log_prob([0.5])
        twin.set_data(y=[1.0, 2.0])
        assert twin.log_prob([0.5]) == before


def test_minibatches_have_the_new_rows():
    mu = kg.normal(0, 1, name="mu")
    y = kg.data(np.zeros(10), "y")
    kg.observe(y, kg.student(3, mu, 1))
    model = kg.minibatch(kg.model(mu), 5)
    model.set_data(y=np.full(10, 4.0))
    sampler = kg.samplers.BAOAB()
    results = kg.mcmc(model, sampler, seed=1, draws=400, warmup=400, progress=False)
    assert results["posterior"]["mu"].mean() > 2
    assert kg.minibatch(model, 5).log_prob([1.0]) == model.log_prob([1.0])


@pytest.mark.slow
def test_observables_of_data():
    mu = kg.normal(0, 1, name="mu")
    y = kg.data([1.0, 2.0], "y")
    kg.observe(y, kg.normal(mu, 1))
    model = kg.model(mu)
    total = kg.observables.observable(lambda step: y.sum() + 0 * step.q.sum(), "total")
    for values in ([1.0, 2.0], [3.0, 4.0]):
        model.set_data(y=values)
        results = kg.mcmc(
            model, seed=1, draws=4, warmup=4, chains=1, observables=[total], progress=False
        )
        assert (results["sample_stats"]["total"] == sum(values)).all()


def test_what_was_made_of_data_follows():
    slope = kg.normal(0, 1, name="slope")
    y = kg.data([1.0, 2.0, 4.0], "y")
    kg.observe(y[1:], kg.normal(slope * y[:-1], 1.0))
    model = kg.model(slope)
    model.set_data(y=[1.0, -1.0, 3.0])
    wanted = stats.norm.logpdf([-1.0, 3.0], [0.5, -0.5]).sum() + stats.norm.logpdf(0.5)
    assert model.log_prob([0.5]) == pytest.approx(wanted)


def test_what_was_made_of_data_that_are_no_part_of_the_model():
    mu = kg.normal(0, 1, name="mu")
    y = kg.data([1.0, 2.0, 4.0], "y")
    kg.observe(y[1:], kg.normal(mu, 1.0))
    model = kg.model(mu)
    model.set_data(y=[0.0, -1.0, 3.0])
    wanted = stats.norm.logpdf([-1.0, 3.0], 0.5).sum() + stats.norm.logpdf(0.5)
    assert model.log_prob([0.5]) == pytest.approx(wanted)


@pytest.mark.slow
def test_large_counts_have_their_own_sums():
    rate = kg.gamma(2, 1e-6, name="rate")
    n = kg.data([3, 5], "n")
    kg.observe(n, kg.poisson(rate))
    model = kg.model(rate)
    assert model.density.terms[-1].small
    model.log_prob([1.0])
    results = kg.mcmc(model, seed=1, draws=20, chains=1, warmup=20, progress=False)
    model.set_data(n=[10**7, 10**7 + 5])
    assert not model.density.terms[-1].small
    at = {"rate": 1e7}
    wanted = stats.poisson.logpmf([10**7, 10**7 + 5], 1e7).sum() + stats.gamma.logpdf(
        1e7, 2, 0, 1e6
    )
    found = model.log_prob(model.untransform(at), adjusted=False)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    results = kg.mcmc(model, seed=1, draws=200, chains=1, progress=False)
    assert results["posterior"]["rate"].mean() == pytest.approx(1e7, rel=1e-2)


@pytest.mark.slow
def test_bounds_that_are_data():
    top = kg.data([10, 20], "top")
    p = kg.uniform(kg.data(0.0, "low"), kg.data(0.5, "high"), name="p")
    n = kg.data([3, 4], "n")
    kg.observe(n, kg.binomial(top, p))
    edge = kg.variable(upper=kg.data(2.0, "most"), lower=0, name="edge")
    kg.factor(-edge)
    model = kg.model(p, edge)
    with pytest.raises(kg.DataError, match="n is 15 at index 0"):
        model.set_data(n=[15, 4])
    model.set_data(n=[15, 4], top=[16, 20], high=1.0, most=5.0)
    values = {"p": 0.8, "edge": 4.0}
    wanted = stats.binom.logpmf([15, 4], [16, 20], 0.8).sum() - 4.0
    found = model.log_prob(model.untransform(values), adjusted=False)
    assert found == pytest.approx(wanted)
    results = kg.mcmc(model, seed=1, draws=50, chains=1, progress=False)
    likelihood = kg.log_likelihood(model, results)["log_likelihood"]["n"]
    draws = results["posterior"]["p"].values[..., None]
    np.testing.assert_allclose(likelihood, stats.binom.logpmf([15, 4], [16, 20], draws), rtol=1e-6)
    with pytest.raises(ValueError, match=r"p: must be between|edge: must be"):
        kg.model(p, edge).untransform(values)


def indexed():
    a = kg.normal(0, 1, shape=3, name="a")
    group, y = kg.data([0, 1, 2, 0], "group"), kg.data([1.0, 2.0, 3.0, 4.0], "y")
    kg.observe(y, kg.student(4, a[group], kg.data([1.0, 1, 1, 1], "sd")))
    return kg.model(a)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"group": [0, 1, 3, 0]}, kg.ShapeError, "index 3 is out of bounds for axis 0 of length 3"),
        ({"y": [1.0, 2.0]}, kg.ShapeError, r"y has shape \(4,\), got \(2,\).*kg.predict"),
        ({"y": [1.0, np.nan, 2, 3]}, kg.DataError, "nan at index 1"),
        ({"sd": [1.0, -1, 1, 1]}, ValueError, r"got -1.0 at index 1 in sd"),
        ({"z": 1.0}, kg.ModelError, "'z' is not data of this model; its data are group, sd, y"),
        ({"group": [0.5, 1, 2, 0]}, TypeError, "group is int64, got float64"),
    ],
)
def test_what_does_not_fit_is_refused(given, error, text):
    model = indexed()
    before = model.log_prob(np.ones(3))
    with pytest.raises(error, match=text):
        model.set_data({"y": [0.0, 0, 0, 0]} | given)
    assert model.log_prob(np.ones(3)) == before


def test_data_of_other_shapes_have_their_names_in_messages():
    x, y, sd = kg.data(np.arange(4.0)), kg.data(np.ones(4)), kg.data(np.ones(4))
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    kg.observe(y, kg.normal(a + b * x, sd))
    model = kg.model(a, b)
    for _ in range(2):
        with pytest.raises(kg.ShapeError, match=r"normal\(a \+ b \* x, sd\) +shape \(3,\)\n +y "):
            model.set_data(x=np.ones(3), sd=np.ones(3))
        model.set_data(x=np.ones(5), y=np.ones(5), sd=np.ones(5))


def test_masks_are_refused():
    mu = kg.normal(0, 1, shape=3, name="mu")
    chosen = kg.data([True, False, True], "chosen")
    kg.observe([1.0, 2.0], kg.normal(mu[chosen], 1), name="y")
    kg.factor((mu * chosen).sum())
    model = kg.model(mu)
    with pytest.raises(kg.ModelError, match=r"values of chosen, as the mask of mu\[chosen\]"):
        model.set_data(chosen=[True, True, False])


def test_forms_are_chosen_again_where_the_values_allow_others():
    rate = kg.gamma(2, 1, name="rate")
    weight, y = kg.data([1.0, 2.0], "weight"), kg.data([3, 4], "y")
    term = kg.log_density(kg.poisson(weight * rate), y)
    kg.factor(term)
    model = kg.model(rate)
    model.set_data(weight=[2.0, 3.0], y=[5, 6])
    wanted = stats.poisson.logpmf([5, 6], [4.0, 6.0]).sum() + stats.gamma.logpdf(2.0, 2)
    found = model.log_prob(model.untransform({"rate": 2.0}), adjusted=False)
    assert found == pytest.approx(wanted)
    with pytest.raises(kg.DataError, match="y is -5"):
        model.set_data(y=[-5, 6])
    model.set_data(weight=[2.0, -3.0])  # whose logarithm there is not
    assert np.isnan(model.log_prob([0.3])) or model.log_prob([0.3]) == -np.inf
    model.set_data({weight: [2.0, 3.0]})
    found = model.log_prob(model.untransform({"rate": 2.0}), adjusted=False)
    assert found == pytest.approx(wanted)


def by_signs(w, k, n):
    """Log densities whose forms depend on data: products, powers, counts, edges of a support."""
    p, r = kg.beta(2, 2, name="p"), kg.gamma(2, 1, name="r")
    w, k, n = kg.data(w, "w"), kg.data(k, "k"), kg.data(n, "n")
    b = kg.data([0, 1, 1, 0], "b")
    kg.factor(kg.log_density(kg.poisson(w * (w * r)), n))
    kg.factor(kg.log_density(kg.bernoulli(p**k), b))
    kg.factor(kg.log_density(kg.gamma(w * w, r), kg.abs(w)))
    kg.factor(kg.log_density(kg.beta(k, 2.0), p))
    kg.factor(-(kg.sqrt(r * w * w) ** 2).sum())
    return kg.model(p, r)


SIGNS = [
    {"w": [1.0, 2, 3, 4], "k": [1.0, 2, 2, 3], "n": [1, 2, 3, 4]},
    {"w": [1.0, -2, 3, -4], "k": [1.0, 2, 2, 3], "n": [1, 2, 3, 4]},
    {"w": [1.0, 2, 3, 4], "k": [0.5, 2, 1, 3], "n": [1, 2, 30_000, 4]},
    {"w": [2.0, 2, 3, 4], "k": [1.0, 1, 1, 1], "n": [1, 2, 3, 4]},
]


def test_every_choice_by_values_is_made_again():
    at = np.array([[0.3, -0.2], [-1.0, 0.7]])
    fresh = [by_signs(**values) for values in SIGNS]
    wanted = [(m.log_prob(at), m.gradient(at)) for m in fresh]
    model = by_signs(**SIGNS[0])
    for i in [*range(len(SIGNS)), 0]:
        model.set_data(SIGNS[i])
        np.testing.assert_array_equal(model.log_prob(at), wanted[i][0])
        np.testing.assert_array_equal(model.gradient(at), wanted[i][1])
    loaded = pickle.loads(pickle.dumps(model))
    loaded.set_data(SIGNS[1])
    np.testing.assert_array_equal(loaded.log_prob(at), wanted[1][0])


def terms_of(w, x):
    return kg.log_density(kg.poisson(w * w * kg.exp(x)), 1)


def by_a_loop(w, x):
    return kg.while_loop(
        lambda i, total: i < 3, lambda i, total: (i + 1, total + terms_of(w[i], x)), (0, 0.0 * x)
    )[1]


def by_a_probability_outside(w, x):
    p = kg.ilogit(x) ** w
    return kg.cond(x > 0.0, lambda: x, lambda: kg.log_density(kg.bernoulli(p), 1).sum())


WAYS = {
    "plain": terms_of,
    "scan": lambda w, x: kg.scan(lambda c, v: (c, terms_of(v, x)), x, w)[1],
    "vmap": lambda w, x: kg.vmap(lambda v: terms_of(v, x))(w),
    "while": by_a_loop,
    "cond": lambda w, x: kg.cond(x > 0.0, lambda: 2.0 * x, lambda: terms_of(w, x).sum()),
    "nested": lambda w, x: kg.vmap(lambda v: kg.cond(x > 0.0, lambda: x, lambda: terms_of(v, x)))(
        w
    ),
    "captured": by_a_probability_outside,
    "gradients": lambda w, x: kg.gradients(terms_of(w, x).sum(), x),
    "gradients in rows": lambda w, x: kg.vmap(lambda v: kg.gradients(terms_of(v, x) * x, x))(w),
    "responsibilities": lambda w, x: kg.responsibilities(
        kg.mixture(
            kg.poisson(w[0] * w[0] * kg.exp(x)), kg.poisson(kg.exp(x / 2)), weights=[0.5, 0.5]
        ),
        [1, 2],
    )[0],
}


@pytest.mark.parametrize("way", WAYS)
def test_forms_in_branches_and_loops_are_chosen_again(way):
    """At -0.8 the rate has rounded to 0, but its logarithm has not."""

    def made(w):
        x, w = kg.normal(0, 1, name="x"), kg.data(w, "w")
        return kg.model(x, factors=[WAYS[way](w, 1000.0 * x)])

    model, at = made([1.0, 2.0, 3.0]), np.array([[-0.8], [-0.008]])
    values = [[1.0, -2.0, 3.0], [0.0, 1.0, 2.0], [2.0, 1.0, 3.0]]
    for w in values if way == "plain" else values[::2]:
        model.set_data(w=w)
        fresh = made(w)
        np.testing.assert_array_equal(model.log_prob(at), fresh.log_prob(at))
        np.testing.assert_array_equal(model.gradient(at), fresh.gradient(at))
    assert np.all(np.isfinite(model.log_prob(at)))
    loaded, before = pickle.loads(pickle.dumps(model)), model.log_prob(at)
    loaded.set_data(w=[-1.0, 1.0, 2.0])
    loaded.set_data(w=values[-1])
    np.testing.assert_array_equal(loaded.log_prob(at), before)


def test_factors_of_scaled_matrices_are_chosen_again():
    """At 300 the correlation has rounded to 1, but its factor has a slope."""

    def made(scales):
        r, s = kg.lkj_correlation(1.0, 2, name="r"), kg.data(scales, "s")
        return kg.model(r, factors=[kg.cholesky(s[:, None] * r * s).sum()])

    model = made([-1.0, 2.0])
    for scales in ([1.0, 2.0], [-1.0, 2.0], [2.0, 1.0]):
        model.set_data(s=scales)
        for at in ([0.3], [300.0]):
            np.testing.assert_array_equal(model.log_prob(at), made(scales).log_prob(at))
            np.testing.assert_array_equal(model.gradient(at), made(scales).gradient(at))
    assert np.isfinite(model.gradient([300.0]))


def test_forms_of_terms_are_chosen_again_next_to_a_branch():
    def made(k):
        p, k = kg.beta(2, 2, name="p"), kg.data(k, "k")
        kg.observe([0, 1, 1], kg.bernoulli(p**k))
        kg.factor(kg.cond(p > 0.5, lambda: k.sum() * p, lambda: p))
        return kg.model(p)

    model = made([1.0, 2.0, 3.0])
    for k in ([0.0, 2.0, 3.0], [1.0, 1.0, 0.5]):
        model.set_data(k=k)
        np.testing.assert_array_equal(model.log_prob([0.3]), made(k).log_prob([0.3]))


def test_labels_of_several_kinds_are_checked_apart():
    a = kg.normal(0, 1, name="a")
    first, second = kg.data([0, 1, 2], "first"), kg.data([0, 1, 1], "second")
    kg.factor(-(kg.segment_sum(a * np.ones(3), (first, second), (3, 2)) ** 2).sum())
    model = kg.model(a)
    model.set_data(first=[2, 1, 0])
    with pytest.raises(kg.ShapeError, match="the labels second run from 0 to 2, not from 0 to 1"):
        model.set_data(second=[0, 2, 1])


def test_labels_come_along():
    import pandas as pd

    mu = kg.normal(0, 1, name="mu")
    y = kg.data(pd.Series([1.0, 2.0], index=pd.Index(["a", "b"], name="school")), "y")
    kg.observe(y, kg.normal(mu, 1))
    model = kg.model(mu)
    model.set_data(y=[3.0, 4.0])
    assert model.coords["school"].tolist() == ["a", "b"]
    model.set_data(y=pd.Series([3.0, 4.0], index=pd.Index(["c", "d"], name="school")))
    assert model.coords["school"].tolist() == ["c", "d"]
    results = kg.simulate(model, 2, seed=1)
    assert results["observed_data"]["y"].sel(school="d") == 4.0
