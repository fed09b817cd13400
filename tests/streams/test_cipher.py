"""The cipher against its published vectors and a plain-Python one."""

import numpy as np
import pytest

from kinetograph.graph.precision import x64
from kinetograph.streams.cipher import derive_key, philox4x32

# Known answers of Random123 for philox4x32-10: counter, key, words.
VECTORS = [
    ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


def hexadecimal(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


def plain_philox(key: list[int], counter: list[int]) -> list[int]:
    """The ten rounds in Python's own integers, from the paper."""
    k, c = list(key), list(counter)
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * c[2], 2**32)
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def ours(key, counter) -> list[int]:
    with x64():
        words = philox4x32(np.asarray(key, np.uint32), tuple(np.asarray(counter, np.uint32)))
        return [int(w) for w in words]


@pytest.mark.parametrize(("counter", "key", "words"), VECTORS)
def test_published_vectors(counter, key, words):
    assert ours(hexadecimal(key), hexadecimal(counter)) == hexadecimal(words)
    assert plain_philox(hexadecimal(key), hexadecimal(counter)) == hexadecimal(words)


def test_equals_a_plain_implementation_on_arrays_of_counters():
    rng = np.random.default_rng(1)
    key = rng.integers(0, 2**32, 2, dtype=np.uint32)
    counters = rng.integers(0, 2**32, (4, 200), dtype=np.uint32)
    with x64():
        words = np.stack([np.asarray(w) for w in philox4x32(key, tuple(counters))])
    assert words.dtype == np.uint32
    for i in range(200):
        expected = plain_philox([int(k) for k in key], [int(c) for c in counters[:, i]])
        assert words[:, i].tolist() == expected


@pytest.mark.parametrize("bit", range(0, 128, 7))
def test_each_bit_of_the_counter_changes_about_half_of_the_bits(bit):
    key = [11, 22]
    rng = np.random.default_rng(bit)
    changed = 0
    for _ in range(50):
        counter = [int(c) for c in rng.integers(0, 2**32, 4)]
        other = list(counter)
        other[bit // 32] ^= 1 << (bit % 32)
        pairs = zip(plain_philox(key, counter), plain_philox(key, other))
        changed += sum((a ^ b).bit_count() for a, b in pairs)
    # 6400 fair coins: 5 standard deviations are 200.
    assert abs(changed - 3200) < 200


def test_keys_are_those_of_a_seed_sequence():
    """Frozen: the draws of every seed hang on these."""
    assert derive_key(0).tolist() == np.random.SeedSequence(0).generate_state(2).tolist()
    assert derive_key(1, 0).tolist() == [1641411168, 1963192212]
    assert derive_key(2**100, 5).tolist() == [460737662, 1109801313]
    assert derive_key(1, 3).dtype == np.uint32


def test_keys_differ_between_chains_and_seeds():
    keys = {
        tuple(derive_key(seed, chain)) for seed in (0, 1, 2**63, 2**200) for chain in range(500)
    }
    assert len(keys) == 2000
