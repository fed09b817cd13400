"""What two branches leave in a variable."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph import operators as ag
from kinetograph.autograph.operators.merge import blank
from kinetograph.autograph.operators.undefined import UndefinedError


def choose(one, other, start=None, name="v", needed=1):
    """What `v` holds after `if x > 0: v = one` with `else: v = other`."""
    x = kg.placeholder(name="x")
    state = [ag.Undefined(name) if start is None else start]

    def put(values):
        state[:] = values

    ag.if_stmt(
        x > 0,
        lambda: put([one]),
        lambda: put([other]),
        lambda: tuple(state),
        put,
        (name,),
        needed,
    )
    return x, state[0]


@pytest.mark.parametrize(
    ("one", "other", "dtype"),
    [
        (1, 2, "int64"),
        (1, 2.5, "float64"),
        (np.float32(1), 2.5, "float32"),
        (np.float32(1), 2, "float32"),
        (True, False, "bool"),
        (np.zeros(3), np.ones(3), "float64"),
    ],
)
def test_numbers(one, other, dtype):
    x, found = choose(one, other)
    assert found.dtype == dtype
    f = kg.compile([x], found)
    assert np.array_equal(f(1.0), one)
    assert np.array_equal(f(-1.0), other)


def test_structures():
    x, found = choose({"k": [1, (2.0, "same")]}, {"k": [3, (2.0, "same")]})
    assert found["k"][1] == (2.0, "same")  # what is the same is no node
    assert int(kg.compile([x], found["k"][0])(-1.0)) == 3


def test_what_is_the_same_in_both():
    thing = object()
    assert choose(thing, thing)[1] is thing
    assert choose("text", "text")[1] == "text"


@pytest.mark.parametrize(
    ("one", "other", "error", "text"),
    [
        (ag.Undefined("v"), 1, UndefinedError, "'v' must also be initialized in the main branch"),
        (1, ag.Undefined("v"), UndefinedError, "'v' must also be initialized in the else branch"),
        (1, None, ValueError, "'v' is None at the end of the else branch"),
        (None, 1, ValueError, "'v' is None at the end of the main branch"),
        (np.int32(1), np.float32(1), TypeError, "int32 in the main branch, but dtype float32 in"),
        (np.zeros(2), np.zeros(3), ValueError, r"shape \(2,\) in the main branch, but shape \(3,"),
        ([1], [1, 2], TypeError, "same nested structure in the main and else branches"),
        ({"k": 1}, {"l": 1}, TypeError, "same nested structure"),
        ("a", "b", TypeError, "'v' is the text 'a' in the main branch, but the text 'b'"),
        (1, "b", TypeError, "'v' is the text 'b' in the else branch"),
    ],
)
def test_misuse(one, other, error, text):
    with pytest.raises(BaseException, match=text) as caught:
        choose(one, other)
    found = getattr(caught.value, "error", caught.value)
    assert isinstance(found, error)
    assert "test_merge.py:" in str(found)


def test_variables_that_are_not_needed():
    assert choose("a", 3, start=1, needed=0)[1] == 1


def test_undefined_in_both():
    assert isinstance(choose(ag.Undefined("v"), ag.Undefined("v"))[1], ag.Undefined)


def test_blanks():
    assert [blank(v) for v in (3, True, "text", None)] == [0, False, "text", None]
    assert np.isnan(blank(2.5))
    assert np.isnan(blank(kg.placeholder((2,), name="y"))).all()
    made = blank(kg.placeholder((2, 3), dtype=int, name="x"))
    assert (made.shape, made.dtype, made.any()) == ((2, 3), "int64", np.False_)
