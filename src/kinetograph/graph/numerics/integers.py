"""Integer operations without a result, such as division by zero.

Negative powers and casts of NaN have no result either. Where an error can be raised, these
operations raise it (see `integer_checks`). In the density of a model, where no error can be raised,
the value is NumPy's: a division by zero gives 0. A power with a negative exponent is truncated to
an integer: 0, or 1 or -1 for the bases 1 and -1. NaN becomes the smallest integer of a signed type,
and the largest integer of an unsigned type.
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
    """x to the power y >= 0, with NumPy's wrap-around.

    JAX's own function reads only six bits of the exponent.
    """

    def step(state: Any) -> Any:
        result, square, exponent = state
        return jnp.where(exponent & 1 == 1, result * square, result), square * square, exponent >> 1

    result = jnp.ones(jnp.broadcast_shapes(x.shape, y.shape), x.dtype)
    return jax.lax.while_loop(lambda state: jnp.any(state[2] > 0), step, (result, x, y))[0]


def power(x: Any, y: Any) -> Any:
    """x to the power y, for integers."""
    if y.dtype.kind != "i":
        return _by_squares(x, y)
    negative = y < 0
    result = _by_squares(x, jnp.where(negative, y & 1, y))
    return jnp.where(negative & (jnp.abs(x) != 1), jnp.zeros_like(result), result)


def cast(x: Any, *, dtype: np.dtype) -> Any:
    """x in another type."""
    result = x.astype(dtype)
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return result
    limits = np.iinfo(dtype)
    value_of_nan = np.array(limits.min if dtype.kind == "i" else limits.max, dtype)
    return jnp.where(jnp.isnan(x), value_of_nan, result)
