"""Threefry4x32-20, a counter-based cipher.

Four 32-bit words are a function of a key and a counter. No state is carried from one call to the
next, so a number depends only on its use: the key names the stream, the counter names the event.
The cipher consists of plain integer operations, so that no JAX version or flag can change a number.

Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3,
SC11 (2011); rotations and parity word of the published Random123 library.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["Words", "threefry4x32"]

Words = tuple[Any, Any, Any, Any]

_PARITY = np.uint32(0x1BD11BDA)
_ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
_ROUNDS = 20


@jax.jit
def threefry4x32(key: Words, counter: Words) -> Words:
    """Four words for a 128-bit key and a 128-bit counter.

    The words are uint32 and have the common shape of all arguments.
    """
    # Written with lax and traced once for each shape, because tracing these operations is slow.
    shape = jnp.broadcast_shapes(*(jnp.shape(word) for word in (*key, *counter)))

    def spread(word: Any) -> Any:
        return jnp.broadcast_to(lax.convert_element_type(word, np.uint32), shape)

    k0, k1, k2, k3 = (lax.convert_element_type(word, np.uint32) for word in key)
    parity = lax.bitwise_xor(lax.bitwise_xor(k0, k1), lax.bitwise_xor(k2, k3))
    parity = lax.bitwise_xor(parity, lax.full_like(parity, _PARITY))
    keys = tuple(map(spread, (k0, k1, k2, k3, parity)))
    x = [lax.add(spread(word), k) for word, k in zip(counter, keys[:4], strict=True)]
    for number in range(_ROUNDS):
        first, second = _ROTATIONS[number % 8]
        # Even rounds mix words 0 with 1 and 2 with 3, odd ones 0 with 3 and 2 with 1.
        a, b = (1, 3) if number % 2 == 0 else (3, 1)
        x[0] = lax.add(x[0], x[a])
        x[a] = lax.bitwise_xor(_rotate(x[a], first), x[0])
        x[2] = lax.add(x[2], x[b])
        x[b] = lax.bitwise_xor(_rotate(x[b], second), x[2])
        if number % 4 == 3:
            turn = number // 4 + 1
            x = [lax.add(x[i], keys[(turn + i) % 5]) for i in range(4)]
            x[3] = lax.add(x[3], lax.full_like(x[3], turn))
    return x[0], x[1], x[2], x[3]


def _rotate(word: Any, by: int) -> Any:
    left = lax.shift_left(word, lax.full_like(word, by))
    return lax.bitwise_or(left, lax.shift_right_logical(word, lax.full_like(word, 32 - by)))
