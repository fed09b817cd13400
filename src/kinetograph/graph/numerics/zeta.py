"""The zeta functions of Riemann and Hurwitz.

    zeta(s, q) = sum_{n >= 0} (q + n)^-s,    zeta(s) = zeta(s, 1)

A few terms are summed, the others by the formula of Euler and Maclaurin (NIST Handbook of
Mathematical Functions, 25.11.5), whose derivatives by s and by q are those of the sum. Of
negative s Riemann's function is its mirror image (25.4.1):

    zeta(s) = 2 (2 pi)^(s - 1) sin(pi s / 2) Gamma(1 - s) zeta(1 - s)
"""

import math
from fractions import Fraction

import jax.numpy as jnp

from .gammas import gammaln
from .special import power, sinpi

__all__ = ["zeta"]

_SUMMED = 12
_CORRECTIONS = 12


def _bernoulli(count: int) -> list[Fraction]:
    """B_0, B_1, ..., by their recursion."""
    found = [Fraction(1)]  # exact: they cancel
    for n in range(1, count):
        total = sum((math.comb(n + 1, k) * b for k, b in enumerate(found)), Fraction(0))
        found.append(-total / (n + 1))
    return found


# B_2k / (2k)!
_WEIGHTS = [
    float(b / math.factorial(2 * k)) for k, b in enumerate(_bernoulli(2 * _CORRECTIONS + 1)[::2])
][1:]


def _series(s, q):
    """The sum for q > 0 and s > -1 other than 1."""
    value = power(q[..., None] + jnp.arange(_SUMMED, dtype=q.dtype), -s[..., None]).sum(-1)
    end = q + _SUMMED
    # Of large s the rest is nothing, and what follows would be infinite.
    short = s < 50 * end
    s = jnp.where(short, s, 2.0)
    first = power(end, -s)
    rest = power(end, 1 - s) / (s - 1) + 0.5 * first
    term = first * s / end
    for k, weight in enumerate(_WEIGHTS):
        rest = rest + weight * term
        term = term * ((s + 2 * k + 1) / end) * ((s + 2 * k + 2) / end)
    return value + jnp.where(short, rest, 0.0)


def _hurwitz(s, q):
    """Hurwitz's zeta function for s > 1 and q > 0; elsewhere NaN, and infinite at its poles."""
    s, q = jnp.broadcast_arrays(s, q)
    endless = jnp.isinf(q) & (q > 0)
    inside = (s > 1) & (q > 0) & ~endless
    value = _series(jnp.where(inside, s, 2.0), jnp.where(inside, q, 1.0))
    pole = (s == 1) | ((s > 1) & (q <= 0) & (q == jnp.floor(q)))
    other = jnp.where(pole, jnp.inf, jnp.where(endless & (s > 1), 0.0, jnp.nan))
    return jnp.where(inside, value, other)


def _riemann(s):
    """Riemann's zeta function, infinite at 1."""
    pole, below, known = s == 1, s < -0.1, jnp.isfinite(s)
    mirrored = jnp.where(below, 1 - s, jnp.where(pole | ~known, 2.0, s))
    value = _series(mirrored, jnp.ones_like(s))
    at = jnp.where(below & known, s, -1.0)
    log = gammaln(1 - at) + (at - 1) * math.log(2 * math.pi)
    image = 2 * jnp.exp(log) * sinpi(0.5 * at) * value
    limit = jnp.where(s == jnp.inf, 1.0, jnp.nan)
    return jnp.where(pole, jnp.inf, jnp.where(known, jnp.where(below, image, value), limit))


def zeta(s, q=None):
    """The zeta function of Hurwitz, or that of Riemann where q is not given."""
    return _riemann(s) if q is None else _hurwitz(s, q)
