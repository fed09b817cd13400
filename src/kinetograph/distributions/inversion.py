"""Quantiles by bisection, for families whose tails have no inverse in closed form."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

__all__ = [
    "LINE",
    "POSITIVE_LINE",
    "UNIT_LINE",
    "continuous_quantile",
    "newton_quantile",
    "whole_quantile",
]

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
    return _implicit_slope(tails, continuous_quantile(tails, line, *primals), primals, tangents)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def newton_quantile(
    tails: Callable[..., Any],
    log_density: Callable[..., Any],
    reach: float,
    log_below: Any,
    log_above: Any,
    start: Any,
    *parameters: Any,
) -> Any:
    """That x between -reach and reach, by Newton's method on the logarithm of the smaller one.

    From `start` on, which has no slope; by bisection where a step would leave what is known to
    hold x. For tails that take long.
    """
    log_below, log_above, start, *rest = jnp.broadcast_arrays(
        log_below, log_above, start, *parameters
    )
    left = log_below <= log_above
    width = 4.0 * reach * jnp.finfo(log_below.dtype).eps

    def step(state: Any) -> Any:
        number, x, low, high, found = state
        below, above = tails(x, *rest)
        too_low = jnp.where(left, below < log_below, above > log_above)
        low, high = jnp.where(too_low, x, low), jnp.where(too_low, high, x)
        gap = jnp.where(left, log_below - below, above - log_above)
        change = gap * jnp.exp(jnp.where(left, below, above) - log_density(x, *rest))
        new, near = x + change, jnp.abs(change) <= width
        new = jnp.where(near | (new > low) & (new < high), new, 0.5 * (low + high))
        ready = found | near | (high - low <= width)
        return number + 1, jnp.where(found, x, new), low, high, ready

    def going(state: Any) -> Any:
        return (state[0] < 2 * STEPS) & ~jnp.all(state[-1])

    bottom, top = jnp.isneginf(log_below), jnp.isneginf(log_above)
    end = jnp.full_like(log_below, reach)
    x = lax.while_loop(going, step, (0, start, -end, end, bottom | top))[1]
    return jnp.where(bottom, -reach, jnp.where(top, reach, x))


@newton_quantile.defjvp
def _newton_slope(tails: Any, log_density: Any, reach: float, primals: Any, tangents: Any) -> Any:
    x = newton_quantile(tails, log_density, reach, *primals)
    places = (0, 1, *range(3, len(primals)))  # without the start
    primals, tangents = ([pair[k] for k in places] for pair in (primals, tangents))
    return _implicit_slope(tails, x, primals, tangents)


def _implicit_slope(tails: Any, x: Any, primals: Any, tangents: Any) -> Any:
    log_below, log_above, *parameters = primals
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
