"""Philox4x32-10: a counter-based cipher. Four 32-bit words are a function of a key and a counter.

Nothing is carried from one call to the next, so a number depends only on what it is for: the key
names the stream, the counter names the event. Written in plain integer operations, so that no JAX
version or flag can change a number.

Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3,
SC11 (2011); multipliers and Weyl constants of the published Random123 library.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

__all__ = ["Words", "derive_key", "philox4x32"]

Words = tuple[Any, Any, Any, Any]

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (np.uint32(0x9E3779B9), np.uint32(0xBB67AE85))
_ROUNDS = 10


def philox4x32(key: tuple[Any, Any], counter: Words) -> Words:
    """Four words (uint32, in the counter's shape) for a 64-bit key and a 128-bit counter."""
    k0, k1 = (jnp.asarray(k, jnp.uint32) for k in key)
    c0, c1, c2, c3 = (jnp.asarray(c, jnp.uint32) for c in counter)
    for _ in range(_ROUNDS):
        product0 = c0.astype(jnp.uint64) * _MULTIPLIERS[0]
        product1 = c2.astype(jnp.uint64) * _MULTIPLIERS[1]
        high0, low0 = _halves(product0)
        high1, low1 = _halves(product1)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = k0 + _WEYL[0], k1 + _WEYL[1]
    return c0, c1, c2, c3


def _halves(product: Any) -> tuple[Any, Any]:
    return (product >> np.uint64(32)).astype(jnp.uint32), product.astype(jnp.uint32)


def derive_key(seed: int, *place: int) -> np.ndarray:
    """The key (two words) of the stream at `place` (for example the chain's index) under a seed.

    Made on the host with NumPy's SeedSequence, whose output is stable by NumPy's policy and takes
    seeds of any size.
    """
    return np.random.SeedSequence(entropy=seed, spawn_key=place).generate_state(2, np.uint32)
