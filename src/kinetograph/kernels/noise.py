"""Random numbers of a transition: functions of (key, transition, purpose, place) alone.

A chain's key comes from the run's seed and the chain's number, so nothing depends on how many
chains there are, on what else is drawn, or on how a run is cut into blocks.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..streams.cipher import Words, threefry4x32
from ..streams.draws import normals, uniforms
from ..streams.source import once

__all__ = ["BEFORE", "Noise"]

_WORDS = np.uint32(0x776F7264)  # "word": apart from all that is drawn through a sub-key
BEFORE = np.uint32(0xFFFFFFFF)  # the event before the first transition


class Noise(NamedTuple):
    """Random numbers for one transition."""

    key: Any
    event: Any

    def normals(self, purpose: int, size: int) -> Any:
        """Standard normal numbers."""
        return normals(self.key, self.event, purpose, size)

    def uniforms(self, purpose: int, size: int) -> Any:
        """Uniform numbers on (0, 1)."""
        return uniforms(self.key, self.event, purpose, size)

    def words(self, purpose: int, lane: Any) -> Words:
        """Four 32-bit words."""
        key = (self.key[0], self.key[1], self.key[2], self.key[3])
        event = jnp.asarray(self.event, jnp.uint32)
        counter = (_WORDS, jnp.uint32(purpose), jnp.asarray(lane, jnp.uint32), event)
        a, b, c, d = threefry4x32(key, counter)
        return *once(a, b), *once(c, d)
