"""Quantiles by bisection, for families whose tails have no inverse in closed form."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

__all__ = ["LINE", "POSITIVE_LINE", "UNIT_LINE", "continuous_quantile", "whole_quantile"]

STEPS = 80
LARGEST = 2.0**53
Map = Callable[[Any], Any]

# From a line to where x lies. Far out on it numbers stay distinct.
LINE: Map = jnp.sinh
POSITIVE_LINE: Map = jnp.exp
UNIT_LINE: Map = jax.nn.sigmoid
_REACH = {4: 87.0, 8: 708.0}  # by the size of the type in bytes


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def continuous_quantile(
    tails: Callable[..., Any], line: Map, log_below: Any, log_above: Any, *parameters: Any
) -> Any:
    """The x with log P(X <= x) = log_below and log P(X > x) = log_above, which agree.

    By the smaller of the two; differentiable in all, by the derivative of an implicit function.
    """
    log_below, log_above, *rest = jnp.broadcast_arrays(log_below, log_above, *parameters)
    reach = _REACH[log_below.dtype.itemsize]
    left = log_below <= log_above

    def halve(_: Any, ends: Any) -> Any:
        low, high = ends
        middle = 0.5 * (low + high)
        below, above = tails(line(middle), *rest)
        too_low = jnp.where(left, below < log_below, above > log_above)
        return jnp.where(too_low, middle, low), jnp.where(too_low, high, middle)

    start = jnp.full_like(log_below, -reach), jnp.full_like(log_below, reach)
    low, high = lax.fori_loop(0, STEPS, halve, start)
    found = jnp.where(jnp.isneginf(log_below), -jnp.inf, 0.5 * (low + high))
    return line(jnp.where(jnp.isneginf(log_above), jnp.inf, found))


@continuous_quantile.defjvp
def _continuous_slope(tails: Any, line: Map, primals: Any, tangents: Any) -> Any:
    log_below, log_above, *parameters = primals
    x = continuous_quantile(tails, line, *primals)
    left = log_below <= log_above

    def side(x: Any, *parameters: Any) -> Any:
        return jnp.where(left, *tails(x, *parameters))

    still = lax.stop_gradient(x)
    moved = jax.jvp(lambda *p: side(still, *p), tuple(parameters), tuple(tangents[2:]))[1]
    slope = jax.jvp(lambda x: side(x, *parameters), (still,), (jnp.ones_like(still),))[1]
    wanted = jnp.where(left, tangents[0], tangents[1])
    return x, (wanted - moved) / slope


def whole_quantile(
    tails: Callable[..., Any],
    log_below: Any,
    log_above: Any,
    *parameters: Any,
    low: Any = 0.0,
    high: Any = LARGEST,
) -> Any:
    """The smallest whole number k from `low` to `high` with P(X <= k) at least what is given."""
    log_below, log_above, *rest = jnp.broadcast_arrays(log_below, log_above, *parameters)
    left = log_below <= log_above
    least = jnp.broadcast_to(jnp.asarray(low, log_below.dtype) - 1.0, log_below.shape)
    most = jnp.broadcast_to(jnp.asarray(high, log_below.dtype), log_below.shape)

    def enough(k: Any) -> Any:
        below, above = tails(k, *rest)
        return jnp.where(left, below >= log_below, above <= log_above)

    def wider(state: Any) -> Any:
        width, _ = state
        end = jnp.minimum(least + width, most)
        return jnp.where(enough(end) | (end >= most), width, 2.0 * width), end

    def grows(state: Any) -> Any:
        width, _ = state
        end = jnp.minimum(least + width, most)
        return jnp.any(~enough(end) & (end < most))

    width, _ = lax.while_loop(grows, wider, (jnp.full_like(least, 16.0), least))

    def halve(ends: Any) -> Any:
        low, high = ends
        middle = jnp.floor(0.5 * (low + high))
        fits = enough(middle)
        return jnp.where(fits, low, middle), jnp.where(fits, middle, high)

    def open_(ends: Any) -> Any:
        return jnp.any(ends[1] - ends[0] > 1.0)

    ends = (least, jnp.minimum(least + width, most))
    found = lax.stop_gradient(lax.while_loop(open_, halve, ends)[1])
    return jnp.where(found < LARGEST, found, jnp.inf)
