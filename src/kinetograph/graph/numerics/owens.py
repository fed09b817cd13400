"""Owen's T function: the probability that a normal h < X and 0 < Y < a X.

    T(h, a) = 1 / 2 pi  integral from 0 to a of exp(-h^2 (1 + t^2) / 2) / (1 + t^2) dt

Beyond a = 1 it is that of (a h, 1 / a) and normal probabilities (D. B. Owen, Annals of Mathematical
Statistics 27, 1956, 2.3); up to 1 a Gauss-Legendre rule of as much of the interval as counts.
"""

import math

import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from .derivative_rules import partials

__all__ = ["owens_t"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_NOTHING = 100.0  # of a normal, nothing is beyond
_WIDTH = 9.0  # beyond so many standard deviations there is less than 1e-18 of the integral


def _inner(h, a):
    """T for h >= 0 and 0 <= a <= 1."""
    h = jnp.minimum(h, _NOTHING)
    end = jnp.minimum(a, _WIDTH / jnp.maximum(h, _WIDTH))
    nodes, weights = (jnp.asarray(v, h.dtype) for v in (0.5 * (1 + _NODES), 0.5 * _WEIGHTS))
    t = end[..., None] * nodes
    inside = weights * jnp.exp(-0.5 * jnp.square(h[..., None] * t)) / (1 + t * t)
    return inside.sum(-1) * end * jnp.exp(-0.5 * h * h) / (2 * math.pi)


def _beyond(x):
    """The probability of more than x."""
    return 0.5 * jsp.erfc(x / math.sqrt(2))


def _product(h, a):
    still = (h == 0) & jnp.isinf(a)
    return jnp.where(still, 0.0, h * jnp.where(still, 1.0, a))


def _by_h(h, a):
    beside = jsp.erf(_product(h, a) / math.sqrt(2))
    return -jnp.exp(-0.5 * h * h) * beside / math.sqrt(8 * math.pi)


def _by_a(h, a):
    density = jnp.exp(-0.5 * h * h - 0.5 * jnp.square(_product(h, a)))
    return density / (2 * math.pi * (1 + a * a))


@partials(_by_h, _by_a)
def _owens_t(h, a):
    h, size = jnp.abs(h), jnp.abs(a)
    wide = size > 1
    slope = jnp.where(wide, 1 / jnp.where(wide, size, 1.0), size)
    product = _product(h, size)
    part = _inner(jnp.where(wide, product, h), slope)
    p, q = _beyond(h), _beyond(product)
    both = 0.5 * p + 0.5 * q - p * q - part
    return jnp.where(jnp.isnan(a), a, jnp.sign(a) * jnp.where(wide, both, part))


def owens_t(h, a):
    """Owen's T function."""
    return _owens_t(*jnp.broadcast_arrays(h, a))
