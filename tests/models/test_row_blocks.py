"""Sums over blocks of rows against the log density of all rows."""

import sys

import jax
import numpy as np
import pytest
from jax.scipy.special import gammaln

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models import row_blocks
from kinetograph.models.row_blocks import RowBlocks
from kinetograph.models.row_checks import ArgumentOfRows, rows_given
from kinetograph.models.row_steps import RowSteps
from kinetograph.models.row_unknowns import RowUnknowns, may_have_rows
from kinetograph.programs.program import Program

RANDOM = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def seeded(monkeypatch):
    """The numbers of a test do not depend on the tests before."""
    monkeypatch.setattr(sys.modules[__name__], "RANDOM", np.random.default_rng(4))


def poisson(count: int) -> kg.Model:
    x = kg.data(RANDOM.normal(size=(count, 3)), "x")
    g = kg.data(RANDOM.integers(0, 5, count), "g")
    y = kg.data(RANDOM.poisson(2.0, count), "y")
    w = kg.normal(0, 1, shape=3, name="w")
    sd = kg.half_normal(1.0, name="sd")
    kg.observe(y, kg.poisson(kg.exp(x @ w + kg.normal(0, sd, shape=5, name="a")[g])))
    return kg.model(w, sd)


def two_likelihoods(count: int) -> kg.Model:
    x = kg.data(RANDOM.normal(size=count), "x")
    y = kg.data(RANDOM.normal(size=(count, 2)), "y")
    few = kg.data(RANDOM.normal(size=7), "few")
    a = kg.normal(0, 1, name="a")
    kg.observe(y, kg.student(4, kg.stack([a * x, a + x], axis=1), 1.0))
    kg.observe(few, kg.student(3, a, 2.0))
    kg.factor(-kg.log1p(kg.exp(a * x)))
    return kg.model(a)


def literal_rows(count: int) -> kg.Model:
    """Arrays of NumPy in an expression, which have no names."""
    size, x = RANDOM.integers(1, 9, count), RANDOM.normal(size=count)
    y = kg.data(RANDOM.binomial(size, 0.4), "y")
    a = kg.normal(0, 1, name="a")
    kg.observe(y, kg.binomial(size, kg.ilogit(a * x)))
    return kg.model(a)


def weighted(count: int) -> kg.Model:
    """A factor of log densities, and axes of length 1."""
    x = kg.data(RANDOM.normal(size=count), "x")
    weight = kg.data(RANDOM.uniform(size=count), "weight")
    y = kg.data(RANDOM.poisson(2.0, size=count), "y")
    a = kg.normal(0, 1, shape=2, name="a")
    rate = kg.exp(kg.concatenate([x[:, None], x.reshape(-1, 1) ** 2], axis=1) @ a)
    kg.factor(weight * kg.log_density(kg.poisson(rate), y))
    return kg.model(a)


def kinks(count: int) -> kg.Model:
    """Equations of the derivative that have no results."""
    y = kg.data(RANDOM.normal(size=count), "y")
    a, b = kg.normal(0, 1, name="a"), kg.half_normal(1, name="b")
    kg.observe(y, kg.laplace(a, b))
    return kg.model(a, b)


def effects(count: int) -> kg.Model:
    """Unknowns with rows, between unknowns without."""
    x, y = kg.data(RANDOM.normal(size=count), "x"), kg.data(RANDOM.poisson(2.0, count), "y")
    a, sd = kg.normal(0, 1, name="a"), kg.half_normal(1.0, name="sd")
    z = kg.normal(a, sd, shape=(count, 2), name="z")
    b = kg.normal(0, 1, shape=3, name="b")
    frailty = kg.gamma(2.0, kg.exp(0.1 * x), name="frailty")
    shares = kg.dirichlet([1.0, 2.0, 3.0], shape=count, name="shares")
    kg.observe(y, kg.poisson(frailty * kg.exp(b[0] + b[1] * x + z[:, 0] * shares[:, 1] + z[:, 1])))
    return kg.model(z, frailty, shares, a)


def only_effects(count: int) -> kg.Model:
    """No unknown without rows."""
    z = kg.normal(0, 1, shape=count, name="z")
    kg.observe(kg.data(RANDOM.poisson(2.0, count), "y"), kg.poisson(kg.exp(z)))
    return kg.model(z)


def evaluated(model: kg.Model, free: np.ndarray, is_fast: bool = False) -> list[np.ndarray]:
    """Log densities and gradients at free states, as a program evaluates them."""
    most = max(node.shape[0] for node in model.data)
    names = [model.name(node) for node in model.data if node.shape[0] == most]
    rows = rows_given(model, names, ArgumentOfRows("mcmc", "shard"))
    members = may_have_rows(model.density, most)
    blocks = RowBlocks(model, rows, jax.devices()[:1], is_fast, members)
    program = Program(model, kg.samplers.NUTS(), (), row_blocks=blocks)

    def of_all(free, data):
        bound = program.bound(data)
        value, gradient, _ = jax.vmap(bound.value_and_gradient)(free)
        return value, gradient, bound.log_density(free)

    with x64():
        shared = jax.jit(program.on_devices(of_all, 1, 0))
        return [np.asarray(x) for x in shared(free, program.placed(None))]


@pytest.mark.parametrize("is_fast", [False, True])
@pytest.mark.parametrize("count", [64, 200, 128])
@pytest.mark.parametrize(
    "make", [poisson, two_likelihoods, literal_rows, kinks, effects, only_effects]
)
def test_blocks_give_the_log_density_and_its_gradient(make, count, is_fast):
    model = make(count)
    free = RANDOM.normal(scale=0.3, size=(3, model.free_size))
    value, gradient, alone = evaluated(model, free, is_fast)
    np.testing.assert_allclose(value, model.log_prob(free), rtol=1e-12)
    np.testing.assert_allclose(alone, model.log_prob(free), rtol=1e-12)
    np.testing.assert_allclose(gradient, model.gradient(free), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("is_fast", [False, True])
def test_factors_of_weighted_log_densities(is_fast):
    model = weighted(200)
    free = RANDOM.normal(scale=0.3, size=(3, model.free_size))
    value, gradient, alone = evaluated(model, free, is_fast)
    np.testing.assert_allclose(value, model.log_prob(free), rtol=1e-12)
    np.testing.assert_allclose(alone, model.log_prob(free), rtol=1e-12)
    np.testing.assert_allclose(gradient, model.gradient(free), rtol=1e-9, atol=1e-9)
    with pytest.raises(kg.ModelError, match=r"shape \(200,\) with all 200 rows and .* with 1;"):
        kg.minibatch(model, 1)  # a row would be taken for all rows


def test_the_order_of_sums_is_that_of_the_blocks(monkeypatch):
    """A negative control: other blocks round in another way."""
    model = poisson(6400)
    free = RANDOM.normal(scale=0.3, size=(40, model.free_size))
    value, again = evaluated(model, free)[0], evaluated(model, free)[0]
    np.testing.assert_array_equal(value, again)
    monkeypatch.setattr(row_blocks, "BLOCKS", 16)
    assert (evaluated(model, free)[0] != value).any()


def primitives(function, *arguments) -> set[str]:
    return {equation.primitive.name for equation in jax.make_jaxpr(function)(*arguments).eqns}


def test_values_of_data_alone_are_computed_once():
    y, known = RANDOM.poisson(3.0, size=(4, 6)).astype(float), np.array(2.0)

    def function(free, known, rows):
        return free[0] * known[0] * gammaln(rows[0] + 1.0).sum(), free

    with x64():
        steps = RowSteps(function, jax.ShapeDtypeStruct((2,), float), [known], [y])
        free = np.array([1.5, -2.0])
        (stored,) = steps.stored
        assert len(stored) == 4
        for block, value in zip(y, stored, strict=True):
            got = steps(free, [known], [block], [value])
            expected = function(free, [known], [block])
            np.testing.assert_allclose(got[0], expected[0], rtol=1e-14)
            np.testing.assert_array_equal(got[1], free)
        late = primitives(lambda f: steps(f, [known], [y[0]], [stored[0]]), free)
        assert "lgamma" not in late
        assert "lgamma" in primitives(lambda f: function(f, [known], [y[0]]), free)


def test_cheap_values_of_data_are_not_stored():
    y = np.ones((4, 6))
    with x64():
        steps = RowSteps(
            lambda free, known, rows: (free * (rows[0] * 2.0 > 1.0).sum() + rows[0][0],),
            jax.ShapeDtypeStruct((), float), [], [y],
        )  # fmt: skip
        assert all(value.size <= 4 for value in steps.stored)


def test_parts_of_the_free_state():
    model = effects(64)
    density = model.density
    members = may_have_rows(density, 64)
    assert [model.name(v) for v in members] == ["z", "frailty", "shares"]
    unknowns = RowUnknowns(density, members, 64)
    free = RANDOM.normal(size=model.free_size)
    pieces = {model.name(v): free[density.slices[v]] for v in density.unknowns}
    with x64():
        others, rows = unknowns.parted(free, 64)
        again = unknowns.joined(others, rows)
    np.testing.assert_array_equal(others, [*pieces["a"], *pieces["sd"], *pieces["b"]])
    np.testing.assert_array_equal(rows[0], pieces["z"].reshape(64, 2))
    np.testing.assert_array_equal(again, free)
    places = np.array([5, 2, 63])
    with x64():
        _, taken = unknowns.parted(unknowns.taken(free, places), 3)
    for part, whole in zip(taken, rows, strict=True):
        np.testing.assert_array_equal(part, whole[places])
