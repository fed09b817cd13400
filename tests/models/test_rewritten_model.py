"""Data of other lengths: the model is the one that would be written with them."""

import logging
import pickle
import re

import jax
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg

AT = np.array([0.3, -0.2, 0.5, 1.1, -0.4])


def build(x, y, group):
    """Likelihoods by groups, factors, what is observed of data, targets of rows."""
    a, b = kg.normal(0, 1, name="a", shape=3), kg.normal(0, 1, name="b")
    s = kg.half_normal(1, name="s")
    x, y, group = kg.data(x, "x"), kg.data(y, "y", dims="row"), kg.data(group, "group")
    mean = a[group] + b * (x - x.mean())
    kg.observe(y, kg.normal(mean, s))
    kg.observe(y[1:], kg.student(4, 0.5 * y[:-1], s))
    kg.factor(kg.log_density(kg.normal(b, 1), kg.abs(y)).sum())
    kg.factor(kg.log_density(kg.gamma(2, 1), s * kg.exp(x)))
    design = kg.stack([0.0 * x + 1.0, x], 1)
    kg.factor(-0.1 * kg.logdet(design.T @ design + np.eye(2)) * s)
    kg.factor(-kg.sum(kg.segment_sum(x[:, None] * b, group, 3) ** 2))
    spread = s * kg.broadcast_to(x, (2, *np.shape(x)))
    return kg.model(a, b, s, mean=mean, spread=spread, factors=-kg.mean((y - b) ** 2))


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    return {"x": rng.normal(size=n), "y": rng.normal(size=n), "group": rng.integers(0, 3, n)}


def set_other(model, values):
    with pytest.warns(kg.KinetographWarning, match="the model is written again for it"):
        model.set_data(values)


def assert_same(model, other):
    np.testing.assert_allclose(model.log_prob(AT), other.log_prob(AT), rtol=1e-12)
    assert model.names == other.names
    assert [n.shape for n in model.targets] == [n.shape for n in other.targets]
    assert [model.axes(n) for n in model.targets] == [other.axes(n) for n in other.targets]


@pytest.mark.slow
@pytest.mark.parametrize("length", [pytest.param(5, marks=pytest.mark.slow), 11])
def test_the_model_is_the_one_written_with_the_new_data(length):
    model, other = build(**drawn(8)), build(**drawn(length, 1))
    set_other(model, drawn(length, 1))
    assert_same(model, other)
    np.testing.assert_allclose(model.gradient(AT), other.gradient(AT), rtol=1e-10, atol=1e-12)
    assert float(model.log_prob(AT)) == pytest.approx(model.debug(AT).log_density, rel=1e-12)
    assert_same(pickle.loads(pickle.dumps(model)), other)
    model.set_data(drawn(length, 2))  # of the length that it has
    assert_same(model, build(**drawn(length, 2)))
    set_other(model, drawn(8))
    assert_same(model, build(**drawn(8)))


def test_runs_and_predictions_have_the_new_rows():
    model, new = build(**drawn(8)), drawn(11, 1)
    set_other(model, new)
    settings = {"seed": 1, "chains": 1, "draws": 20, "warmup": 20, "progress": False}
    with pytest.warns(kg.SamplingWarning):
        tree = kg.mcmc(model, **settings)
    with pytest.warns(kg.SamplingWarning):
        wanted = kg.mcmc(build(**new), **settings)
    tree = kg.log_likelihood(model, kg.predict(model, tree, seed=1))
    np.testing.assert_allclose(tree["posterior"]["mean"], wanted["posterior"]["mean"], rtol=1e-6)
    np.testing.assert_array_equal(tree["observed_data"]["y"], new["y"])
    assert tree["posterior_predictive"]["y"].dims == ("chain", "draw", "row")
    assert tree["log_likelihood"]["y"].shape == (1, 20, 11)


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_a_run_before_and_one_after():
    """The second run computes the density of the new data, by a program of its own."""
    mu = kg.normal(0, 1, name="mu")
    kg.observe(kg.data(np.arange(3.0), "y"), kg.student(4, mu, 1.0))
    model = kg.model(mu)
    walk = kg.samplers.RandomWalk(tune=())
    for length in (3, 5):
        y = np.arange(length) + 0.5
        if length == model.data[0].shape[0]:
            model.set_data(y=y)
        else:
            set_other(model, {"y": y})
        tree = kg.mcmc(model, walk, draws=8, warmup=0, chains=1, seed=1, progress=False)
        at = tree["posterior"]["mu"].values[0]
        wanted = stats.t(4, at[:, None], 1).logpdf(y).sum(1) + stats.norm.logpdf(at)
        np.testing.assert_allclose(tree["sample_stats"]["lp"].values[0], wanted, rtol=1e-12)


def test_one_program_for_each_shape():
    """As often as the log density is traced."""
    mu = kg.normal(0, 1, name="mu")
    traced = []

    def note(x):
        traced.append(x.shape)
        return x

    y = kg.data(np.zeros(4), "y")
    kg.factor(-((kg.lift(note)(y) - mu) ** 2).sum())
    model = kg.model(mu)
    traced.clear()
    for seed in range(10):
        y_new = np.random.default_rng(seed).normal(size=4)
        model.set_data(y=y_new)
        wanted = -(y_new**2).sum() - 0.5 * np.log(2 * np.pi)
        assert float(model.log_prob([0.0])) == pytest.approx(wanted, rel=1e-13)
    assert traced == [(4,)]
    set_other(model, {"y": np.ones(6)})
    traced.clear()
    for seed in range(10):
        model.set_data(y=np.full(6, seed))
        assert float(model.log_prob([0.0])) == pytest.approx(-6 * seed**2 - 0.5 * np.log(2 * np.pi))
    assert traced == [(6,)]


def test_programs_compiled_by_jax():
    model = build(**drawn(8))
    seen = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(record.getMessage())
    logger = logging.getLogger("jax")
    model.log_prob(AT)
    set_other(model, drawn(11))
    with jax.log_compiles():
        logger.addHandler(handler)
        try:
            for seed in range(3):
                model.set_data(drawn(11, seed))
                model.log_prob(AT)
        finally:
            logger.removeHandler(handler)
    assert len([text for text in seen if "Finished XLA compilation of jit(_one)" in text]) == 1


def test_others_keep_theirs_and_arrays_still_name_data():
    mu = kg.normal(0, 1, name="mu")
    y = kg.data([1.0, 2.0], "y")
    kg.observe(y, kg.normal(mu, 1))
    model, other = kg.model(mu), kg.model(mu)
    before = other.log_prob([0.5])
    set_other(model, {y: [3.0, 5.0, 1.0]})
    assert other.log_prob([0.5]) == before
    assert kg.model(mu).log_prob([0.5]) == before
    np.testing.assert_array_equal(y, [1.0, 2.0])
    model.set_data({y: [1.0, 2.0, 4.0]})
    set_other(model, {y: [1.0, 2.0]})
    assert float(model.log_prob([0.5])) == pytest.approx(float(before))
    with pytest.warns(kg.SamplingWarning):
        tree = kg.mcmc(model, seed=1, chains=1, draws=5, warmup=5, progress=False)
    assert kg.predict(model, tree, observed=[y])["posterior_predictive"]["y"].shape == (1, 5, 2)


def bounded():
    z = kg.variable(lower=kg.data(np.zeros(3), "x"), name="z")
    kg.factor(-z.sum())
    return z


def with_data(f):
    def made():
        x, z = kg.data(np.arange(3.0), "x"), kg.normal(0, 1, name="z")
        kg.factor(f(x, z).sum())
        return z

    return made


def three_times(x, z):
    return kg.while_loop(lambda i, c: i < 3, lambda i, c: (i + 1, c + x), (0, z * x))[1]


REFUSED = {
    "end of a slice": (with_data(lambda x, z: z * x[:2]), "takes a slice up to 2 of an axis that"),
    "last place": (with_data(lambda x, z: z * x[2]), "takes the last place, 2, by its number"),
    "other places": (with_data(lambda x, z: z * (x[0] + x[-1] + x[-2:].sum())), None),
    "given places": (with_data(lambda x, z: z * x[[0, 2]]), "takes given places of an axis that"),
    "shape": (with_data(lambda x, z: z * x.reshape(1, 3, 1).reshape(3, 1)), None),
    "given shape": (with_data(lambda x, z: z * (x[:, None] * x).reshape(9, 1)), "given shape (9"),
    "numbers": (with_data(lambda x, z: z * (x + np.ones(3))), "does not fit together: x (4,)"),
    "trips": (
        with_data(lambda x, z: kg.scan(lambda c, i: (c + x[i], c), z, np.arange(3))[1]),
        "makes as many trips as an axis that changes was long",
    ),
    "rows": (
        with_data(lambda x, z: kg.vmap(lambda v: v + x.sum() * z)(np.arange(3.0))),
        "makes as many trips as an axis that changes was long",
    ),
    "branches": (
        with_data(lambda x, z: kg.cond(z > 0, lambda: z * x, lambda: z + np.ones(3))),
        "has branches that return a value of shape (3,) and of shape (4,)",
    ),
    "while": (
        with_data(
            lambda x, z: kg.while_loop(lambda i, c: i < 3, lambda i, c: (i + 1, c + x), (0, z * x))[
                1
            ]
        ),
        "is not written",
    ),
    "bounds": (bounded, "is an unknown whose distribution depends on them"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_written_again(case):
    make, text = REFUSED[case]
    model = kg.model(make())
    before = model.log_prob(np.full(model.free_size, 0.3))
    if text is None:
        set_other(model, {"x": np.arange(4.0)})
        return
    with pytest.raises(kg.ModelError, match=re.escape(text)) as caught:
        model.set_data(x=np.arange(4.0))
    assert "make the model in a function" in str(caught.value)
    assert model.log_prob(np.full(model.free_size, 0.3)) == before


def test_lengths_that_do_not_belong_together():
    model = build(**drawn(8))
    before = model.log_prob(AT)
    with pytest.raises((kg.ShapeError, kg.ModelError), match=r"belong together|does not fit"):
        model.set_data(y=np.zeros(9))
    with pytest.raises(kg.ShapeError, match="index 3 is out of bounds"):
        model.set_data(drawn(9) | {"group": np.full(9, 3)})
    with pytest.raises(kg.ShapeError, match="data keep the number of their axes"):
        model.set_data(y=np.zeros((9, 1)))
    with pytest.raises(kg.DataError, match="nan at index 0"):
        model.set_data(drawn(9) | {"y": np.full(9, np.nan)})
    assert model.log_prob(AT) == before


def test_minibatches_are_of_the_new_rows():
    def made(n):
        mu = kg.normal(0, 1, name="mu")
        x, y = (kg.data(drawn(n)[name], name) for name in "xy")
        kg.observe(y, kg.student(3, mu * x, 1))
        return kg.minibatch(kg.model(mu), 5)

    model, other = made(10), made(12)
    with pytest.raises(kg.ShapeError, match=r"batches of 5 rows.*x \(4,\), y \(4,\)"):
        model.set_data({name: drawn(4)[name] for name in "xy"})
    with pytest.raises((kg.ShapeError, kg.ModelError), match=r"belong together|does not fit"):
        model.set_data(y=np.zeros(12))
    set_other(model, {name: drawn(12)[name] for name in "xy"})
    assert model.batch.settings[1:] == other.batch.settings[1:]
    assert model.batch.count == 12
    assert model.log_prob([0.3]) == other.log_prob([0.3])
    settings = {"seed": 1, "chains": 1, "draws": 20, "warmup": 20, "progress": False}
    trees = [kg.mcmc(m, kg.samplers.BAOAB(), **settings) for m in (model, other)]
    np.testing.assert_array_equal(*(t["posterior"]["mu"].values for t in trees))


def priors(x, y):
    """Unknowns whose distributions follow from data, and unknowns that follow from these."""
    x, y = kg.data(x, "x", dims="row"), kg.data(y, "y", dims="row")
    centre = kg.normal(x.mean(), kg.data(2.0, "sd"), name="centre")
    rows = kg.normal(x + centre, 1, name="rows", dims="row")
    both = kg.normal(0.5 * rows, 1, shape=(2, len(x.node.value)), name="both")
    scale = kg.half_normal(1, name="scale")
    kg.observe(y, kg.normal(both.sum(0) * scale, 1))
    return kg.model(centre, rows, both, scale, total=rows.sum())


def test_priors_of_data():
    (x, y), (other_x, other_y) = np.random.default_rng(3).normal(size=(2, 2, 8))
    model, fresh = priors(x[:5], y[:5]), priors(other_x, other_y)
    set_other(model, {"x": other_x, "y": other_y})
    at = np.random.default_rng(4).normal(size=fresh.free_size)
    np.testing.assert_array_equal(model.log_prob(at), fresh.log_prob(at))
    np.testing.assert_array_equal(model.gradient(at), fresh.gradient(at))
    assert (model.names, model.free_size) == (fresh.names, fresh.free_size)
    assert model["rows"].shape == (8,)
    model.set_data(sd=3.0)
    settings = {"seed": 1, "chains": 1, "draws": 5, "warmup": 5, "progress": False}
    with pytest.warns(kg.SamplingWarning):
        tree = kg.mcmc(model, **settings)
    assert tree["posterior"]["rows"].dims == ("chain", "draw", "row")
    assert kg.predict(model, tree)["posterior_predictive"]["y"].shape == (1, 5, 8)
    set_other(model, {"x": x[:5], "y": y[:5], "sd": 2.0})
    back = priors(x[:5], y[:5])
    at = at[: back.free_size]
    np.testing.assert_array_equal(model.log_prob(at), back.log_prob(at))


def test_expressions_of_an_unknown_that_was_written_again():
    x = kg.data(np.arange(3.0), "x")
    mu = kg.normal(x.mean(), 1, name="mu")
    kg.observe(kg.data(np.zeros(3), "y"), kg.normal(mu * x, 1))
    model = kg.model(mu)
    set_other(model, {"x": np.arange(4.0), "y": np.ones(4)})
    with pytest.warns(kg.SamplingWarning):
        tree = kg.mcmc(model, seed=1, chains=1, draws=5, warmup=5, progress=False)
    later = kg.normal(mu, 1, name="later")
    found = kg.predict(model, tree, twice=2 * mu, later=later, seed=1)["predictions"]
    np.testing.assert_allclose(found["twice"], 2 * tree["posterior"]["mu"])
    assert found["later"].shape == (1, 5)


def loops(x, y, group):
    """Scans over rows: stacked results, a last carry, forms of both, a loop in a loop."""
    a, b = kg.normal(0, 1, name="a", shape=3), kg.normal(0, 1, name="b")
    s = kg.half_normal(1, name="s")
    x, y, group = kg.data(x, "x"), kg.data(y, "y"), kg.data(group, "group")

    def step(c, row):
        v, g = row
        m = 0.5 * c + a[g] * v + 1.0
        return m, (m, kg.ilogit(m), kg.log_density(kg.normal(b, s), v))

    last, (mean, prob, terms) = kg.scan(step, b, (x, group))
    kg.observe(y, kg.normal(mean, s))
    kg.factor(kg.log_density(kg.bernoulli(prob), kg.abs(group - 1)).sum())
    kg.factor(terms.sum() - last**2)
    inner = kg.scan(lambda c, v: (c + kg.scan(lambda d, w: (d + w * v, 0.0), s, x)[0], 0.0), 0.0, y)
    kg.factor(-0.01 * inner[0] ** 2)
    return kg.model(a, b, s, mean=mean)


def branches(x, y, group):
    """Batches of rows and branches, nested, with values from outside."""
    a, b = kg.normal(0, 1, name="a", shape=3), kg.normal(0, 1, name="b")
    s = kg.half_normal(1, name="s")
    x, y, group = kg.data(x, "x"), kg.data(y, "y"), kg.data(group, "group")

    def row(v, g):
        m = kg.cond(v > 0.0, lambda: a[g] * v, lambda: b + v * x.mean())
        return m, kg.log_density(kg.bernoulli(kg.ilogit(m)), kg.abs(g - 1))

    mean, terms = kg.vmap(row)(x, group)
    kg.observe(y, kg.normal(mean, s))
    kg.factor(terms.sum())
    kg.factor(-(kg.cond(b > 0.0, lambda: (mean * x).sum(), lambda: (x**2).mean() * b) ** 2))
    return kg.model(a, b, s, mean=mean)


def derivatives(x, y, group):
    a, b = kg.normal(0, 1, name="a", shape=3), kg.normal(0, 1, name="b")
    s = kg.half_normal(1, name="s")
    x, y, group = kg.data(x, "x"), kg.data(y, "y"), kg.data(group, "group")
    energy = (kg.exp(-((x - b) ** 2) / s) * a[group]).sum()
    pull, push = kg.gradients(energy, [a, b])
    ((curve, _), (_, bend)) = kg.hessian(energy, [b, s])
    turn = kg.jvp(kg.exp(b * x), b, b**2)
    kg.observe(y, kg.normal(kg.jacobian(kg.sin(b * x), b) + pull[group] + push, s))
    kg.factor(-((curve + bend) ** 2) - (turn**2).mean())
    return kg.model(a, b, s, mean=turn)


@pytest.mark.parametrize("written", [loops, branches, derivatives])
def test_loops_batches_branches_and_derivatives(written):
    model, fresh = written(**drawn(6)), written(**drawn(9, 1))
    set_other(model, drawn(9, 1))
    np.testing.assert_array_equal(model.log_prob(AT), fresh.log_prob(AT))
    np.testing.assert_array_equal(model.gradient(AT), fresh.gradient(AT))
    assert_same(model, fresh)
    again = pickle.loads(pickle.dumps(model))
    set_other(again, drawn(4, 2))
    assert_same(again, written(**drawn(4, 2)))
    assert_same(model, fresh)


def test_values_for_calculate():
    x = kg.data([0.0, 1.0], "x", dims="row")
    group = kg.data([0, 1], "group")
    a, b = kg.normal(0, 1, shape=2, name="a"), kg.normal(0, 1, name="b")
    line = a[group] + b * x
    values = {"a": [1.0, 2.0], "b": 3.0, "x": [1.0, 2.0, 3.0], "group": [0, 1, 1]}
    found = kg.calculate(line=line, total=line.sum(), values=values)
    np.testing.assert_allclose(found["line"], [4.0, 8.0, 11.0])
    assert found["total"] == pytest.approx(23.0)
    drawn = kg.calculate(line=line, values={"b": 0.0, "x": np.ones(4), "group": [0] * 4}, draws=3)
    assert drawn["line"].shape == (3, 4)
    assert np.ptp(drawn["line"], axis=1).max() == 0.0
    with pytest.raises(
        kg.ModelError, match=r"calculate: .*line .*: a\[group\] \(2,\), b \* x \(3,\)"
    ):
        kg.calculate(line=line, values={"a": [1.0, 2.0], "b": 3.0, "x": [1.0, 2.0, 3.0]})
    z = kg.normal(x, 1, name="z")
    with pytest.raises(kg.ModelError, match=r"z .*is an unknown whose distribution depends"):
        kg.calculate(z.sum(), values={"x": np.ones(4)}, draws=2)
    with pytest.raises(kg.ShapeError, match=r"a has shape \(2,\), got values of shape \(3,\)"):
        kg.calculate(line, values={"a": [1.0, 2.0, 3.0], "b": 0.0})


@pytest.mark.parametrize("in_model", [True, False])
def test_labels_go_with_their_length_and_come_back(in_model):
    labels = ["mo", "tu", "we"]
    dims = "day" if in_model else kg.dim("day", labels)
    x = kg.data(np.zeros(3), name="x", dims=dims)
    slope = kg.normal(0, 1, name="slope")
    kg.observe(kg.data(np.zeros(3), name="y", dims=dims), kg.normal(slope * x, 1))
    model = kg.model(slope, coords={"day": labels} if in_model else None)
    for length in (4, 5, 3, 4, 3):
        with pytest.warns(kg.KinetographWarning, match="written again"):
            model.set_data(x=np.ones(length), y=np.ones(length))
        assert [v.tolist() for v in model.coords.values()] == ([labels] if length == 3 else [])
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.coords["day"].tolist() == labels
