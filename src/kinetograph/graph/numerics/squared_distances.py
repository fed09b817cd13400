"""Functions of a distance computed from its square, differentiable at 0.

A distance is not differentiable at 0, but its square is. If two points coincide for every value of
a parameter, all derivatives of the squared distance are 0. The derivatives of a function of the
square are then 0, too, if its slope is finite. A slope that is infinite at 0 is replaced by 0.
"""

import math
from typing import Any

import jax.numpy as jnp

from .derivative_rules import derivative

__all__ = ["cos_root", "exp_root", "matern32", "matern52"]

_COS = [(-1) ** k / math.factorial(2 * k) for k in range(10)]


def _nonzero(square: Any) -> tuple[Any, Any]:
    """Whether the distance is not 0, and the distance.

    The distance is replaced by 1 where it is 0.
    """
    is_nonzero = square > 0
    return is_nonzero, jnp.sqrt(jnp.where(is_nonzero, square, 1.0))


def _slope(square: Any) -> Any:
    is_nonzero, root = _nonzero(square)
    return jnp.where(is_nonzero, -0.5 * jnp.exp(-root) / root, 0.0)


@derivative(_slope)
def exp_root(square: Any) -> Any:
    """exp(-r), where r is the square root of the argument."""
    return jnp.exp(-jnp.sqrt(square))


@derivative(lambda square: -0.5 * exp_root(square))
def matern32(square: Any) -> Any:
    """(1 + r) exp(-r)."""
    root = jnp.sqrt(square)
    return (1.0 + root) * jnp.exp(-root)


@derivative(lambda square: -matern32(square) / 6.0)
def matern52(square: Any) -> Any:
    """(1 + r + r**2 / 3) exp(-r)."""
    root = jnp.sqrt(square)
    return (1.0 + root + square / 3.0) * jnp.exp(-root)


def cos_root(square: Any) -> Any:
    """cos(r), by a series where r is small."""
    near = square < 0.5
    series = jnp.polyval(jnp.asarray(_COS[::-1], square.dtype), jnp.where(near, square, 0.0))
    return jnp.where(near, series, jnp.cos(jnp.sqrt(jnp.where(near, 1.0, square))))
