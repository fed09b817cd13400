"""A key made of the bits of an array, for draws that are a function of what they belong to."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .cipher import Words, threefry4x32

__all__ = ["key_of"]

# "key", "of"
_KEY = tuple(np.uint32(w) for w in (0x6B657900, 0x6F660000, 0, 0))


def key_of(numbers: Any) -> Words:
    """Four words that differ where any of the numbers does.

    Each number is encrypted with its place; the sums of the words over all are encrypted again.
    """
    flat = jnp.ravel(numbers)
    words = lax.bitcast_convert_type(flat, np.uint32).reshape(flat.size, -1)
    zero = np.uint32(0)
    low, high = words[:, 0], words[:, 1] if words.shape[1] > 1 else jnp.zeros_like(words[:, 0])
    place = jnp.arange(flat.size, dtype=np.uint32)
    block = threefry4x32(_KEY, (low, high, place, zero))
    a, b, c, d = (jnp.sum(w, dtype=np.uint32) for w in block)
    return threefry4x32((a, b, c, d), (zero, zero, zero, np.uint32(flat.size & 0xFFFFFFFF)))
