"""Distributions of a user's own against the library's and SciPy's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg


def log_density(x, scale=1.0):
    return jnp.log(x) - 2 * jnp.log(scale) - 0.5 * (x / scale) ** 2


def draw(key, shape, scale):
    return scale * jnp.sqrt(2 * jax.random.exponential(key, shape))


rayleigh = kg.distribution(log_density, draw=draw, support=(0, None), name="rayleigh")


def test_as_a_likelihood_and_as_an_unknown():
    y = np.array([0.8, 1.9, 1.1])
    s = rayleigh(2.0, name="s")
    kg.observe(y, rayleigh(scale=s))
    model = kg.model(s)
    at = np.array([[0.3], [-1.0]])
    value = np.exp(at)
    wanted = stats.rayleigh(0, value).logpdf(y).sum(-1) + at[:, 0]
    wanted += stats.rayleigh(0, 2).logpdf(value[:, 0])
    np.testing.assert_allclose(model.log_prob(at), wanted, rtol=1e-12)
    assert np.isfinite(model.gradient(at)).all()


@pytest.mark.parametrize("library", [kg, np])
def test_written_with_functions_of_arrays(library):
    """As `pm.CustomDist` takes them, of pytensor."""

    def inner(x, scale):
        return library.log(x / scale**2) - 0.5 * (x / scale) ** 2

    law = kg.distribution(inner, support=(0, None))
    y = np.array([0.8, 1.9, 1.1])
    s = rayleigh(2.0, name="s")
    kg.observe(y, law(s))
    model = kg.model(s)
    point = np.array([0.3])
    wanted = stats.rayleigh(0, 2).logpdf(np.exp(0.3)) + 0.3
    wanted += stats.rayleigh(0, np.exp(0.3)).logpdf(y).sum()
    np.testing.assert_allclose(model.log_prob(point), wanted, rtol=1e-12)
    slope = (model.log_prob(point + 1e-6) - model.log_prob(point - 1e-6)) / 2e-6
    np.testing.assert_allclose(model.gradient(point), slope, rtol=1e-7)


OUTER, SEEN = kg.normal(0, 1, name="outer"), kg.data(2.0, name="seen")


def test_draws_and_densities_elsewhere():
    x = rayleigh(2.0, shape=3000, name="x")
    drawn = np.asarray(kg.calculate(x, draws=1, seed=1)["x"]).reshape(-1)
    assert stats.kstest(drawn, stats.rayleigh(0, 2).cdf).pvalue > 1e-7
    assert stats.kstest(drawn, stats.rayleigh(0, 1).cdf).pvalue < 1e-7
    two = kg.calculate(rayleigh(1.0, name="a"), rayleigh(1.0, name="b"), draws=500, seed=1)
    a, b = (np.asarray(two[name]).reshape(-1) for name in "ab")
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.25
    found = kg.compile([], kg.log_density(rayleigh(2.0), [0.5, 1.0]))()
    np.testing.assert_allclose(found, stats.rayleigh(0, 2).logpdf([0.5, 1.0]), rtol=1e-12)
    mixed = kg.mixture(rayleigh(2.0), kg.gamma(2, 1), weights=[0.5, 0.5])
    found = kg.compile([], kg.log_density(mixed, [0.5]))()
    wanted = 0.5 * stats.rayleigh(0, 2).pdf(0.5) + 0.5 * stats.gamma(2).pdf(0.5)
    np.testing.assert_allclose(found, np.log(wanted), rtol=1e-12)
    with pytest.raises(kg.DataError):
        kg.log_density(rayleigh(2.0), [-1.0])


def test_whole_numbers_and_vectors():
    def zeta(x, s):
        return -s * jnp.log(x)

    top = 4
    law = kg.distribution(zeta, discrete=True, support=(1, top))
    z = law(2.0, name="z")
    mu = kg.normal(0, 1, name="mu")
    kg.observe(1.5, kg.normal(mu * z, 1))
    weights = -2.0 * np.log(np.arange(1, top + 1))
    each = weights + stats.norm(0.7 * np.arange(1, top + 1), 1).logpdf(1.5)
    wanted = np.logaddexp.reduce(each) + stats.norm.logpdf(0.7)
    assert kg.model(mu).log_prob([0.7]) == pytest.approx(wanted, rel=1e-12)

    def ring(x, radius):
        return -50.0 * (jnp.sqrt(jnp.sum(x * x, -1)) - radius) ** 2

    x = kg.distribution(ring, event_ndim=1)(1.0, shape=(5, 2), name="x")
    assert kg.model(x).log_prob(np.full(10, np.sqrt(0.5))) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: kg.distribution(3.0), "must be a function of x"),
        (lambda: kg.distribution(lambda: 0.0), "must be a function of x and of named"),
        (lambda: kg.distribution(log_density, support=3), "must be a pair"),
        (lambda: rayleigh(1.0, 2.0), "takes 1 parameters"),
        (lambda: rayleigh(sd=1.0), "sd is not a parameter; it takes scale, shape"),
        (lambda: rayleigh(1.0, scale=2.0), "scale is given twice"),
        (lambda: kg.distribution(lambda x, m: -m * x)(), "the parameter m is missing"),
    ],
)
def test_bad_input(make, text):
    with pytest.raises(TypeError, match=text):
        make()


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda x, m: jnp.sum(-((x - m) ** 2)), kg.ShapeError, r"of shape \(3,\), got shape \(\)"),
        (lambda x, m: -((x[:1] - m) ** 2), kg.ShapeError, r"of shape \(3,\), got shape \(1,\)"),
        (lambda x, m: None, TypeError, "must be an array, got None"),
        (lambda x, m: x @ jnp.ones(7), kg.ModelError, r"raised TypeError: .*; it was given x of"),
        (lambda x, m: {}[3], kg.ModelError, r"raised KeyError: 3; .*shape \(3,\), m of shape \(\)"),
        (lambda x, m: -x if m > 0 else x, kg.ModelError, "raised TracerBoolConversionError: "),
        (
            lambda x, m: -((x - OUTER) ** 2),
            kg.ModelError,
            r"uses outer \(.*not among its parameters",
        ),
        (lambda x, m: kg.log(SEEN) * x, kg.ModelError, r"uses seen \(.*not among its parameters"),
        (
            lambda x, m: kg.cond(kg.abs(m) > 0, lambda: -x, lambda: x),
            kg.ModelError,
            "has a loop, a branch or a derivative of kinetograph; write these with JAX",
        ),
    ],
)
def test_bad_log_densities(function, error, text):
    m = kg.normal(0, 1, name="m")
    law = kg.distribution(function, name="mine")
    kg.observe(np.ones(3), law(m))
    with pytest.raises(error, match=f"the log density of mine .*{text}.*test_custom.py"):
        kg.model(m).log_prob([0.1])


@pytest.mark.parametrize(
    ("draw", "error", "text"),
    [
        (lambda key, shape, m: jnp.zeros(7), kg.ShapeError, r"\(3,\), got shape \(7,\)"),
        (lambda key, shape, m: None, TypeError, "must be an array, got None"),
        (
            lambda key, shape, m: shape + m,
            kg.ModelError,
            r"raised TypeError: .*m of shape \(2?,?\)",
        ),
    ],
)
def test_bad_draws(draw, error, text):
    m = kg.normal(0, 1, name="m")
    law = kg.distribution(lambda x, m: -((x - m) ** 2), draw=draw, name="mine")
    kg.observe(np.ones(3), law(m), name="y")
    with pytest.raises(error, match=f"the draw of mine .*{text}.*test_custom.py"):
        kg.simulate(kg.model(m), draws=2, seed=1)


def test_draws_of_vectors():
    def ring(x):
        return -50.0 * (jnp.sqrt(jnp.sum(x * x, -1)) - 1.0) ** 2

    law = kg.distribution(ring, draw=lambda key, shape: jnp.full(shape, 0.5), event_ndim=1)
    x = law(shape=(5, 2), name="x")
    draws = kg.simulate(kg.model(x), draws=3, seed=1)["prior"]["x"].values
    np.testing.assert_array_equal(draws, np.full((1, 3, 5, 2), 0.5))


@pytest.mark.parametrize("library", [kg, jnp])
def test_unknowns_that_only_the_function_names(library):
    """The distribution then has no unknown, so that no model would evaluate it."""
    s = kg.half_normal(1, name="s")
    law = kg.distribution(lambda x: -0.5 * (x / s) ** 2 - library.log(s), name="mine")
    text = r"the log density of mine uses s \(.*not among its parameters; pass it as a parameter"
    with pytest.raises(kg.ModelError, match=text):
        kg.observe(np.ones(3), law())
