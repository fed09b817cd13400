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

    Four sums of the words of the numbers, each with odd multipliers of its own from the cipher
    (multilinear hashing: Carter and Wegman 1979), encrypted.
    """
    bits = lax.bitcast_convert_type(jnp.ravel(numbers), np.uint32).reshape(-1)
    place = jnp.arange(bits.size, dtype=np.uint32)
    zero = np.uint32(0)
    multipliers = threefry4x32(_KEY, (place, zero, zero, zero))
    a, b, c, d = (jnp.sum(bits * (m | np.uint32(1)), dtype=np.uint32) for m in multipliers)
    return threefry4x32((a, b, c, d), (zero, zero, zero, np.uint32(bits.size & 0xFFFFFFFF)))
