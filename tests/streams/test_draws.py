"""Uniforms and normals: their law, and that a number depends on its place alone."""

import numpy as np
import pytest
from scipy import special, stats

from kinetograph.graph.precision import x64
from kinetograph.streams import draws
from kinetograph.streams.cipher import derive_key, philox4x32

KEY = derive_key(7, 0)


def uniforms(*args) -> np.ndarray:
    with x64():
        return np.asarray(draws.uniforms(*args))


def normals(*args) -> np.ndarray:
    with x64():
        return np.asarray(draws.normals(*args))


def words_to_uniform(high: int, low: int) -> float:
    """The centre of the cell that the upper 52 of 64 bits name, by Python's integers."""
    return (((high << 32 | low) >> 12) * 2 + 1) / 2**53


def test_a_uniform_is_the_centre_of_its_cell():
    with x64():
        words = [0, 1, 0xFFF, 0x1000, 0xDEADBEEF, 0xFFFFFFFF]
        for high in words:
            for low in words:
                got = float(draws.uniform(np.uint32(high), np.uint32(low)))
                assert got == words_to_uniform(high, low)
                assert 0 < got < 1


def test_uniforms_come_from_lane_event_and_purpose():
    with x64():
        got = uniforms(KEY, 5, 3, 4)
        for lane in range(2):
            a, b, c, d = (int(w) for w in philox4x32(KEY, (lane, 5, 3, 0)))
            assert got[2 * lane] == words_to_uniform(a, b)
            assert got[2 * lane + 1] == words_to_uniform(c, d)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("draw", [uniforms, normals])
def test_element_i_depends_on_i_only(draw, size):
    assert np.array_equal(draw(KEY, 9, 2, size), draw(KEY, 9, 2, 101)[:size])


def test_other_events_purposes_and_keys_give_other_numbers():
    places = [
        (KEY, 0, 0),
        (KEY, 1, 0),
        (KEY, 0, 1),
        (derive_key(7, 1), 0, 0),
        (derive_key(8, 0), 0, 0),
    ]
    rows = np.stack([uniforms(*place, 1000) for place in places])
    assert len(np.unique(rows)) == rows.size
    correlations = np.corrcoef(rows)[np.triu_indices(len(rows), 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(1000)


# Fixed seeds; the limit refuses a right generator once in 10,000 tries.


def test_law_of_uniforms():
    x = uniforms(KEY, 1, 1, 200_000)
    assert stats.kstest(x, "uniform").pvalue > 1e-4
    pairs, *_ = np.histogram2d(x[::2], x[1::2], bins=20, range=[[0, 1], [0, 1]])
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-4


def test_law_of_normals():
    x = normals(KEY, 1, 1, 200_000)
    assert stats.kstest(x, "norm").pvalue > 1e-4
    assert abs(stats.kurtosis(x)) < 5 * np.sqrt(24 / len(x))


def test_law_over_events():
    """One number an event: what a sampler's decisions are made of."""
    with x64():
        a, b, _, _ = philox4x32(KEY, (0, np.arange(100_000, dtype=np.uint32), 3, 0))
        x = np.asarray(draws.uniform(a, b))
    assert stats.kstest(x, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 5 / np.sqrt(len(x))


def test_the_law_tests_can_fail():
    x = uniforms(KEY, 1, 1, 200_000)
    assert stats.kstest(x**1.02, "uniform").pvalue < 1e-4
    assert stats.kstest(special.ndtri(x) * 1.02, "norm").pvalue < 1e-4


def test_quantile_equals_the_normal_quantile():
    middle = np.linspace(0.001, 0.999, 100_001)
    tails = np.logspace(-300, -3, 5000)
    near_one = 1 - np.logspace(-15, -3, 1000)
    for p in (middle, tails, near_one):
        expected = special.ndtri(p)
        for got in (draws.quantile(p, np), _jax_quantile(p)):
            np.testing.assert_allclose(got, expected, rtol=2e-14, atol=1e-15)


def _jax_quantile(p: np.ndarray) -> np.ndarray:
    with x64():
        return np.asarray(draws.quantile(p))


def test_quantile_is_odd_and_monotone():
    p = np.linspace(2**-20, 1 - 2**-20, 2**20 - 1)
    values = draws.quantile(p, np)
    assert np.all(np.diff(values) > 0)
    np.testing.assert_allclose(values, -values[::-1], rtol=1e-14, atol=1e-16)
    # Across the seams of the three approximations, cell by cell.
    for seam in (0.075, 0.925, np.exp(-25.0)):
        around = seam * (1 + np.arange(-2000, 2000) * 2.0**-50)
        steps = np.diff(draws.quantile(around, np))
        assert steps.min() > -4e-16 * abs(draws.quantile(seam, np))


def test_smallest_and_largest_uniforms_give_finite_normals():
    edges = np.array([2.0**-53, 1 - 2.0**-53])
    np.testing.assert_allclose(draws.quantile(edges, np), [-8.209536, 8.209536], rtol=1e-6)


def test_frozen_numbers():
    """These are a promise: a seed's draws stay the same from version to version."""
    assert uniforms(derive_key(1, 0), 3, 2, 3).tolist() == GOLDEN_UNIFORMS
    np.testing.assert_allclose(normals(derive_key(1, 0), 3, 2, 3), GOLDEN_NORMALS, rtol=1e-14)


GOLDEN_UNIFORMS = [0.8075906764413493, 0.19501429417061156, 0.3349296009735875]
GOLDEN_NORMALS = [0.8690520770732867, -0.8595655202495804, -0.42634125311119764]
