"""Whole numbers, booleans and orders: one function a distribution, from the bits of a `Source`.

Parameters broadcast to the shape of the source. All is computed in double precision, whatever the
type of the parameters, as single precision would be too coarse for rare events and large numbers.
Where parameters are impossible a count or class is -1, a boolean false, and `integers` gives the
lowest number there is. There are no derivatives.
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

__all__ = [
    "LARGEST_RATE",
    "bernoulli",
    "binomial",
    "categorical",
    "integers",
    "permutation",
    "poisson",
    "weighted_permutation",
]

LARGEST_RATE = 1e18  # numbers beyond would not fit 64 bits
_SHORT = 2**10  # so few have two alike in their upper parts once in 2**35 orders
_TURNS = 8  # terms of a search that a trip of its loop adds
_SEARCH = 10.0  # below this mean, sequential search
_DOUBLE = np.dtype(np.float64)
_RESTS = [math.lgamma(k + 1) - (k * math.log(k) if k else 0) + k for k in range(16)]
_LOWEST, _LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def bernoulli(source: Source, p: Any) -> Any:
    """u < p for u in [0, 1): never for p = 0, always for p = 1."""
    p = _double(p)
    return jnp.broadcast_to((_uniforms(source)[0] < p) & (p <= 1), source.shape)


def integers(source: Source, low: Any, high: Any) -> Any:
    """Whole numbers low, ..., high - 1, all equally likely.

    The remainder of 64 bits by the number of values r, where the 2**64 mod r lowest are refused.
    """
    low, high = jnp.asarray(low), jnp.asarray(high)
    fits = (low <= _LARGEST) & (high <= _LARGEST)
    low, high = low.astype(np.int64), high.astype(np.int64)
    valid = fits & (low < high)
    count = (high - low).astype(np.uint64)  # modulo 2**64, where it fits whatever the two are
    count = jnp.where(valid, count, np.uint64(1))
    excess = (np.uint64(0) - count) % count

    def propose(source: Source, attempt: Any, count: Any, excess: Any) -> tuple[Any, Any]:
        bits, _ = _long_words(source, attempt)
        return bits % count, bits >= excess

    value = first_accepted(source, propose, [count, excess], valid, np.uint64(0))
    return jnp.where(valid, low + value.astype(np.int64), _LOWEST)


def poisson(source: Source, rate: Any) -> Any:
    """P(k) = rate**k exp(-rate) / k!.

    Sequential search below a rate of 10, else Hoermann's transformed rejection PTRS. Source: W.
    Hoermann, The transformed rejection method for generating Poisson random variables, Insurance:
    Mathematics and Economics 12 (1993) 39-45.
    """
    rate = _double(rate)
    valid = (rate >= 0) & (rate <= LARGEST_RATE)
    few = valid & (rate < _SEARCH)
    small = jnp.where(few, rate, 0.0)
    found = _search(source, few, jnp.exp(-small), lambda k: small / (k + 1), small)

    many = valid & ~few
    rate = jnp.where(many, rate, _SEARCH)

    def proposal(source: Source, attempt: Any, rate: Any) -> tuple[Any, ...]:
        u, v, edge = _transformed(source, attempt)
        b = 0.931 + 2.53 * jnp.sqrt(rate)
        a = -0.059 + 0.02483 * b
        return jnp.floor((2 * a / edge + b) * u + rate + 0.43), v, edge, a, b

    def sure(source: Source, attempt: Any, rate: Any) -> tuple[Any, Any]:
        k, v, edge, _, b = proposal(source, attempt, rate)
        return k, (k >= 0) & (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))

    def propose(source: Source, attempt: Any, rate: Any) -> tuple[Any, Any]:
        k, v, edge, a, b = proposal(source, attempt, rate)
        inside = (k >= 0) & ((edge >= 0.013) | (v <= edge))
        k = jnp.maximum(k, 0)
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        height = jnp.log(v * inverse_alpha / (a / (edge * edge) + b))
        return k, inside & (height <= -_deviance(k, rate) - _log_factorial_rest(k))

    large = first_accepted(source, propose, [rate], many, np.float64(0), sure)
    return _counts(valid, jnp.where(few, found, large))


def binomial(source: Source, n: Any, p: Any) -> Any:
    """P(k) = n! / (k! (n - k)!) p**k (1 - p)**(n - k).

    For p > 1/2 the failures are counted. Sequential search if the mean is below 10, else
    Hoermann's transformed rejection BTRS. Source: W. Hoermann, The generation of binomial random
    variates, Journal of Statistical Computation and Simulation 46 (1993) 101-110.
    """
    trials = jnp.asarray(n).astype(np.int64)
    size, p = trials.astype(np.float64), _double(p)
    valid = (size >= 0) & (p >= 0) & (p <= 1)
    mirrored = p > 0.5
    p = jnp.where(mirrored, 1 - p, p)
    few = valid & (size * p < _SEARCH)
    n_few, p_few = jnp.where(few, size, 0.0), jnp.where(few, p, 0.0)
    odds = p_few / (1 - p_few)
    none = jnp.exp(xlog1py(n_few, -p_few))
    found = _search(
        source, few, none, lambda k: (n_few - k) / (k + 1) * odds, jnp.minimum(n_few, n_few * p_few)
    )

    many = valid & ~few
    size, p = jnp.where(many, size, 40.0), jnp.where(many, p, 0.5)

    def log_probability(k: Any, size: Any, p: Any) -> Any:
        # But for what does not depend on k.
        deviance = _deviance(k, size * p) + _deviance(size - k, size * (1 - p))
        return -deviance - _log_factorial_rest(k) - _log_factorial_rest(size - k)

    top = log_probability(jnp.floor((size + 1) * p), size, p)

    def proposal(source: Source, attempt: Any, size: Any, p: Any) -> tuple[Any, ...]:
        u, v, edge = _transformed(source, attempt)
        deviation = jnp.sqrt(size * p * (1 - p))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        k = jnp.floor((2 * a / edge + b) * u + size * p + 0.5)
        return k, (k >= 0) & (k <= size), v, edge, a, b, deviation

    def sure(source: Source, attempt: Any, size: Any, p: Any, _: Any) -> tuple[Any, Any]:
        k, inside, v, edge, _, b, _ = proposal(source, attempt, size, p)
        return k, inside & (edge >= 0.07) & (v <= 0.92 - 4.2 / b)

    def propose(source: Source, attempt: Any, size: Any, p: Any, top: Any) -> tuple[Any, Any]:
        k, inside, v, edge, a, b, deviation = proposal(source, attempt, size, p)
        k = jnp.clip(k, 0, size)
        alpha = (2.83 + 5.1 / b) * deviation
        height = jnp.log(v * alpha / (a / (edge * edge) + b))
        return k, inside & (height <= log_probability(k, size, p) - top)

    large = first_accepted(source, propose, [size, p, top], many, np.float64(0), sure)
    count = jnp.minimum(jnp.where(few, found, large).astype(np.int64), trials)
    return jnp.where(valid, jnp.where(mirrored, trials - count, count), -1)


def categorical(source: Source, probabilities: Any) -> Any:
    """The first class at which the sum of the probabilities is above u times the whole sum.

    The last axis of the probabilities are the classes; their sum need not be 1.
    """
    weights = _double(probabilities)
    bounds, valid = _cumulative(weights)
    target = _uniforms(source)[0] * bounds[..., -1]
    if bounds.ndim == 1:
        index = jnp.searchsorted(bounds, target, side="right")
    else:
        index = jnp.sum(bounds <= target[..., None], axis=-1)
    return jnp.where(valid, jnp.minimum(index, weights.shape[-1] - 1).astype(np.int64), -1)


def permutation(source: Source) -> Any:
    """The numbers 0, ..., n - 1 in random order along the last axis, n its length.

    They are sorted by 128 random bits each: two alike are so rare that no order is preferred. Most
    orders are decided by the upper bits, and single words, with the number in the lower bits, are
    sorted much faster: only if two upper parts are alike, all are sorted by all bits.
    """
    first, second = _long_words(source)
    length = source.shape[-1]
    below = np.uint64(max(length - 1, 0).bit_length())
    places = lax.broadcasted_iota(np.uint64, source.shape, len(source.shape) - 1)
    sorted_words = lax.sort(first >> below << below | places, dimension=-1)
    order = (sorted_words & ((np.uint64(1) << below) - np.uint64(1))).astype(np.int64)
    if length <= _SHORT:
        return order
    upper = sorted_words >> below
    alike = jnp.any(upper[..., 1:] == upper[..., :-1])
    # A loop of at most one trip: in a batch, unlike a branch, it is skipped where none is needed.
    return lax.while_loop(
        lambda state: state[0],
        lambda state: (jnp.bool_(False), _ordered(source.shape, first, second)),
        (alike, order),
    )[1]


def weighted_permutation(source: Source, probabilities: Any) -> Any:
    """The classes in random order: each next one with its probability among those left.

    The first k are a draw of k classes without replacement. Sorted by e / p with exponential e;
    classes of probability 0 come last, in random order. Source: P. S. Efraimidis, P. G. Spirakis,
    Weighted random sampling with a reservoir, Information Processing Letters 97 (2006) 181-185.
    """
    weights = jnp.broadcast_to(_double(probabilities), source.shape)
    _, valid = _cumulative(weights)
    u, _ = _uniforms(source)
    arrival = -jnp.log1p(-u) / jnp.where(weights > 0, weights, 1.0)
    order = _ordered(source.shape, jnp.where(weights > 0, arrival, jnp.inf), _long_words(source)[1])
    return jnp.where(valid[..., None], order, -1)


def _search(source: Source, wanted: Any, first: Any, ratio: Callable[[Any], Any], mean: Any) -> Any:
    """The first k whose cumulative probability is above u; P(0) = first, P(k + 1) / P(k) = ratio.

    It ends, at the latest, where further terms would be below the resolution of u.
    """

    def beyond(u: Any, k: Any, term: Any, total: Any) -> Any:
        return (total <= u) & ((k < mean) | (term > 2.0**-60))

    def search() -> Any:
        u, _ = _uniforms(source)
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


def _transformed(source: Source, attempt: Any) -> tuple[Any, Any, Any]:
    """u in [-1/2, 1/2), v in (0, 1] and the distance of u from the edge."""
    u, v = _uniforms(source, attempt)
    u = u - 0.5
    return u, 1 - v, 0.5 - jnp.abs(u)


def _deviance(k: Any, mean: Any) -> Any:
    """k log(k / mean) + mean - k, right where k is close to a large mean."""
    x = (k - mean) / mean
    return mean * (xlog1py(1 + x, x) - x)


def _log_factorial_rest(k: Any) -> Any:
    """log k! - k log k + k: by Stirling's series from 16 on, else of a table."""
    high = jnp.maximum(k, 16.0)
    inverse = 1 / high
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    low = jnp.asarray(_RESTS).at[jnp.minimum(k, 15.0).astype(np.int32)].get(mode="clip")
    return jnp.where(k < 16, low, 0.5 * jnp.log(2 * math.pi * high) + series)


def _cumulative(weights: Any) -> tuple[Any, Any]:
    """Sums of the weights, that grow only where a weight is positive, and whether all are right."""
    positive = weights > 0
    bounds = lax.cummax(jnp.where(positive, jnp.cumsum(weights, -1), 0.0), axis=weights.ndim - 1)
    valid = jnp.all(weights >= 0, -1) & jnp.any(positive, -1) & jnp.isfinite(bounds[..., -1])
    return bounds, valid


def _ordered(shape: tuple[int, ...], *keys: Any) -> Any:
    places = lax.broadcasted_iota(np.int64, shape, len(shape) - 1)
    return lax.sort((*keys, places), dimension=-1, num_keys=len(keys))[-1]


def _long_words(source: Source, attempt: Any = 0) -> tuple[Any, Any]:
    """Two words of 64 bits for every element."""
    a, b, c, d = (word.astype(np.uint64) for word in source.words(attempt))
    return a << np.uint64(32) | b, c << np.uint64(32) | d


def _uniforms(source: Source, attempt: Any = 0) -> tuple[Any, Any]:
    """Two numbers in [0, 1) of 53 bits for every element."""
    words = source.words(attempt)
    return unit(words[:2], _DOUBLE), unit(words[2:], _DOUBLE)


def _double(parameter: Any) -> Any:
    return lax.stop_gradient(jnp.asarray(parameter, _DOUBLE))


def _counts(valid: Any, k: Any) -> Any:
    return jnp.where(valid, k.astype(np.int64), -1)
