"""Owen's T function of normal probabilities.

It is the probability of h < X and 0 < Y < a X for independent standard normal X and Y.

    T(h, a) = 1 / 2 pi  integral from 0 to a of exp(-h^2 (1 + t^2) / 2) / (1 + t^2) dt

For a > 1 the function is expressed by T(a h, 1 / a) and normal probabilities (D. B. Owen, Annals of
Mathematical Statistics 27, 1956, 2.3). For a <= 1 a Gauss-Legendre rule is applied to the part of
the interval that is not negligible.
"""

import math

import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from .derivative_rules import partials

__all__ = ["owens_t"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_LARGEST = 100.0  # a normal variable exceeds this with probability 0
_WIDTH = 9.0  # less than 1e-18 of the integral lies beyond this many standard deviations


def _inner(h, a):
    """T(h, a) for h >= 0 and 0 <= a <= 1."""
    h = jnp.minimum(h, _LARGEST)
    end = jnp.minimum(a, _WIDTH / jnp.maximum(h, _WIDTH))
    nodes, weights = (jnp.asarray(v, h.dtype) for v in (0.5 * (1 + _NODES), 0.5 * _WEIGHTS))
    t = end[..., None] * nodes
    integrand = weights * jnp.exp(-0.5 * jnp.square(h[..., None] * t)) / (1 + t * t)
    return integrand.sum(-1) * end * jnp.exp(-0.5 * h * h) / (2 * math.pi)


def _beyond(x):
    """The probability that a standard normal variable exceeds x."""
    return 0.5 * jsp.erfc(x / math.sqrt(2))


def _product(h, a):
    is_undefined = (h == 0) & jnp.isinf(a)
    return jnp.where(is_undefined, 0.0, h * jnp.where(is_undefined, 1.0, a))


def _by_h(h, a):
    probability = jsp.erf(_product(h, a) / math.sqrt(2))
    return -jnp.exp(-0.5 * h * h) * probability / math.sqrt(8 * math.pi)


def _by_a(h, a):
    density = jnp.exp(-0.5 * h * h - 0.5 * jnp.square(_product(h, a)))
    return density / (2 * math.pi * (1 + a * a))


@partials(_by_h, _by_a)
def _owens_t(h, a):
    h, magnitude = jnp.abs(h), jnp.abs(a)
    wide = magnitude > 1
    slope = jnp.where(wide, 1 / jnp.where(wide, magnitude, 1.0), magnitude)
    product = _product(h, magnitude)
    part = _inner(jnp.where(wide, product, h), slope)
    p, q = _beyond(h), _beyond(product)
    complement = 0.5 * p + 0.5 * q - p * q - part
    return jnp.where(jnp.isnan(a), a, jnp.sign(a) * jnp.where(wide, complement, part))


def owens_t(h, a):
    """Owen's T function."""
    return _owens_t(*jnp.broadcast_arrays(h, a))
