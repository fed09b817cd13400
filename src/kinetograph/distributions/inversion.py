"""Quantiles by search, for tails without an inverse in closed form."""

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
INSIDE = 1 - 1e-6  # the reach of the line: the numbers are infinite beyond it
LARGEST = 2.0**53
Map = Callable[[Any], Any]

# A map from the real line to the support. Numbers far out on the line stay distinct.
LINE: Map = jnp.sinh
POSITIVE_LINE: Map = jnp.exp
UNIT_LINE: Map = jax.nn.sigmoid
_REACH = {4: 87.0, 8: 708.0}  # key: the size of the type in bytes


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def continuous_quantile(
    tails: Callable[..., Any], line: Map, log_below: Any, log_above: Any, *parameters: Any
) -> Any:
    """The quantile of a continuous distribution, by search.

    It is the x with log P(X <= x) = log_below and log P(X > x) = log_above. The two must be
    consistent; the smaller one is used. Derivatives come from the implicit function
    theorem.
    """
    log_below, log_above, *rest = jnp.broadcast_arrays(log_below, log_above, *parameters)
    reach = _REACH[log_below.dtype.itemsize]
    left = log_below <= log_above

    def excess(place: Any) -> Any:
        below, above = tails(line(place), *rest)
        return jnp.where(left, below - log_below, log_above - above)

    bottom, top = jnp.isneginf(log_below), jnp.isneginf(log_above)
    ends = jnp.full_like(log_below, -reach), jnp.full_like(log_below, reach)
    root = _root(excess, *ends, bottom | top)
    bottom, top = bottom | (root < -reach * INSIDE), top | (root > reach * INSIDE)
    return line(jnp.where(bottom, -jnp.inf, jnp.where(top, jnp.inf, root)))


def _root(excess: Map, low: Any, high: Any, done: Any) -> Any:
    """The root of an increasing function; elements that are done are skipped.

    The step is inverse quadratic interpolation if three points are nearly on a line, else bisection
    (T. R. Chandrupatla, A new hybrid quadratic/bisection algorithm, Advances in Engineering
    Software 28 (1997) 145-149). The function may be infinite on either side.
    """
    eps = jnp.finfo(low.dtype).eps

    def step(state: Any) -> Any:
        number, t, a, b, c, fa, fb, fc, best, done = state
        x = a + t * (b - a)
        fx = excess(x)
        same = jnp.sign(fx) == jnp.sign(fa)
        c, fc = jnp.where(same, a, b), jnp.where(same, fa, fb)
        b, fb = jnp.where(same, b, a), jnp.where(same, fb, fa)
        a, fa = x, fx
        nearer = jnp.abs(fa) <= jnp.abs(fb)
        new = jnp.where(nearer, a, b)
        least = eps * jnp.abs(new) / jnp.abs(b - a)  # the smallest step
        ready = done | (fa == 0) | (fb == 0) | ~(least < 0.5)
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        straight = (phi * phi < xi) & ((1 - phi) * (1 - phi) < 1 - xi)
        t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        t = jnp.clip(jnp.where(straight, t, 0.5), least, 1 - least)
        return number + 1, t, a, b, c, fa, fb, fc, jnp.where(done, best, new), ready

    def going(state: Any) -> Any:
        return (state[0] < 2 * STEPS) & ~jnp.all(state[-1])

    far = jnp.full_like(low, jnp.inf)
    half = jnp.full_like(low, 0.5)
    state = (0, half, low, high, high, -far, far, far, 0.5 * (low + high), done)
    best: Any = lax.while_loop(going, step, state)[-2]
    return best


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
    """The quantile between -reach and reach, by Newton's method.

    The method works on the logarithm of the smaller tail, from `start`, which has no derivative. If
    a step would leave the interval that is known to contain x, the interval is bisected. This is
    for tails that are expensive.
    """
    log_below, log_above, start, *rest = jnp.broadcast_arrays(
        log_below, log_above, start, *parameters
    )
    left = log_below <= log_above
    width = 4.0 * reach * jnp.finfo(log_below.dtype).eps

    def step(state: Any) -> Any:
        number, x, low, high, done = state
        below, above = tails(x, *rest)
        too_low = jnp.where(left, below < log_below, above > log_above)
        low, high = jnp.where(too_low, x, low), jnp.where(too_low, high, x)
        gap = jnp.where(left, log_below - below, above - log_above)
        change = gap * jnp.exp(jnp.where(left, below, above) - log_density(x, *rest))
        new, near = x + change, jnp.abs(change) <= width
        new = jnp.where(near | (new > low) & (new < high), new, 0.5 * (low + high))
        ready = done | near | (high - low <= width)
        return number + 1, jnp.where(done, x, new), low, high, ready

    def going(state: Any) -> Any:
        return (state[0] < 2 * STEPS) & ~jnp.all(state[-1])

    bottom, top = jnp.isneginf(log_below), jnp.isneginf(log_above)
    end = jnp.full_like(log_below, reach)
    x = lax.while_loop(going, step, (0, start, -end, end, bottom | top))[1]
    return jnp.where(bottom, -reach, jnp.where(top, reach, x))


@newton_quantile.defjvp
def _newton_slope(tails: Any, log_density: Any, reach: float, primals: Any, tangents: Any) -> Any:
    x = newton_quantile(tails, log_density, reach, *primals)
    places = (0, 1, *range(3, len(primals)))  # all but the start
    primals, tangents = ([pair[k] for k in places] for pair in (primals, tangents))
    return _implicit_slope(tails, x, primals, tangents)


def _implicit_slope(tails: Any, x: Any, primals: Any, tangents: Any) -> Any:
    log_below, log_above, *parameters = primals
    left = log_below <= log_above

    def side(x: Any, *parameters: Any) -> Any:
        return jnp.where(left, *tails(x, *parameters))

    still = lax.stop_gradient(x)
    change_of_side = jax.jvp(lambda *p: side(still, *p), tuple(parameters), tuple(tangents[2:]))[1]
    slope = jax.jvp(lambda x: side(x, *parameters), (still,), (jnp.ones_like(still),))[1]
    change_of_target = jnp.where(left, tangents[0], tangents[1])
    return x, (change_of_target - change_of_side) / slope


def whole_quantile(
    tails: Callable[..., Any],
    log_below: Any,
    log_above: Any,
    *parameters: Any,
    low: Any = 0.0,
    high: Any = LARGEST,
) -> Any:
    """The quantile of a discrete distribution, by search.

    It is the smallest whole k from `low` to `high` with log P(X <= k) >= log_below.
    """
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
    quantile = lax.stop_gradient(lax.while_loop(open_, halve, ends)[1])
    return jnp.where(quantile < LARGEST, quantile, jnp.inf)
