"""Numbers for chains: uniforms and normals by key, event and purpose."""

from typing import Any

import numpy as np

from .cipher import Words
from .keys import CHAIN, Seed, make_key
from .source import Source, event_source, unit

__all__ = ["chain_key", "normals", "one_uniform", "source", "uniforms"]

_OPEN = 2.0**-54  # moves [0, 1) to (0, 1)


def chain_key(seed: Seed, index: int) -> np.ndarray:
    """The key (four words) of a chain of a run."""
    return make_key(seed, CHAIN, index)


def source(key: Any, event: Any, purpose: int, size: int) -> Source:
    """The bits for one event and purpose of a chain; element i depends on i only."""
    words: Words = (key[0], key[1], key[2], key[3])
    return event_source(words, (event, 0), np.uint32(purpose), (size,), np.float64)


def uniforms(key: Any, event: Any, purpose: int, size: int) -> Any:
    """`size` uniform numbers on (0, 1) for one event and purpose of a chain."""
    return source(key, event, purpose, size).uniform() + _OPEN


def normals(key: Any, event: Any, purpose: int, size: int) -> Any:
    """`size` standard normal numbers for one event and purpose of a chain."""
    return source(key, event, purpose, size).normal()


def one_uniform(high: Any, low: Any) -> Any:
    """A number on (0, 1) from two words."""
    return unit((high, low), np.dtype(np.float64)) + _OPEN
