"""`x[i] = v` and `x[i] += v`, of all that has items."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph import operators as ag
from kinetograph.autograph.operators.items import _IN_PLACE
from kinetograph.autograph.passes.items import OPERATORS_IN_PLACE


def test_every_operator():
    assert set(_IN_PLACE) == set(OPERATORS_IN_PLACE.values())


def test_python_containers_are_changed_in_place():
    for owner, path in (([1, 2], (0,)), ({"k": 1}, ("k",)), ([[1], 2], (0, 0)), (np.ones(2), (0,))):
        assert ag.assign_item(5, owner, *path) is owner
        assert ag.item(owner, *path).value == 5
        assert ag.update_item("+=", ag.item(owner, *path), 2) is owner
        assert ag.item(owner, *path).value == 7


@pytest.mark.parametrize("word", _IN_PLACE)
def test_every_operator_of_items_is_pythons(word):
    """Items of a list, a NumPy array and an array of the graph, as by Python's statement."""
    whole = word in ("&=", "|=", "^=", "<<=", ">>=")
    first, other = (13, 3) if whole else (7.5, 2.0)
    if word == "@=":
        first, other = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [2.0, 3.0]])
    start = np.stack([first, 2 * first])
    expected, owner = list(start.copy()), list(start.copy())
    v = kg.placeholder(start.shape, start.dtype)
    exec(f"expected[1] {word} other", {"expected": expected, "other": other})
    assert ag.update_item(word, ag.item(owner, 1), other) is owner
    array = ag.update_item(word, ag.item(start.copy(), 1), other)
    symbolic = kg.compile([v], ag.update_item(word, ag.item(v.copy(), 1), other))(start)
    for found in (owner, array, symbolic):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_items_selected_by_a_mask():
    """A mask that is not known selects elements or rows, as in NumPy."""
    at, start = np.array([3.0, -1.0, 0.5, -2.0]), np.arange(1.0, 9).reshape(4, 2)
    x, v = kg.placeholder(4, name="x"), kg.placeholder((4, 2), name="v")
    results = [
        ag.assign_item(9.0, x.copy(), x > 0),
        ag.assign_item(x.sum(), x.copy(), x > 0),
        ag.assign_item(9.0, v.copy(), x > 0),
        ag.assign_item(9.0, v.copy(), v > 3),
        ag.update_item("*=", ag.item(v.copy(), x > 0), 10.0),
    ]
    expected = [at.copy(), at.copy(), start.copy(), start.copy(), start.copy()]
    expected[0][at > 0] = 9.0
    expected[1][at > 0] = at.sum()
    expected[2][at > 0] = 9.0
    expected[3][start > 3] = 9.0
    expected[4][at > 0] *= 10.0
    for found, right in zip(kg.compile([x, v], results)(at, start), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14)


def test_lists_in_lists_are_extended_in_place():
    inner = [1]
    owner = [inner]
    assert ag.update_item("+=", ag.item(owner, 0), [2]) is owner
    assert owner[0] is inner
    assert inner == [1, 2]


def test_arrays_get_a_new_value():
    x, v = kg.placeholder(name="x"), kg.placeholder((2, 3), name="v")
    results = [
        ag.assign_item(x, v.copy(), 0, 1),
        ag.assign_item(x, v.copy(), (slice(None), 1)),
        ag.update_item("*=", ag.item(v.copy(), 1), x),
        ag.update_item("-=", ag.item(v.copy(), 1, 2), x),
        ag.assign_item(9.0, v.copy(), ag.slice(None, 1, None)),
        v,
    ]
    start = np.arange(6.0).reshape(2, 3)
    got = kg.compile([x, v], results)(10.0, start)
    expected = [start.copy() for _ in results]
    expected[0][0, 1] = 10
    expected[1][:, 1] = 10
    expected[2][1] *= 10
    expected[3][1, 2] -= 10
    expected[4][:1] = 9
    for one, other in zip(got, expected, strict=True):
        assert np.array_equal(one, other)


def test_numpy_arrays_become_arrays_for_symbolic_values():
    x, i = kg.placeholder(name="x"), kg.placeholder(dtype=int, name="i")
    owner = np.zeros(3)
    one = ag.assign_item(x, owner, 1)
    two = ag.assign_item(5.0, owner, i)
    three = ag.update_item("+=", ag.item(owner, 1), x)
    assert all(isinstance(r, kg.Array) for r in (one, two, three))
    got = kg.compile([x, i], [one, two, three])(4.0, 2)
    assert np.array_equal(got, [[0, 4, 0], [0, 0, 5], [0, 4, 0]])
    assert not owner.any()


def test_a_numpy_array_in_a_list_is_replaced_there():
    x, rows = kg.placeholder(name="x"), [np.zeros(2), np.ones(2)]
    assert ag.assign_item(x, rows, 0, 1) is rows
    assert isinstance(rows[0], kg.Array)
    assert isinstance(rows[1], np.ndarray)
    assert np.array_equal(kg.compile([x], rows[0])(4.0), [0.0, 4.0])


class Box:
    def __init__(self, v):
        self.v = v
        self.sets = 0

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        if name != "sets" and hasattr(self, "sets"):
            self.sets += 1


def test_attributes():
    """They are set only if there is another object to hold."""
    box = Box([1, 2])
    ag.assign_item_of(7, box, "v", 0)
    ag.update_item_of("+=", ag.item_of(box, "v", 1), 3)
    assert (box.v, box.sets) == ([7, 5], 0)
    x = kg.placeholder(name="x")
    box.v = np.zeros(2)
    ag.assign_item_of(x, box, "v", 0)
    assert isinstance(box.v, kg.Array)
    ag.update_item_of("+=", ag.item_of(box, "v", 1), x)
    assert np.array_equal(kg.compile([x], box.v)(3.0), [3.0, 3.0])


def test_owners_that_cannot_be_replaced():
    owner = [0]
    ag.assign_item_in(3, owner, 0)
    ag.update_item_in("+=", ag.item(owner, 0), 1)
    assert owner == [4]
    v = kg.placeholder(3, name="v")
    with pytest.raises(kg.SymbolicError, match=r"\(test_items\.py:\d+\).*`global` or `nonlocal`"):
        ag.assign_item_in(1.0, v, 0)
    with pytest.raises(kg.SymbolicError, match="not in a variable of this function"):
        ag.update_item_in("+=", ag.item(v, 0), 1.0)


def test_attributes_of_the_state():
    box = Box(1)
    ag.set_attribute(box, "w", ag.Undefined("box.w"))
    assert not hasattr(box, "w")
    ag.set_attribute(box, "w", 2)
    assert (box.w, box.sets) == (2, 1)
    ag.set_attribute(box, "w", box.w)
    assert box.sets == 1
    ag.set_attribute(box, "w", ag.Undefined("box.w"))
    assert not hasattr(box, "w")
