"""The incomplete gamma and beta functions as logarithms of both parts, right however small one is.

    P(a, x) = gamma(a, x) / Gamma(a),  Q = 1 - P,    I_x(a, b) = B(x; a, b) / B(a, b)

By power series and continued fractions, each where it converges fast (W. H. Press et al.,
Numerical Recipes, 3rd edition, 6.2 and 6.4), times a factor in logarithms that does not cancel
(`deviance`). They take as many terms as the root of the largest argument.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .derivative_rules import by_forward, partials
from .deviance import log_binomial, log_peak
from .gammas import bd0, gammaln
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
    per_step: int = 1,
    least: Any = 0,
) -> Any:
    """1 / (first + a_1 / (b_1 + a_2 / (b_2 + ...))) by Lentz's method; `parts(n)` gives a and b."""
    tiny = jnp.asarray(1e-30 if first.dtype.itemsize == 4 else _TINY, first.dtype)
    eps = jnp.finfo(first.dtype).eps

    def nonzero(x: Any) -> Any:
        return jnp.where(jnp.abs(x) < tiny, tiny, x)

    def step(n: Any, state: Any) -> Any:
        value, c, d, before = state
        change = jnp.ones_like(value)
        for k in range(per_step):
            a, b = parts((n - 1) * per_step + k + 1)
            d = 1 / nonzero(b + a * d)
            c = nonzero(b + a / c)
            change = change * (c * d)
            value = value * c * d
        # c d of two numbers that are 1 / each other need not be 1: what is left is rounding.
        left = jnp.abs(change - 1)
        return value, c, d, jnp.where((left <= eps) & (left >= before), 0, left)

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


def _gamma_tails(a: Any, x: Any) -> Any:
    """log P and log Q, one behind the other."""
    known = (a > 0) & jnp.isfinite(a) & (x > 0) & jnp.isfinite(x)
    a_, x_ = jnp.where(known, a, 1.0), jnp.where(known, x, 1.0)
    low = x_ < a_ + 1
    by_series, by_fraction = known & low, known & ~low
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
    none, all_ = known | (x > 0), known | (x <= 0)
    bad = ~(a > 0) | jnp.isnan(x) | jnp.isinf(a)
    below = jnp.where(known, below, jnp.where(none, 0.0, -jnp.inf))
    above = jnp.where(known, above, jnp.where(all_, 0.0, -jnp.inf))
    return jnp.where(bad, jnp.nan, jnp.stack([below, above]))


_log_gamma_tails = by_forward(_gamma_tails)


def log_gamma_tails(a: Any, x: Any) -> tuple[Any, Any]:
    """log P(a, x) and log Q(a, x) for a > 0 and x >= 0, of any sizes that broadcast."""
    a, x = jnp.broadcast_arrays(a, x)
    log_p, log_q = _log_gamma_tails(a, x)
    return log_p, log_q


def _beta_fraction(a: Any, b: Any, x: Any, wanted: Any) -> Any:
    """The continued fraction of I_x(a, b) over x^a (1 - x)^b / (a B(a, b))."""

    def parts(n: Any) -> tuple[Any, Any]:
        m = jnp.floor(n / 2)
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        return jnp.where(n == 2 * m, even, odd), jnp.ones_like(x)

    least = _ending(b, jnp.maximum(a, b))
    return _fraction(parts, jnp.ones_like(x), wanted, per_step=2, least=least)


def _beta_tails(a: Any, b: Any, x: Any, y: Any) -> Any:
    known = (a > 0) & (b > 0) & (x > 0) & (y > 0) & jnp.isfinite(a + b)
    a_, b_ = jnp.where(known, a, 1.0), jnp.where(known, b, 1.0)
    x_, y_ = jnp.where(known, x, 0.5), jnp.where(known, y, 0.5)
    turned = x_ * (a_ + b_ + 2) > a_ + 1  # there the fraction of the other part converges
    first, second = jnp.where(turned, b_, a_), jnp.where(turned, a_, b_)
    near = jnp.where(turned, y_, x_)
    # x^a (1 - x)^b / B(a, b) is a binomial probability times a b / (a + b).
    factor = sum(log_binomial(a_, b_, x_, y_)) + jnp.log(second) - jnp.log(a_ + b_)
    smaller = factor + jnp.log(_beta_fraction(first, second, near, known))
    smaller = jnp.minimum(smaller, -1e-300)
    larger = log1mexp(-smaller)
    below, above = jnp.where(turned, larger, smaller), jnp.where(turned, smaller, larger)
    below = jnp.where(known, below, jnp.where(x > 0, 0.0, -jnp.inf))
    above = jnp.where(known, above, jnp.where(y > 0, 0.0, -jnp.inf))
    bad = ~(a > 0) | ~(b > 0) | jnp.isnan(x + y) | jnp.isinf(a + b)
    return jnp.where(bad, jnp.nan, jnp.stack([below, above]))


_log_beta_tails = by_forward(_beta_tails)


def log_beta_tails(a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """log I_x(a, b) and log (1 - I_x(a, b)) = log I_y(b, a) of x and y = 1 - x, both given."""
    a, b, x, y = jnp.broadcast_arrays(a, b, x, y)
    below, above = _log_beta_tails(a, b, x, y)
    return below, above


def gammainc(a: Any, x: Any) -> Any:
    """The regularised lower incomplete gamma function P(a, x)."""
    return jnp.exp(log_gamma_tails(a, x)[0])


def gammaincc(a: Any, x: Any) -> Any:
    """The regularised upper incomplete gamma function Q(a, x)."""
    return jnp.exp(log_gamma_tails(a, x)[1])


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function I_x(a, b)."""
    return jnp.exp(log_beta_tails(a, b, x, 1 - x)[0])


def betaincc(a: Any, b: Any, x: Any) -> Any:
    """1 - I_x(a, b), right where it is tiny."""
    return jnp.exp(log_beta_tails(a, b, x, 1 - x)[1])


def _log_half(df: Any, t: Any) -> Any:
    """log of I_x(df / 2, 1 / 2) with x = df / (df + t^2): both tails beyond abs(t)."""
    square = t * t
    half = jnp.full_like(df, 0.5)
    return log_beta_tails(half * df, half, df / (df + square), square / (df + square))[0]


def _student_density(df: Any, t: Any) -> Any:
    # The density at 0 is 1 / (sqrt(df) B(df / 2, 1 / 2)).
    half = 0.5 * df
    log_peak = gammaln(half + 0.5) - gammaln(half) - 0.5 * jnp.log(jnp.pi * df)
    return jnp.exp(log_peak - (half + 0.5) * jnp.log1p(t * t / df))


def _student_slope(df: Any, t: Any) -> Any:
    """The derivative by df, 0 in the middle."""
    middle = t == 0
    away = jnp.where(middle, 1.0, t)
    one = jnp.ones_like(df)
    log, slope = jax.jvp(lambda d: _log_half(d, away), (df,), (one,))
    return jnp.where(middle, 0.0, -jnp.sign(t) * 0.5 * jnp.exp(log) * slope)


@partials(_student_slope, _student_density)
def _stdtr(df: Any, t: Any) -> Any:
    tail = 0.5 * jnp.exp(_log_half(df, t))
    return jnp.where(t > 0, 1 - tail, tail)


def stdtr(df: Any, t: Any) -> Any:
    """The distribution function of Student's t distribution."""
    return _stdtr(*jnp.broadcast_arrays(df, t))
