"""The cipher against its published vectors, a plain-Python one, and randomgen; and the keys."""

import jax
import numpy as np
import pytest

from kinetograph.bits.cipher import threefry4x32
from kinetograph.bits.keys import CHAIN, MEMBER, check_seed, fresh_seed, make_key
from kinetograph.graph.precision import x64

# Known answers of Random123 for threefry4x32-20: counter, key, words.
PI_COUNTER = "243f6a88 85a308d3 13198a2e 03707344"
PI_KEY = "a4093822 299f31d0 082efa98 ec4e6c89"
ONES = "ffffffff ffffffff ffffffff ffffffff"
VECTORS = [
    ("0 0 0 0", "0 0 0 0", "9c6ca96a e17eae66 fc10ecd4 5256a7d8"),
    (ONES, ONES, "2a881696 57012287 f6c7446e a16a6732"),
    (PI_COUNTER, PI_KEY, "59cd1dbb b8879579 86b5d00c ac8b6d84"),
]
PAIRS = [(10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20)]


def hexadecimal(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


def plain_threefry(key: list[int], counter: list[int]) -> list[int]:
    """The twenty rounds in Python's own integers, from the paper: mix pairs, swap words 1 and 3."""
    keys = [*key, 0x1BD11BDA ^ key[0] ^ key[1] ^ key[2] ^ key[3]]
    x = [(c + k) % 2**32 for c, k in zip(counter, key)]
    for r in range(20):
        for first, by in zip((0, 2), PAIRS[r % 8]):
            a, b = x[first], x[first + 1]
            a = (a + b) % 2**32
            x[first], x[first + 1] = a, ((b << by | b >> (32 - by)) % 2**32) ^ a
        x = [x[0], x[3], x[2], x[1]]
        if r % 4 == 3:
            s = r // 4 + 1
            x = [(x[i] + keys[(s + i) % 5]) % 2**32 for i in range(4)]
            x[3] = (x[3] + s) % 2**32
    return x


def ours(key, counter) -> list[int]:
    words = threefry4x32(tuple(np.asarray(key, np.uint32)), tuple(np.asarray(counter, np.uint32)))
    return [int(w) for w in words]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("counter", "key", "words"), VECTORS)
def test_published_vectors(counter, key, words, wide):
    assert plain_threefry(hexadecimal(key), hexadecimal(counter)) == hexadecimal(words)
    with jax.enable_x64(wide):
        assert ours(hexadecimal(key), hexadecimal(counter)) == hexadecimal(words)


def test_equals_a_plain_implementation_on_arrays_of_counters():
    rng = np.random.default_rng(1)
    key = rng.integers(0, 2**32, 4, dtype=np.uint32)
    counters = rng.integers(0, 2**32, (4, 200), dtype=np.uint32)
    with x64():
        words = np.stack([np.asarray(w) for w in threefry4x32(tuple(key), tuple(counters))])
    assert words.dtype == np.uint32
    for i in range(200):
        expected = plain_threefry([int(k) for k in key], [int(c) for c in counters[:, i]])
        assert words[:, i].tolist() == expected


def test_equals_randomgen():
    randomgen = pytest.importorskip("randomgen")
    rng = np.random.default_rng(2)
    for _ in range(5):
        key = [int(k) for k in rng.integers(0, 2**32, 4)]
        counter = [int(c) for c in rng.integers(0, 2**31, 4)]
        as_one = [sum(w << 32 * i for i, w in enumerate(words)) for words in (key, counter)]
        bits = randomgen.ThreeFry(key=as_one[0], counter=as_one[1], number=4, width=32)
        raw = [int(w) for w in bits.random_raw(4)]
        # It advances its counter before it makes the first block.
        assert raw == plain_threefry(key, [counter[0] + 1, *counter[1:]])


@pytest.mark.parametrize("where", ["key", "counter"])
@pytest.mark.parametrize("bit", range(0, 128, 7))
def test_each_bit_changes_about_half_of_the_bits(bit, where):
    rng = np.random.default_rng(bit)
    changed = 0
    for _ in range(50):
        key, counter = ([int(w) for w in rng.integers(0, 2**32, 4)] for _ in range(2))
        others = {"key": list(key), "counter": list(counter)}
        others[where][bit // 32] ^= 1 << (bit % 32)
        pairs = zip(plain_threefry(key, counter), plain_threefry(**others))
        changed += sum((a ^ b).bit_count() for a, b in pairs)
    # 6400 fair coins: 5 standard deviations are 200.
    assert abs(changed - 3200) < 200


# Keys -------------------------------------------------------------------------------------------


def test_anchors_of_seed_sequence():
    """NumPy's part of the derivation, frozen."""
    anchors = {
        (1, 2): "5f2d64ab d78548c1 8a5eaca9 8ce90a29",
        (2, 1): "125601cf 5bb8fe82 b84f8765 ea031785",
        (5,): "0100b467 af4c069d 887ebd60 3df59fb9",
    }
    for entropy, words in anchors.items():
        state = np.random.SeedSequence(entropy).generate_state(4, np.uint32)
        assert state.tolist() == hexadecimal(words)


def test_keys_tell_apart_what_a_seed_sequence_does_not():
    seeds = [
        (1, 2),
        (2, 1),
        (1, 2, 0),
        2**32,
        (0, 1),
        (2**32,),
        (0, 1, 0),
        5,
        (5,),
        0,
        (0,),
        (0, 0),
    ]
    seeds += [(5 << 32 | 1, 7), (1, 7 << 32 | 5)]  # both consist of the words 1, 5, 7
    seeds += [(1, 2, 3, 4), (1, 2, 3, 4, 5), (1, 2, 3, 4, 5, 6), 2**200, 2**200 + 1]
    members = [0, 1, 5, 2**32, 2**32 + 1, "", "0", "eps", "eps "]
    keys = {
        tuple(make_key(s, use, m).tolist())
        for s in seeds
        for use in (MEMBER, CHAIN)
        for m in members
    }
    assert len(keys) == len(seeds) * 2 * len(members)


def test_keys_are_four_words_and_repeat():
    key = make_key(1, MEMBER, 3)
    assert (key.dtype, key.shape) == (np.uint32, (4,))
    assert np.array_equal(key, make_key(1, MEMBER, 3))


@pytest.mark.parametrize(
    "bits",
    [True, None, 1.0, "1", -1, [], [1, -1], [1.0], [True], [[1]], np.float64(1), np.bool_(1)],
)
def test_refused_seeds(bits):
    with pytest.raises((TypeError, ValueError), match="seed: "):
        check_seed(bits, "seed")


def test_accepted_seeds():
    assert check_seed(np.uint64(2**63), "seed") == 2**63
    assert check_seed([1, np.int8(2)], "seed") == (1, 2)
    assert check_seed((3,), "seed") == (3,)
    assert check_seed(np.array([4, 5]), "seed") == (4, 5)
    assert 0 <= fresh_seed() < 2**128
    assert fresh_seed() != fresh_seed()
