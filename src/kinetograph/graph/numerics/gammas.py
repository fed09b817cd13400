"""The gamma function and related functions: logarithms, derivatives, differences.

Densities of counts are differences of large logarithms of gamma functions. Loader (2000, "Fast and
accurate computation of binomial probabilities") avoids this cancellation by the small functions
`stirlerr` and `bd0`:

    log poisson(x | m)     = -stirlerr(x) - bd0(x, m) - log(2 pi x) / 2
    log binomial(x | n, p) = stirlerr(n) - stirlerr(x) - stirlerr(n - x)
                             - bd0(x, n p) - bd0(n - x, n (1 - p)) + log(n / (2 pi x (n - x))) / 2
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from .derivative_rules import derivative, partials
from .special import cospi, sinpi

__all__ = [
    "bd0",
    "betaln",
    "comb",
    "digamma",
    "gamma",
    "gammaln",
    "kl_div",
    "log_comb",
    "log_quotient",
    "log_rising",
    "polygamma",
    "stirlerr",
    "trigamma",
]

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@derivative(lambda x: digamma(x))
def gammaln(x):
    """The logarithm of the absolute gamma function."""
    return jax.lax.lgamma(x)


@derivative(lambda x: gamma(x) * digamma(x))
def gamma(x):
    """The gamma function."""
    return jsp.gamma(x)


@derivative(lambda x: polygamma(1, x))
def digamma(x):
    """The derivative of gammaln."""
    # XLA's gammaln and digamma have 8 quotients in common. The barrier keeps XLA from sharing them:
    # each shared quotient would become a separate kernel, which takes longer to compile and to run
    # than computing the quotient twice.
    return jax.lax.digamma(jax.lax.optimization_barrier(x))


def trigamma(x):
    """The derivative of digamma."""
    return polygamma(1, x)


def polygamma(order: int, x: Any) -> Any:
    """The derivative of digamma of an integer order of at least 1.

    For x <= 0 it is computed by reflection (Abramowitz and Stegun, 6.4.7):

        polygamma(n, x) = (-1)^n polygamma(n, 1 - x) - pi d^n cot(pi x) / dx^n
    """

    @derivative(lambda x: polygamma(order + 1, x))
    def function(x):
        reflected = x <= 0
        y = jnp.where(reflected, 1 - x, x)
        # There the further terms of the asymptotic series are 0, and powers of x may overflow.
        far = y > 1e9
        inverse = 1 / jnp.where(far, y, 1.0)
        tail = math.factorial(order - 1) * inverse**order * (1 + 0.5 * order * inverse)
        near = jsp.polygamma(np.int32(order), jnp.where(far, 1.0, y))
        plain = jnp.where(far, (-1) ** (order + 1) * tail, near)
        cotangent = _cotangent(jnp.where(reflected, x, 0.5))
        reflection = (-1) ** order * plain - _derived_cotangent(order, cotangent)
        return jnp.where(reflected, reflection, plain).astype(x.dtype)

    return function(x)


def _cotangent(x):
    """cot(pi x)."""
    return cospi(x) / sinpi(x)


def _derived_cotangent(order: int, c: Any) -> Any:
    """A derivative of pi cot(pi x), given c = cot(pi x).

    pi d^order cot(pi x) / dx^order is a polynomial in c.
    """
    polynomial = np.polynomial.Polynomial([0.0, np.pi])
    for _ in range(order):
        polynomial = -np.pi * polynomial.deriv() * np.polynomial.Polynomial([1.0, 0.0, 1.0])
    return jnp.polyval(jnp.asarray(polynomial.coef[::-1], c.dtype), c)


# Coefficients of gammaln(x) - ((x - 1/2) log x - x + log(2 pi) / 2) in odd powers of 1 / x;
# accurate to 1e-16 for x >= 10.
_STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156]


def _stirling(x):
    return jnp.polyval(jnp.asarray(_STIRLING[::-1], x.dtype), 1 / (x * x)) / x


def _stirling_slope(x):
    square = 1 / (x * x)
    slopes = [-(2 * i + 1) * c for i, c in enumerate(_STIRLING)]
    return jnp.polyval(jnp.asarray(slopes[::-1], x.dtype), square) * square


def stirlerr(x):
    """The error of Stirling's formula for x > 0.

    It is gammaln(x + 1) - (x + 1/2) log x + x - log(2 pi) / 2, about 1 / (12 x) for large x.
    """
    small = x < 10
    y = jnp.where(small, x, 1.0)
    plain = gammaln(y + 1) - (y + 0.5) * jnp.log(y) + y - HALF_LOG_2PI
    return jnp.where(small, plain, _stirling(jnp.where(small, 10.0, x)))


@partials(lambda x, m: 1 / x, lambda x, m: -1 / m)
def log_quotient(x, m):
    """log(x / m), also for x near m and extreme quotients."""
    near = jnp.abs(x - m) < 0.5 * m
    close = jnp.log1p(jnp.where(near, x - m, 0.0) / jnp.where(near, m, 1.0))
    direct = jnp.log(jnp.where(near, 1.0, x)) - jnp.log(jnp.where(near, 1.0, m))
    return jnp.where(near, close, direct)


@partials(lambda x, m: -1 / m, lambda x, m: jnp.where(x == 0, 0.0, x / m) / m)
def _shortfall(x, m):
    """(m - x) / m, and 1 for x = 0."""
    return jnp.where(x == 0, 1.0, (m - x) / jnp.where(x == 0, 1.0, m))


@partials(log_quotient, _shortfall)
def bd0(x, m):
    """The deviance term of a count x with mean m.

    It is x log(x / m) + m - x for x >= 0 and m >= 0.
    """
    total = x + m
    near = jnp.abs(x - m) < 0.1 * total
    v = jnp.where(near, x - m, 0.0) / jnp.where(near, total, 1.0)
    # The series of 2 x artanh(v) - (x - m) in powers of v.
    series = jnp.polyval(jnp.asarray([1 / (2 * j + 1) for j in range(9, 0, -1)], v.dtype), v * v)
    close = (x - m) * v + 2 * x * v * v * v * series
    y, n = jnp.where(near | (x == 0), 1.0, x), jnp.where(near, 1.0, m)
    direct = y * (jnp.log(y) - jnp.log(n)) + n - y
    return jnp.where(near, close, jnp.where(x == 0, m, direct))


def kl_div(x, y):
    """The term x log(x / y) - x + y.

    It is inf where x or y is negative, and where y is 0 but x is not.
    """
    inside = (x >= 0) & (y >= 0) & ((x == 0) | (y > 0))
    value = bd0(jnp.where(inside, x, 1.0), jnp.where(inside, y, 1.0))
    value = jnp.where(inside, value, jnp.inf)
    return jnp.where(jnp.isnan(x) | jnp.isnan(y), jnp.nan, value)


def _digamma_step(x, d):
    """digamma(x + d) - digamma(x), without cancellation for large x."""
    large = jnp.minimum(x, x + d) >= 10
    plain = digamma(x + d) - digamma(x)
    y, e = jnp.where(large, x, 10.0), jnp.where(large, d, 0.0)
    total = y + e
    far = jnp.log1p(e / y) + 0.5 * (e / y) / total + _stirling_slope(total) - _stirling_slope(y)
    return jnp.where(large, far, plain)


@partials(_digamma_step, lambda a, d: digamma(a + d))
def log_rising(a, d):
    """gammaln(a + d) - gammaln(a) for a > 0, d >= 0.

    For large a it avoids cancellation.
    """
    large = a >= 10
    plain = gammaln(a + d) - gammaln(a)
    y = jnp.where(large, a, 10.0)
    total = y + d
    far = (total - 0.5) * jnp.log1p(d / y) - d + d * jnp.log(y) + _stirling(total) - _stirling(y)
    return jnp.where(large, far, plain)


@partials(lambda a, b: -_digamma_step(a, b), lambda a, b: -_digamma_step(b, a))
def betaln(a, b):
    """The logarithm of the beta function, without cancellation of three gammaln."""
    small, large = jnp.minimum(a, b), jnp.maximum(a, b)
    total = small + large
    plain = gammaln(small) + gammaln(large) - gammaln(total)
    # An argument below 10 is replaced by 10 in the branch of large ones, so that no gradient is
    # infinite.
    y = jnp.where(large < 10, 10.0, large)
    ratio = (y - 0.5) * jnp.log1p(small / y)
    common = _stirling(y) - _stirling(small + y) - ratio
    one_large = gammaln(small) + small - small * jnp.log(small + y) + common
    x = jnp.where(small < 10, 10.0, small)
    both_large = (
        HALF_LOG_2PI - (x - 0.5) * jnp.log1p(y / x) - 0.5 * jnp.log(x + y) + _stirling(x) + common
    )
    return jnp.where(large < 10, plain, jnp.where(small < 10, one_large, both_large))


def comb(n, k):
    """The binomial coefficient for real arguments.

    It is gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)).

    If an argument of a gamma function is not positive, its reflection formula is used. If n is a
    negative integer and k an integer, the value is that of the polynomial in n:
    (-1)^k comb(k - n - 1, k).
    """
    logarithm, factor = _comb_parts(n, k)
    return (jnp.exp(logarithm) * factor).astype(jnp.result_type(n, k))


def log_comb(n, k):
    """The logarithm of comb(n, k); NaN where comb(n, k) is negative."""
    logarithm, factor = _comb_parts(n, k)
    return (logarithm + jnp.log(factor)).astype(jnp.result_type(n, k))


def _comb_parts(n, k):
    """The logarithm l and factor f in comb(n, k) = exp(l) f."""
    a, b, total = k + 1, n - k + 1, n + 1
    # Sort a and b by `where`, using comb(n, k) = comb(n, n - k). With `maximum`, equal arguments
    # would share the derivative.
    high, low = jnp.where(a < b, b, a), jnp.where(a < b, a, b)
    # Choose the gamma functions that need reflection, 1 / gamma(z) = gamma(1 - z) sin(pi z) / pi:
    # none of them, one (low), two (low and total), or all three.
    none = low > 0
    one = ~none & (total > 0)
    two = ~none & ~one & (high > 0)
    first = jnp.where(none | two, high, jnp.where(one, total, 1 - high))
    second = jnp.where(none, low, jnp.where(two, 1 - total, 1 - low))
    below = none | two
    # The barrier makes XLA compute the selections once, not again in each kernel that uses them.
    first, second = jax.lax.optimization_barrier((first, second))
    logarithm = jnp.where(below, -1.0, 1.0) * betaln(first, second)
    divisor = jnp.where(none, total, jnp.where(two, 1 - low, np.pi))

    def sine(condition, x):
        return jnp.where(condition, sinpi(jnp.where(condition, x, 0.5)), 1.0)

    is_integer = two & (total == jnp.round(total))
    parity = jnp.where(high == jnp.round(high), 1 - 2 * jnp.abs(jnp.round(high - 1) % 2), jnp.nan)
    sines = sine(~none & ~is_integer, low) * sine(~none & ~one & ~two, high)
    sines = jnp.where(is_integer, parity, sines / sine(~none & ~one & ~is_integer, total))
    return logarithm, sines / divisor
