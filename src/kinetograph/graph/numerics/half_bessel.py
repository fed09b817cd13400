"""Modified Bessel functions of half-integer order v = n + 1/2.

The order is known at build time. With a_k = (n + k)! / (k! (n - k)! 2^k), the functions are
elementary (NIST Handbook, 10.49):

    K_v(x) = sqrt(pi / 2x) exp(-x) sum_k a_k x^-k
    I_v(x) = (exp(x) sum_k (-1)^k a_k x^-k - (-1)^n exp(-x) sum_k a_k x^-k) / sqrt(2 pi x)
    I_-v(x) = I_v(x) + (-1)^n 2 / pi K_v(x)

For x < n (n + 1) / 2 the terms of I_v cancel. There its power series is used, whose terms are all
positive:

    I_v(x) = (x / 2)^v / Gamma(v + 1) sum_k (x^2 / 4)^k / (k! (v + 1) ... (v + k))
"""

import math

import jax.numpy as jnp
import numpy as np

__all__ = ["LARGEST", "ive", "kve"]

LARGEST = 30.5  # for larger orders, the sums would overflow


def _terms(n: int) -> list[float]:
    """a_n, ..., a_0."""
    return [
        math.factorial(n + k) / (math.factorial(k) * math.factorial(n - k) * 2**k)
        for k in range(n, -1, -1)
    ]


def _polynomial(coefficients, x):
    return jnp.polyval(jnp.asarray(coefficients, x.dtype), x)


def _inside(x, v: float, function, at_0: float):
    """Evaluate a function of 0 < x < inf in double precision.

    The value at inf is 0, and it is NaN for x < 0.
    """
    inside = (x > 0) & (x < jnp.inf)
    value = function(jnp.where(inside, x, 1.0).astype(jnp.float64), v).astype(x.dtype)
    ends = jnp.where(x == 0, at_0, jnp.where(x == jnp.inf, 0.0, jnp.nan))
    return jnp.where(inside, value, ends)


def kve(x, *, v: float):
    """exp(x) K_v(x)."""
    return _inside(x, abs(v), _kve, np.inf)


def ive(x, *, v: float):
    """exp(-x) I_v(x)."""
    if v > 0:
        return _inside(x, v, _ive, 0.0)
    sign = (-1.0) ** math.floor(-v)
    image = (2 / np.pi) * sign
    return _inside(
        x, -v, lambda x, v: _ive(x, v) + image * jnp.exp(-2 * x) * _kve(x, v), sign * np.inf
    )


def _kve(x, v: float):
    return jnp.sqrt(0.5 * np.pi / x) * _polynomial(_terms(math.floor(v)), 1 / x)


def _ive(x, v: float):
    n = math.floor(v)
    border = max(0.5 * n * (n + 1), 1.0)
    far = x > border
    y, terms = jnp.where(far, x, border), _terms(n)
    signed = [(-1.0) ** (n - i) * a for i, a in enumerate(terms)]
    decayed = (-1.0) ** n * jnp.exp(-2 * y) * _polynomial(terms, 1 / y)
    closed = (_polynomial(signed, 1 / y) - decayed) / jnp.sqrt(2 * np.pi * y)
    return jnp.where(far, closed, _series(jnp.where(far, border, x), v, border))


def _series(x, v: float, border: float):
    """exp(-x) I_v(x) for x <= border, by powers of (x / border)^2."""
    coefficients = [1.0]
    while coefficients[-1] > 1e-18 * sum(coefficients):
        k = len(coefficients)
        coefficients.append(coefficients[-1] * 0.25 * border**2 / (k * (v + k)))
    total = _polynomial(coefficients[::-1], (x / border) ** 2)
    return (0.5 * x) ** v * (total * jnp.exp(-x) / math.gamma(v + 1))
