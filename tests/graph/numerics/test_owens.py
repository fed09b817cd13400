"""Owen's T function: values of SciPy, slopes of the definition, and limits."""

import jax
import numpy as np
from scipy import special as sp
from scipy import stats

from kinetograph.graph.numerics.owens import owens_t
from kinetograph.graph.precision import x64

H = np.array([0, 1e-8, 0.1, -0.7, 1, 2.5, 5, 8.9, 9.1, 20, 36])
A = np.array([0, 1e-10, 0.3, -0.9, 1, 1 + 1e-12, 1.1, -3, 50, 1e6])
GRID = [g.ravel() for g in np.meshgrid(H, A)]
BOTH = jax.jit(jax.vmap(jax.value_and_grad(owens_t, (0, 1))))


def test_value():
    with x64():
        found, _ = BOTH(*GRID)
    h, a = GRID
    right = sp.owens_t(h, a)
    tiny = a == 1e-10  # SciPy's values have only a few correct digits there
    right[tiny] = a[tiny] * np.exp(-0.5 * h[tiny] ** 2) / (2 * np.pi)
    np.testing.assert_allclose(found, right, rtol=3e-14, atol=1e-300)


def test_slopes():
    h, a = GRID
    by_h = -stats.norm.pdf(h) * sp.erf(a * h / np.sqrt(2)) / 2
    by_a = np.exp(-0.5 * h * h * (1 + a * a)) / (2 * np.pi * (1 + a * a))
    with x64():
        _, found = BOTH(h, a)
    np.testing.assert_allclose(found[0], by_h, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(found[1], by_a, rtol=1e-12, atol=1e-300)


def test_second_derivatives():
    def slopes(h, a):
        density = np.exp(-0.5 * h * h) / np.sqrt(2 * np.pi)
        across = -h * np.exp(-0.5 * h * h * (1 + a * a)) / (2 * np.pi)
        by_h = h * density * (stats.norm.cdf(a * h) - 0.5) + a * across / h if h else -a / 2 / np.pi
        scale = h * h + 2 / (1 + a * a)
        by_a = -a * scale * np.exp(-0.5 * h * h * (1 + a * a)) / (2 * np.pi * (1 + a * a))
        return [[by_h, across], [across, by_a]]

    hessian = jax.jit(jax.hessian(owens_t, (0, 1)))
    with x64():
        for point in ((0.7, 1.3), (0.0, 0.5), (-2.0, 0.4)):
            np.testing.assert_allclose(hessian(*point), slopes(*point), rtol=1e-10, atol=1e-15)


def test_limits():
    inf, nan = np.inf, np.nan
    h, a = np.array([(0, inf), (1, inf), (inf, 1), (inf, inf), (-1, -inf), (nan, 1), (1, nan)]).T
    with x64():
        found, slopes = BOTH(h, a)
    np.testing.assert_allclose(found, sp.owens_t(h, a), rtol=1e-14)
    np.testing.assert_array_equal(np.isnan(slopes[0]), [0, 0, 0, 0, 0, 1, 1])


def test_in_single_precision():
    h, a = (g.astype(np.float32) for g in GRID)
    with x64():
        found = owens_t(h, a)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, sp.owens_t(*GRID), rtol=1e-5, atol=1e-27)
