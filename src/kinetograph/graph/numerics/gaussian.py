"""The normal distribution function and related functions, accurate in both tails."""

import math

import jax.numpy as jnp
from jax.scipy import special as jsp

from .derivative_rules import derivative

__all__ = ["any_erfcx", "erfcx", "erfinv", "log_ndtr", "mills", "ndtr", "ndtri"]

ROOT_2, ROOT_2PI = math.sqrt(2), math.sqrt(2 * math.pi)

# Coefficients of (1 + 2x) exp(x^2) erfc(x) as a polynomial in (x - K) / (x + K). They come from its
# Chebyshev expansion, computed with 40 digits, and are accurate to 1e-15 everywhere. The form is
# due to Shepherd and Laframboise (1981).
_K = 3.75
_LARGEST = {2: 1e4, 4: 1e37, 8: 1e307}  # for each size of the type in bytes
_C = [1.2375126308378275, -0.14024059858554697, 0.003585415485463775, 0.08227673849014516]
_C += [-0.10880393014171785, 0.09230432116037876, -0.058693398590212366, 0.028362277418940665]
_C += [-0.009746579552504244, 0.0017556258530017257, 0.0002937136342850081]
_C += [-0.0002901540809795271, 5.1649211390702855e-05, 2.2384240314224437e-05]
_C += [-1.1444412439171722e-05, -9.735619015182663e-07, 1.7520579701663182e-06]
_C += [-5.721597255990991e-08, -2.5910696877966583e-07, 2.3261913276696596e-08]
_C += [3.8965452548986005e-08, -3.743568033634595e-09, -5.284286979631436e-09]
_C += [3.110310719839185e-10, 4.434959070009655e-10]


def _polynomial(coefficients, x):
    """A polynomial whose coefficients are in ascending order."""
    value = jnp.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        value = value * x + c
    return value


def erfcx(x):
    """exp(x^2) erfc(x) for x >= 0."""
    x = jnp.minimum(x, _LARGEST[x.dtype.itemsize])  # inf / inf would be NaN
    return _polynomial(_C, (x - _K) / (x + _K)) / (1 + 2 * x)


def _density(x):
    return jnp.exp(-0.5 * x * x) / ROOT_2PI


# Coefficients of mills(-z) - z in odd powers of 1 / z, the moments of the continued fraction;
# accurate to 1e-13 for z >= 50.
_EXCESS = [1.0, -2.0, 10.0, -74.0, 706.0, -8162.0]


def _mills_slope(x):
    """-mills(x) (x + mills(x)); the sum cancels for large negative x."""
    m = mills(x)
    far = x < -50
    inverse = 1 / jnp.where(far, -x, 50.0)
    excess = inverse * _polynomial(_EXCESS, inverse * inverse)
    return -m * jnp.where(far, excess, x + m)


@derivative(_mills_slope)
def mills(x):
    """The derivative of log_ndtr: the normal density over its distribution function."""
    scaled = erfcx(jnp.abs(x) / ROOT_2)
    density = jnp.exp(-0.5 * x * x)
    above = density / (1 - 0.5 * density * scaled) / ROOT_2PI
    return jnp.where(x < 0, math.sqrt(2 / math.pi) / scaled, above)


def _erfcx_slope(x):
    z = -ROOT_2 * x
    return ROOT_2 * any_erfcx(x) * _mills_slope(z) / mills(z)


@derivative(_erfcx_slope)
def any_erfcx(x):
    """exp(x^2) erfc(x) for any x."""
    return math.sqrt(2 / math.pi) / mills(-ROOT_2 * x)


@derivative(_density)
def ndtr(x):
    """The normal distribution function."""
    return 0.5 * jsp.erfc(-x / ROOT_2)


@derivative(mills)
def log_ndtr(x):
    """The logarithm of the normal distribution function."""
    scaled, square = 0.5 * erfcx(jnp.abs(x) / ROOT_2), -0.5 * x * x
    # One logarithm serves both signs. For x < 0 it is log(scaled) = log1p(scaled - 1), which is
    # accurate enough because `square` is added to it. Where `scaled` is tiny, `square` dominates.
    below = jnp.maximum(scaled, jnp.finfo(x.dtype).eps) - 1.0
    log = jnp.log1p(jnp.where(x < 0, below, -jnp.exp(square) * scaled))
    return jnp.where(x < 0, log + square, log)


@derivative(lambda p: ROOT_2PI * jnp.exp(0.5 * jnp.square(ndtri(p))))
def ndtri(p):
    """The quantile function of the normal distribution."""
    return jsp.ndtri(p)


@derivative(lambda x: 0.5 * math.sqrt(math.pi) * jnp.exp(jnp.square(erfinv(x))))
def erfinv(x):
    """The inverse of the error function."""
    return jsp.erfinv(x)
