"""What draws of whole numbers share.

All is computed in double precision, whatever the type of the parameters, as single precision would
be too coarse for rare events and large numbers. Where parameters are impossible a count or class is
-1. There are no derivatives.
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
_TURNS = 8  # terms of a search that a trip of its loop adds
_DOUBLE = np.dtype(np.float64)
_RESTS = [math.lgamma(k + 1) - (k * math.log(k) if k else 0) + k for k in range(16)]


def search(source: Source, wanted: Any, first: Any, ratio: Callable[[Any], Any], mean: Any) -> Any:
    """The first k whose cumulative probability is above u; P(0) = first, P(k + 1) / P(k) = ratio.

    It ends, at the latest, where further terms would be below the resolution of u.
    """

    def beyond(u: Any, k: Any, term: Any, total: Any) -> Any:
        return (total <= u) & ((k < mean) | (term > 2.0**-60))

    def search() -> Any:
        u, _ = uniforms(source)
        zero = jnp.zeros(source.shape, _DOUBLE)

        def step(state: Any) -> Any:
            _, number, found, term, total = state
            # What is not beyond k is beyond none of the numbers that follow: k is how many it is.
            for k in (number + i for i in range(_TURNS)):
                more = wanted & beyond(u, k, term, total)
                found = found + more
                term = term * ratio(k)
                total = total + term
            return jnp.any(more), number + _TURNS, found, term, total

        start = (jnp.bool_(True), jnp.float64(0), zero, zero + first, zero + first)
        return lax.while_loop(lambda state: state[0], step, start)[2]

    return lax.cond(jnp.any(wanted), search, lambda: jnp.zeros(source.shape, _DOUBLE))


def transformed(source: Source, attempt: Any) -> tuple[Any, Any, Any]:
    """u in [-1/2, 1/2), v in (0, 1] and the distance of u from the edge."""
    u, v = uniforms(source, attempt)
    u = u - 0.5
    return u, 1 - v, 0.5 - jnp.abs(u)


def deviance(k: Any, mean: Any) -> Any:
    """k log(k / mean) + mean - k, right where k is close to a large mean."""
    x = (k - mean) / mean
    return mean * (xlog1py(1 + x, x) - x)


def log_factorial_rest(k: Any) -> Any:
    """log k! - k log k + k: by Stirling's series from 16 on, else of a table."""
    high = jnp.maximum(k, 16.0)
    inverse = 1 / high
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    low = jnp.asarray(_RESTS).at[jnp.minimum(k, 15.0).astype(np.int32)].get(mode="clip")
    return jnp.where(k < 16, low, 0.5 * jnp.log(2 * math.pi * high) + series)


def cumulative(weights: Any) -> tuple[Any, Any]:
    """Sums of the weights, that grow only where a weight is positive, and whether all are right."""
    positive = weights > 0
    bounds = lax.cummax(jnp.where(positive, jnp.cumsum(weights, -1), 0.0), axis=weights.ndim - 1)
    valid = jnp.all(weights >= 0, -1) & jnp.any(positive, -1) & jnp.isfinite(bounds[..., -1])
    return bounds, valid


def uniforms(source: Source, attempt: Any = 0) -> tuple[Any, Any]:
    """Two numbers in [0, 1) of 53 bits for every element."""
    words = source.words(attempt)
    return unit(words[:2], _DOUBLE), unit(words[2:], _DOUBLE)


def double(parameter: Any) -> Any:
    return lax.stop_gradient(jnp.asarray(parameter, _DOUBLE))


def counts(valid: Any, k: Any) -> Any:
    return jnp.where(valid, k.astype(np.int64), -1)


def integers(source: Source, low: Any, high: Any) -> Any:
    """Whole numbers low, ..., high - 1, all equally likely.

    The remainder of 64 bits by the number of values r, where the 2**64 mod r lowest are refused.
    """
    low, high = jnp.asarray(low), jnp.asarray(high)
    fits = (low <= LARGEST) & (high <= LARGEST)
    low, high = low.astype(np.int64), high.astype(np.int64)
    valid = fits & (low < high)
    count = (high - low).astype(np.uint64)  # modulo 2**64, where it fits whatever the two are
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
