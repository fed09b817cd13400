"""Numbers for chains: uniforms and normals by key, event and purpose."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .cipher import Words, threefry4x32
from .keys import CHAIN, Seed, make_key
from .source import Source, all_once, event_source, unit

__all__ = ["chain_key", "normals", "source", "uniforms", "words"]

_WORDS = np.uint32(0x776F7264)  # "word": separates these words from all draws through a sub-key
_OPEN = 2.0**-54  # moves [0, 1) to (0, 1)
_LARGEST = 1.0 - 2.0**-53  # the largest result: the sum with _OPEN may round to 1


def chain_key(seed: Seed, index: int) -> np.ndarray:
    """The key (four words) of a chain of a run."""
    return make_key(seed, CHAIN, index)


def source(key: Any, event: Any, purpose: int, size: int) -> Source:
    """The bits for one event and purpose of a chain.

    Element i depends only on i, not on the number of elements.
    """
    words: Words = (key[0], key[1], key[2], key[3])
    return event_source(words, (event, 0), np.uint32(purpose), (size,), np.float64)


def words(key: Any, event: Any, purpose: int, lane: Any) -> Words:
    """Four 32-bit words of each lane for an event and purpose."""
    counter = (
        _WORDS,
        np.uint32(purpose),
        jnp.asarray(lane, np.uint32),
        jnp.asarray(event, np.uint32),
    )
    return all_once(threefry4x32((key[0], key[1], key[2], key[3]), counter))


def uniforms(key: Any, event: Any, purpose: int, size: int) -> Any:
    """Uniform numbers on (0, 1) for an event of a chain.

    `size` is their number, and `purpose` separates draws within an event.
    """
    high, low, *_ = words(key, event, purpose, jnp.arange(size, dtype=np.uint32))
    return jnp.minimum(unit((high, low), np.dtype(np.float64)) + _OPEN, _LARGEST)


def normals(key: Any, event: Any, purpose: int, size: int) -> Any:
    """Standard normal numbers for an event and purpose of a chain.

    `size` is their number.
    """
    return source(key, event, purpose, size).normal()
