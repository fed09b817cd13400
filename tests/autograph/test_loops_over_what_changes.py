"""Loops over arrays into which they write: each trip reads what the array is by then."""

import numpy as np
import pytest

import kinetograph as kg


def item(v):
    s = 0.0
    for x in v:
        s += x
        v[2] = 10.0
    return s


def own_item(v):
    s = 0.0
    for i, x in enumerate(v):
        s += x
        v[i] = 2 * x
    return s + 100.0 * v[0] + 10.0 * v[2]


def two_directions(v):
    s = 0.0
    for x, y in zip(v, v[::-1], strict=True):
        s += x * y
        v[2] = 10.0
    return s


def a_part(v):
    s = 0.0
    for x in v[1:]:
        s += x
        v += 1
    return s


def in_a_branch(v):
    s = 0.0
    for x in v:
        if x > 1:
            v[2] = 7.0
        s += x
    return s


def another_name(v):
    s, w = 0.0, v
    for x in v:
        w[2] = 7.0
        s += x
    return s


def until_a_break(v):
    s = 0.0
    for x in v:
        s += x
        v[1] = 10.0
        if s > 10.5:
            break
    return s


def all_items(v):
    s = 0.0
    for x in v:
        v[:] = 5.0
        s += x
    return s


def another_array(v):
    s = 0.0
    for x in v:
        s += x
        v = v * 2
    return s


def rows_are_views(v):
    v, s = v.reshape((2, 2)), 0.0
    for row in v:
        v[0, 0] = 5.0
        s += row[0]
    return s


def own_row(v):
    v, s = v.reshape((2, 2)), 0.0
    for i, row in enumerate(v):
        v[i] = 2 * row
        s += row[1]
    return s


def rows_of_two(v):
    v, s = v.reshape((2, 2)), 0.0
    for row, other in zip(v, v[::-1], strict=True):
        v[1, 0] = 5.0
        s += row[0] * other[0]
    return s


@pytest.mark.parametrize(
    "function",
    [
        *(item, own_item, two_directions, a_part, in_a_branch, another_name, until_a_break),
        *(all_items, another_array, rows_are_views, own_row, rows_of_two),
    ],
    ids=lambda f: f.__name__,
)
def test_each_trip_reads_what_is_there(function):
    start = np.array([1.0, 2, 3, 4])
    assert float(kg.function(function)(start)) == function(start.copy())


def test_what_may_be_the_array_is_refused():
    @kg.function
    def unsure(v, w):
        s = 0.0
        over = v if v[0] > 0 else w
        for x in over:
            s += x
            v[1] = 10.0
        return s

    with pytest.raises(kg.StagingError, match=r"test_loops_over_what_changes\.py:\d+"):
        unsure(np.ones(3), np.zeros(3))


def test_gradient_through_a_loop_over_what_changes():
    v = kg.placeholder(3, name="v")
    slope = kg.compile([v], kg.gradients(kg.autograph.convert(own_item)(v), v))
    np.testing.assert_allclose(slope(np.array([1.0, 2, 3])), [201.0, 1.0, 21.0], rtol=1e-12)
