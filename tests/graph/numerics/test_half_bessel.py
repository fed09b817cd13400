"""Bessel functions of orders n + 1/2, for small and large orders and arguments."""

from functools import partial

import jax
import mpmath as mp
import numpy as np
import pytest
from scipy import special as sp
from tests.graph.exact import compare

import kinetograph as kg
from kinetograph.graph.numerics.half_bessel import ive, kve
from kinetograph.graph.precision import x64

X = (1e-8, 1e-3, 0.3, 1, 3, 12, 27.9, 50, 110, 400, 1e3, 1e6)


@pytest.mark.parametrize("v", [0.5, 2.5, -1.5, -7.5, 15.5, 30.5])
def test_values_and_slopes(v):
    order = mp.mpf(v)
    points = [(x,) for x in X if x > 0.1 or abs(v) < 20]  # larger numbers overflow
    compare(partial(ive, v=v), lambda x: mp.exp(-x) * mp.besseli(order, x), points, 1e-11)
    compare(partial(kve, v=v), lambda x: mp.exp(x) * mp.besselk(order, x), points, 1e-12)


def test_ends():
    x = np.array([0.0, -1.0, np.nan])
    with x64():
        for v in (0.5, 2.5):
            np.testing.assert_array_equal(ive(x, v=v), sp.ive(v, x))
            np.testing.assert_array_equal(kve(x, v=v), sp.kve(v, x))
        assert ive(np.array([0.0]), v=-1.5) == -np.inf
        assert kve(np.array([np.inf]), v=1.5) == 0


def test_in_single_precision_and_in_batches():
    x = np.array([[0.01, 1], [30, 300]], np.float32)
    with x64():
        for found, right in (
            (jax.vmap(partial(ive, v=10.5))(x), sp.ive(10.5, x.astype(float))),
            (jax.vmap(partial(kve, v=10.5))(x), sp.kve(10.5, x.astype(float))),
        ):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, right, rtol=1e-6)


def test_just_below_overflow():
    x = kg.placeholder(())
    found = kg.compile([x], kg.iv(0.5, x))(710.0)
    np.testing.assert_allclose(
        found, sp.ive(0.5, 710.0) * np.exp(355.0) * np.exp(355.0), rtol=1e-12
    )
