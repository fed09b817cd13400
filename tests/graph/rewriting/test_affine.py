"""Which whole numbers are known to change by a constant from trip to trip."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.rewriting.affine import Affine, affine, counters, trips_inside

TRIPS = 10
N = kg.placeholder((), int, name="n")


def line_of(number, make, rows=None):
    """What is known of a number that a scan computes from its counter and its row."""
    found = []

    def f(i, row):
        found.append(number(i, row))
        return make(i), None

    made = kg.scan(f, np.int64(3), kg.range(5, 5 + TRIPS) if rows is None else rows)
    node = found[-1].node
    assert made
    loop = node.context._owner
    return affine(node, counters(loop.subgraphs[-1], loop.carried), TRIPS)


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (lambda i, t: i, Affine(2, 3)),
        (lambda i, t: t, Affine(1, 5)),
        (lambda i, t: t - 1 + i * 3, Affine(7, 13)),
        (lambda i, t: 4 - t, Affine(-1, -1)),
        (lambda i, t: -(t.astype("int32")) * 2, Affine(-2, -10)),
        (lambda i, t: i - 2 * t + t, Affine(1, -2)),
        (lambda i, t: t - t, Affine(0, 0)),
        (lambda i, t: i * t, None),
        (lambda i, t: t + N, None),
        (lambda i, t: t // 2, None),
        (lambda i, t: kg.data(np.int64(2), name="d") + t, None),  # can be given another value
        (lambda i, t: t.astype("int8") + 1, None),  # might wrap around
        (lambda i, t: t * 2**28, None),
        (lambda i, t: (t * 2**28 - t * 2**28) + t, None),
    ],
)
def test_numbers_that_move_by_a_constant(number, line):
    assert line_of(number, lambda i: i + 2) == line


@pytest.mark.parametrize(
    "make",
    [lambda i: 2 * i, lambda i: i + N, lambda i: kg.where(i > 5, i + 1, i + 2), lambda i: -i],
)
def test_variables_that_do_not_count(make):
    assert line_of(lambda i, t: i, make) is None


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (np.arange(9, -1, -3), Affine(-3, 9)),
        (np.array([1, 2, 4]), None),
        (kg.range(8)[2:], Affine(1, 2)),
        (kg.data(np.arange(4), name="given"), None),
    ],
)
def test_rows_of_known_numbers(rows, line):
    assert line_of(lambda i, t: t, lambda i: i, rows) == line


@pytest.mark.parametrize("line", [Affine(1, 0), Affine(2, 3), Affine(-3, 7), Affine(-1, -2)])
@pytest.mark.parametrize("ends", [(0, 9), (-10, 9), (3, 7), (8, 8)])
def test_the_trips_in_which_a_number_is_inside(line, ends):
    low, high = ends
    trips = 0
    while low <= line.at(trips) <= high:
        trips += 1
    assert trips_inside(line, low, high) == trips
    if trips:
        assert line.within(low, high, trips)
        assert not line.within(low, high, trips + 1)
