"""The zeta functions of Riemann and Hurwitz; points.py has more points."""

import jax
import mpmath as mp
import numpy as np
import pytest
from scipy import special as sp
from tests.graph.exact import compare

from kinetograph.graph.numerics.zeta import zeta
from kinetograph.graph.precision import x64

BELOW_1 = (-170.2, -20.3, -3.5, -2, -1, -0.5, -0.101, -0.099, -1e-10, 0, 1e-20, 0.5, 0.9999)
ABOVE_1 = (1.0001, 2, 20, 60, 1e3, 1e5, 1e300)


@pytest.mark.parametrize("places", [BELOW_1, ABOVE_1])
def test_riemanns(places):
    compare(zeta, mp.zeta, [(x,) for x in places], atol=1e-300)


def test_poles_and_limits():
    s = np.array([1.0, np.inf, -np.inf, np.nan])
    pairs = np.array([(1, 2), (2, 0), (2, -3), (0.5, 2), (np.nan, 1), (2, np.inf), (2, np.nan)]).T
    with x64():
        np.testing.assert_array_equal(zeta(s), sp.zeta(s))
        np.testing.assert_array_equal(jax.jit(zeta)(*pairs), sp.zeta(*pairs))


def test_second_derivative_of_hurwitzs_in_a_direction():
    s, q = 2.5, 0.7

    def along(t):
        return zeta(s + t, q + 2 * t)

    with x64():
        found = jax.jit(jax.grad(lambda t: jax.jvp(along, (t,), (1.0,))[1]))(0.0)
    right = mp.diff(lambda t: mp.zeta(s + t, q + 2 * t), 0, 2)
    np.testing.assert_allclose(found, float(right), rtol=1e-9)


def test_in_single_precision_and_in_batches():
    s, q = np.meshgrid([1.5, 3, 9], [0.2, 1, 30])
    with x64():
        found = jax.vmap(zeta)(s.astype(np.float32), q.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, sp.zeta(s, q), rtol=2e-6)
