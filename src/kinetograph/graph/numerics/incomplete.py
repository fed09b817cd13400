"""Incomplete gamma and beta functions as accurate logarithms of both tails.

    P(a, x) = gamma(a, x) / Gamma(a),  Q = 1 - P,    I_x(a, b) = B(x; a, b) / B(a, b)

The logarithms are accurate even if a tail is tiny. Power series and continued fractions are used
where they converge fast (W. H. Press et al., Numerical Recipes, 3rd edition, 6.2 and 6.4). Their
common factor is computed as a logarithm without cancellation (`deviance`). The number of terms
grows like the square root of the largest argument.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .derivative_rules import by_forward, partials
from .deviance import log_binomial, log_peak
from .gammas import bd0, log_rising
from .gaussian import erfcx, ndtr
from .special import log1mexp

__all__ = [
    "betainc",
    "betaincc",
    "gammainc",
    "gammaincc",
    "log_beta_tails",
    "log_gamma_tails",
    "stdtr",
]

TERMS = 100_000
_TINY = 1e-290
_NORMAL = 1e16  # with more degrees of freedom, Student's distribution is a normal distribution


def _until_small(
    step: Callable[[Any, Any], Any], start: Any, is_needed: Any, eps: Any, least: Any = 0
) -> tuple[Any, ...]:
    """Repeat `step` until the relative change is small.

    The relative change is the last part of the state.

    Elements outside `is_needed` are not computed. `least` is the smallest number of steps: with it,
    derivatives have converged, too, although the loop checks the value only.
    """

    def is_running(carry: Any) -> Any:
        number, state = carry
        return is_needed & ((jnp.abs(state[-1]) > eps) | (number < least))

    def any_running(carry: Any) -> Any:
        return (carry[0] < TERMS) & jnp.any(is_running(carry))

    def advance(carry: Any) -> Any:
        number, state = carry
        next_state = step(number, state)
        running = is_running(carry)
        return number + 1, tuple(
            jnp.where(running, n, o) for n, o in zip(next_state, state, strict=True)
        )

    return lax.while_loop(any_running, advance, (jnp.ones((), start[0].dtype), start))[1]


def _ending(number: Any, largest: Any) -> Any:
    """The smallest number of steps for accurate derivatives at integers.

    A continued fraction that depends on an integer may end with the exact value. Its derivatives by
    that number have not converged then; they need as many steps as the fraction of a neighbouring
    number. The result is 0 if the number is not an integer.
    """
    steps = 30 + 2 * jnp.sqrt(largest)
    return jnp.where((number == jnp.floor(number)) & (number < steps), steps, 0.0)


def _fraction(
    parts: Callable[[Any], tuple[Any, Any]],
    first: Any,
    is_needed: Any,
    least: Any = 0,
) -> Any:
    """A continued fraction by Lentz's method.

    The fraction is 1 / (first + a_1 / (b_1 + a_2 / (b_2 + ...))), and `parts(n)` returns a_n and
    b_n.
    """
    tiny = jnp.asarray(1e-30 if first.dtype.itemsize == 4 else _TINY, first.dtype)
    eps = jnp.finfo(first.dtype).eps

    def nonzero(x: Any) -> Any:
        return jnp.where(jnp.abs(x) < tiny, tiny, x)

    def step(n: Any, state: Any) -> Any:
        value, c, d, previous_change = state
        a, b = parts(n)
        d = 1 / nonzero(b + a * d)
        c = nonzero(b + a / c)
        # At convergence c d = 1 up to rounding. A change that is tiny and does not decrease is
        # rounding only, so it counts as 0.
        change = jnp.abs(c * d - 1)
        return (
            value * c * d,
            c,
            d,
            jnp.where((change <= eps) & (change >= previous_change), 0, change),
        )

    start = 1 / nonzero(first)
    begin = (start, 1 / tiny * jnp.ones_like(first), start, jnp.ones_like(first))
    return _until_small(step, begin, is_needed, eps / 4, least)[0]


def _gamma_series(a: Any, x: Any, is_needed: Any) -> Any:
    """The power series of the lower incomplete gamma function.

    It is 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...
    """

    def step(n: Any, state: Any) -> Any:
        total, term, _ = state
        term = term * x / (a + n)
        return total + term, term, term / (total + term)

    one = jnp.ones_like(x)
    return _until_small(step, (one, one, one), is_needed, jnp.finfo(x.dtype).eps / 16)[0]


# Coefficients of log Gamma(1 + a) in powers of a, from a on; accurate to 1e-17 for a <= 0.1.
_LOG_GAMMA = [-0.5772156649015329, 0.8224670334241132, -0.40068563438653143, 0.27058080842778454]
_LOG_GAMMA += [-0.20738555102867398, 0.1695571769974082, -0.1440498967688461, 0.12550966952474304]
_LOG_GAMMA += [-0.11133426586956469, 0.1000994575127818, -0.09095401714582904, 0.083353840546109]
_LOG_GAMMA += [-0.0769325164113522, 0.07143294629536133, -0.06666870588242046, 0.06250095514121304]
_LOG_GAMMA += [-0.058823978658684585]


def _upper_of_small(a: Any, x: Any) -> Any:
    """Q(a, x) for a <= 0.1 and x <= a + 1.

    There 1 - P would lose the digits of a.
    """
    gamma_less_1 = jnp.expm1(a * jnp.polyval(jnp.asarray(_LOG_GAMMA[::-1], a.dtype), a))
    power_less_1 = jnp.expm1(a * jnp.log(x))
    total, term = jnp.zeros_like(x), jnp.ones_like(x)
    for n in range(1, 20):
        term = -term * x / n
        total = total + term / (a + n)
    return (gamma_less_1 - power_less_1 - a * (1 + power_less_1) * total) / (1 + gamma_less_1)


# Coefficients in powers of eta, accurate to 1e-14 for abs(eta) <= 0.03 (N. M. Temme, SIAM Journal
# on Mathematical Analysis, 10, 1979): the correction of a normal distribution, and its correction
# of order 1 / a.
_LACKING = [-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600, 1 / 25515]
_LESS = [-1 / 540, -1 / 288, 1 / 378]
_CENTRE = 0.02


def _near_mean(a: Any, x: Any) -> Any:
    """The logarithm of the smaller tail for large a, near the mean.

    The relative distance of x from a is less than `_CENTRE`.
    """
    mu = (x - a) / a
    # eta^2 / 2 = mu - log(1 + mu), and eta has the sign of mu.
    squared = jnp.polyval(jnp.asarray([2 * (-1) ** k / (k + 2) for k in range(9, -1, -1)]), mu)
    eta = mu * jnp.sqrt(squared)
    u = eta * jnp.sqrt(0.5 * a)
    series = jnp.polyval(jnp.asarray(_LACKING[::-1]), eta)
    series = series + jnp.polyval(jnp.asarray(_LESS[::-1]), eta) / a
    correction = series / jnp.sqrt(2 * math.pi * a)
    size, sign = jnp.where(x > a, u, -u), jnp.where(x > a, 1.0, -1.0)
    return (jnp.log(0.5 * erfcx(size) + sign * correction) - u * u).astype(x.dtype)


def _gamma_tails(a: Any, x: Any) -> Any:
    """log P and log Q, stacked."""
    regular = (a > 0) & jnp.isfinite(a) & (x > 0) & jnp.isfinite(x)
    a_, x_ = jnp.where(regular, a, 1.0), jnp.where(regular, x, 1.0)
    low = x_ < a_ + 1
    central = regular & (a_ > 1e6) & (jnp.abs(x_ - a_) < _CENTRE * a_)  # both methods would be slow
    by_series, by_fraction = regular & low & ~central, regular & ~low & ~central
    # log of x^a exp(-x) / Gamma(a + 1)
    factor = log_peak(a_) - bd0(a_, x_)
    x_low, x_high = jnp.where(low, x_, 0.5 * a_), jnp.where(low, a_ + 1.5, x_)
    log_p = factor + jnp.log(_gamma_series(a_, x_low, by_series))
    fraction = _fraction(
        lambda n: (-n * (n - a_), x_high + 1 - a_ + 2 * n),
        x_high + 1 - a_,
        by_fraction,
        least=_ending(a_, a_),
    )
    log_q = factor + jnp.log(a_) + jnp.log(jnp.where(low, 1.0, fraction))
    below = jnp.where(low, log_p, log1mexp(-jnp.where(low, -1.0, jnp.minimum(log_q, -1e-300))))
    above = jnp.where(low, log1mexp(-jnp.where(low, jnp.minimum(log_p, -1e-300), -1.0)), log_q)
    small = regular & low & (a_ < 0.1)
    upper = _upper_of_small(jnp.where(small, a_, 0.1), jnp.where(small, x_, 0.5))
    above = jnp.where(small, jnp.log(upper), above)
    middle = jnp.where(central, a_, 1e8)
    smaller = _near_mean(middle, jnp.where(central, x_, 1e8))
    larger, above_mean = log1mexp(-smaller), x_ > a_
    below = jnp.where(central, jnp.where(above_mean, larger, smaller), below)
    above = jnp.where(central, jnp.where(above_mean, smaller, larger), above)
    is_above, is_below = regular | (x > 0), regular | (x <= 0)
    invalid = ~(a > 0) | jnp.isnan(x) | jnp.isinf(a)
    below = jnp.where(regular, below, jnp.where(is_above, 0.0, -jnp.inf))
    above = jnp.where(regular, above, jnp.where(is_below, 0.0, -jnp.inf))
    return jnp.where(invalid, jnp.nan, jnp.stack([below, above]))


def _by_densities(tails: Any, log_density: Any, shapes: int) -> Any:
    """Give the tails of a distribution accurate derivatives.

    Derivatives by the argument come from the density, derivatives by shapes from the loops.

    The first `shapes` arguments are shapes, followed by the argument x and, optionally, by 1 - x.
    """
    forward = by_forward(tails)
    result = jax.custom_jvp(tails)

    def rule(primals: Any, tangents: Any) -> Any:
        moving_shapes = [k for k in range(shapes) if not isinstance(tangents[k], SymbolicZero)]
        argument_tangents = [t for t in tangents[shapes:] if not isinstance(t, SymbolicZero)]

        def with_shapes(*shape_values: Any) -> Any:
            arguments = list(primals)
            for k, value in zip(moving_shapes, shape_values, strict=True):
                arguments[k] = value
            return forward(*arguments)

        if moving_shapes:
            values, shape_tangents = (
                tuple(primals[k] for k in moving_shapes),
                tuple(tangents[k] for k in moving_shapes),
            )
            out, total = jax.jvp(with_shapes, values, shape_tangents)
        else:
            out, total = result(*primals), 0.0
        if argument_tangents:
            dx = (
                -argument_tangents[0]
                if isinstance(tangents[shapes], SymbolicZero)
                else argument_tangents[0]
            )
            is_finite = jnp.isfinite(out)
            density = log_density(*primals)
            slope = jnp.where(is_finite, jnp.exp(density - jnp.where(is_finite, out, 0.0)), 0.0)
            total = total + jnp.stack([dx * slope[0], -dx * slope[1]])
        return out, total

    result.defjvp(rule, symbolic_zeros=True)
    return result


def _log_gamma_density(a: Any, x: Any) -> Any:
    regular = (a > 0) & jnp.isfinite(a) & (x > 0) & jnp.isfinite(x)
    a_, x_ = jnp.where(regular, a, 1.0), jnp.where(regular, x, 1.0)
    value = log_peak(a_) - bd0(a_, x_) + jnp.log(a_ / x_)
    return jnp.where(regular, value, jnp.where((x == 0) & (a == 1), 0.0, -jnp.inf))


_log_gamma_tails = _by_densities(_gamma_tails, _log_gamma_density, 1)


def log_gamma_tails(a: Any, x: Any) -> tuple[Any, Any]:
    """log P(a, x) and log Q(a, x), with broadcasting.

    They are defined for a > 0 and x >= 0.
    """
    a, x = jnp.broadcast_arrays(a, x)
    log_p, log_q = _log_gamma_tails(a, x)
    return log_p, log_q


def _beta_fraction(a: Any, b: Any, x: Any, y: Any, is_needed: Any) -> Any:
    """The continued fraction of I_x(a, b); y is 1 - x.

    Its value is I_x(a, b) divided by x^a y^b / (a B(a, b)). The fraction of Didonato and Morris
    (ACM Transactions on Mathematical Software 18, 1992, eq. 9) is accurate for tiny y, too.
    """

    def parts(m: Any) -> tuple[Any, Any]:
        wide = a + (2 * m - 1)
        begin = jnp.where(m == 1, 1.0, a + (m - 1))  # the first term is divided by a
        above = begin / wide * ((a + b + (m - 1)) / wide) * (m * (b - m) * x * x)
        remainder = (a + m) / (a + (2 * m + 1)) * (a * y - b * x + 1 + m * (1 + y))
        return above, m + m * (b - m) * x / wide + remainder

    least = _ending(b, jnp.maximum(a, b))
    return _fraction(parts, (a * y - b * x + 1) / (a + 1), is_needed, least=least)


def _beta_tails(a: Any, b: Any, x: Any, y: Any) -> Any:
    regular = (a > 0) & (b > 0) & (x > 0) & (y > 0) & jnp.isfinite(a + b)
    a_, b_ = jnp.where(regular, a, 1.0), jnp.where(regular, b, 1.0)
    x_, y_ = jnp.where(regular, x, 0.5), jnp.where(regular, y, 0.5)
    turned = x_ * (a_ + b_ + 2) > a_ + 1  # there the fraction of the other tail converges
    first, second = jnp.where(turned, b_, a_), jnp.where(turned, a_, b_)
    near, far = jnp.where(turned, y_, x_), jnp.where(turned, x_, y_)
    # x^a (1 - x)^b / B(a, b) is a binomial probability times a b / (a + b).
    factor = sum(log_binomial(a_, b_, x_, y_)) + jnp.log(second) - jnp.log(a_ + b_)
    smaller = factor + jnp.log(_beta_fraction(first, second, near, far, regular))
    smaller = jnp.minimum(smaller, -1e-300)
    larger = log1mexp(-smaller)
    below, above = jnp.where(turned, larger, smaller), jnp.where(turned, smaller, larger)
    below = jnp.where(regular, below, jnp.where(x > 0, 0.0, -jnp.inf))
    above = jnp.where(regular, above, jnp.where(y > 0, 0.0, -jnp.inf))
    invalid = ~(a > 0) | ~(b > 0) | jnp.isnan(x + y) | jnp.isinf(a + b)
    return jnp.where(invalid, jnp.nan, jnp.stack([below, above]))


def _log_beta_density(a: Any, b: Any, x: Any, y: Any) -> Any:
    regular = (a > 0) & (b > 0) & (x > 0) & (y > 0) & jnp.isfinite(a + b)
    a_, b_ = jnp.where(regular, a, 1.0), jnp.where(regular, b, 1.0)
    x_, y_ = jnp.where(regular, x, 0.5), jnp.where(regular, y, 0.5)
    value = sum(log_binomial(a_, b_, x_, y_)) - jnp.log(x_) - jnp.log(y_)
    value = value + jnp.log(a_) + jnp.log(b_) - jnp.log(a_ + b_)
    at_end = jnp.where((x == 0) & (a == 1), b, jnp.where((y == 0) & (b == 1), a, 0.0))
    is_positive = at_end > 0
    at_end = jnp.where(is_positive, jnp.log(jnp.where(is_positive, at_end, 1.0)), -jnp.inf)
    return jnp.where(regular, value, at_end)


_log_beta_tails = _by_densities(_beta_tails, _log_beta_density, 2)


def log_beta_tails(a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """log I_x(a, b) and log(1 - I_x(a, b)) = log I_y(b, a).

    Both x and y = 1 - x are arguments.
    """
    a, b, x, y = jnp.broadcast_arrays(a, b, x, y)
    below, above = _log_beta_tails(a, b, x, y)
    return below, above


def gammainc(a: Any, x: Any) -> Any:
    """The regularised lower incomplete gamma function P(a, x)."""
    return _limits(jnp.exp(log_gamma_tails(a, x)[0]), a, x, 0.0)


def gammaincc(a: Any, x: Any) -> Any:
    """The regularised upper incomplete gamma function Q(a, x)."""
    return _limits(jnp.exp(log_gamma_tails(a, x)[1]), a, x, 1.0)


def _limits(value: Any, a: Any, x: Any, start: float) -> Any:
    """Set the limits of a tail for extreme a.

    The limits are for a = 0 and a = inf; the value for x < 0 is NaN.

    `start` is the value of the tail at x = 0.
    """
    end, infinite = 1 - start, jnp.inf
    value = jnp.where((a == 0) & (x > 0), end, value)
    value = jnp.where((a == infinite) & (x < infinite), start, value)
    return jnp.where(x < 0, jnp.nan, value)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function I_x(a, b)."""
    return _beta_limits(jnp.exp(log_beta_tails(a, b, x, 1 - x)[0]), a, b, x, 0.0)


def betaincc(a: Any, b: Any, x: Any) -> Any:
    """1 - I_x(a, b), accurate where it is tiny."""
    return _beta_limits(jnp.exp(log_beta_tails(a, b, x, 1 - x)[1]), a, b, x, 1.0)


def _beta_limits(value: Any, a: Any, b: Any, x: Any, start: float) -> Any:
    """Set the limits of a tail for extreme a and b.

    These are 0 and inf. The value outside 0 <= x <= 1 is NaN.

    `start` is the value of the tail at x = 0.
    """
    at_0 = ((a == 0) & (b > 0)) | ((b == jnp.inf) & (a >= 0) & (a < jnp.inf))
    at_1 = ((b == 0) & (a > 0)) | ((a == jnp.inf) & (b >= 0) & (b < jnp.inf))
    value = jnp.where(at_0, jnp.where(x > 0, 1 - start, start), value)
    value = jnp.where(at_1, jnp.where(x < 1, start, 1 - start), value)
    return jnp.where((x >= 0) & (x <= 1), value, jnp.nan)


def _log_half(df: Any, t: Any) -> Any:
    """The log probability of both tails beyond abs(t).

    It is log I_x(df / 2, 1 / 2) with x = df / (df + t^2).
    """
    square = t * t
    half = jnp.full_like(df, 0.5)
    return log_beta_tails(half * df, half, 1 / (1 + square / df), 1 / (1 + df / square))[0]


def _student_density(df: Any, t: Any) -> Any:
    # The density at 0 is 1 / (sqrt(df) B(df / 2, 1 / 2)).
    normal = df > _NORMAL
    df = jnp.where(normal, 1.0, df)
    half = 0.5 * df
    log_peak = log_rising(half, jnp.full_like(half, 0.5)) - 0.5 * jnp.log(jnp.pi * df)
    density = jnp.exp(log_peak - (half + 0.5) * jnp.log1p(t * t / df))
    return jnp.where(normal, jnp.exp(-0.5 * t * t) / math.sqrt(2 * math.pi), density)


def _student_slope(df: Any, t: Any) -> Any:
    """The derivative by df, which is 0 at t = 0."""
    middle = (t == 0) | (df > _NORMAL)
    df = jnp.where(df > _NORMAL, 1.0, df)
    away = jnp.where(middle, 1.0, t)
    one = jnp.ones_like(df)
    log, slope = jax.jvp(lambda d: _log_half(d, away), (df,), (one,))
    return jnp.where(middle, 0.0, -jnp.sign(t) * 0.5 * jnp.exp(log) * slope)


@partials(_student_slope, _student_density)
def _stdtr(df: Any, t: Any) -> Any:
    normal = df > _NORMAL
    tail = 0.5 * jnp.exp(_log_half(jnp.where(normal, 1.0, df), t))
    return jnp.where(normal, ndtr(t), jnp.where(t > 0, 1 - tail, tail))


def stdtr(df: Any, t: Any) -> Any:
    """The distribution function of Student's t distribution."""
    return _stdtr(*jnp.broadcast_arrays(df, t))
