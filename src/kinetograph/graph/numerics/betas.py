"""The beta function for real arguments, and its logarithm.

    B(a, b) = Gamma(a) Gamma(b) / Gamma(a + b)

If a <= 0 is an integer, Gamma(a) has a pole. If b is an integer, too, and a + b <= 0, Gamma(a + b)
has a pole as well, and the two poles cancel: B(a, b) = (-1)^b B(1 - a - b, b).
"""

import jax.numpy as jnp

from .gammas import betaln, gammaln

__all__ = ["any_betaln", "beta"]


def _is_integer(x):
    return x == jnp.floor(x)


def _cases(a, b):
    """The sorted arguments and their cases.

    Returns the smaller and the larger argument, whether both are positive and finite, and whether
    poles cancel.
    """
    low, high = jnp.where(a < b, a, b), jnp.where(a < b, b, a)
    inside = (low > 0) & (high < jnp.inf)
    cancelled = (low <= 0) & _is_integer(low) & (high > 0) & _is_integer(high) & (low + high <= 0)
    return low, high, inside, cancelled & jnp.isfinite(low)


def any_betaln(a, b):
    """The logarithm of the absolute beta function."""
    a, b = jnp.broadcast_arrays(a, b)
    low, high, inside, cancelled = _cases(a, b)
    first = jnp.where(inside, a, jnp.where(cancelled, 1 - low - high, 1.0))
    regular = betaln(first, jnp.where(inside, b, jnp.where(cancelled, high, 1.0)))
    is_general = ~inside & ~cancelled & jnp.isfinite(low) & jnp.isfinite(high)
    x, y = jnp.where(is_general, low, 0.5), jnp.where(is_general, high, 0.5)
    poles = ((low <= 0) & _is_integer(low)) | ((high <= 0) & _is_integer(high))
    general = jnp.where(poles, jnp.inf, gammaln(x) + gammaln(y) - gammaln(x + y))
    at_infinity = jnp.where((low > 0) & (low < jnp.inf), -jnp.inf, jnp.nan)
    at_infinity = jnp.where((low == 0) & (high == jnp.inf), jnp.inf, at_infinity)
    result = jnp.where(inside | cancelled, regular, jnp.where(is_general, general, at_infinity))
    return jnp.where(jnp.isnan(a) | jnp.isnan(b), jnp.nan, result)


def _sign(x):
    """The sign of the gamma function."""
    return jnp.where((x < 0) & (jnp.floor(x) % 2 != 0), -1.0, 1.0)


def beta(a, b):
    """The beta function; infinite at its poles."""
    a, b = jnp.broadcast_arrays(a, b)
    low, high, inside, cancelled = _cases(a, b)
    pole = (low <= 0) & _is_integer(low) | (high <= 0) & _is_integer(high)
    signs = jnp.where(pole | inside, 1.0, _sign(a) * _sign(b) * _sign(a + b))
    signs = jnp.where(cancelled, jnp.where(high % 2 == 0, 1.0, -1.0), signs)
    return (signs * jnp.exp(any_betaln(a, b))).astype(jnp.result_type(a, b))
