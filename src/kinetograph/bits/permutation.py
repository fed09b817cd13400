"""Keyed permutations: one place of a random order, without other places.

A number below a b is a pair (left, right) with left < a and right < b. A round adds a hash of one
part to the other part,

    left <- left + hash(right, key) mod a      or      right <- right + hash(left, key) mod b,

which is a bijection. So several rounds with independent keys are a bijection of the numbers below
a b that behaves like a random one. Ranges of a few numbers need more rounds: with 12 rounds the
orders of 7 numbers have relative frequencies that differ by 13 %, with 24 rounds no difference is
seen in 400,000 orders. A number that leaves the range below `count` is permuted again until it is
back: the places below `count` are then permuted among themselves. With a close to the square root
of `count` and even, a b exceeds `count` by less than a, and odd permutations occur, too.

Sources: J. Black, P. Rogaway, Ciphers with arbitrary finite domains, CT-RSA 2002; R. Mitchell et
al., Bandwidth-optimal random shuffling for GPUs, ACM Trans. Parallel Comput. 9 (2022); the hash is
the finaliser of A. Appleby's MurmurHash3.
"""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["permuted", "rounds"]


def rounds(count: int) -> int:
    """The number of rounds for `count` numbers, a multiple of 4."""
    return 24 if count < 256 else 12


def permuted(keys: Any, places: Any, count: int) -> Any:
    """The numbers at places of a random order.

    The order is one of 0, ..., count - 1.

    `keys` are `rounds(count)` words (uint32), or one such word for each place along further axes.
    `count` is at most 2**31.
    """
    columns = 2 * math.ceil(math.sqrt(count) / 2)
    lines = -(-count // columns)

    def two_rounds(number: Any, parts: tuple[Any, Any]) -> tuple[Any, Any]:
        left, right = parts
        left = (left + _hash(right ^ keys[2 * number]) % np.uint32(columns)) % np.uint32(columns)
        right = (right + _hash(left ^ keys[2 * number + 1]) % np.uint32(lines)) % np.uint32(lines)
        return left, right

    def all_rounds(x: Any) -> Any:
        # A loop, because XLA compiles an expression of all rounds for minutes.
        parts = x % np.uint32(columns), x // np.uint32(columns)
        left, right = lax.fori_loop(0, rounds(count) // 2, two_rounds, parts)
        return right * np.uint32(columns) + left

    def outside(x: Any) -> Any:
        return jnp.any(x >= np.uint32(count))

    def next_places(x: Any) -> Any:
        return jnp.where(x >= np.uint32(count), all_rounds(x), x)

    first = all_rounds(jnp.asarray(places, np.uint32))
    return first if columns * lines == count else lax.while_loop(outside, next_places, first)


def _hash(x: Any) -> Any:
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))
