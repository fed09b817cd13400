"""Lists of fixed capacity that grow in loops of the graph."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph.operators.lists import List, typed_list


def test_python_lists_become_buffers():
    made = typed_list([1, 2], int, capacity=4)
    assert isinstance(made, List)
    assert (made.capacity, made.buffer.shape, made.buffer.dtype) == (4, (4,), "int64")
    assert typed_list([], float, (2, 3), capacity=1).buffer.shape == (1, 2, 3)
    assert typed_list([], float, 2, capacity=1).buffer.shape == (1, 2)
    assert typed_list([], capacity=1).buffer.dtype == "float64"
    with kg.precision("float32"):
        assert typed_list([], capacity=1).buffer.dtype == "float32"


def test_operations():
    """The same as of a Python list."""

    def work(values, x):
        values.append(x)
        values.extend([x + 1, x + 2])
        values[0] = x * 2
        values[-1] = 9
        found = [values.pop(), values[0], values[-1], values[1]]
        count = len(values) if isinstance(values, list) else values.count
        values.clear()
        rest = len(values) if isinstance(values, list) else values.count
        return [*found, count, rest]

    results = kg.function(lambda x: work(typed_list([7], int, capacity=6), x))(5)
    assert [int(r) for r in results] == work([7], 5)


def fails(build, error, text):
    def program(x):
        values = typed_list([1, 2], int, capacity=5)
        values.count = values.count + x  # so that the number is not known while this is built
        return build(values, x)

    with pytest.raises(error, match=text):
        kg.function(program)(3 if "full" in text else 0)


def test_full():
    def build(values, x):
        values.append(x)
        return values.count

    fails(build, OverflowError, r"list is full \(test_lists\.py:\d+\): it has a capacity of 5")


def test_empty():
    def build(values, x):
        values.clear()
        return values.pop()

    fails(build, IndexError, r"pop from empty list \(test_lists")


@pytest.mark.parametrize("index", [2, 4, -3])
def test_out_of_range(index):
    fails(lambda values, x: values[index], IndexError, r"list index out of range \(test_lists")


def test_symbolic_index_out_of_range():
    fails(lambda values, x: values[x + 2], IndexError, "list index out of range")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (((1, 2),), TypeError, "expected a list, got tuple"),
        (([1],), ValueError, "capacity is None.*at least 1"),
        (([1, 2], int, (), 1), ValueError, "capacity is 1.*at least 2"),
        (([], int, (), True), ValueError, "capacity is True"),
    ],
)
def test_misuse(arguments, error, text):
    with pytest.raises(error, match=text):
        typed_list(*arguments)


def test_what_is_not_known_while_building():
    values = typed_list([1], int, capacity=2)
    with pytest.raises(TypeError, match="not known while the graph is built"):
        len(values)
    with pytest.raises(TypeError, match="loop over"):
        iter(values)


def test_in_a_loop():
    def squares(n):
        found = []
        kg.autograph.set_element_type(found, int, capacity=8)
        for i in kg.range(n):
            if i % 2 == 0:
                found.append(i * i)
        return len(found), found.buffer

    count, buffer = kg.function(squares)(6)
    assert int(count) == 3
    assert np.array_equal(buffer[:3], [0, 4, 16])
