"""Hashable keys that distinguish the values of settings."""

from typing import Any

import numpy as np

from ..autograph.identity import ByIdentity

__all__ = ["identity_of"]


def identity_of(value: Any) -> Any:
    """A hashable key that is equal for equal values."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    try:
        hash(value)
    except TypeError:
        return ByIdentity(value)
    return value
