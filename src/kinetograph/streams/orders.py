"""Generators of whole numbers between bounds and of random orders."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import Source
from ..distributions.count_numbers import LEAST, cumulative, double, integers, long_words, uniforms
from ..distributions.generator import WHOLE, Generator
from ..distributions.parameter import Parameter, whole
from ..distributions.support import Weights
from ..graph.node import Data, Node
from ..graph.source import place_text

__all__ = ["INTEGERS", "PERMUTATION", "WEIGHTED_PERMUTATION", "integers"]

_SHORT = 2**10  # so few have equal upper parts in one of 2**35 orders


def permutation(source: Source) -> Any:
    """Draw the numbers 0, ..., n - 1 in random order.

    Here n is the length of the last axis. The numbers are sorted by 128 random bits each; equal
    bits are so rare that no order is preferred. The upper bits decide most orders. Single words,
    with the number in the lower bits, are sorted much faster. All bits are used only if two upper
    parts are equal.
    """
    first, second = long_words(source)
    length = source.shape[-1]
    index_bits = np.uint64(max(length - 1, 0).bit_length())
    places = lax.broadcasted_iota(np.uint64, source.shape, len(source.shape) - 1)
    sorted_words = lax.sort(first >> index_bits << index_bits | places, dimension=-1)
    order = (sorted_words & ((np.uint64(1) << index_bits) - np.uint64(1))).astype(np.int64)
    if length <= _SHORT:
        return order
    upper = sorted_words >> index_bits
    equal = jnp.any(upper[..., 1:] == upper[..., :-1])
    # A loop of at most one trip: unlike a branch, it is skipped in a batch if no row needs it.
    return lax.while_loop(
        lambda state: state[0],
        lambda state: (jnp.bool_(False), _ordered(source.shape, first, second)),
        (equal, order),
    )[1]


def weighted_permutation(source: Source, probabilities: Any) -> Any:
    """Draw the classes in random order, weighted by probabilities.

    The next class is drawn from the remaining classes in proportion to the probabilities, so that
    the first k classes are a draw without replacement. The classes are sorted by e / p with
    exponential e; classes of probability 0 are last, in random order. Source: P. S. Efraimidis, P.
    G. Spirakis, Weighted random sampling with a reservoir, Information Processing Letters 97 (2006)
    181-185.
    """
    weights = jnp.broadcast_to(double(probabilities), source.shape)
    _, valid = cumulative(weights)
    u, _ = uniforms(source)
    arrival = -jnp.log1p(-u) / jnp.where(weights > 0, weights, 1.0)
    order = _ordered(source.shape, jnp.where(weights > 0, arrival, jnp.inf), long_words(source)[1])
    return jnp.where(valid[..., None], order, -1)


def _ordered(shape: tuple[int, ...], *keys: Any) -> Any:
    places = lax.broadcasted_iota(np.int64, shape, len(shape) - 1)
    return lax.sort((*keys, places), dimension=-1, num_keys=len(keys))[-1]


def _check(low: Node, high: Node) -> None:
    if not isinstance(low, Data) or not isinstance(high, Data):
        return
    if not np.all(np.less(low.value, high.value)):
        raise ValueError(
            f"integers: low must be below high, got low = {low.value}, high = {high.value}"
            f"{place_text()}"
        )


INTEGERS = Generator(
    "integers",
    (whole("low", LEAST), whole("high", LEAST)),
    draw=integers,
    check=_check,
    dtype=WHOLE,
)
PERMUTATION = Generator("permutation", (), draw=permutation, event_ndim=1, dtype=WHOLE)
WEIGHTED_PERMUTATION = Generator(
    "weighted_permutation",
    (Parameter("prob", Weights(), event_ndim=1),),
    draw=weighted_permutation,
    event_ndim=1,
    event_shape=lambda prob: prob[-1:],
    dtype=WHOLE,
)
