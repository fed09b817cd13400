"""Observations of one number by step: the vectors are those of the observed series."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models.centring import Centring, ChosenForms
from kinetograph.models.series_terms import SeriesTerm, series_terms

STEPS = 26
Y = np.cos(np.arange(1.0 * STEPS))
SDS = 1 + 0.1 * np.sin(np.arange(1.0 * STEPS))


def walk(observe):
    """Levels that are observed with a slope, an offset and an sd for each step."""
    s, error, z = kg.half_normal(1), kg.half_normal(1), kg.normal(0, 1, shape=STEPS, name="z")
    level, levels = 0.5, []
    for t in range(STEPS):
        level = level + s * z[t]
        levels.append(level)
    observe(Y, levels, lambda x, t: kg.normal(2 * x - Y[t], error * SDS[t]))
    return s, error


def autoregression(observe):
    """The first value is stationary; the data are held by `kg.data`."""
    rho, error, z = kg.uniform(-1, 1), kg.half_normal(1), kg.normal(0, 1, shape=STEPS, name="z")
    level = z[0] / kg.sqrt(1 - rho**2)
    levels = [level]
    for t in range(1, STEPS):
        level = rho * level + z[t]
        levels.append(level)
    observe(kg.data(Y, name="y"), levels, lambda x, t: kg.normal(x, error))
    return rho, error


def trend(observe):
    """A level and a slope: two unknowns of a linear system."""
    s1, s2, error = kg.half_normal(1), kg.half_normal(1), kg.half_normal(1)
    z1, z2 = (kg.normal(0, 1, shape=STEPS, name=name) for name in ("z1", "z2"))
    level, slope, levels = 0.0, 0.0, []
    for t in range(STEPS):
        slope = slope + s2 * z2[t]
        level = level + slope + s1 * z1[t]
        levels.append(level)
    observe(Y, levels, lambda x, t: kg.normal(x, error))
    return s1, s2, error


def started(observe):
    """An unknown before the first step, which is observed, too."""
    s, z = kg.half_normal(1), kg.normal(0.3, 2, shape=STEPS - 1, name="z")
    level = kg.normal(0, 1)
    levels = [level]
    for t in range(STEPS - 1):
        level = level - s * z[t]
        levels.append(level)
    observe(Y, levels, lambda x, t: kg.normal(x, 0.5))
    return s


def numbers(observe):
    """A level by an unknown number for each step."""
    s, error = kg.half_normal(1), kg.half_normal(1)
    levels = [kg.normal(0, 1, name="z")]
    for t in range(1, STEPS):
        levels.append(kg.normal(levels[-1], s, name=f"z {t}"))
    observe(Y, levels, lambda x, t: kg.normal(x, error))
    return s, error


def numbers_with_gaps(observe):
    """Some numbers have no data, also the last two."""
    s, error, levels = kg.half_normal(1), kg.half_normal(1), [kg.normal(0, 1, name="z")]
    for t in range(1, STEPS + 5):
        levels.append(kg.normal(levels[-1], s, name=f"z {t}"))
    seen = [*levels[:2], *levels[3:9], *levels[11:-2]]
    observe(Y, seen, lambda x, t: kg.normal(x, error))
    return s, error


def volatility(observe):
    s, z = kg.half_normal(1), kg.normal(0, 1, shape=STEPS, name="z")
    level, levels = 0.0, []
    for t in range(STEPS):
        level = 0.9 * level + s * z[t]
        levels.append(level)
    observe(Y, levels, lambda x, t: kg.normal(0, kg.exp(x / 2)))
    return s


def one_by_one(y, levels, follows):
    for t in range(STEPS):
        kg.observe(y[t], follows(levels[t], t))


def at_once(y, levels, follows):
    kg.observe(y, follows(kg.stack(levels), slice(None)))


BUILDS = [walk, autoregression, trend, started, numbers, numbers_with_gaps, volatility]


@pytest.mark.parametrize("build", BUILDS)
def test_the_vectors_of_steps_that_are_observed_one_by_one(build):
    """Position, log density and gradient in the coordinates are those of the series."""
    found = []
    for observe in (one_by_one, at_once):
        model = kg.model(lambda observe=observe: build(observe))
        centring, rng = Centring(model), np.random.default_rng(4)
        unknowns = [v for vector in centring.vectors.values() for v in vector.unknowns]
        names = {model.name(v).split()[0] for v in unknowns}
        assert sorted(names) == (["z1", "z2"] if build is trend else ["z"])
        assert all((v.data is None) == (build is volatility) for v in centring.vectors.values())
        places = centring.vector_places
        forms = ChosenForms(
            np.ones(model.free_size), np.repeat([[1.0], [0.8]], len(places), axis=1)
        )
        with x64():
            moved = model.bind()._replace(centring=centring, forms=forms)
            value, slope, _ = jax.jit(moved.value_and_gradient)(rng.normal(size=model.free_size))
        found.append((value, slope))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-10)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-8, atol=1e-9)


def test_other_terms_stay():
    """Too few observations, vectors of numbers, and unknowns that follow a distribution."""

    def build(count, shape=()):
        s, z = kg.half_normal(1), kg.normal(0, 1, shape=(count, *shape))
        for t in range(count):
            kg.observe(np.ones(shape), kg.normal(s * z[t], 1))
        return s

    def chain():
        x, s = kg.normal(0, 1), kg.half_normal(1)
        for _ in range(STEPS):
            x = kg.normal(x, s)
        return x, s

    for make in (lambda: build(23), lambda: build(STEPS, (2,)), chain):
        terms = list(series_terms(kg.model(make).density))
        assert not any(isinstance(term, SeriesTerm) for term in terms)
    density = kg.model(lambda: build(24)).density
    terms = list(series_terms(density))
    assert sum(isinstance(term, SeriesTerm) for term in terms) == 1
    assert len(terms) == len(density.terms) - 23
