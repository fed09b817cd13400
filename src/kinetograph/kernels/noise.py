"""Random numbers of a transition: functions of (key, transition, purpose, place).

A chain's key comes from the seed of the run and the number of the chain. So the numbers do not
depend on the number of chains, on other draws, or on the blocks into which a run is cut.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..bits.cipher import Words
from ..bits.draws import uniforms, words
from ..bits.source import normal

__all__ = ["BEFORE", "Noise"]

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
