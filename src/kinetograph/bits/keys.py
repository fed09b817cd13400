"""Keys made of seeds: four words that name a stream.

The host makes them with NumPy's SeedSequence. SeedSequence is stable by NumPy's policy, but gives
the same words for [1, 2] and [1, 2, 0], or for 2**32 and [0, 1]. Each part of its input is
therefore preceded by its length, so that different seeds, members and names never give the same
input.
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

STREAM_VERSION = 1  # to be increased with any change of the numbers of any stream

Seed = int | tuple[int, ...]

_LIBRARY = 0x6B696E65  # "kine"
MEMBER, CHAIN, SIMULATION = 1, 2, 3  # uses of keys: keys of different uses differ


def fresh_seed() -> int:
    """A seed of 128 bits from the system's entropy."""
    return secrets.randbits(128)


def check_seed(bits: Any, name: str) -> Seed:
    """Return a seed as an integer or a tuple of integers.

    Parameters
    ----------
    bits
        A whole number, or a list, tuple or vector of whole numbers.
    name
        The name of the function or argument for messages.

    Raises
    ------
    TypeError
        If the value is not a whole number or a list of whole numbers.
    ValueError
        If a number is negative, or the list is empty.
    """
    if isinstance(bits, (list, tuple, np.ndarray)) and np.ndim(bits) == 1:
        if len(bits) == 0:
            raise ValueError(f"{name}: the list of whole numbers is empty")
        return tuple(_whole(item, name) for item in bits)
    return _whole(bits, name)


def _whole(value: Any, name: str) -> int:
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{name}: must be a whole number or a list of whole numbers, got {value!r} "
            f"({type(value).__name__})"
        )
    number = operator.index(value)
    if number < 0:
        raise ValueError(f"{name}: must not be negative, got {value!r}")
    return number


def _words(number: int) -> list[int]:
    words = [number & 0xFFFFFFFF]
    while number := number >> 32:
        words.append(number & 0xFFFFFFFF)
    return words


@lru_cache(maxsize=65536)
def _make(seed: Seed, use: int, member: int | str) -> bytes:
    numbers: Sequence[int] = seed if isinstance(seed, tuple) else (seed,)
    parts = [_LIBRARY, STREAM_VERSION, int(isinstance(seed, tuple)), len(numbers)]
    for number in numbers:
        words = _words(number)
        parts += [len(words), *words]
    if isinstance(member, str):
        digest = hashlib.blake2s(member.encode(), digest_size=16).digest()
        parts += [use, 1, *np.frombuffer(digest, "<u4").tolist()]
    else:
        parts += [use, 0, member & 0xFFFFFFFF, member >> 32]
    return np.random.SeedSequence(parts).generate_state(4, np.uint32).tobytes()


def make_key(seed: Seed, use: int, member: int | str) -> np.ndarray:
    """The key (four words) of a member under a seed.

    `use` is one of MEMBER, CHAIN and SIMULATION; the member is given by its number or its name.
    """
    return np.frombuffer(_make(seed, use, member), np.uint32)
