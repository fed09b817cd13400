"""The beta function of any real numbers, and the logarithm of its size.

    B(a, b) = Gamma(a) Gamma(b) / Gamma(a + b)

Where a is a whole number not above 0, its pole is one of Gamma(a + b), too, if b is a whole number
and a + b <= 0; then B(a, b) = (-1)^b B(1 - a - b, b).
"""

import jax.numpy as jnp

from .gammas import betaln, gammaln

__all__ = ["any_betaln", "beta"]


def _whole(x):
    return x == jnp.floor(x)


def _cases(a, b):
    """The smaller and the larger, whether both are finite and above 0, and where poles cancel."""
    low, high = jnp.where(a < b, a, b), jnp.where(a < b, b, a)
    inside = (low > 0) & (high < jnp.inf)
    cancelled = (low <= 0) & _whole(low) & (high > 0) & _whole(high) & (low + high <= 0)
    return low, high, inside, cancelled & jnp.isfinite(low)


def any_betaln(a, b):
    """The logarithm of the absolute beta function."""
    a, b = jnp.broadcast_arrays(a, b)
    low, high, inside, cancelled = _cases(a, b)
    first = jnp.where(inside, a, jnp.where(cancelled, 1 - low - high, 1.0))
    known = betaln(first, jnp.where(inside, b, jnp.where(cancelled, high, 1.0)))
    other = ~inside & ~cancelled & jnp.isfinite(low) & jnp.isfinite(high)
    x, y = jnp.where(other, low, 0.5), jnp.where(other, high, 0.5)
    poles = ((low <= 0) & _whole(low)) | ((high <= 0) & _whole(high))
    apart = jnp.where(poles, jnp.inf, gammaln(x) + gammaln(y) - gammaln(x + y))
    endless = jnp.where((low > 0) & (low < jnp.inf), -jnp.inf, jnp.nan)
    endless = jnp.where((low == 0) & (high == jnp.inf), jnp.inf, endless)
    found = jnp.where(inside | cancelled, known, jnp.where(other, apart, endless))
    return jnp.where(jnp.isnan(a) | jnp.isnan(b), jnp.nan, found)


def _sign(x):
    """The sign of the gamma function."""
    return jnp.where((x < 0) & (jnp.floor(x) % 2 != 0), -1.0, 1.0)


def beta(a, b):
    """The beta function; infinite at its poles."""
    a, b = jnp.broadcast_arrays(a, b)
    low, high, inside, cancelled = _cases(a, b)
    pole = (low <= 0) & _whole(low) | (high <= 0) & _whole(high)
    signs = jnp.where(pole | inside, 1.0, _sign(a) * _sign(b) * _sign(a + b))
    signs = jnp.where(cancelled, jnp.where(high % 2 == 0, 1.0, -1.0), signs)
    return (signs * jnp.exp(any_betaln(a, b))).astype(jnp.result_type(a, b))
