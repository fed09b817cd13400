"""Arrays of several names: writing is seen by all of them, or refused; never lost."""

import types

import numpy as np
import pytest
from tests.autograph.refusals import refused

import kinetograph as kg
from kinetograph.autograph.operators.writing import WriteLog, snapshot, write


class Box:
    pass


def put(v):
    v[0] = 30.0


def put_and_return(v):
    v[0] = 30.0
    return v


def add(v):
    v += 1


def fill(v):
    for i in kg.range(3):
        v[i] = i
    return v


FOLLOWED, REFUSED = [], []


def followed(f):
    FOLLOWED.append(f)
    return f


def not_followed(f):
    REFUSED.append(f)
    return f


@followed
def argument(x):
    put(x)
    return x


@followed
def argument_that_is_returned(x):
    x = put_and_return(x)
    return x


@followed
def argument_by_augmented_assignment(x):
    add(x)
    return x


@followed
def another_name(x):
    y = x
    y[0] = 5
    return x


@followed
def another_name_and_augmented_assignment(x):
    y = x
    x += 1
    return y


@followed
def another_name_and_a_mask(x):
    y = x
    y[y > 1] += 2
    return x


@followed
def attribute(x):
    box = Box()
    box.a = x
    box.a[0] = 7
    x[1] = 8
    return x, box.a


@followed
def element_of_a_list(x):
    rows = [x, x]
    rows[0][0] = 7
    return x, rows[1]


@followed
def view_taken_before(x):
    y, z = x[1:], np.transpose(x)
    x[1] = 20
    return y, z


@followed
def view_that_is_written_through(x):
    x[1:][0] = 4
    return x


@followed
def copies(x):
    y, z, w = x.copy(), np.copy(x), x.flatten()
    x[0] = 9
    y[1] = 8
    return x, y, z, w


@followed
def view_of_what_has_no_name(x):
    y = (x * 2).reshape(-1)
    y[0] = 1
    return y


@followed
def swapped_rows(x):
    a, b = x[0] * 1, x[1] * 1
    x[0], x[1] = b, a
    return x


@followed
def branch(x):
    if x.sum() > 0:
        x[0] = 9
    return x


@followed
def loop_and_a_copy(x):
    y = x.copy()
    for i in kg.range(3):
        x[i] = i
    return x, y


@followed
def copy_in_a_loop(x):
    total = 0.0
    for i in kg.range(2):
        y = x.copy()
        y[0] = i
        total = total + y.sum()
    return total, x


@followed
def returned_by_a_function_with_a_loop(x):
    x = fill(x)
    return x


@not_followed
def slice_(x):
    y = x[1:]
    y[0] = 2  # here
    return x


@not_followed
def slice_augmented(x):
    y = x[:2]
    y += 1  # here
    return x


@not_followed
def reshaped(x):
    y = np.reshape(x, -1)
    y[0] = 1  # here
    return x


@not_followed
def transpose(x):
    x.T[0] = 1  # here
    return x


@not_followed
def row(x):
    for r in x.reshape(3, 1):
        r[0] = 1  # here
    return x


@not_followed
def rows_by_number(x):
    for r in [x[0:1], x[1:2]]:
        r[0] = 1  # here
    return x


@not_followed
def one_of_two(x):
    y = x if x.sum() > 0 else -x
    y[0] = 3  # here
    return x


@not_followed
def one_of_two_by_a_statement(x):
    y = -x
    if x.sum() > 0:
        y = x
    y[0] = 3  # here
    return x


@not_followed
def function_in_a_branch(x):
    if x.sum() > 0:
        put(x)
    return x + 1  # here


@not_followed
def another_name_after_a_branch(x):
    y = x
    if x.sum() > 0:
        x[0] = 9
    return y + 1  # here


@not_followed
def another_name_after_a_loop(x):
    y = x
    for i in kg.range(3):
        x[i] = i
    return y + 1  # here


@not_followed
def view_after_a_loop(x):
    y = x[1:]
    for i in kg.range(3):
        x[i] = i
    return y + 1  # here


@not_followed
def argument_of_a_function_with_a_loop(x):
    y = fill(x)
    return x + y  # here


@not_followed
def out(x):
    np.add(x, 1, out=x)  # here
    return x


def by_numpy(f, x):
    """The function with Python's range."""
    names = {**f.__globals__, "kg": types.SimpleNamespace(range=range)}
    names["fill"] = types.FunctionType(fill.__code__, names)
    return types.FunctionType(f.__code__, names)(x)


@pytest.mark.parametrize("f", FOLLOWED, ids=lambda f: f.__name__)
def test_all_names_of_an_array_see_what_is_written(f):
    x = np.array([1.0, 2.0, 3.0])
    wanted, got = by_numpy(f, x.copy()), kg.function(f)(x.copy())
    if not isinstance(wanted, tuple):
        wanted, got = (wanted,), (got,)
    for one, other in zip(wanted, got, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_other_names_would_not_see_is_refused(f):
    kinds = (kg.StagingError, kg.SymbolicError)
    refused(kinds, f, (np.array([1.0, 2.0, 3.0]),), r"copy\(\)|instead of out=")


def test_a_loop_refuses_what_is_none_of_its_variables():
    def f(x):
        total = 0.0
        for _ in kg.range(3):
            total = total + x[0]
            put(x)  # here
        return total

    with pytest.raises(kg.StagingError, match="not a variable of this staged `for`"):
        kg.function(f)(np.ones(3))


def test_two_loop_variables_that_are_one_array():
    def f(x):
        y = x
        for i in kg.range(3):
            x[i] = i  # here
            y = y + 1
        return y

    refused(kg.StagingError, f, (np.ones(3),), "items of 'x'", "'y' is another name")


def test_arguments_from_outside_are_values():
    x = kg.placeholder((3,), name="x")

    @kg.autograph.convert
    def f(v):
        v[0] = 5.0
        return v

    before = x.node
    f(x)
    assert x.node is before
    given = np.zeros(3)
    assert kg.function(put_and_return)(given)[0] == 30.0
    assert given[0] == 0.0


def test_augmented_assignment_outside_converted_code_binds_anew():
    x = kg.data([1.0, 2.0])
    y = x
    y += 1
    assert x is not y


def test_gradients_through_writing_by_a_function():
    x = kg.placeholder((3,), name="x")

    @kg.autograph.convert
    def f(v):
        y = v * 2
        put(y)
        return (y**2).sum()

    gradient = kg.compile([x], kg.gradients(f(x), x))
    assert np.allclose(gradient([1.0, 2.0, 3.0]), [0.0, 16.0, 24.0])


def test_what_a_way_leaves_has_handles_of_its_own_where_it_was_written():
    a, b, c = kg.data([1.0, 2.0]), kg.data([3.0, 4.0]), kg.data([5.0, 6.0])
    assert snapshot(a) is a
    with WriteLog():
        assert snapshot(a) is a
        for array in (a, b):
            write(array, array + 1)
        found = snapshot(a)
        assert found is not a
        assert found.node is a.node
        assert snapshot(c) is c
    assert found.node is not a.node
