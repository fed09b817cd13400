"""Landmarks by max-min distance, and level sets between them."""

import numpy as np
import pytest

from kinetograph.neural import analysis


def brute_force(x, count):
    """Landmarks by a search over all points and landmarks."""
    indices = [int(np.argmax(np.abs(x[:, 0])))]
    while len(indices) < count:
        rest = [i for i in range(len(x)) if i not in indices]
        distance = [min(np.linalg.norm(x[i] - x[j]) for j in indices) for i in rest]
        indices.append(rest[int(np.argmax(distance))])
    return indices


def test_landmarks_are_the_farthest_points():
    x = np.random.default_rng(1).standard_normal((120, 3))
    assert analysis.landmarks(x, 12).tolist() == brute_force(x, 12)
    everything = analysis.landmarks(np.repeat(x[:5], 2, axis=0), 10)
    assert sorted(everything.tolist()) == list(range(10))  # also points that coincide, once


def test_dropped_points_are_not_landmarks():
    x = np.random.default_rng(2).standard_normal((60, 2))
    x[:30] = np.nan
    assert analysis.landmarks(x, 6).tolist() == [30 + i for i in brute_force(x[30:], 6)]


def test_level_sets_are_nearest_landmarks():
    x = np.random.default_rng(3).standard_normal(500)
    chosen = analysis.landmarks(x, 7)
    levels = analysis.level_sets(x, chosen)
    assert levels.values.tolist() == sorted(x[chosen])
    assert x[levels.landmarks].tolist() == levels.values.tolist()
    nearest = np.abs(x[:, None] - levels.values).argmin(1)
    assert levels.labels.tolist() == nearest.tolist()
    assert levels.counts.tolist() == np.bincount(nearest).tolist()
    assert levels.edges[[0, -1]].tolist() == [x.min(), x.max()]
    assert levels.widths.sum() == pytest.approx(np.ptp(x))


def test_level_sets_leave_out_nan():
    levels = analysis.level_sets([0.0, np.nan, 1.0, 10.0], [0, 3])
    assert levels.labels.tolist() == [0, -1, 0, 1]
    assert levels.counts.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: analysis.landmarks([0.0, 1.0, np.nan], 3), "between 1 and 2"),
        (lambda: analysis.landmarks(np.zeros((2, 3, 4)), 1), r"got \(2, 3, 4\)"),
        (lambda: analysis.level_sets(np.zeros((3, 2)), [0]), r"as coordinates\[:, 0\]"),
        (lambda: analysis.level_sets([0.0, 1.0], [0.5]), "must be indices of points, got float64"),
        (lambda: analysis.level_sets([0.0, 1.0], [2]), r"indices below 2.*got \[2\]"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()
