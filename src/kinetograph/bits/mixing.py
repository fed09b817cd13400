"""A key made of the values of an array.

It serves draws that must be a function of the values to which they belong.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .cipher import Words, threefry4x32

__all__ = ["key_of"]

# "key", "of"
_KEY = tuple(np.uint32(w) for w in (0x6B657900, 0x6F660000, 0, 0))


def key_of(numbers: Any) -> Words:
    """Four words that depend on each number and its index.

    Each number is encrypted with its index. The sums of the words over all numbers are then
    encrypted again. Equal arrays give equal words; other arrays give other words.
    """
    flat = jnp.ravel(numbers)
    words = lax.bitcast_convert_type(flat, np.uint32).reshape(flat.size, -1)
    zero = np.uint32(0)
    low, high = words[:, 0], words[:, 1] if words.shape[1] > 1 else jnp.zeros_like(words[:, 0])
    index = jnp.arange(flat.size, dtype=np.uint32)
    block = threefry4x32(_KEY, (low, high, index, zero))
    a, b, c, d = (jnp.sum(w, dtype=np.uint32) for w in block)
    return threefry4x32((a, b, c, d), (zero, zero, zero, np.uint32(flat.size & 0xFFFFFFFF)))
