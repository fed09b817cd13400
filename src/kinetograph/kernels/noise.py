"""Random numbers of a transition: functions of (key, transition, purpose, place).

A chain's key comes from the seed of the run and the number of the chain. So the numbers do not
depend on the number of chains, on other draws, or on the blocks into which a run is cut.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.cipher import Words
from ..bits.draws import uniforms, words
from ..bits.source import Source, event_source, normal
from ..streams.orders import integers

__all__ = ["BEFORE", "Noise"]

_ROWS = 0x726F7773  # "rows": the purpose of the rows of a batch
BEFORE = np.uint32(0xFFFFFFFF)  # the event before the first transition


class Noise(NamedTuple):
    """Random numbers for one transition."""

    key: Any
    event: Any

    def uniforms(self, purpose: int, size: int) -> Any:
        """Uniform numbers on (0, 1)."""
        return uniforms(self.key, self.event, purpose, size)

    def normals_and_words(self, purpose: int, size: int, more: int) -> tuple[Any, tuple[Any, Any]]:
        """Standard normal numbers, and pairs of 32-bit words.

        There are `size` numbers and `more` pairs. One call of the cipher makes all of them, because
        each call is a copy of the cipher in the program.
        """
        high, low, *_ = self.words(purpose, jnp.arange(size + more, dtype=np.uint32))
        normals = normal((high[:size], low[:size]), np.dtype(np.float64))
        return normals, (high[size:], low[size:])

    def words(self, purpose: int, lane: Any) -> Words:
        """Four 32-bit words of each lane."""
        return words(self.key, self.event, purpose, lane)

    def rows(self, count: int, size: int, replace: bool) -> Any:
        """The numbers of `size` rows of `count`.

        The rows are drawn independently if `replace` is true, and form a set of distinct rows if
        not.
        """
        if replace:
            return integers(self._bits(0, size), 0, count)
        if size == count:
            return jnp.arange(count)
        if 2 * size <= count:
            return self._distinct(count, size)
        selected = jnp.ones(count, bool).at[self._distinct(count, count - size)].set(False)
        return jnp.nonzero(selected, size=size)[0]

    def _distinct(self, count: int, size: int) -> Any:
        """A sorted set of distinct rows; all sets are equally likely.

        Repeated rows are drawn again. The cost does not grow with `count`.
        """

        def has_repeats(carry: tuple[Any, Any, Any]) -> Any:
            return jnp.any(carry[1])

        def draw(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            rows, missing, attempt = carry
            fresh = integers(self._bits(attempt, size), 0, count)
            rows = jnp.sort(jnp.where(missing, fresh, rows))
            repeated = jnp.concatenate([jnp.zeros(1, bool), rows[1:] == rows[:-1]])
            return rows, repeated, attempt + np.uint32(1)

        blank = jnp.zeros(size, np.int64)
        return lax.while_loop(has_repeats, draw, (blank, jnp.ones(size, bool), jnp.uint32(0)))[0]

    def _bits(self, attempt: Any, size: int) -> Source:
        key = (self.key[0], self.key[1], self.key[2], self.key[3])
        event = (self.event, jnp.asarray(attempt, jnp.uint32))
        return event_source(key, event, np.uint32(_ROWS), (size,), np.dtype(np.float64))
