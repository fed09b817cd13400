"""Means and variances: what those of the families have in common.

A family's `moments(*parameters)` are the mean and the variance of one number, and of vectors and
matrices those of each element. One that is infinite is inf, one that does not exist is NaN. They
are written such that no two large numbers cancel.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

__all__ = [
    "HALF_STEP",
    "REACH",
    "Moments",
    "infinite_unless",
    "log_half_step_rest",
    "nodes",
    "of_labels",
    "of_nodes",
    "others",
    "squares",
]

Moments = tuple[Any, Any]

REACH = 40.0  # exp(-REACH) does not count beside 1
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(32)
# Coefficients of log Gamma(a + 1/2) - log Gamma(a) - log(a) / 2 in powers of 1 / a, from the
# Bernoulli polynomials at 1/2 (Abramowitz and Stegun, 6.1.40): a, a**3, a**5, ...
HALF_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224)
_STEPS = 16


def infinite_unless(exists: Any, numerator: Any, denominator: Any) -> Any:
    """The quotient where it exists, else inf, whose slope is 0."""
    safe = jnp.where(exists, numerator, 1.0) / jnp.where(exists, denominator, 1.0)
    return jnp.where(exists, safe, jnp.inf)


def of_labels(below: Any, above: Any) -> Moments:
    """Those of a label in 0, 1, ..., K of P(X < k) and P(X >= k), k = 1 ... K on the last axis.

    Both are sums of products that are not negative: over j and k of P(X >= j or k) P(X < k or j).
    """
    earlier = jnp.cumsum(below, -1) - below
    return jnp.sum(above, -1), jnp.sum(above * (below + 2.0 * earlier), -1)


def others(x: Any) -> Any:
    """Of each element on the last axis the sum of all others, none of which is negative."""
    none = jnp.zeros_like(x[..., :1])
    before = jnp.concatenate([none, jnp.cumsum(x[..., :-1], -1)], -1)
    after = jnp.concatenate([none, jnp.cumsum(x[..., :0:-1], -1)], -1)
    return before + after[..., ::-1]


def squares(chol: Any) -> Any:
    """The diagonal of L L'."""
    return jnp.sum(chol * chol, -1)


def log_half_step_rest(a: Any) -> Any:
    """log Gamma(a + 1/2) - log Gamma(a) - log(a) / 2, by that of a + 16."""
    total, inverse = jnp.zeros_like(a), 1.0 / (a + _STEPS)
    for k in range(_STEPS):
        total = total + 0.5 * jnp.log1p(-0.25 / (a + (k + 0.5)) ** 2)
    power = inverse
    for coefficient in HALF_STEP:
        total = total + coefficient * power
        power = power * inverse * inverse
    return total


def nodes(length: Any) -> tuple[Any, Any]:
    """Points from 0 to a length, along a new last axis, and their weights: Gauss and Legendre's.

    To all digits for densities that fall by no more than exp(-REACH) on the way.
    """
    half = 0.5 * jnp.asarray(length)[..., None]
    dtype = half.dtype
    return half * jnp.asarray(_POINTS + 1.0, dtype), half * jnp.asarray(_WEIGHTS, dtype)


def of_nodes(x: Any, weights: Any) -> Moments:
    """Those of points on the last axis, of which none has a negative weight."""
    total = jnp.sum(weights, -1, keepdims=True)
    mean = jnp.sum(weights * x, -1, keepdims=True) / total
    variance = jnp.sum(weights * (x - mean) ** 2, -1, keepdims=True) / total
    return mean[..., 0], variance[..., 0]
