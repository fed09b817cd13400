"""Functions of a distance, taken of its square: with derivatives where the distance is 0.

A distance has no derivative at 0, its square does. Where points meet for every value of a
parameter, all derivatives of the square are 0, and so are those of a function of it whose slope is
finite. A slope that is infinite at 0 is 0 here.
"""

import math
from typing import Any

import jax.numpy as jnp

from .derivative_rules import derivative

__all__ = ["cos_root", "exp_root", "matern32", "matern52"]

_COS = [(-1) ** k / math.factorial(2 * k) for k in range(10)]


def _apart(square: Any) -> tuple[Any, Any]:
    """Where the distance is not 0, and the distance, or 1."""
    apart = square > 0
    return apart, jnp.sqrt(jnp.where(apart, square, 1.0))


def _slope(square: Any) -> Any:
    apart, root = _apart(square)
    return jnp.where(apart, -0.5 * jnp.exp(-root) / root, 0.0)


@derivative(_slope)
def exp_root(square: Any) -> Any:
    """exp(-r), r the root of the square."""
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
    """cos(r), by its series where r is small."""
    near = square < 0.5
    series = jnp.polyval(jnp.asarray(_COS[::-1], square.dtype), jnp.where(near, square, 0.0))
    return jnp.where(near, series, jnp.cos(jnp.sqrt(jnp.where(near, 1.0, square))))
