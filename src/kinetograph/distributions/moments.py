"""Helpers for means and variances of families.

A family's `moments(*parameters)` are the mean and the variance of a number, or of each element of a
vector or matrix. An infinite moment is inf, a moment that does not exist is NaN. The formulas avoid
cancellation of large numbers.
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
    "sums_of_others",
    "squares",
]

Moments = tuple[Any, Any]

REACH = 40.0  # exp(-REACH) is negligible relative to 1
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(32)
# Coefficients of log Gamma(a + 1/2) - log Gamma(a) - log(a) / 2 in powers of 1 / a, from the
# Bernoulli polynomials at 1/2 (Abramowitz and Stegun, 6.1.40): a, a**3, a**5, ...
HALF_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224)
_STEPS = 16


def infinite_unless(exists: Any, numerator: Any, denominator: Any) -> Any:
    """The quotient if it exists, else inf with derivative 0."""
    safe = jnp.where(exists, numerator, 1.0) / jnp.where(exists, denominator, 1.0)
    return jnp.where(exists, safe, jnp.inf)


def of_labels(below: Any, above: Any) -> Moments:
    """The mean and the variance of a label 0, 1, ..., K.

    `below` and `above` are P(X < k) and P(X >= k) for k = 1 ... K along the last axis. The variance
    is a sum of non-negative products, P(X >= max(j, k)) P(X < min(j, k)) over j and k.
    """
    earlier = jnp.cumsum(below, -1) - below
    return jnp.sum(above, -1), jnp.sum(above * (below + 2.0 * earlier), -1)


def sums_of_others(x: Any) -> Any:
    """Sums of the other elements on the last axis, without subtraction.

    Nothing is subtracted, so that sums of non-negative elements are exact.
    """
    none = jnp.zeros_like(x[..., :1])
    before = jnp.concatenate([none, jnp.cumsum(x[..., :-1], -1)], -1)
    after = jnp.concatenate([none, jnp.cumsum(x[..., :0:-1], -1)], -1)
    return before + after[..., ::-1]


def squares(chol: Any) -> Any:
    """The diagonal of L L'."""
    return jnp.sum(chol * chol, -1)


def log_half_step_rest(a: Any) -> Any:
    """log Gamma(a + 1/2) - log Gamma(a) - log(a) / 2.

    It is computed from its value at a + 16.
    """
    total, inverse = jnp.zeros_like(a), 1.0 / (a + _STEPS)
    for k in range(_STEPS):
        total = total + 0.5 * jnp.log1p(-0.25 / (a + (k + 0.5)) ** 2)
    power = inverse
    for coefficient in HALF_STEP:
        total = total + coefficient * power
        power = power * inverse * inverse
    return total


def nodes(length: Any) -> tuple[Any, Any]:
    """Gauss-Legendre points from 0 to a length and their weights.

    They are along a new last axis. Integrals have full accuracy for densities that fall by at most
    exp(-REACH) over the length.
    """
    half = 0.5 * jnp.asarray(length)[..., None]
    dtype = half.dtype
    return half * jnp.asarray(_POINTS + 1.0, dtype), half * jnp.asarray(_WEIGHTS, dtype)


def of_nodes(x: Any, weights: Any) -> Moments:
    """The mean and the variance of weighted points on the last axis.

    The weights are not negative.
    """
    total = jnp.sum(weights, -1, keepdims=True)
    mean = jnp.sum(weights * x, -1, keepdims=True) / total
    variance = jnp.sum(weights * (x - mean) ** 2, -1, keepdims=True) / total
    return mean[..., 0], variance[..., 0]
