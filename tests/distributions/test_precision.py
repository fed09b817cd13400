"""Densities of single-precision data are computed in the working precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.distributions.family import FAMILIES
from kinetograph.graph.precision import x64

N = 100_000
Y = (1e4 + np.random.default_rng(1).normal(size=N)).astype(np.float32)
EXACT = Y.astype(float)


def logistic_score(z):
    return np.tanh(z / 2)


# The distribution of the data around mu, and the derivative of its log density by mu.
LOCATION = {
    "normal": (lambda mu: kg.normal(mu, 1.0), lambda z: z),
    "normal of a known sd": (
        lambda mu: kg.normal(mu, kg.data(np.full(N, 2.0, np.float32))),
        lambda z: z / 4,
    ),
    "normal of a computed mean": (lambda mu: kg.normal(kg.exp(kg.log(mu)), 1.0), lambda z: z),
    "cauchy": (lambda mu: kg.cauchy(mu, 1.0), lambda z: 2 * z / (1 + z * z)),
    "logistic": (lambda mu: kg.logistic(mu, 1.0), logistic_score),
    "student": (lambda mu: kg.student(4.0, mu, 1.0), lambda z: 5 * z / (4 + z * z)),
}


@pytest.mark.parametrize("name", LOCATION)
def test_location_of_single_precision_data(name):
    make, score = LOCATION[name]
    mu = kg.variable(name="mu")
    y = kg.data(jnp.asarray(Y))
    assert y.dtype == np.float32
    kg.observe(y, make(mu))
    model = kg.model(mu)
    for at in (1e4, 1e4 + 0.003):
        wanted = score(EXACT - at).sum()
        # One rounding of a single-precision mean would move it by 1e-3 N = 100.
        assert float(model.gradient([at])[0]) == pytest.approx(wanted, rel=1e-9, abs=1e-4)


def test_regression_on_a_single_precision_design():
    rng = np.random.default_rng(2)
    x = (1e3 + rng.normal(size=(500, 2))).astype(np.float32)
    y = (rng.normal(size=500) + 3e3).astype(np.float32)
    beta = kg.variable(shape=2, name="beta")
    observed, scale = kg.data(y), np.float32(0.3)
    kg.observe(observed, kg.laplace(kg.data(x) @ beta, scale))
    got = kg.model(beta).log_prob([1.0, 2.0])
    mean = x.astype(float) @ np.array([1.0, 2.0])
    wanted = -(np.abs(y - mean) / float(scale)).sum() - 500 * np.log(2 * float(scale))
    assert float(got) == pytest.approx(wanted, rel=1e-13)


def test_single_precision_is_kept_where_it_was_chosen():
    with kg.precision("float32"):
        mu = kg.normal(0, 1, name="mu")
        y = kg.data(np.float32([1.0, 2.0]))
        kg.observe(y, kg.logistic(mu, 1.0))
        model = kg.model(mu)
    (term,) = (t for t in model.density.terms if t.target is not mu.node)
    assert term.node.dtype == np.float32
    environment = {n: np.float32([1.0, 2.0]) if n.shape else np.float32(0.5) for n in term.needs()}
    with x64():
        assert term.elements(environment).dtype == np.float32


def test_counts_of_a_rate_of_none():
    """By its logarithm, -inf: sure of 0, impossible for others, with slopes that are numbers."""
    family = FAMILIES["poisson_log_rate"]
    counts, rate = np.array([0.0, 1.0, 7.0]), np.full(3, -np.inf)
    for dtype in (np.float64, np.float32):
        with x64():
            x, log_rate = counts.astype(dtype), rate.astype(dtype)
            found = family.log_density(x, log_rate, small=True)
            slope = jax.grad(lambda r, x=x: family.log_density(x, r, small=True).sum())(log_rate)
        np.testing.assert_array_equal(found, [0.0, -np.inf, -np.inf])
        np.testing.assert_array_equal(slope, counts)
