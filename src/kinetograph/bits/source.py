"""The bits of a draw: a block of the cipher per attempt.

    sub-key       = threefry(key, (DRAW, lane, event))
    block(i, a)   = threefry(sub-key, (BITS, a, i))         element i, attempt a
    part k        = the same with the sub-key threefry(sub-key, (PART, k))
    row k         = the same with the sub-key threefry(sub-key, (PART, k, 0, 1)), for vectors

So a number depends on its stream, the number of the event, its place in the array and, where a
method makes several attempts, on the attempt. It does not depend on how many other numbers are
drawn, or on how many attempts they take.

    uniform       53 bits (24 in single precision): k 2**-53, so 0 is possible and 1 is not
    normal        the quantile (Wichura's AS 241) of 64 bits (32), computed in the nearer tail, so
                  that both tails are accurate: to 9.1 standard deviations (6.3)
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .cipher import Words, threefry4x32
from .quantile import upper_quantile

__all__ = ["Source", "all_once", "event_source", "lanes", "once"]

# "draw", "bits", "part"
_DRAW, _BITS, _PART = np.uint32(0x64726177), np.uint32(0x62697473), np.uint32(0x70617274)
_ONE = np.uint64(0x3FF0000000000000)  # the exponent of numbers in [1, 2)
_SHARED = 8192  # from this many elements on, XLA may divide a loop between threads
_PARTS = 960  # a multiple of 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30, 32, 48, 60, 64


class Source:
    """The bits of one draw, for an array or part of it."""

    def __init__(
        self, key: Words, shape: tuple[int, ...], dtype: Any, places: Any | None = None
    ) -> None:
        self.key = key
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._places = places

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def of(self, places: Any) -> "Source":
        """The bits of some elements of the flat array.

        `places` (uint32) are the indices of the elements.
        """
        return Source(self.key, places.shape, self.dtype, places)

    def part(self, number: int, dtype: Any = None) -> "Source":
        """Further bits of the same event, for numbers that need several parts."""
        key = threefry4x32(self.key, (_PART, np.uint32(number), np.uint32(0), np.uint32(0)))
        return Source(key, self.shape, self.dtype if dtype is None else dtype, self._places)

    def row(self, number: Any) -> "Source":
        """Further bits of the same event, for one number of each vector.

        The vectors lie along the last axis. `number` may be an array.
        """
        counter = (_PART, jnp.asarray(number, np.uint32), np.uint32(0), np.uint32(1))
        return Source(threefry4x32(self.key, counter), self.shape[:-1], self.dtype)

    def words(self, attempt: Any = 0) -> Words:
        """Four words for every element; `attempt` may be an array."""
        first, second, third, fourth = map(self._shaped, all_once(self._block(attempt)))
        return first, second, third, fourth

    def _first(self, attempt: Any) -> tuple[Any, Any]:
        """The first two words of each element.

        Single precision needs only one word: the second is then zero.
        """
        a, b, *_ = self._block(attempt)
        if self.dtype == np.float32:
            return self._shaped(lax.optimization_barrier(a)), np.uint32(0)
        first, second = map(self._shaped, once(a, b))
        return first, second

    def _shaped(self, word: Any) -> Any:
        """The words of the elements from the words of all lanes."""
        return word[: self.size].reshape(self.shape)

    def _block(self, attempt: Any) -> Words:
        """The four words of each element, as vectors; further lanes may follow.

        LLVM takes 10 times as long to compile the cipher for some shapes, such as (3, 2) or (5, 2),
        as for a vector of the same size.
        """
        place, attempt = self._places, jnp.asarray(attempt, np.uint32)
        if place is None:
            of_elements = attempt.ndim or any(map(jnp.ndim, self.key))
            place = jnp.arange(self.size if of_elements else lanes(self.size), dtype=np.uint32)
        if attempt.ndim:
            attempt = jnp.broadcast_to(attempt, self.shape).reshape(-1)
        return threefry4x32(self.key, (_BITS, attempt, np.uint32(0), place))

    def uniform(self, attempt: Any = 0) -> Any:
        """Numbers in [0, 1)."""
        return unit(self._first(attempt), self.dtype)

    def uniforms(self, attempt: Any = 0) -> tuple[Any, Any]:
        """Two independent numbers in [0, 1) for every element."""
        words = self.words(attempt)
        return unit(words[:2], self.dtype), unit(words[2:], self.dtype)

    def positive(self, attempt: Any = 0) -> Any:
        """Numbers in (0, 1], whose logarithm is finite."""
        return 1 - self.uniform(attempt)

    def normal(self, attempt: Any = 0) -> Any:
        """Standard normal numbers."""
        return normal(self._first(attempt), self.dtype)

    def normal_and_uniform(self, attempt: Any = 0) -> tuple[Any, Any]:
        """A standard normal number and one in [0, 1) for every element."""
        words = self.words(attempt)
        return normal(words[:2], self.dtype), unit(words[2:], self.dtype)


def lanes(count: int) -> int:
    """The number of lanes of the cipher for some elements.

    XLA divides long loops between threads. If the lengths of the parts differ, each trip compares
    its index with the end, and LLVM makes no vectors of it: the cipher then takes three times as
    long.
    """
    return count if count < _SHARED else -(-count // _PARTS) * _PARTS


def once(first: Any, second: Any) -> tuple[Any, Any]:
    """The two words, with a cipher that the compiled program computes once.

    Without a barrier, XLA computes the cipher again for each use of a word. Its simplifier asks
    whether the arguments of logarithms, absolute values and maxima are non-negative, by a walk that
    takes exponential time in the cipher. A barrier around a single value prevents both.

    The value is a complex number whose parts are the words; no arithmetic is done with them. Its
    parts have 32 bits, because a loop with a wider result has half as many numbers in a vector.
    """
    parts = (lax.bitcast_convert_type(word, np.float32) for word in (first, second))
    return _parts(lax.optimization_barrier(lax.complex(*parts)), np.uint32)


def all_once(words: Words) -> Words:
    """Four words, with a cipher that the compiled program computes once.

    Each part of the complex number holds two words.
    """
    if not jax.config.jax_enable_x64:
        return lax.optimization_barrier(words)
    parts = (_joined(*words[:2]), _joined(*words[2:]))
    whole = lax.complex(*(lax.bitcast_convert_type(part, np.float64) for part in parts))
    first, second = _parts(lax.optimization_barrier(whole), np.uint64)
    return *_halves(first), *_halves(second)


def _parts(whole: Any, dtype: Any) -> tuple[Any, Any]:
    """The bits of the parts of a complex number."""
    first, second = (lax.bitcast_convert_type(part, dtype) for part in (whole.real, whole.imag))
    return first, second


def _joined(first: Any, second: Any) -> Any:
    return first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)


def _halves(both: Any) -> tuple[Any, Any]:
    return (both >> np.uint64(32)).astype(np.uint32), both.astype(np.uint32)


def event_source(
    key: Words, event: tuple[Any, Any], lane: Any, shape: tuple[int, ...], dtype: Any
) -> Source:
    """The bits of an event of a stream, in one lane.

    `event` holds the low and the high word of the number of the event. A lane is a chain.
    """
    low, high = event
    return Source(threefry4x32(key, (_DRAW, lane, high, low)), shape, dtype)


def unit(words: tuple[Any, Any], dtype: np.dtype) -> Any:
    """Numbers in [0, 1) from two words.

    Double precision takes the upper 53 bits of both, single precision 24 bits of the first.
    """
    first, second = words
    if dtype == np.float32:
        return (first >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    upper = first.astype(np.uint64) << np.uint64(20)
    bits = upper | (second >> np.uint32(12)).astype(np.uint64)
    last = (second >> np.uint32(11)) & np.uint32(1)
    # 52 bits are the mantissa of a number in [1, 2); the last bit is added.
    coarse = lax.bitcast_convert_type(bits | _ONE, np.float64) - 1.0
    return coarse + last.astype(np.int32).astype(np.float64) * 2.0**-53


def normal(words: tuple[Any, Any], dtype: np.dtype) -> Any:
    """Standard normal numbers from two words; the first bit gives the sign."""
    first, second = words
    negative = first < np.uint32(0x80000000)
    first = jnp.where(negative, first, ~first)
    # The tail probability, in (0, 1/2).
    single = dtype == np.float32
    if single:
        tail = (first.astype(np.int32).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-32)
    else:
        second = jnp.where(negative, second, ~second)
        high = first.astype(np.int32).astype(np.float64)
        low = (second >> np.uint32(1)).astype(np.int32).astype(np.float64)
        tail = (high + (low + 0.5) * 2.0**-31) * 2.0**-32
    value = upper_quantile(tail, far=not single)
    return jnp.where(negative, -value, value)
