"""The beta function for negative and extreme arguments; points.py has more points."""

import jax
import mpmath as mp
import numpy as np
from scipy import special as sp
from tests.graph.exact import compare

from kinetograph.graph.numerics.betas import any_betaln, beta
from kinetograph.graph.precision import x64

BELOW = [(-0.5, 2), (0.3, -1.5), (-0.5, -2.25), (-7.3, 12.5), (2.5, 3), (1e-3, 4), (0.5, 300)]


def test_values_and_slopes():
    compare(beta, mp.beta, BELOW, atol=1e-14)
    compare(any_betaln, lambda a, b: mp.log(abs(mp.beta(a, b))), BELOW, atol=1e-14)


def test_poles_and_ends():
    inf, nan = np.inf, np.nan
    ends = [(0, 1), (0, 0), (-1, 0.5), (-1, 1), (-2, 1), (-2, 2), (-2, 3), (-3, -2), (1, inf)]
    ends += [(0.5, -0.5), (nan, 1), (inf, inf), (1e-300, 2), (inf, 0)]
    a, b = np.array(ends).T
    with x64():
        found, size = jax.jit(lambda a, b: (beta(a, b), any_betaln(a, b)))(a, b)
    np.testing.assert_allclose(found, sp.beta(a, b), rtol=1e-13)
    np.testing.assert_allclose(size, sp.betaln(a, b), rtol=1e-13, atol=1e-14)


def test_single_precision():
    a, b = np.array(BELOW, np.float32).T
    with x64():
        found = beta(a, b)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, sp.beta(a.astype(float), b.astype(float)), rtol=5e-5)
