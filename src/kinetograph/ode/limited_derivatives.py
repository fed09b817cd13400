"""Numbers whose derivatives above some order are NaN, as they are unknown."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp

from ..graph.array import Array
from ..graph.lift import lift

__all__ = ["limited"]


def limited(x: Array, orders: int) -> Array:
    """Return x, whose derivatives of an order above `orders` are NaN."""
    return _same(orders)(x)  # type: ignore[no-any-return]


@cache
def _same(orders: int) -> Any:
    """The identity, whose derivatives of an order above `orders` are NaN."""

    @jax.custom_jvp
    def same(x: Any) -> Any:
        return x

    @same.defjvp
    def tangent(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return same(x), t * (1 + _zero(orders)(x))

    return lift(same)


@cache
def _zero(orders: int) -> Any:
    """The constant 0, with the derivative of order `orders` NaN."""

    @jax.custom_jvp
    def zero(x: Any) -> Any:
        return jnp.zeros_like(x)

    @zero.defjvp
    def tangent(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        slope = _zero(orders - 1)(x) if orders > 1 else jnp.full_like(x, jnp.nan)
        return zero(x), t * slope

    return zero
