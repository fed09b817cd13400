"""Densities that are finite at a bound of their support: values and one-sided derivatives there."""

import mpmath as mp
import numpy as np
import pytest

import kinetograph as kg


def _gamma(a, b):
    return lambda x: a * mp.log(b) - mp.loggamma(a) + (a - 1) * _log(x, a - 1) - b * x


def _beta(a, b):
    def density(x):
        constant = mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b)
        return constant + (a - 1) * _log(x, a - 1) + (b - 1) * _log(1 - x, b - 1)

    return density


def _log(x, weight):
    return mp.log(x) if weight else mp.mpf(0)


def _binomial(n, k):
    return lambda p: mp.log(mp.binomial(n, k)) + k * _log(p, k) + (n - k) * _log(1 - p, n - k)


# By name: the density of a number, the number, the side from which it is reached, the truth.
CASES = {
    "gamma": (lambda v: (kg.gamma(1.0, 2.0), v), 0.0, 1, _gamma(1, 2)),
    "gamma's rate": (lambda v: (kg.gamma(1.0, 2.0 + v), 0.0 * v), 0.0, 1, lambda v: mp.log(2 + v)),
    "exponential": (lambda v: (kg.exponential(2.0), v), 0.0, 1, _gamma(1, 2)),
    "chi-square of 2": (lambda v: (kg.gamma(1.0, 0.5), v), 0.0, 1, _gamma(1, mp.mpf(0.5))),
    "beta at 0": (lambda v: (kg.beta(1.0, 3.0), v), 0.0, 1, _beta(1, 3)),
    "beta at 1": (lambda v: (kg.beta(2.5, 1.0), v), 1.0, -1, _beta(mp.mpf(2.5), 1)),
    "beta of large shapes at 0": (lambda v: (kg.beta(1.0, 3e4), v), 0.0, 1, _beta(1, 30000)),
    "beta of large shapes at 1": (lambda v: (kg.beta(3e4, 1.0), v), 1.0, -1, _beta(30000, 1)),
    "uniform as beta": (lambda v: (kg.beta(1.0, 1.0), v), 0.0, 1, lambda v: mp.mpf(0)),
    "uniform": (lambda v: (kg.uniform(0.0, 2.0), v), 2.0, -1, lambda v: -mp.log(2)),
    "pareto": (
        lambda v: (kg.pareto(1.5, 2.0), v),
        2.0,
        1,
        lambda v: mp.log(1.5) + 1.5 * mp.log(2) - 2.5 * mp.log(v),
    ),
    "half_normal": (
        lambda v: (kg.half_normal(2.0), v),
        0.0,
        1,
        lambda v: mp.log(mp.sqrt(2 / mp.pi) / 2) - v * v / 8,
    ),
    "half_cauchy": (
        lambda v: (kg.half_cauchy(2.0), v),
        0.0,
        1,
        lambda v: mp.log(2 / (mp.pi * 2 * (1 + v * v / 4))),
    ),
    "binomial, none": (lambda v: (kg.binomial(5, v), 0), 0.0, 1, _binomial(5, 0)),
    "binomial, all": (lambda v: (kg.binomial(5, v), 5), 1.0, -1, _binomial(5, 5)),
    "binomial of many": (lambda v: (kg.binomial(20_000, v), 0), 0.0, 1, _binomial(20_000, 0)),
    "bernoulli": (lambda v: (kg.bernoulli(v), 1), 1.0, -1, _binomial(1, 1)),
    "poisson": (lambda v: (kg.poisson(v), 0), 0.0, 1, lambda v: -v),
    "negative_binomial": (
        lambda v: (kg.negative_binomial(2.5, v), 0),
        1.0,
        -1,
        lambda v: mp.mpf(2.5) * mp.log(v),
    ),
    "negative_binomial of mean 0": (
        lambda v: (kg.negative_binomial(mean=v, dispersion=0.5), 0),
        0.0,
        1,
        lambda v: -2 * mp.log1p(v / 2),
    ),
}


@pytest.fixture(scope="module")
def found():
    """Values and slopes of all cases, by one program."""
    point = {name: kg.placeholder((), name=f"v{i}") for i, name in enumerate(CASES)}
    outputs = []
    for name, (make, *_) in CASES.items():
        density = kg.log_density(*make(point[name]))
        outputs += [density, kg.gradients(density, point[name])]
    values = kg.compile(list(point.values()), outputs)(*(at for _, at, *_ in CASES.values()))
    return dict(zip(CASES, zip(values[::2], values[1::2], strict=True), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_value_and_slope(found, name):
    _, at, side, truth = CASES[name]
    with mp.workdps(40):
        h = side * mp.mpf(10) ** -25
        value, slope = truth(mp.mpf(at)), (truth(at + h) - truth(mp.mpf(at))) / h
    assert float(found[name][0]) == pytest.approx(float(value), rel=1e-10, abs=1e-12)
    assert float(found[name][1]) == pytest.approx(float(slope), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("large", [1.0, 1e4])
def test_simplex_with_zeros(large):
    x = kg.placeholder((3,), name="x")
    alpha = np.array([1.0, 2.0 * large, 3.0 * large])
    density = kg.log_density(kg.dirichlet(alpha), x)
    value, slope = kg.compile([x], [density, kg.gradients(density, x)])([0.0, 0.4, 0.6])
    constant = mp.loggamma(alpha.sum()) - sum(mp.loggamma(a) for a in alpha)
    wanted = constant + (alpha[1] - 1) * mp.log(0.4) + (alpha[2] - 1) * mp.log(0.6)
    assert float(value) == pytest.approx(float(wanted), rel=1e-8)
    # Of the slopes only differences within the simplex have a meaning.
    slopes = np.array([0.0, (alpha[1] - 1) / 0.4, (alpha[2] - 1) / 0.6])
    np.testing.assert_allclose(np.diff(slope), np.diff(slopes), rtol=1e-8)
