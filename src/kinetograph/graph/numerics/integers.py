"""Whole numbers where machine arithmetic has no answer: division by zero, negative powers, NaN.

Where it can be told, it is an error (see `integer_checks`). In the density of a model, where
nothing raises, the value is NumPy's: 0 for a division by zero. A power with a negative exponent is
cut to a whole number (0, or 1 or -1 for these bases), and NaN becomes the smallest whole number
there is (the largest, without a sign).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["cast", "floor_divide", "power", "remainder"]


def _by_nonzero(divide: Any) -> Any:
    def function(x: Any, y: Any) -> Any:
        if x.dtype.kind == "f":
            return divide(x, y)
        zero = y == 0
        return jnp.where(zero, jnp.zeros_like(y), divide(x, jnp.where(zero, jnp.ones_like(y), y)))

    return function


floor_divide = _by_nonzero(jnp.floor_divide)
remainder = _by_nonzero(jnp.remainder)


def _by_squares(x: Any, y: Any) -> Any:
    """x to the y >= 0, wrapped around as NumPy's; JAX's own reads six bits of the exponent."""

    def step(state: Any) -> Any:
        result, square, rest = state
        return jnp.where(rest & 1 == 1, result * square, result), square * square, rest >> 1

    result = jnp.ones(jnp.broadcast_shapes(x.shape, y.shape), x.dtype)
    return jax.lax.while_loop(lambda state: jnp.any(state[2] > 0), step, (result, x, y))[0]


def power(x: Any, y: Any) -> Any:
    """x to the y, of whole numbers."""
    if y.dtype.kind != "i":
        return _by_squares(x, y)
    negative = y < 0
    whole = _by_squares(x, jnp.where(negative, y & 1, y))
    return jnp.where(negative & (jnp.abs(x) != 1), jnp.zeros_like(whole), whole)


def cast(x: Any, *, dtype: np.dtype) -> Any:
    """x in another type."""
    result = x.astype(dtype)
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return result
    limits = np.iinfo(dtype)
    nothing = np.array(limits.min if dtype.kind == "i" else limits.max, dtype)
    return jnp.where(jnp.isnan(x), nothing, result)
