"""The zeta functions of Riemann and Hurwitz.

    zeta(s, q) = sum_{n >= 0} (q + n)^-s,    zeta(s) = zeta(s, 1)

A few terms are summed directly. The remaining sum is computed by the Euler-Maclaurin formula (NIST
Handbook of Mathematical Functions, 25.11.5); the derivatives of this formula by s and q are the
derivatives of the sum. For negative s, Riemann's function is computed by reflection (25.4.1):

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
    """The Bernoulli numbers B_0, B_1, ..., by their recursion."""
    numbers = [Fraction(1)]  # exact fractions, because the terms cancel
    for n in range(1, count):
        total = sum((math.comb(n + 1, k) * b for k, b in enumerate(numbers)), Fraction(0))
        numbers.append(-total / (n + 1))
    return numbers


# B_2k / (2k)!
_WEIGHTS = [
    float(b / math.factorial(2 * k)) for k, b in enumerate(_bernoulli(2 * _CORRECTIONS + 1)[::2])
][1:]


def _series(s, q):
    """The zeta function for q > 0, s > -1.

    s is not 1.
    """
    value = power(q[..., None] + jnp.arange(_SUMMED, dtype=q.dtype), -s[..., None]).sum(-1)
    end = q + _SUMMED
    # For large s the remaining sum is negligible, and its formula would overflow.
    has_tail = s < 50 * end
    s = jnp.where(has_tail, s, 2.0)
    end_term = power(end, -s)
    tail = power(end, 1 - s) / (s - 1) + 0.5 * end_term
    term = end_term * s / end
    for k, weight in enumerate(_WEIGHTS):
        tail = tail + weight * term
        term = term * ((s + 2 * k + 1) / end) * ((s + 2 * k + 2) / end)
    return value + jnp.where(has_tail, tail, 0.0)


def _hurwitz(s, q):
    """Hurwitz's zeta function for s > 1 and q > 0.

    It is infinite at its poles, and NaN elsewhere.
    """
    s, q = jnp.broadcast_arrays(s, q)
    is_infinite = jnp.isinf(q) & (q > 0)
    is_regular = (s > 1) & (q > 0) & ~is_infinite
    value = _series(jnp.where(is_regular, s, 2.0), jnp.where(is_regular, q, 1.0))
    pole = (s == 1) | ((s > 1) & (q <= 0) & (q == jnp.floor(q)))
    outside = jnp.where(pole, jnp.inf, jnp.where(is_infinite & (s > 1), 0.0, jnp.nan))
    return jnp.where(is_regular, value, outside)


def _riemann(s):
    """Riemann's zeta function, infinite at 1."""
    pole, is_reflected, is_finite = s == 1, s < -0.1, jnp.isfinite(s)
    mirrored = jnp.where(is_reflected, 1 - s, jnp.where(pole | ~is_finite, 2.0, s))
    value = _series(mirrored, jnp.ones_like(s))
    reflected_s = jnp.where(is_reflected & is_finite, s, -1.0)
    log = gammaln(1 - reflected_s) + (reflected_s - 1) * math.log(2 * math.pi)
    reflection = 2 * jnp.exp(log) * sinpi(0.5 * reflected_s) * value
    limit = jnp.where(s == jnp.inf, 1.0, jnp.nan)
    return jnp.where(
        pole, jnp.inf, jnp.where(is_finite, jnp.where(is_reflected, reflection, value), limit)
    )


def zeta(s, q=None):
    """The zeta function of Hurwitz, or Riemann's without q."""
    return _riemann(s) if q is None else _hurwitz(s, q)
