"""Philox4x32-10: a counter-based cipher. Four 32-bit words are a function of a key and a counter.

Nothing is carried from one call to the next, so a number depends only on what it is for: the key
names the stream, the counter names the event. Written in plain integer operations, so that no JAX
version or flag can change a number.

Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3,
SC11 (2011); multipliers and Weyl constants of the published Random123 library.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["Words", "derive_key", "philox4x32"]

Words = tuple[Any, Any, Any, Any]

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (np.uint32(0x9E3779B9), np.uint32(0xBB67AE85))
_ROUNDS = 10
# Rounds written out in a turn of the loop. All ten would be a third of the time it takes to compile
# a sampler; fewer would slow its loop, in which single words are drawn. Vectors are drawn once a
# transition, and their rounds are a plain loop.
_UNROLLED = 5


@jax.jit
def philox4x32(key: tuple[Any, Any], counter: Words) -> Words:
    """Four words (uint32, in the counter's shape) for a 64-bit key and a 128-bit counter."""
    # Written with lax and traced once a shape, as tracing these operations takes long.
    shape = jnp.broadcast_shapes(*(jnp.shape(c) for c in counter))
    k0, k1, c0, c1, c2, c3 = (
        jnp.broadcast_to(lax.convert_element_type(word, np.uint32), shape)
        for word in (*key, *counter)
    )
    weyl0, weyl1 = (lax.full(shape, w, np.uint32) for w in _WEYL)

    def one_round(_: Any, words: tuple[Any, ...]) -> tuple[Any, ...]:
        c0, c1, c2, c3, k0, k1 = words
        high0, low0 = _product(c0, _MULTIPLIERS[0])
        high1, low1 = _product(c2, _MULTIPLIERS[1])
        c0 = lax.bitwise_xor(lax.bitwise_xor(high1, c1), k0)
        c2 = lax.bitwise_xor(lax.bitwise_xor(high0, c3), k1)
        return c0, low1, c2, low0, lax.add(k0, weyl0), lax.add(k1, weyl1)

    words = (c0, c1, c2, c3, k0, k1)
    return lax.fori_loop(0, _ROUNDS, one_round, words, unroll=1 if shape else _UNROLLED)[:4]


def _product(word: Any, multiplier: np.uint64) -> tuple[Any, Any]:
    """The high and the low word of the product of two words."""
    wide = lax.convert_element_type(word, np.uint64)
    product = lax.mul(wide, lax.full_like(wide, multiplier))
    high = lax.shift_right_logical(product, lax.full_like(product, 32))
    return lax.convert_element_type(high, np.uint32), lax.convert_element_type(product, np.uint32)


def derive_key(seed: int, *place: int) -> np.ndarray:
    """The key (two words) of the stream at `place` (for example the chain's index) under a seed.

    Made on the host with NumPy's SeedSequence, whose output is stable by NumPy's policy and takes
    seeds of any size.
    """
    return np.random.SeedSequence(entropy=seed, spawn_key=place).generate_state(2, np.uint32)
