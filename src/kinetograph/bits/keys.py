"""From seeds to keys: four words that name a stream, made on the host by NumPy's SeedSequence.

SeedSequence is stable by NumPy's policy, but takes [1, 2] and [1, 2, 0], or 2**32 and [0, 1], for
the same. What goes into it is therefore a list in which every part says how long it is, so that
different seeds, members and names never give the same list.
"""

import hashlib
import operator
import secrets
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

__all__ = [
    "CHAIN",
    "MEMBER",
    "SIMULATION",
    "STREAM_VERSION",
    "Seed",
    "check_seed",
    "fresh_seed",
    "make_key",
]

STREAM_VERSION = 1  # changes with any number that any stream gives

Seed = int | tuple[int, ...]

_LIBRARY = 0x6B696E65  # "kine"
MEMBER, CHAIN, SIMULATION = 1, 2, 3  # what a key is for: keys of one use are never those of another


def fresh_seed() -> int:
    """A seed of 128 bits from the system's entropy."""
    return secrets.randbits(128)


def check_seed(bits: Any, what: str) -> Seed:
    """An integer or a tuple of integers; refuses all else by name.

    Raises
    ------
    TypeError
        If it is no whole number or list of whole numbers.
    ValueError
        If a number is negative, or the list is empty.
    """
    if isinstance(bits, (list, tuple, np.ndarray)) and np.ndim(bits) == 1:
        if len(bits) == 0:
            raise ValueError(f"{what}: the list of whole numbers is empty")
        return tuple(_whole(item, what) for item in bits)
    return _whole(bits, what)


def _whole(value: Any, what: str) -> int:
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{what}: must be a whole number or a list of whole numbers, got {value!r} "
            f"({type(value).__name__})"
        )
    number = operator.index(value)
    if number < 0:
        raise ValueError(f"{what}: must not be negative, got {value!r}")
    return number


def _words(number: int) -> list[int]:
    words = [number & 0xFFFFFFFF]
    while number := number >> 32:
        words.append(number & 0xFFFFFFFF)
    return words


@lru_cache(maxsize=65536)
def _make(seed: Seed, use: int, member: int | str) -> bytes:
    items: Sequence[int] = seed if isinstance(seed, tuple) else (seed,)
    parts = [_LIBRARY, STREAM_VERSION, int(isinstance(seed, tuple)), len(items)]
    for item in items:
        words = _words(item)
        parts += [len(words), *words]
    if isinstance(member, str):
        digest = hashlib.blake2s(member.encode(), digest_size=16).digest()
        parts += [use, 1, *np.frombuffer(digest, "<u4").tolist()]
    else:
        parts += [use, 0, member & 0xFFFFFFFF, member >> 32]
    return np.random.SeedSequence(parts).generate_state(4, np.uint32).tobytes()


def make_key(seed: Seed, use: int, member: int | str) -> np.ndarray:
    """The key (four words) of a member, by its number or name, under a seed."""
    return np.frombuffer(_make(seed, use, member), np.uint32)
