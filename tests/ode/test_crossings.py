"""The first change of a sign among samples, against plain Python over all short sequences."""

import itertools

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.ode.crossings import first_change, next_sides

SIGNS = (-1.0, 0.0, 1.0)


def by_python(samples, side, direction):
    """The place of the first change, -1 if there is none, and the side behind the last sample."""
    place = -1
    for number, sign in enumerate(samples):
        # From a side that is known to 0 or to the other one: downward from 1, upward from -1.
        change = side != 0 and sign != side and direction in (0, -side)
        if change and place < 0:
            place = number
        side = side if sign == 0 else sign
    return place, side


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_first_changes(direction):
    samples, side = kg.placeholder((3, 1), name="samples"), kg.placeholder((1,), name="side")
    found = first_change(samples, side, np.array([float(direction)]))
    f = kg.compile([samples, side], [found.place, found.after])
    for *row, start in itertools.product(SIGNS, repeat=4):
        place, after = f(np.reshape(row, (3, 1)), [start])
        assert (place, after[0]) == by_python(row, start, direction), (row, start)


def test_a_sample_that_is_not_a_number_is_a_change():
    samples = kg.placeholder((2, 2), name="samples")
    found = first_change(samples, kg.data([1.0, 0.0]), np.array([0.0, 1.0]))
    f = kg.compile([samples], [found.place, found.which, found.before])
    for table, wanted in (
        ([[1.0, 1.0], [1.0, np.nan]], (1, [False, True], [1.0, 1.0])),
        ([[np.nan, 0.0], [1.0, 1.0]], (0, [True, False], [1.0, 0.0])),
    ):
        for got, right in zip(f(np.array(table)), wanted, strict=True):
            np.testing.assert_array_equal(got, right)


def test_sides_behind_a_sample():
    """Those that change there keep the side before, as those at 0 do."""
    found = next_sides(
        kg.data([-1.0, 0.0, 1.0, 1.0, -1.0]),
        kg.data([1.0, 1.0, 0.0, -1.0, 1.0]),
        np.array([0.0, 0.0, 0.0, -1.0, 1.0]),
    )
    assert kg.compile([], found)().tolist() == [1.0, 1.0, 1.0, 1.0, -1.0]


def test_an_event_that_stays_at_0_is_seen():
    events = [lambda t, y: kg.maximum(1.0 - y, 0.0)]
    _, (end,) = kg.ode.solve(lambda t, y: 1.0 + 0 * y, 0.25, [0.0, 2.0], events=events)
    assert kg.compile([], end.t)() == pytest.approx(0.75, rel=1e-9)
