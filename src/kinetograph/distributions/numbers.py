"""What draws of real numbers share: parameters in the type of the source, and what is impossible.

Parameters broadcast to the shape of the source and are of its type. Where they are impossible (a
negative scale) the number is NaN. The numbers are differentiable with respect to all parameters:
the bits stay what they are and the parameters move the number.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..bits.source import Source

__all__ = ["clamped", "nan_unless", "possible", "reals", "signed", "unit_open"]


@jax.custom_jvp
def clamped(value: Any, low: Any, high: Any) -> Any:
    """The value, moved to the bounds if rounding took it out; the derivative is the value's."""
    return jnp.clip(value, low, high)


@clamped.defjvp
def clamped_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    return clamped(*primals), tangents[0]


def reals(source: Source, *parameters: Any) -> tuple[Any, ...]:
    return tuple(jnp.asarray(p, source.dtype) for p in parameters)


def nan_unless(condition: Any, value: Any) -> Any:
    return jnp.where(condition, value, jnp.nan)


def possible(loc: Any, scale: Any) -> Any:
    return jnp.isfinite(loc) & jnp.isfinite(scale) & (scale >= 0)


def signed(u: Any, value: Any) -> Any:
    return jnp.where(u < 0.5, -value, value)


def unit_open(source: Source) -> Any:
    """Numbers in (0, 1): half a cell in place of 0."""
    half = 2.0**-25 if source.dtype == np.float32 else 2.0**-54
    return jnp.maximum(source.uniform(), half)
