"""Helpers for draws of whole numbers.

They compute in double precision for parameters of any type, because single precision is too coarse
for rare events and large numbers. Impossible parameters give the count or class -1. Whole numbers
have no derivatives.
"""

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import xlog1py

from ..bits.rejection import first_accepted
from ..bits.source import Source, unit
from .parameter import LARGEST

__all__ = [
    "LEAST",
    "SEARCH",
    "counts",
    "cumulative",
    "deviance",
    "double",
    "integers",
    "log_factorial_rest",
    "long_words",
    "search",
    "transformed",
    "uniforms",
]

LEAST = -LARGEST - 1
SEARCH = 10.0  # below this mean, sequential search
_TURNS = 8  # terms that one trip of the search loop adds
_DOUBLE = np.dtype(np.float64)
_RESTS = [math.lgamma(k + 1) - (k * math.log(k) if k else 0) + k for k in range(16)]


def search(
    source: Source, needs_search: Any, first: Any, ratio: Callable[[Any], Any], mean: Any
) -> Any:
    """The first k whose cumulative probability is above u.

    P(0) is `first` and P(k + 1) / P(k) is `ratio`. The search ends at the latest when further terms
    are below the resolution of u.
    """

    def beyond(u: Any, k: Any, term: Any, total: Any) -> Any:
        return (total <= u) & ((k < mean) | (term > 2.0**-60))

    def search() -> Any:
        u, _ = uniforms(source)
        zero = jnp.zeros(source.shape, _DOUBLE)

        def step(state: Any) -> Any:
            _, number, count, term, total = state
            # If u is not beyond k, it is not beyond any later number.
            for k in (number + i for i in range(_TURNS)):
                continued = needs_search & beyond(u, k, term, total)
                count = count + continued
                term = term * ratio(k)
                total = total + term
            return jnp.any(continued), number + _TURNS, count, term, total

        start = (jnp.bool_(True), jnp.float64(0), zero, zero + first, zero + first)
        return lax.while_loop(lambda state: state[0], step, start)[2]

    return lax.cond(jnp.any(needs_search), search, lambda: jnp.zeros(source.shape, _DOUBLE))


def transformed(source: Source, attempt: Any) -> tuple[Any, Any, Any]:
    """Uniform numbers u, v, and the distance of u from the edge.

    u is in [-1/2, 1/2), v in (0, 1], and the distance is 1/2 - |u|.
    """
    u, v = uniforms(source, attempt)
    u = u - 0.5
    return u, 1 - v, 0.5 - jnp.abs(u)


def deviance(k: Any, mean: Any) -> Any:
    """k log(k / mean) + mean - k.

    It is accurate for k close to a large mean.
    """
    x = (k - mean) / mean
    return mean * (xlog1py(1 + x, x) - x)


def log_factorial_rest(k: Any) -> Any:
    """log k! - k log k + k.

    It comes from Stirling's series for k >= 16, else from a table.
    """
    high = jnp.maximum(k, 16.0)
    inverse = 1 / high
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    low = jnp.asarray(_RESTS).at[jnp.minimum(k, 15.0).astype(np.int32)].get(mode="clip")
    return jnp.where(k < 16, low, 0.5 * jnp.log(2 * math.pi * high) + series)


def cumulative(weights: Any) -> tuple[Any, Any]:
    """Cumulative sums of weights, and whether all weights are valid.

    The sums grow only at positive weights.
    """
    positive = weights > 0
    bounds = lax.cummax(jnp.where(positive, jnp.cumsum(weights, -1), 0.0), axis=weights.ndim - 1)
    valid = jnp.all(weights >= 0, -1) & jnp.any(positive, -1) & jnp.isfinite(bounds[..., -1])
    return bounds, valid


def uniforms(source: Source, attempt: Any = 0) -> tuple[Any, Any]:
    """Two uniform numbers in [0, 1) of 53 bits for every element."""
    words = source.words(attempt)
    return unit(words[:2], _DOUBLE), unit(words[2:], _DOUBLE)


def double(parameter: Any) -> Any:
    return lax.stop_gradient(jnp.asarray(parameter, _DOUBLE))


def counts(valid: Any, k: Any) -> Any:
    return jnp.where(valid, k.astype(np.int64), -1)


def integers(source: Source, low: Any, high: Any) -> Any:
    """Whole numbers low, ..., high - 1, all equally likely.

    A number is the remainder of 64 bits by the number r of values. The lowest 2**64 mod r words are
    rejected.
    """
    low, high = jnp.asarray(low), jnp.asarray(high)
    fits = (low <= LARGEST) & (high <= LARGEST)
    low, high = low.astype(np.int64), high.astype(np.int64)
    valid = fits & (low < high)
    count = (high - low).astype(np.uint64)  # modulo 2**64, in which any difference of the two fits
    count = jnp.where(valid, count, np.uint64(1))
    excess = (np.uint64(0) - count) % count

    def propose(source: Source, attempt: Any, count: Any, excess: Any) -> tuple[Any, Any]:
        bits, _ = long_words(source, attempt)
        return bits % count, bits >= excess

    value = first_accepted(source, propose, [count, excess], valid, np.uint64(0))
    return jnp.where(valid, low + value.astype(np.int64), LEAST)


def long_words(source: Source, attempt: Any = 0) -> tuple[Any, Any]:
    """Two words of 64 bits for every element."""
    a, b, c, d = (word.astype(np.uint64) for word in source.words(attempt))
    return a << np.uint64(32) | b, c << np.uint64(32) | d
