"""Internal gamma functions; the public ones are tested in test_functions.py."""

import jax
import mpmath as mp
import numpy as np
import pytest
from tests.graph.exact import compare

from kinetograph.graph.numerics import gammas
from kinetograph.graph.precision import x64


def log_gamma(x):
    return mp.loggamma(x).real


def deviance(x, m):
    return x * mp.log(x / m) + m - x


@pytest.mark.parametrize("order", [2, 3])
def test_polygamma(order):
    points = [(x,) for x in (0.1, 1, 2.5, 10, 1e5, 1e12, 1e70, -0.5, -1.5, -9.3, -100.7)]
    compare(lambda x: gammas.polygamma(order, x), lambda x: mp.psi(order, x), points)


def test_deviance():
    points = [(1e12, 1e12 + 1e6), (3, 3.0001), (1, 100), (100, 1), (10, 9), (10, 8), (0.5, 0.45)]
    compare(gammas.bd0, deviance, points)
    with x64():
        # no count, and none expected: x log(x / m) is 0
        slope = jax.jit(jax.vmap(jax.value_and_grad(lambda m, x: gammas.bd0(x, m)), (0, None)))
        value, first = slope(np.array([0.0, 2.0]), 0.0)
        np.testing.assert_array_equal(value, [0.0, 2.0])
        np.testing.assert_array_equal(first, [1.0, 1.0])


def test_rest_of_stirlings_formula():
    def rest(x):
        with mp.workdps(mp.mp.dps + 30):
            return log_gamma(x + 1) - (x + 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2

    points = [(x,) for x in (1e-5, 0.5, 1, 5, 9.99, 10, 50, 1e5, 1e12)]
    compare(gammas.stirlerr, rest, points, atol=1e-15)


def test_derivatives_of_betaln_by_one_argument():
    """First and second derivatives are differences of digammas that nearly cancel."""
    a, b = np.array([(1e-8, 1e-8), (3, 4), (50, 40), (1e12, 1e3), (1e100, 1e-3), (9.99, 10.01)]).T
    first = jax.grad(gammas.betaln)
    with x64():
        found = jax.jit(jax.vmap(lambda a, b: (first(a, b), jax.grad(first)(a, b))))(a, b)
    with mp.workdps(250):
        pairs = [(mp.mpf(x), mp.mpf(x) + mp.mpf(y)) for x, y in zip(a, b)]
        right = [[float(mp.psi(n, x) - mp.psi(n, total)) for x, total in pairs] for n in (0, 1)]
    np.testing.assert_allclose(found, right, rtol=1e-12)


def test_rising_factorials():
    points = [(0.1, 0), (9.99, 3), (10, 3), (1e5, 0), (1e12, 7), (1e20, 5000), (50, 4e3)]

    def logarithm(a, d):
        with mp.workdps(mp.mp.dps + 40):
            return log_gamma(a + d) - log_gamma(a)

    compare(gammas.log_rising, logarithm, points, atol=1e-13)


def test_binomial_coefficient_of_whole_numbers():
    whole = [(-2, 3), (-2, 0), (-2, 2), (-1, 4), (5, -1), (5, 9)]
    with x64():
        n, k = np.array(whole, float).T
        found, logs = jax.jit(lambda n, k: (gammas.comb(n, k), gammas.log_comb(n, k)))(n, k)
    np.testing.assert_allclose(found, [-4, 1, 3, 1, 0, 0], rtol=1e-13)
    assert np.isnan(logs[0])
    assert logs[-1] == -np.inf


def test_counts_have_the_density_of_loaders_formulas():
    x, m = 1e12, 1e12 + 3e6
    with x64():
        small = jax.jit(lambda x, m: gammas.stirlerr(x) + gammas.bd0(x, m))(x, m)
    found = -float(small) - 0.5 * np.log(2 * np.pi * x)
    with mp.workdps(50):
        right = x * mp.log(mp.mpf(m)) - m - log_gamma(mp.mpf(x) + 1)
    np.testing.assert_allclose(found, float(right), rtol=1e-12)


def test_value_and_derivative_of_gammaln_are_not_cut_into_kernels():
    with x64():
        both = jax.jit(jax.value_and_grad(gammas.gammaln)).lower(2.5).compile()
    assert both.as_text().count(" fusion(") < 6
