"""Numbers for chains: uniforms and normals by key, event and purpose."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .cipher import Words, threefry4x32
from .keys import CHAIN, Seed, make_key
from .source import Source, event_source, once, unit

__all__ = ["chain_key", "normals", "source", "uniforms", "words"]

_WORDS = np.uint32(0x776F7264)  # "word": apart from all that is drawn through a sub-key
_OPEN = 2.0**-54  # moves [0, 1) to (0, 1)


def chain_key(seed: Seed, index: int) -> np.ndarray:
    """The key (four words) of a chain of a run."""
    return make_key(seed, CHAIN, index)


def source(key: Any, event: Any, purpose: int, size: int) -> Source:
    """The bits for one event and purpose of a chain; element i depends on i only."""
    words: Words = (key[0], key[1], key[2], key[3])
    return event_source(words, (event, 0), np.uint32(purpose), (size,), np.float64)


def words(key: Any, event: Any, purpose: int, lane: Any) -> Words:
    """Four 32-bit words of each lane, for one event and purpose of a chain."""
    counter = (
        _WORDS,
        np.uint32(purpose),
        jnp.asarray(lane, np.uint32),
        jnp.asarray(event, np.uint32),
    )
    a, b, c, d = threefry4x32((key[0], key[1], key[2], key[3]), counter)
    return *once(a, b), *once(c, d)


def uniforms(key: Any, event: Any, purpose: int, size: int) -> Any:
    """`size` uniform numbers on (0, 1) for one event and purpose of a chain."""
    high, low, *_ = words(key, event, purpose, jnp.arange(size, dtype=np.uint32))
    return unit((high, low), np.dtype(np.float64)) + _OPEN


def normals(key: Any, event: Any, purpose: int, size: int) -> Any:
    """`size` standard normal numbers for one event and purpose of a chain."""
    return source(key, event, purpose, size).normal()
