"""Many streams together: the way bad keys and bad splitting show.

Keys and seeds are fixed, so every test is deterministic; a right generator fails one in 10,000.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from kinetograph.bits.keys import CHAIN, MEMBER, make_key
from kinetograph.bits.source import event_source
from kinetograph.graph.precision import x64

LEVEL = 1e-4


@cache
def _program(length: int):
    def one(key, low, high, lane):
        source = event_source(tuple(key), (low, high), lane, (length,), np.float64)
        return jnp.stack(source.words()[:2], -1)

    return jax.jit(jax.vmap(one))


def words(keys, length, events=0, lanes=0) -> np.ndarray:
    """Two words of the first elements of a draw of every key: (keys, length, 2)."""
    keys = np.asarray(keys, np.uint32)
    events, lanes = (np.broadcast_to(np.asarray(x, np.uint64), len(keys)) for x in (events, lanes))
    low, high = events.astype(np.uint32), (events >> np.uint64(32)).astype(np.uint32)
    with x64():
        return np.asarray(_program(length)(keys, low, high, lanes.astype(np.uint32)))


def members(count: int, seed=872364) -> np.ndarray:
    return np.stack([make_key(seed, MEMBER, i) for i in range(count)])


def failures(bits: np.ndarray) -> list[str]:
    """Which tests a sequence of words (n, 2) fails; they share the level."""
    x = (bits[:, 0].astype(float) * 2.0**32 + bits[:, 1]) * 2.0**-64
    raw = np.ascontiguousarray(bits).view(np.uint8).ravel()
    cells, *_ = np.histogram2d(x[:-1:2], x[1::2], bins=16, range=[[0, 1], [0, 1]])
    ps = {
        "uniform": stats.kstest(x, "uniform").pvalue,
        "bytes": stats.chisquare(np.bincount(raw, minlength=256)).pvalue,
        "pairs": stats.chisquare(cells.ravel()).pvalue,
        "bits": 2 * stats.norm.sf(abs(np.unpackbits(raw).mean() - 0.5) * 2 * np.sqrt(8 * raw.size)),
        # The sum of n products of neighbours is normal.
        **{f"lag {k}": serial(x, k) for k in (1, 2, 8, 16, 500, 1000)},
    }
    return [name for name, p in ps.items() if p < LEVEL / len(ps)]


def serial(x: np.ndarray, lag: int) -> float:
    z = (x - 0.5) * np.sqrt(12)
    total = (z[lag:] * z[:-lag]).sum() / np.sqrt(len(z) - lag)
    return 2 * stats.norm.sf(abs(total))


@pytest.mark.parametrize("count", [2, 16, 1000])
def test_interleaved_streams(count):
    bits = words(members(count), 200_000 // count)
    assert failures(bits.transpose(1, 0, 2).reshape(-1, 2)) == []
    assert failures(bits.reshape(-1, 2)) == []


@pytest.mark.parametrize("count", [2, 16, 1000])
def test_streams_that_share_a_key_are_noticed(count):
    keys = members(count)
    keys[count // 2 :] = keys[: count // 2]
    bits = words(keys, 200_000 // count)
    assert f"lag {count // 2}" in failures(bits.transpose(1, 0, 2).reshape(-1, 2))


def test_first_elements_of_successive_events():
    keys = np.broadcast_to(members(1), (100_000, 4))
    assert failures(words(keys, 1, events=np.arange(100_000))[:, 0]) == []
    around = np.arange(2**32 - 50_000, 2**32 + 50_000, dtype=np.uint64)
    assert failures(words(keys, 1, events=around)[:, 0]) == []


def test_first_elements_of_successive_lanes():
    keys = np.broadcast_to(members(1), (100_000, 4))
    assert failures(words(keys, 1, lanes=np.arange(100_000))[:, 0]) == []


def test_adjacent_seeds():
    keys = np.stack([make_key(seed, MEMBER, 0) for seed in range(4096)])
    bits = words(keys, 24)
    assert failures(bits.transpose(1, 0, 2).reshape(-1, 2)) == []
    assert failures(bits[:, 0]) == []


def test_adjacent_members_and_chains():
    for use in (MEMBER, CHAIN):
        keys = np.stack([make_key(1, use, i) for i in range(4096)])
        assert failures(words(keys, 1)[:, 0]) == []


def largest_correlation(keys: np.ndarray, length: int = 2000) -> tuple[float, float]:
    """The largest |r| of pairs of streams, with its probability if all are independent."""
    z = words(keys, length)[..., 0] * 2.0**-32
    r = np.abs(np.corrcoef(z)[np.triu_indices(len(z), 1)])
    # r sqrt((n - 2) / (1 - r^2)) is close to Student's t with n - 2 degrees of freedom.
    top = r.max()
    t = top * np.sqrt((length - 2) / (1 - min(top, 1 - 1e-12) ** 2))
    return top, -np.expm1(r.size * np.log1p(-2 * stats.t(length - 2).sf(t)))


def test_pairs_of_streams_are_not_correlated():
    keys = members(100)
    _, p = largest_correlation(keys)
    assert p > LEVEL
    z = words(keys, 2000)[..., 0] * 2.0**-32
    r = np.corrcoef(z)[np.triu_indices(100, 1)]
    assert stats.kstest(r * np.sqrt(2000), "norm").pvalue > LEVEL


def test_a_correlated_pair_is_noticed():
    keys = members(100)
    keys[70] = keys[3]
    top, p = largest_correlation(keys)
    assert top > 0.99
    assert p < LEVEL


def test_keys_are_all_different():
    keys = {make_key(872364, MEMBER, i).tobytes() for i in range(8000)}
    assert len(keys) == 8000
    bits = np.frombuffer(b"".join(sorted(keys)[::2]), np.uint32).reshape(-1, 4)
    # Each bit of the keys is set half of the time.
    ones = np.unpackbits(bits.view(np.uint8), axis=-1).sum(0)
    z = (ones - len(bits) / 2) / np.sqrt(len(bits) / 4)
    assert stats.chi2(128).sf((z**2).sum()) > LEVEL
