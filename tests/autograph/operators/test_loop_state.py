"""The variables of a staged loop: what goes in, round and out."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph import operators as ag
from kinetograph.autograph.operators.loop_state import title


def trips(start, step, count=3):
    """What `v` holds after a loop of the graph that does `v = step(v)`."""
    n = kg.placeholder(dtype=int, name="n")
    state = [n * 0, start]

    def put(values):
        state[:] = values

    def body():
        state[0] = state[0] + 1
        state[1] = step(state[1])

    ag.while_stmt(lambda: state[0] < n, body, lambda: tuple(state), put, ("i", "v"))
    return n, state[1]


@pytest.mark.parametrize(
    ("start", "step"),
    [
        (1, lambda v: v * 2),
        (1, lambda v: v * 0.5),
        (np.float32(1), lambda v: v * 0.5),
        (True, lambda v: ag.not_(v)),
        (np.arange(3.0), lambda v: v[::-1] * 2),
    ],
)
def test_numbers(start, step):
    n, found = trips(start, step)
    f = kg.compile([n], found)
    for count in (0, 1, 3):
        expected = start
        for _ in range(count):
            expected = (not expected) if start is True else step(expected)
        assert np.array_equal(f(count), expected)


def test_structures_keep_what_is_no_number():
    n, found = trips({"k": [1, "text"]}, lambda v: {"k": [v["k"][0] + 1, "text"]})
    assert found["k"][1] == "text"
    assert int(kg.compile([n], found["k"][0])(4)) == 5


def test_lists_stay_the_same_object():
    start = [1, 2]

    def swap(v):
        v[0], v[1] = v[1], v[0]
        return v

    n, found = trips(start, swap)
    assert found is start
    assert [int(r) for r in kg.compile([n], found)(3)] == [2, 1]


def test_other_lists_are_other_objects():
    start = [1, 2]
    n, found = trips(start, lambda v: [v[1], v[0]])
    assert found is not start
    assert start == [1, 2]
    assert [int(r) for r in kg.compile([n], found)(3)] == [2, 1]


@pytest.mark.parametrize(
    ("start", "step", "error", "text"),
    [
        (np.int32(1), lambda v: v * np.float64(0.5), TypeError, "'v' has dtype int32 before the"),
        (
            np.zeros(1),
            lambda v: kg.concatenate([v, v]),
            ValueError,
            r"shape \(1,\) before",
        ),
        (None, lambda v: 1.0, ValueError, "'v' is not allowed to be None before the loop"),
        ([1], lambda v: [*v, 1], TypeError, "list 'v' is modified inside a staged loop"),
        ((1,), lambda v: (1, 2), TypeError, "'v' does not have the same nested structure"),
        ("a", lambda v: v + "a", TypeError, "'v' is 'a' before the loop, but 'aa' after"),
    ],
)
def test_misuse(start, step, error, text):
    with pytest.raises(BaseException, match=text) as caught:
        trips(start, step)
    found = getattr(caught.value, "error", caught.value)
    assert isinstance(found, error)
    assert "test_loop_state.py:" in str(found)


def test_variables_that_the_loop_makes():
    def program(n):
        i = n * 0
        while i < n:
            i = i + 1
            last = {"k": i * i}
        return last["k"]

    f = kg.function(program)
    assert int(f(4)) == 16
    with pytest.raises(UnboundLocalError, match="at least once to initialize last"):
        f(0)


def test_variables_read_before_they_are_made():
    def program(n):
        i = n * 0
        while i < n:
            i = i + 1
            last = last + i  # noqa: F821
        return last

    with pytest.raises(UnboundLocalError, match="'last' must be defined before the loop"):
        kg.function(program)(3)


def test_titles():
    assert title("x['k']") == "x['k']"
    assert title("retval_") == "the return value"
    assert title("retval_1[0]") == "the return value[0]"
