"""The values of variables in staged statements."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph.operators.undefined import Maybe, Undefined
from kinetograph.autograph.operators.values import (
    Containers,
    as_leaf_node,
    frozen,
    is_number,
    own_copy,
    read_value,
    same,
)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *((v, True) for v in (1, 2.5, True, np.float32(1), np.bool_(False), np.zeros(2))),
        *((v, True) for v in (jnp.ones(2), kg.placeholder(name="x"))),
        *((v, False) for v in ("text", None, 1j, len, [1], np.array(["a"]), np.array([None]))),
    ],
    ids=repr,
)
def test_what_can_become_a_node(value, number):
    assert is_number(value) is number


def test_leaves_and_their_paths():
    value = read_value({"k": [1, (2.0, "text")]}, "v")
    assert value.leaves == [1, 2.0, "text"]
    assert value.paths == ["v['k'][0]", "v['k'][1][0]", "v['k'][1][1]"]
    assert value.structure.fill([7, 8, "other"]) == {"k": [7, (8, "other")]}
    assert read_value(Undefined("v"), "v").leaves == []
    maybe = Maybe("v", 3, True, "")
    assert (read_value(maybe, "v").leaves, read_value(maybe, "v").object) == ([3], maybe)


def test_the_same_leaf():
    text = "a text"
    assert same(3, 3)
    assert same(text, "".join(["a", " text"]))
    assert not same(3, 3.0)
    assert not same(1, True)
    assert not same(np.float64(1), np.float64(1))
    assert not same([1], [1])
    x = kg.placeholder(name="x")
    assert same(x, x)
    assert not same(x, x + 0)


def test_python_numbers_are_weak():
    strong = (np.float32(1), np.float64(1), np.int64(1), np.zeros(1), kg.placeholder(name="x"))
    assert all(as_leaf_node(number).weak for number in (1, 2.5, True))
    assert not any(as_leaf_node(array).weak for array in strong)


def test_numpy_arrays_cannot_be_changed_by_branches():
    owner = np.zeros(2)
    assert isinstance(frozen(owner), kg.Array)
    assert frozen([1]) == [1]


def test_contents_of_containers():
    inner = [1]
    values = {"l": [inner, 2], "d": {"k": inner}, "t": (inner,)}
    kept = Containers(values.values())
    values["l"].append(3)
    values["d"]["m"] = 4
    inner[:] = [9, 9]
    kept.restore()
    assert values == {"l": [[1], 2], "d": {"k": [1]}, "t": ([1],)}
    assert values["l"][0] is inner is values["d"]["k"]


def test_dataclasses_are_copied():
    @dataclasses.dataclass
    class Pair:
        a: int
        b: list

    pair = Pair(1, [2])
    made = own_copy(pair)
    made.a = 5
    made.b.append(3)
    assert pair == Pair(1, [2])
    assert own_copy(Pair) is Pair
