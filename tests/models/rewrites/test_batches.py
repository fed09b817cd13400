"""Alike pieces as one batch: the density and the gradient of the same model without batches."""

import jax
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models import density as densities
from kinetograph.models.rewrites import pieces

RNG = np.random.default_rng(3)


def alone(monkeypatch, make):
    """The model as it is, and one whose terms are computed one by one."""
    model = make()
    with monkeypatch.context() as patch:
        patch.setattr(densities, "find_batches", lambda terms, unknowns: None)
        plain = make()
    assert plain.density.batches is None
    return model, plain


def check(monkeypatch, make, groups):
    """The same density and gradient; so many groups of terms are batches."""
    model, plain = alone(monkeypatch, make)
    assert model.density.batches is not None
    assert len(model.density.batches.groups) == groups
    assert model.names == plain.names
    points = RNG.normal(size=(3, model.free_size))
    np.testing.assert_allclose(model.log_prob(points), plain.log_prob(points), rtol=1e-12)
    found, wanted = model.gradient(points), plain.gradient(points)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)
    return model


def eight():
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12, 3, 4])
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_normal(5, name="tau")
    for value in y:
        theta = kg.normal(mu, tau)
        kg.observe(kg.data(value), kg.normal(theta, 10.0))
    return kg.model(mu, tau)


def test_an_unknown_and_an_observation_in_each_step(monkeypatch):
    model = check(monkeypatch, eight, groups=2)
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12, 3, 4])
    u = RNG.normal(size=12)
    values = model.transform(u)
    theta = u[2:]
    wanted = stats.norm(0, 5).logpdf(u[0]) + stats.halfnorm(0, 5).logpdf(values["tau"]) + u[1]
    wanted += stats.norm(u[0], values["tau"]).logpdf(theta).sum()
    wanted += stats.norm(theta, 10).logpdf(y).sum()
    assert model.log_prob(u) == pytest.approx(wanted, rel=1e-12)


def test_forms_of_unknowns_and_vectors_of_data(monkeypatch):
    counts, x = RNG.poisson(3, size=(9, 4)), RNG.normal(size=(9, 4))

    def make():
        slope = kg.normal(0, 1, name="slope")
        for row, at in zip(counts, x, strict=True):
            rate = kg.gamma(2.0, 1.0)
            kg.observe(kg.data(row), kg.poisson(rate * kg.exp(slope * kg.data(at))))
        return kg.model(slope)

    check(monkeypatch, make, groups=2)


def test_two_unknowns_in_turn_and_bounds(monkeypatch):
    y = RNG.normal(size=10)

    def make():
        top = kg.uniform(1, 3, name="top")
        for k, value in enumerate(y):
            a, s = kg.uniform(-2.0, 2.0), kg.half_normal(1.0)
            b = kg.uniform(0.0, top) if k % 2 else kg.uniform(-1.0, top)
            kg.observe(kg.data(value), kg.normal(a + b, s))
        return kg.model(top)

    # Bounds from the graph make an unknown like no other, and the likelihood with it.
    check(monkeypatch, make, groups=2)


def test_few_unknowns_of_many_observations(monkeypatch):
    y, group = RNG.normal(size=40), RNG.integers(0, 9, size=40)

    def make():
        mu = kg.normal(0, 1, name="mu")
        levels = [kg.normal(mu, 1) for _ in range(9)]
        some = [kg.normal(0, 1, name=f"some{k}") for k in range(3)]
        for k, value in enumerate(y):
            mean = levels[group[k]] + some[group[k] % 3]
            kg.observe(kg.data(value), kg.normal(mean, 0.5))
        return kg.model(mu)

    check(monkeypatch, make, groups=2)


def test_constants_that_differ(monkeypatch):
    def make():
        w = kg.normal(0, 1, name="w")
        for k in range(10):
            z = kg.normal(0.1 * k, 1.0)
            kg.observe(kg.data(float(k)), kg.normal(w * k + z, 2.0))
        return kg.model(w)

    check(monkeypatch, make, groups=2)


def test_a_recursion_stays_as_it_is(monkeypatch):
    y = RNG.normal(size=12)

    def make():
        phi, x = kg.uniform(-1, 1, name="phi"), 0.0
        for value in y:
            x = phi * x + kg.normal(0, 1)
            kg.observe(kg.data(value), kg.normal(x, 1))
        return kg.model(phi)

    check(monkeypatch, make, groups=1)


def test_factors_and_what_uses_the_pieces_elsewhere(monkeypatch):
    def make():
        zs = [kg.normal(0, 1) for _ in range(9)]
        for z in zs:
            kg.factor(-0.1 * z**4)
        total = sum(zs)
        kg.observe(kg.data(2.0), kg.normal(total, 1))
        return kg.model(total=total)

    model = check(monkeypatch, make, groups=2)
    fit = kg.mcmc(model, seed=1, chains=2, draws=200, progress=False)
    assert abs(float(fit.posterior["total"].mean()) - 1.7) < 0.6


def test_fewer_than_enough_are_none(monkeypatch):
    def make():
        mu = kg.normal(0, 1, name="mu")
        for k in range(pieces.FEWEST - 1):
            kg.observe(kg.data(float(k)), kg.normal(mu, 1))
        return kg.model(mu)

    assert make().density.batches is None


def test_other_data_for_the_pieces():
    ys = [kg.data(float(k), name=f"y{k}") for k in range(9)]
    mu = kg.normal(0, 1, name="mu")
    for y in ys:
        kg.observe(y, kg.student(4, mu, 1))
    model = kg.model(mu)
    assert model.density.batches is not None
    model.log_prob([0.3])
    model.set_data(y3=10.0)
    seen = np.arange(9.0)
    seen[3] = 10.0
    wanted = stats.t(4, 0.3, 1).logpdf(seen).sum() + stats.norm.logpdf(0.3)
    assert model.log_prob([0.3]) == pytest.approx(wanted, rel=1e-12)


def test_rows_of_arrays_in_each_step(monkeypatch):
    """Places of one array are one read; of columns, of rows backwards, of what is computed."""
    y, x = RNG.normal(size=12), RNG.normal(size=(12, 2))

    def make():
        mu, slope = kg.normal(0, 1, name="mu"), kg.normal(0, 1, shape=2, name="slope")
        theta = kg.normal(mu, 1, shape=12, name="theta")
        scale, rows = kg.exp(0.1 * theta), kg.data(x)
        for i in range(12):
            mean = theta[i] + scale[-1 - i] + (rows[i] * slope).sum()
            kg.observe(kg.data(y[i]), kg.normal(mean, 1.0))
        return kg.model(mu)

    check(monkeypatch, make, groups=1)


def test_families_and_attributes_tell_pieces_apart(monkeypatch):
    def make():
        w = kg.normal(0, 1, shape=(3, 9), name="w")
        for k in range(9):
            law = kg.normal if k % 2 else kg.laplace
            kg.observe(kg.data(float(k)), law(w[0, k], 1.0))
            kg.observe(kg.data(float(k)), kg.student(4.0, w[:, k].sum()))
        for _ in range(9):
            z = kg.normal(0, 1)
            kg.factor(kg.sum(kg.reshape(w, (9, 3)), axis=_ % 2).max() - z**2)
        for k in range(18):
            law = kg.normal if k % 2 else kg.laplace
            kg.observe(kg.data(0.5 * k), law(w[2, 0] * k, 1.0))
        return kg.model(w)

    check(monkeypatch, make, groups=3)


def test_one_term_that_is_stated_many_times(monkeypatch):
    def make():
        w = kg.normal(0, 1, name="w")
        term = -0.1 * w**2
        for _ in range(9):
            kg.factor(term)
        return kg.model(w)

    model, plain = make(), kg.normal(0, 1, name="w")
    kg.factor(-0.9 * plain**2)
    at = np.array([[0.3], [-1.2]])
    np.testing.assert_allclose(model.log_prob(at), kg.model(plain).log_prob(at), rtol=1e-12)


def test_counts_that_are_small_and_large(monkeypatch):
    """Plain sums do for small counts alone: large ones are another kind of piece."""
    counts = np.array([3, 10**14] * 8)

    def make():
        w = kg.normal(0, 1, name="w")
        for count in counts:
            kg.observe(kg.data(count), kg.poisson(float(count) * kg.exp(1e-8 * w)))
        return kg.model(w)

    model = check(monkeypatch, make, groups=2)
    at = 0.7
    # The saddle point form keeps its digits where counts and rates are large.
    wanted = [stats.poisson.logpmf(3, 3 * np.exp(1e-8 * at))] * 8
    step = 1e-8 * at
    wanted += [1e14 * (step - np.expm1(step)) - 0.5 * np.log(2e14 * np.pi) - 1 / 12e14] * 8
    wanted = sum(wanted) + stats.norm.logpdf(at)
    assert float(model.log_prob([at])) == pytest.approx(wanted, abs=1e-6)


def observed_steps(y):
    """A recurrence with an observation in each step."""
    rho, sd, z = kg.uniform(0, 1), kg.half_normal(1), kg.normal(0, 1, shape=len(y))
    level = 0.0
    for t, value in enumerate(y):
        level = rho * level + sd * z[t]
        if not np.isnan(value):
            kg.observe(value, kg.normal(level, 0.5))
    return kg.model(rho, sd, z)


def test_an_observation_of_each_step_of_a_recurrence(monkeypatch):
    y = np.cos(np.arange(40.0))
    gaps = np.where(np.arange(40) % 7 == 3, np.nan, y)
    check(monkeypatch, lambda: observed_steps(gaps), groups=1)
    model = check(monkeypatch, lambda: observed_steps(y), groups=1)
    u = RNG.normal(size=42)
    values = model.transform(u)
    level, expected = 0.0, model.log_prob(u) - model.log_prob(u, adjusted=False)
    for value, z in zip(y, u[2:], strict=True):
        level = values["rho"] * level + values["sd"] * z
        expected += stats.norm(level, 0.5).logpdf(value) + stats.norm.logpdf(z)
    expected += stats.halfnorm.logpdf(values["sd"])
    assert model.log_prob(u) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("gap", [None, 5])
def test_the_program_of_observed_steps_does_not_grow_with_their_number(gap):
    """All steps are observed, or some are left out."""

    def size(count):
        y = np.zeros(count)
        y[gap or count :: gap or 1] = np.nan
        model = observed_steps(y)
        with x64():
            data = model.bind().data
            program = jax.make_jaxpr(lambda u: model.density.log_density(u, data))
            return len(program(np.zeros(count + 2)).jaxpr.eqns)

    assert size(40) == size(80)


ZEROS = np.array([0.0, 0.5, 0.0, 1.5, 0.0, 2.0, 1.0, 0.3, 0.0, 0.8])


def roots_of_pieces():
    """The slope of the root of 0 is infinite; it is taken where the value is positive."""
    a, b = kg.half_normal(1), kg.normal(0, 1)
    for value in ZEROS:
        x = kg.data(value)
        kg.observe(1.0, kg.normal(kg.where(x > 0, b * kg.sqrt(a * x), b), 1.0))
    return kg.model(a, b)


def roots_of_groups():
    """A root of each of five groups, which the pieces of some groups do not take."""
    a, b = kg.half_normal(1), kg.normal(0, 1)
    groups = [kg.sqrt(a * kg.data(value)) for value in ZEROS[:5]]
    for i in range(20):
        x = kg.data(ZEROS[i % 5])
        kg.observe(1.0, kg.normal(kg.where(x > 0, groups[i % 5], b), 1.0))
    return kg.model(a, b)


def roots_of_rows():
    a, b = kg.half_normal(1), kg.normal(0, 1)
    for i in range(10):
        x = kg.data(ZEROS[: i + 1])
        kg.observe(np.ones(i + 1), kg.normal(kg.where(x > 0, b / (a * x), b), 1.0))
    return kg.model(a, b)


def roots_of_unknowns():
    """Each piece has an unknown with a logarithm that its bijector computes."""
    b = kg.normal(0, 1)
    for value in ZEROS:
        a, x = kg.half_normal(1), kg.data(value)
        kg.factor(kg.where(x > 0, kg.log(a) + kg.sqrt(a * x), kg.log(a)) * b)
    return kg.model(b)


def roots_of_places():
    """Each piece reads an element of an array of roots, another element of which is not used."""
    a, b = kg.half_normal(1), kg.normal(0, 1)
    for value in ZEROS:
        roots = kg.sqrt(a * kg.data([value, 1.0]))
        kg.observe(1.0, kg.normal(kg.where(kg.data(value) > 0, b * roots[0], b), 1.0))
    return kg.model(a, b)


def roots_of_places_by_rows():
    """The same, for pieces of several rows, some of which are used."""
    a, b = kg.half_normal(1), kg.normal(0, 1)
    for i in range(10):
        value = ZEROS[i] + 0.1
        roots, x = kg.sqrt(a * kg.data([value, 1.0])), kg.data(np.full(i + 1, value))
        kg.observe(np.ones(i + 1), kg.normal(kg.where(x > 0.5, b * roots[0], b), 1.0))
    return kg.model(a, b)


def roots_of_steps():
    """Each step reads the level before; some have a side of another kind."""
    a, b = kg.half_normal(1), kg.normal(0, 1)
    level = b
    for value in np.tile(ZEROS, 3):
        x = kg.data(value)
        root = kg.log(a * x) if value == 0.5 else kg.sqrt(a * x)
        level = kg.where(x > 0, 0.5 * level * root, level)
        kg.observe(1.0, kg.normal(level, 1.0))
    return kg.model(a, b)


@pytest.mark.parametrize(
    "make",
    [
        *(roots_of_pieces, roots_of_groups, roots_of_rows, roots_of_unknowns),
        *(roots_of_places, roots_of_places_by_rows, roots_of_steps),
    ],
)
def test_sides_have_derivatives_where_they_are_taken(monkeypatch, make):
    groups = 2 if make is roots_of_unknowns else 1
    model = check(monkeypatch, make, groups)
    assert np.isfinite(model.gradient(RNG.normal(size=model.free_size))).all()


def test_the_derivatives_of_observed_roots():
    model = roots_of_pieces()
    u, width = np.array([0.3, 0.7]), 1e-5
    for i in range(2):
        step = width * np.eye(2)[i]
        slope = (model.log_prob(u + step) - model.log_prob(u - step)) / (2 * width)
        assert model.gradient(u)[i] == pytest.approx(slope, rel=1e-7)
