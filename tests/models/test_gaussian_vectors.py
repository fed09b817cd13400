"""The vectors that are normal given other unknowns, and their coordinates in a model."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models.bound_density import Position
from kinetograph.models.centring import Centring, Forms


def walks():
    """Two walks that stand in one sum, and an autoregressive table with a location."""
    sd, rho = kg.half_normal(1, shape=2, name="sd"), kg.uniform(-1, 1, name="rho")
    mu = kg.normal(0, 1, shape=(3, 1), name="mu")
    level = kg.random_walk(sd[0], 5, drift=mu[0, 0], init_sd=2.0, name="level")
    season = kg.random_walk(sd[1], 5, name="season")
    table = kg.ar(rho, sd[:1], shape=(3, 5), constant=0.5, name="table")
    kg.observe(np.ones(5), kg.normal(level + season, 1))
    kg.observe(np.ones((3, 5)), kg.poisson(kg.exp(mu + table)))
    return sd, rho, mu, level, season, table


def process():
    """A latent process by standard numbers, and one by value with an unknown mean."""
    length, mu = kg.lognormal(0, 0.5, name="length"), kg.normal(0, 1, name="mu")
    points = np.arange(4.0)
    one = kg.gp.Process(kg.gp.rbf(length), mean=mu).latent(points, name="z")
    K = kg.gp.rbf(length)(points) + 0.1 * np.eye(4)
    two = kg.multivariate_normal(mu * np.ones(4), K, name="two")
    kg.observe(np.array([1, 0, 3, 2]), kg.poisson(kg.exp(one)))
    kg.observe(np.ones(4), kg.normal(two, 1))
    return length, mu, one, two


def correlated():
    """Correlated effects as rows, as columns and by value."""
    sd, L = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(2, 2, name="L")
    R, mu = kg.lkj_correlation(2, 2, name="R"), kg.normal(0, 1, shape=2, name="mu")
    rows, columns = kg.normal(0, 1, shape=(3, 2), name="rows"), kg.normal(0, 1, shape=(2, 3))
    value = kg.multivariate_normal(mu * np.ones((3, 2)), chol=sd[:, None] * L, name="value")
    effects = mu + (rows @ L.T) * sd + (kg.cholesky(R) @ columns).T + value
    kg.observe(np.ones((3, 2)), kg.normal(effects, 1))
    return {"sd": sd, "L": L, "R": R, "mu": mu, "rows": rows, "columns": columns, "value": value}


def below():
    """An effect with a walk as its location, and a walk whose scale is such an effect."""
    sd = kg.half_normal(1, name="sd")
    walk = kg.random_walk(sd, 3, name="walk")
    effect = kg.normal(walk, sd, name="effect")
    last = kg.random_walk(kg.exp(effect[0]), 3, name="last")
    kg.observe(np.ones(3), kg.normal(effect + last, 1))
    return sd, walk, effect, last


def differences(forward, y, width=1e-5):
    """The derivative of the free state by central differences."""
    changes = width * np.eye(len(y))
    return np.array([(forward(y + d)[0] - forward(y - d)[0]) / (2 * width) for d in changes]).T


BUILDS = {
    walks: {"level": "season", "season": None, "table": "mu"},
    process: {"z": "mu", "two": None},
    correlated: {"rows": "mu", "columns": None, "value": "rows"},
    below: {"walk": None, "last": "effect"},
}


@pytest.mark.parametrize("build", BUILDS)
def test_the_vectors_that_are_found(build):
    """Of two vectors in one sum, the first has the other one as its location."""
    model = kg.model(build)
    centring = Centring(model)
    assert {model.name(v) for v in centring.vectors} == set(BUILDS[build])
    for unknown, vector in centring.vectors.items():
        name = BUILDS[build][model.name(unknown)]
        assert (vector.location is None) == (name is None), model.name(unknown)


@pytest.mark.parametrize("build", BUILDS)
def test_the_maps_of_a_model(build):
    model = kg.model(build)
    centring, rng = Centring(model), np.random.default_rng(2)
    x, c = rng.normal(size=model.free_size), rng.uniform(size=model.free_size)
    elements = len(centring.vector_places)
    forms = Forms(c, np.stack([rng.uniform(0, 3, elements), rng.normal(size=elements)]))
    written = centring.written
    with x64():
        density = model.bind()
        plain = density.value_and_gradient(x)[:2]

        @jax.jit
        def maps(forms):
            moved = density._replace(centring=centring, forms=forms)
            there = moved.into(Position(x, *plain))
            return there, moved.value_and_gradient(there.q)[:2], moved.out_of(there)

        forward = jax.jit(lambda y: centring.forward(y, forms, density.data))
        there, (value, slope), back = maps(forms)
        np.testing.assert_allclose(
            forward(there.q)[1], np.linalg.slogdet(differences(forward, there.q))[1], rtol=1e-5
        )
        np.testing.assert_allclose(there.log_density, value, rtol=1e-9)
        np.testing.assert_allclose(there.gradient, slope, rtol=1e-6, atol=1e-8)
        for got, expected in zip(back, (x, *plain), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)
        there, (value, slope), _ = maps(written)
        np.testing.assert_array_equal(there.q, x)
        np.testing.assert_allclose(value, plain[0], rtol=1e-14)
        np.testing.assert_allclose(slope, plain[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("build", [walks, process, correlated])
def test_evidence_has_the_slope_of_the_likelihood(build):
    """The oracle: the slope of the terms of the data, for a small change of f."""
    model = kg.model(build)
    centring, rng = Centring(model), np.random.default_rng(3)
    x = rng.normal(size=model.free_size)
    with x64():
        density = model.bind()
        value, gradient, _ = density.value_and_gradient(x)
        rows = np.asarray(centring.evidence(x, gradient, x, gradient, density.data))
        places = centring.vector_places
        np.testing.assert_array_equal(rows[2], x[places])
        np.testing.assert_allclose(rows[3], gradient[places], rtol=1e-12)
        if build is walks:
            mu, level, season, table = x[3:6], x[6:11], x[11:16], x[16:].reshape(3, 5)
            both = level + season
            f = np.concatenate([both, season, (mu[:, None] + table).ravel()])
            slope = [1 - both, 1 - both, (1 - np.exp(mu[:, None] + table)).ravel()]
            np.testing.assert_allclose(rows[0], f, rtol=1e-12)
            np.testing.assert_allclose(rows[1], np.concatenate(slope), rtol=1e-8, atol=1e-8)
        if build is process:
            np.testing.assert_allclose(rows[0, 4:], x[6:], rtol=1e-12)
            np.testing.assert_allclose(rows[1, 4:], 1 - x[6:], rtol=1e-7, atol=1e-8)
            counts = np.array([1, 0, 3, 2])
            np.testing.assert_allclose(rows[1, :4], counts - np.exp(rows[0, :4]), rtol=1e-5)


@pytest.mark.parametrize(
    "build",
    [
        lambda sd, z: kg.exp(sd) * np.eye(3) @ z,  # not a Cholesky factor
        lambda sd, z: kg.cholesky(np.eye(3) + 0.5) @ z + sd,  # a known matrix
        lambda sd, z: kg.cholesky(sd[0] * np.eye(3)).T @ z,  # an upper factor
    ],
)
def test_other_products_stay_as_written(build):
    def model():
        sd, z = kg.half_normal(1, shape=3), kg.normal(0, 1, shape=3)
        kg.observe(np.zeros(3), kg.normal(build(sd, z), 1))
        return sd, z

    assert not Centring(kg.model(model)).vectors


@pytest.mark.parametrize(
    "vector",
    [
        lambda sd: kg.ar([0.5, 0.2], sd, 5),
        lambda sd: kg.random_walk(1.0, 5),
        lambda sd: kg.multivariate_normal(np.zeros(5), precision=np.eye(5) / sd),
    ],
)
def test_vectors_without_a_law_stay_as_written(vector):
    def model():
        sd = kg.half_normal(1)
        x = vector(sd)
        kg.observe(np.zeros(5), kg.normal(x, sd))
        return sd, x

    assert not Centring(kg.model(model)).vectors
