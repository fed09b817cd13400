"""The normal distribution function's family, accurate in both tails."""

import math

import jax.numpy as jnp
from jax.scipy import special as jsp

from .derivative_rules import derivative

__all__ = ["erfcx", "erfinv", "log_ndtr", "mills", "ndtr", "ndtri"]

ROOT_2, ROOT_2PI = math.sqrt(2), math.sqrt(2 * math.pi)

# exp(x^2) erfc(x) as quotients of polynomials, from Cephes (Moshier 1989): below 8, and above.
_P = [2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0]
_P += [4.86371970985681366614e1, 1.96520832956077098242e2, 5.26445194995477358631e2]
_P += [9.34528527171957607540e2, 1.02755188689515710272e3, 5.57535335369399327526e2]
_Q = [1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2]
_Q += [9.75708501743205489753e2, 1.82390916687909736289e3, 2.24633760818710981792e3]
_Q += [1.65666309194161350182e3, 5.57535340817727675546e2]
_R = [5.64189583547755073984e-1, 1.27536670759978104416e0, 5.01905042251180477414e0]
_R += [6.16021097993053585195e0, 7.40974269950448939160e0, 2.97886665372100240670e0]
_S = [1.0, 2.26052863220117276590e0, 9.39603524938001434673e0, 1.20489539808096656605e1]
_S += [1.70814450747565897222e1, 9.60896809063285878198e0, 3.36907645100081516050e0]


def _polynomial(coefficients, x):
    return jnp.polyval(jnp.asarray(coefficients, x.dtype), x)


def erfcx(x):
    """exp(x^2) erfc(x) for x >= 0."""
    near = jnp.clip(x, None, 1.0)
    middle = jnp.clip(x, 1.0, 8.0)
    inverse = 1 / jnp.maximum(x, 8.0)
    first = jnp.exp(near * near) * jsp.erfc(near)
    second = _polynomial(_P, middle) / _polynomial(_Q, middle)
    # in powers of 1/x, which do not overflow
    third = inverse * _polynomial(_R[::-1], inverse) / _polynomial(_S[::-1], inverse)
    return jnp.where(x < 1, first, jnp.where(x < 8, second, third))


def _density(x):
    return jnp.exp(-0.5 * x * x) / ROOT_2PI


# mills(-z) - z in powers of 1/z: the continued fraction's moments, right to 1e-13 from 50 on
_EXCESS = [1.0, -2.0, 10.0, -74.0, 706.0, -8162.0]


def _mills_slope(x):
    """-mills(x) (x + mills(x)); the sum cancels for large negative x."""
    m = mills(x)
    far = x < -50
    inverse = 1 / jnp.where(far, -x, 50.0)
    excess = inverse * _polynomial(_EXCESS[::-1], inverse * inverse)
    return -m * jnp.where(far, excess, x + m)


@derivative(_mills_slope)
def mills(x):
    """The derivative of log_ndtr: the normal density over the normal distribution function."""
    below = math.sqrt(2 / math.pi) / erfcx(jnp.maximum(-x, 0.0) / ROOT_2)
    above = _density(jnp.maximum(x, 0.0)) / jsp.ndtr(jnp.maximum(x, 0.0))
    return jnp.where(x < 0, below, above)


@derivative(_density)
def ndtr(x):
    """The normal distribution function."""
    return 0.5 * jsp.erfc(-x / ROOT_2)


@derivative(mills)
def log_ndtr(x):
    """The logarithm of the normal distribution function."""
    below = jnp.minimum(x, -1.0)
    tail = jnp.log(0.5 * erfcx(-below / ROOT_2)) - 0.5 * below * below
    return jnp.where(x < -1, tail, jnp.log1p(-0.5 * jsp.erfc(x / ROOT_2)))


@derivative(lambda p: ROOT_2PI * jnp.exp(0.5 * jnp.square(ndtri(p))))
def ndtri(p):
    """The quantile function of the normal distribution."""
    return jsp.ndtri(p)


@derivative(lambda x: 0.5 * math.sqrt(math.pi) * jnp.exp(jnp.square(erfinv(x))))
def erfinv(x):
    """The inverse of the error function."""
    return jsp.erfinv(x)
