import jax
import mpmath as mp
import numpy as np
from scipy import special as sp
from tests.graph.exact import compare

from kinetograph.graph.numerics import gaussian
from kinetograph.graph.precision import x64

TAILS = [(x,) for x in (-1e5, -100, -50.5, -37, -5, -1, -0.1, 1e-3, 1, 5, 7, 8, 20, 37)]


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_ndtr(x):
    return mp.log(ndtr(x)) if x < 0 else mp.log1p(-ndtr(-x))


def mills(x):
    return mp.npdf(x) / ndtr(x)


def test_scaled_complementary_error_function():
    x = np.array([0.0, 1e-9, 0.3, 0.999, 1, 1.5, 7.999, 8, 20, 1e5, 1e200])
    with x64():
        np.testing.assert_allclose(gaussian.erfcx(x), sp.erfcx(x), rtol=1e-13)


def test_normal_distribution_function_and_its_logarithm():
    # Near 1 a slope of 1e-298 is a difference of numbers with as many digits.
    compare(gaussian.ndtr, ndtr, [p for p in TAILS if p[0] >= -37], rtol=1e-11, digits=600)
    compare(gaussian.log_ndtr, log_ndtr, TAILS)
    compare(gaussian.mills, mills, TAILS)


def test_logarithm_far_below():
    """-x**2 / 2 - log(-x sqrt(2 pi)), down to the largest square."""
    x = -np.array([1e8, 1e16, 1e17, 1e100, 1e150])
    wanted = -0.5 * x * x - np.log(-x * np.sqrt(2 * np.pi))
    with x64():
        np.testing.assert_allclose(jax.jit(gaussian.log_ndtr)(x), wanted, rtol=1e-14)
    single = jax.jit(gaussian.log_ndtr)(np.float32([-1e5, -1e8, -1e15]))
    np.testing.assert_allclose(single, [-5e9, -5e15, -5e29], rtol=1e-6)


def test_quantiles():
    p = np.array([1e-300, 1e-100, 1e-10, 0.1, 0.4999999, 0.9, 1 - 2.0**-53])
    with x64():
        np.testing.assert_allclose(jax.jit(gaussian.ndtri)(p), sp.ndtri(p), rtol=1e-12)
    compare(gaussian.erfinv, mp.erfinv, [(-0.99999,), (-1e-9,), (0.3,), (0.999,)])
