"""Helpers for draws of real numbers: types of parameters, impossible parameters.

Parameters broadcast to the shape of the source and are converted to its type. Impossible
parameters, such as a negative scale, give NaN. The numbers are differentiable by all parameters:
with fixed bits a number is a function of the parameters.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..bits.source import Source

__all__ = ["clamped", "nan_unless", "possible", "reals", "signed", "unit_open"]


@jax.custom_jvp
def clamped(value: Any, low: Any, high: Any) -> Any:
    """The value, clipped to the bounds, with the derivative of the value.

    Only rounding can have moved the value outside the bounds.
    """
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
    """Uniform numbers in (0, 1): 0 is replaced by half a step."""
    half = 2.0**-25 if source.dtype == np.float32 else 2.0**-54
    return jnp.maximum(source.uniform(), half)
