"""The incomplete gamma and beta functions as logarithms of both parts, right however small one is.

    P(a, x) = gamma(a, x) / Gamma(a),  Q = 1 - P,    I_x(a, b) = B(x; a, b) / B(a, b)

By power series and continued fractions, each where it converges fast (W. H. Press et al.,
Numerical Recipes, 3rd edition, 6.2 and 6.4), times a factor in logarithms that does not cancel
(`deviance`). They take as many terms as the root of the largest argument.
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
_NORMAL = 1e16  # with more degrees of freedom Student's distribution is a normal one


def _until_small(
    step: Callable[[Any, Any], Any], start: Any, wanted: Any, eps: Any, least: Any = 0
) -> tuple[Any, ...]:
    """Steps of a state, whose last part is the relative change, until it is small everywhere.

    At least so many are made, after which derivatives, that are not looked at, are right, too.
    """

    def going(carry: Any) -> Any:
        number, state = carry
        return wanted & ((jnp.abs(state[-1]) > eps) | (number < least))

    def on(carry: Any) -> Any:
        return (carry[0] < TERMS) & jnp.any(going(carry))

    def more(carry: Any) -> Any:
        number, state = carry
        new = step(number, state)
        left = going(carry)
        return number + 1, tuple(jnp.where(left, n, o) for n, o in zip(new, state, strict=True))

    return lax.while_loop(on, more, (jnp.ones((), start[0].dtype), start))[1]


def _ending(whole: Any, larger: Any) -> Any:
    """The steps to be made of a fraction that ends where a number is whole, and elsewhere 0.

    Its value is exact where it ends, its derivatives by that number are not: they take as many
    steps as the fraction of a number beside it.
    """
    usual = 30 + 2 * jnp.sqrt(larger)
    return jnp.where((whole == jnp.floor(whole)) & (whole < usual), usual, 0.0)


def _fraction(
    parts: Callable[[Any], tuple[Any, Any]],
    first: Any,
    wanted: Any,
    least: Any = 0,
) -> Any:
    """1 / (first + a_1 / (b_1 + a_2 / (b_2 + ...))) by Lentz's method; `parts(n)` gives a and b."""
    tiny = jnp.asarray(1e-30 if first.dtype.itemsize == 4 else _TINY, first.dtype)
    eps = jnp.finfo(first.dtype).eps

    def nonzero(x: Any) -> Any:
        return jnp.where(jnp.abs(x) < tiny, tiny, x)

    def step(n: Any, state: Any) -> Any:
        value, c, d, before = state
        a, b = parts(n)
        d = 1 / nonzero(b + a * d)
        c = nonzero(b + a / c)
        # c d of two numbers that are 1 / each other need not be 1: what is left is rounding.
        left = jnp.abs(c * d - 1)
        return value * c * d, c, d, jnp.where((left <= eps) & (left >= before), 0, left)

    start = 1 / nonzero(first)
    begin = (start, 1 / tiny * jnp.ones_like(first), start, jnp.ones_like(first))
    return _until_small(step, begin, wanted, eps / 4, least)[0]


def _gamma_series(a: Any, x: Any, wanted: Any) -> Any:
    """1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..."""

    def step(n: Any, state: Any) -> Any:
        total, term, _ = state
        term = term * x / (a + n)
        return total + term, term, term / (total + term)

    one = jnp.ones_like(x)
    return _until_small(step, (one, one, one), wanted, jnp.finfo(x.dtype).eps / 16)[0]


# log Gamma(1 + a) in powers of a from the first on, right to 1e-17 up to 0.1
_LOG_GAMMA = [-0.5772156649015329, 0.8224670334241132, -0.40068563438653143, 0.27058080842778454]
_LOG_GAMMA += [-0.20738555102867398, 0.1695571769974082, -0.1440498967688461, 0.12550966952474304]
_LOG_GAMMA += [-0.11133426586956469, 0.1000994575127818, -0.09095401714582904, 0.083353840546109]
_LOG_GAMMA += [-0.0769325164113522, 0.07143294629536133, -0.06666870588242046, 0.06250095514121304]
_LOG_GAMMA += [-0.058823978658684585]


def _upper_of_small(a: Any, x: Any) -> Any:
    """Q(a, x) for a <= 0.1 and x <= a + 1, where 1 - P would lose the digits of a."""
    gamma_less_1 = jnp.expm1(a * jnp.polyval(jnp.asarray(_LOG_GAMMA[::-1], a.dtype), a))
    power_less_1 = jnp.expm1(a * jnp.log(x))
    total, term = jnp.zeros_like(x), jnp.ones_like(x)
    for n in range(1, 20):
        term = -term * x / n
        total = total + term / (a + n)
    return (gamma_less_1 - power_less_1 - a * (1 + power_less_1) * total) / (1 + gamma_less_1)


# In powers of eta, right to 1e-14 up to 0.03 (N. M. Temme, SIAM Journal on Mathematical Analysis,
# 10, 1979): what a normal distribution lacks, and over a, what that lacks.
_LACKING = [-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600, 1 / 25515]
_LESS = [-1 / 540, -1 / 288, 1 / 378]
_CENTRE = 0.02


def _near_mean(a: Any, x: Any) -> Any:
    """log of the smaller of P and Q for large a and x within a part `_CENTRE` of it."""
    mu = (x - a) / a
    # eta^2 / 2 = mu - log(1 + mu), with the sign of mu
    squared = jnp.polyval(jnp.asarray([2 * (-1) ** k / (k + 2) for k in range(9, -1, -1)]), mu)
    eta = mu * jnp.sqrt(squared)
    u = eta * jnp.sqrt(0.5 * a)
    series = jnp.polyval(jnp.asarray(_LACKING[::-1]), eta)
    series = series + jnp.polyval(jnp.asarray(_LESS[::-1]), eta) / a
    rest = series / jnp.sqrt(2 * math.pi * a)
    size, sign = jnp.where(x > a, u, -u), jnp.where(x > a, 1.0, -1.0)
    return (jnp.log(0.5 * erfcx(size) + sign * rest) - u * u).astype(x.dtype)


def _gamma_tails(a: Any, x: Any) -> Any:
    """log P and log Q, one behind the other."""
    known = (a > 0) & jnp.isfinite(a) & (x > 0) & jnp.isfinite(x)
    a_, x_ = jnp.where(known, a, 1.0), jnp.where(known, x, 1.0)
    low = x_ < a_ + 1
    central = known & (a_ > 1e6) & (jnp.abs(x_ - a_) < _CENTRE * a_)  # where both would be long
    by_series, by_fraction = known & low & ~central, known & ~low & ~central
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
    small = known & low & (a_ < 0.1)
    upper = _upper_of_small(jnp.where(small, a_, 0.1), jnp.where(small, x_, 0.5))
    above = jnp.where(small, jnp.log(upper), above)
    middle = jnp.where(central, a_, 1e8)
    smaller = _near_mean(middle, jnp.where(central, x_, 1e8))
    larger, above_mean = log1mexp(-smaller), x_ > a_
    below = jnp.where(central, jnp.where(above_mean, larger, smaller), below)
    above = jnp.where(central, jnp.where(above_mean, smaller, larger), above)
    none, all_ = known | (x > 0), known | (x <= 0)
    bad = ~(a > 0) | jnp.isnan(x) | jnp.isinf(a)
    below = jnp.where(known, below, jnp.where(none, 0.0, -jnp.inf))
    above = jnp.where(known, above, jnp.where(all_, 0.0, -jnp.inf))
    return jnp.where(bad, jnp.nan, jnp.stack([below, above]))


def _by_densities(tails: Any, log_density: Any, shapes: int) -> Any:
    """The tails as a function whose slope by the argument behind the shapes is the density's.

    Those by the shapes come of the loops. A last argument is 1 less the argument.
    """
    forward = by_forward(tails)
    result = jax.custom_jvp(tails)

    def rule(primals: Any, tangents: Any) -> Any:
        moving = [k for k in range(shapes) if not isinstance(tangents[k], SymbolicZero)]
        change = [t for t in tangents[shapes:] if not isinstance(t, SymbolicZero)]

        def of_shapes(*moved: Any) -> Any:
            given = list(primals)
            for k, value in zip(moving, moved, strict=True):
                given[k] = value
            return forward(*given)

        if moving:
            at, moves = tuple(primals[k] for k in moving), tuple(tangents[k] for k in moving)
            out, total = jax.jvp(of_shapes, at, moves)
        else:
            out, total = result(*primals), 0.0
        if change:
            dx = -change[0] if isinstance(tangents[shapes], SymbolicZero) else change[0]
            some = jnp.isfinite(out)
            density = log_density(*primals)
            slope = jnp.where(some, jnp.exp(density - jnp.where(some, out, 0.0)), 0.0)
            total = total + jnp.stack([dx * slope[0], -dx * slope[1]])
        return out, total

    result.defjvp(rule, symbolic_zeros=True)
    return result


def _log_gamma_density(a: Any, x: Any) -> Any:
    inside = (a > 0) & jnp.isfinite(a) & (x > 0) & jnp.isfinite(x)
    a_, x_ = jnp.where(inside, a, 1.0), jnp.where(inside, x, 1.0)
    value = log_peak(a_) - bd0(a_, x_) + jnp.log(a_ / x_)
    return jnp.where(inside, value, jnp.where((x == 0) & (a == 1), 0.0, -jnp.inf))


_log_gamma_tails = _by_densities(_gamma_tails, _log_gamma_density, 1)


def log_gamma_tails(a: Any, x: Any) -> tuple[Any, Any]:
    """log P(a, x) and log Q(a, x) for a > 0 and x >= 0, of any sizes that broadcast."""
    a, x = jnp.broadcast_arrays(a, x)
    log_p, log_q = _log_gamma_tails(a, x)
    return log_p, log_q


def _beta_fraction(a: Any, b: Any, x: Any, y: Any, wanted: Any) -> Any:
    """The continued fraction of I_x(a, b) over x^a y^b / (a B(a, b)), of x and y = 1 - x.

    That of Didonato and Morris (ACM Transactions on Mathematical Software 18, 1992, eq. 9), which
    is right where y is tiny, too.
    """

    def parts(m: Any) -> tuple[Any, Any]:
        wide = a + (2 * m - 1)
        begin = jnp.where(m == 1, 1.0, a + (m - 1))  # of which a has been taken out at first
        above = begin / wide * ((a + b + (m - 1)) / wide) * (m * (b - m) * x * x)
        rest = (a + m) / (a + (2 * m + 1)) * (a * y - b * x + 1 + m * (1 + y))
        return above, m + m * (b - m) * x / wide + rest

    least = _ending(b, jnp.maximum(a, b))
    return _fraction(parts, (a * y - b * x + 1) / (a + 1), wanted, least=least)


def _beta_tails(a: Any, b: Any, x: Any, y: Any) -> Any:
    known = (a > 0) & (b > 0) & (x > 0) & (y > 0) & jnp.isfinite(a + b)
    a_, b_ = jnp.where(known, a, 1.0), jnp.where(known, b, 1.0)
    x_, y_ = jnp.where(known, x, 0.5), jnp.where(known, y, 0.5)
    turned = x_ * (a_ + b_ + 2) > a_ + 1  # there the fraction of the other part converges
    first, second = jnp.where(turned, b_, a_), jnp.where(turned, a_, b_)
    near, far = jnp.where(turned, y_, x_), jnp.where(turned, x_, y_)
    # x^a (1 - x)^b / B(a, b) is a binomial probability times a b / (a + b).
    factor = sum(log_binomial(a_, b_, x_, y_)) + jnp.log(second) - jnp.log(a_ + b_)
    smaller = factor + jnp.log(_beta_fraction(first, second, near, far, known))
    smaller = jnp.minimum(smaller, -1e-300)
    larger = log1mexp(-smaller)
    below, above = jnp.where(turned, larger, smaller), jnp.where(turned, smaller, larger)
    below = jnp.where(known, below, jnp.where(x > 0, 0.0, -jnp.inf))
    above = jnp.where(known, above, jnp.where(y > 0, 0.0, -jnp.inf))
    bad = ~(a > 0) | ~(b > 0) | jnp.isnan(x + y) | jnp.isinf(a + b)
    return jnp.where(bad, jnp.nan, jnp.stack([below, above]))


def _log_beta_density(a: Any, b: Any, x: Any, y: Any) -> Any:
    inside = (a > 0) & (b > 0) & (x > 0) & (y > 0) & jnp.isfinite(a + b)
    a_, b_ = jnp.where(inside, a, 1.0), jnp.where(inside, b, 1.0)
    x_, y_ = jnp.where(inside, x, 0.5), jnp.where(inside, y, 0.5)
    value = sum(log_binomial(a_, b_, x_, y_)) - jnp.log(x_) - jnp.log(y_)
    value = value + jnp.log(a_) + jnp.log(b_) - jnp.log(a_ + b_)
    at_end = jnp.where((x == 0) & (a == 1), b, jnp.where((y == 0) & (b == 1), a, 0.0))
    some = at_end > 0
    at_end = jnp.where(some, jnp.log(jnp.where(some, at_end, 1.0)), -jnp.inf)
    return jnp.where(inside, value, at_end)


_log_beta_tails = _by_densities(_beta_tails, _log_beta_density, 2)


def log_beta_tails(a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """log I_x(a, b) and log (1 - I_x(a, b)) = log I_y(b, a) of x and y = 1 - x, both given."""
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
    """A part that is `start` at x = 0, with its limits for a = 0 and a = inf; NaN for x < 0."""
    end, infinite = 1 - start, jnp.inf
    value = jnp.where((a == 0) & (x > 0), end, value)
    value = jnp.where((a == infinite) & (x < infinite), start, value)
    return jnp.where(x < 0, jnp.nan, value)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function I_x(a, b)."""
    return _beta_limits(jnp.exp(log_beta_tails(a, b, x, 1 - x)[0]), a, b, x, 0.0)


def betaincc(a: Any, b: Any, x: Any) -> Any:
    """1 - I_x(a, b), right where it is tiny."""
    return _beta_limits(jnp.exp(log_beta_tails(a, b, x, 1 - x)[1]), a, b, x, 1.0)


def _beta_limits(value: Any, a: Any, b: Any, x: Any, start: float) -> Any:
    """A part that is `start` at x = 0, with its limits where a or b is 0 or infinite."""
    at_0 = ((a == 0) & (b > 0)) | ((b == jnp.inf) & (a >= 0) & (a < jnp.inf))
    at_1 = ((b == 0) & (a > 0)) | ((a == jnp.inf) & (b >= 0) & (b < jnp.inf))
    value = jnp.where(at_0, jnp.where(x > 0, 1 - start, start), value)
    value = jnp.where(at_1, jnp.where(x < 1, start, 1 - start), value)
    return jnp.where((x >= 0) & (x <= 1), value, jnp.nan)


def _log_half(df: Any, t: Any) -> Any:
    """log of I_x(df / 2, 1 / 2) with x = df / (df + t^2): both tails beyond abs(t)."""
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
    """The derivative by df, 0 in the middle."""
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
