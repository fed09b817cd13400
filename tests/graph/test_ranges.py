"""Evenly spaced numbers whose bounds are known numbers or arrays."""

import itertools
import pickle

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.ranges import as_range


def values(array):
    return kg.compile([], array)()


def placeholder(name, dtype=int, shape=()):
    return kg.placeholder(shape, dtype, name=name)


INTEGERS = [*itertools.product((-7, -1, 0, 2, 8), (-9, 0, 1, 8), (-3, -1, 1, 2, 20))]
FLOATS = [(0.0, 1.0, 0.25), (1, -1, -0.5), (0.5, 3, 1), (2.0, 1.0, 0.1), (0, 1.0, 0.3)]


# Known bounds.
def test_known_bounds_are_those_of_python():
    for bounds in INTEGERS:
        assert kg.range(*bounds).shape == (len(range(*bounds)),)
    for bounds in INTEGERS[::7]:
        found = values(kg.range(*bounds))
        assert found.tolist() == list(range(*bounds))
        assert found.dtype == np.int64
    assert values(kg.range(4)).tolist() == [0, 1, 2, 3]
    assert values(kg.range(2, 4)).tolist() == [2, 3]
    assert values(kg.range(np.int32(2), True + 2)).tolist() == [2]


@pytest.mark.parametrize("bounds", FLOATS)
def test_known_floating_point_bounds_are_those_of_numpy(bounds):
    found = values(kg.range(*bounds))
    np.testing.assert_allclose(found, np.arange(*bounds), rtol=1e-12)
    assert found.dtype == np.float64


def test_the_working_precision():
    with kg.precision("float32"):
        assert kg.range(0.0, 1.0, 0.25).dtype == np.float32
        assert kg.range(3).dtype == np.int64


def test_a_known_range_is_an_array():
    x = kg.placeholder((4,), name="x")
    f = kg.compile(x, [x * kg.range(4), kg.sum(kg.range(4))])
    product, total = f([1.0, 1.0, 1.0, 1.0])
    assert product.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert total == 6
    assert [int(values(i)) for i in kg.range(2)] == [0, 1]


def test_known_ranges_are_recognised():
    for bounds in [(3,), (5, -2, -3), (0.0, 1.0, 0.25)]:
        array = kg.range(*bounds)
        numbers = as_range(array)
        assert (numbers.length, numbers.dtype) == (len(array), array.dtype)
        assert len(numbers) == len(list(numbers)) == len(array)
        assert bounds[0] in numbers or len(bounds) == 1
        assert 100 not in numbers
        i = placeholder("i")
        at = kg.compile(i, numbers.at(i))
        assert [at(k) for k in range(len(array))] == values(array).tolist()
    assert as_range(kg.range(3) + 1) is None
    assert as_range(kg.placeholder((3,))) is None


# Bounds that are arrays.
def test_lengths_and_numbers_of_symbolic_bounds():
    start, stop, step = (placeholder(n) for n in ("start", "stop", "step"))
    numbers = kg.range(start, stop, step)
    i = placeholder("i")
    f = kg.compile([start, stop, step, i], [numbers.length, numbers.at(i)])
    for bounds in INTEGERS:
        expected = list(range(*bounds))
        assert f(*bounds, 0)[0] == len(expected)
        for place, number in enumerate(expected[:2]):
            assert f(*bounds, place)[1] == number


@pytest.mark.parametrize("bounds", FLOATS)
def test_symbolic_floating_point_bounds(bounds):
    start, stop, step = (placeholder(n, float) for n in ("start", "stop", "step"))
    numbers = kg.range(start, stop, step)
    i = placeholder("i")
    f = kg.compile([start, stop, step, i], [numbers.length, numbers.at(i)])
    expected = np.arange(*bounds)
    assert f(*bounds, 0)[0] == len(expected)
    for place, number in enumerate(expected):
        np.testing.assert_allclose(f(*bounds, place)[1], number, rtol=1e-12)


@pytest.mark.parametrize("symbolic", [(0,), (1,), (2,), (0, 2)])
def test_some_bounds_are_known(symbolic):
    bounds = (10, -1, -3)
    given = [placeholder("b") if i in symbolic else b for i, b in enumerate(bounds)]
    inputs = [given[i] for i in symbolic]
    numbers = kg.range(*given)
    f = kg.compile(inputs, [numbers.length, numbers.at(2)])
    assert f(*(bounds[i] for i in symbolic)) == [4, 4]


def test_types_of_symbolic_ranges():
    n = placeholder("n")
    assert kg.range(placeholder("m", np.int32)).dtype == np.int64
    assert kg.range(0.5, n).dtype == np.float64
    assert kg.range(placeholder("x", np.float32)).dtype == np.float32
    assert kg.range(placeholder("one", int, (1,))).length.shape == ()


def test_loops_over_symbolic_ranges():
    n = placeholder("n")
    numbers = kg.range(n, 0, -2)
    total = kg.while_loop(
        lambda i, s: i < numbers.length, lambda i, s: (i + 1, s + numbers.at(i)), [0, 0]
    )[1]
    f = pickle.loads(pickle.dumps(kg.compile(n, total)))
    for k in range(-2, 9):
        assert f(k) == sum(range(k, 0, -2))


def test_derivatives_by_the_bounds():
    a, h = placeholder("a", float), placeholder("h", float)
    numbers = kg.range(a, 10.0, h)
    y = numbers.at(3) ** 2
    f = kg.compile([a, h], kg.gradients(y, [a, h]))
    np.testing.assert_allclose(f(1.0, 0.5), [5.0, 15.0])


# Errors.
def test_a_step_of_zero():
    with pytest.raises(ValueError, match=r"range: step is zero \(test_ranges.py:"):
        kg.range(0, 5, 0)
    with pytest.raises(ValueError, match="step is zero"):
        kg.range(0, placeholder("n"), 0.0)
    step = placeholder("step")
    f = kg.compile(step, kg.range(0, 5, step).length)
    assert f(2) == 3
    with pytest.raises(ValueError, match=r"range: step is zero \(test_ranges.py:"):
        f(0)


@pytest.mark.parametrize("use", [iter, len, bool, list, lambda r: 3 in r, range])
def test_a_symbolic_range_has_no_elements_in_python(use):
    n = placeholder("n")
    with pytest.raises(TypeError) as caught:
        use(kg.range(n))
    if use is not range:
        text = str(caught.value)
        assert isinstance(caught.value, kg.SymbolicTruthError)
        for part in ("kg.range(0, n, 1)", "@kg.function", "test_ranges.py:"):
            assert part in text


def test_bounds_that_are_no_numbers():
    with pytest.raises(TypeError, match="1 to 3 arguments, got 0"):
        kg.range()
    with pytest.raises(TypeError, match="1 to 3 arguments, got 4"):
        kg.range(1, 2, 3, 4)
    with pytest.raises(TypeError, match="stop must be a number, got str"):
        kg.range("3")
    with pytest.raises(TypeError, match="step must be a number, got list"):
        kg.range(0, 1, [1])
    x, b = placeholder("x", int, (3,)), placeholder("b", bool)
    with pytest.raises(kg.ShapeError, match=r"stop must be a single number, got x of shape \(3,\)"):
        kg.range(x)
    with pytest.raises(kg.SymbolicError, match="start must be a number, got b of bool"):
        kg.range(b, 3)
    with pytest.raises(ValueError, match="stop is inf"):
        kg.range(np.inf)


def test_text():
    n = placeholder("n")
    text = repr(kg.range(2 * n, 10, -1))
    assert text == "kg.range(2 * n, 10, -1)"
