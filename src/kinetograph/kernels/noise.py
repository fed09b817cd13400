"""Random numbers of a transition: functions of (key, transition, purpose, place) alone.

A chain's key comes from the run's seed and the chain's number, so nothing depends on how many
chains there are, on what else is drawn, or on how a run is cut into blocks.
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
        """So many standard normal numbers, and as many `more` pairs of 32-bit words.

        All are from one call of the cipher: each place where it is called is a copy of it.
        """
        high, low, *_ = self.words(purpose, jnp.arange(size + more, dtype=np.uint32))
        normals = normal((high[:size], low[:size]), np.dtype(np.float64))
        return normals, (high[size:], low[size:])

    def words(self, purpose: int, lane: Any) -> Words:
        """Four 32-bit words, of each lane."""
        return words(self.key, self.event, purpose, lane)

    def rows(self, count: int, size: int, replace: bool) -> Any:
        """The numbers of `size` rows of `count`: each drawn alone, or a set of different ones."""
        if replace:
            return integers(self._bits(0, size), 0, count)
        if size == count:
            return jnp.arange(count)
        if 2 * size <= count:
            return self._distinct(count, size)
        kept = jnp.ones(count, bool).at[self._distinct(count, count - size)].set(False)
        return jnp.nonzero(kept, size=size)[0]

    def _distinct(self, count: int, size: int) -> Any:
        """A set of rows, in order, each as likely as any other: what is there already is redrawn.

        The cost does not grow with the count.
        """

        def more(carry: tuple[Any, Any, Any]) -> Any:
            return jnp.any(carry[1])

        def draw(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            rows, wanting, attempt = carry
            fresh = integers(self._bits(attempt, size), 0, count)
            rows = jnp.sort(jnp.where(wanting, fresh, rows))
            repeated = jnp.concatenate([jnp.zeros(1, bool), rows[1:] == rows[:-1]])
            return rows, repeated, attempt + np.uint32(1)

        blank = jnp.zeros(size, np.int64)
        return lax.while_loop(more, draw, (blank, jnp.ones(size, bool), jnp.uint32(0)))[0]

    def _bits(self, attempt: Any, size: int) -> Source:
        key = (self.key[0], self.key[1], self.key[2], self.key[3])
        event = (self.event, jnp.asarray(attempt, jnp.uint32))
        return event_source(key, event, np.uint32(_ROWS), (size,), np.dtype(np.float64))
