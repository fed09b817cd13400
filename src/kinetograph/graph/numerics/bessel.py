"""Modified Bessel functions of the first kind and the exponential integral.

    I_0' = I_1,    I_1' = I_0 - I_1 / x,    Ei' = exp(x) / x

The scaled functions exp(-abs x) I_n(x) change slowly for large x. There the difference of two of
them is computed by the asymptotic series of I_1 / I_0 (Abramowitz and Stegun, 9.7.1).
"""

import math

import jax.numpy as jnp
from jax.scipy import special as jsp

from .derivative_rules import derivative

__all__ = ["exp1", "expi", "i0", "i0e", "i1", "i1e"]

_FAR = 100.0
# Coefficients of 1 - I_1(x) / I_0(x) in powers of 1 / x, from 1 / x on; accurate to 1e-13 for
# x >= 100.
_SHORT = [1 / 2, 1 / 8, 1 / 8, 25 / 128, 13 / 32, 1073 / 1024, 103 / 32]


def _short_of_1(x):
    """1 - I_1(x) / I_0(x) for x >= 0."""
    far = x > _FAR
    inverse = 1 / jnp.where(far, x, _FAR)
    series = inverse * jnp.polyval(jnp.asarray(_SHORT[::-1], x.dtype), inverse)
    near = jnp.where(far, 1.0, x)
    return jnp.where(far, series, 1 - i1e(near) / i0e(near))


# Coefficients of I_1(x) / x in powers of (x / 2)^2; accurate to 1e-16 for abs(x) <= 1.
_SERIES = [0.5 / (math.factorial(k) * math.factorial(k + 1)) for k in range(10)]


def _over_x(x):
    """I_1(x) / (x I_0(x)), 1/2 at x = 0.

    Near 0 a series is used, because derivatives of the quotient would cancel.
    """
    near = jnp.abs(x) < 1
    small, large = jnp.where(near, x, 0.5), jnp.where(near, 1.0, x)
    series = jnp.polyval(jnp.asarray(_SERIES[::-1], x.dtype), 0.25 * small * small) / i0(small)
    return jnp.where(near, series, i1e(large) / (large * i0e(large)))


@derivative(lambda x: -jnp.sign(x) * i0e(x) * _short_of_1(jnp.abs(x)))
def i0e(x):
    """exp(-abs(x)) I_0(x)."""
    return jsp.i0e(x)


@derivative(lambda x: i0e(x) * (_short_of_1(jnp.abs(x)) - _over_x(x)))
def i1e(x):
    """exp(-abs(x)) I_1(x)."""
    return jsp.i1e(x)


@derivative(lambda x: i1(x))
def i0(x):
    """The modified Bessel function of order 0."""
    return jsp.i0(x)


@derivative(lambda x: i0(x) * (1 - _over_x(x)))
def i1(x):
    """The modified Bessel function of order 1."""
    return jsp.i1(x)


@derivative(lambda x: -jnp.exp(-x) / x)
def exp1(x):
    """The exponential integral E_1(x) for x > 0.

    It is the integral of exp(-t) / t from x to infinity.
    """
    return jsp.exp1(x)


@derivative(lambda x: jnp.exp(x) / x)
def expi(x):
    """The exponential integral Ei(x).

    It is the principal value of the integral of exp(t) / t from -infinity to x.
    """
    return jnp.where(x == jnp.inf, x, jsp.expi(x))
