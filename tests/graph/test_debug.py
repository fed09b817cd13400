"""Tests of kg.debug: values node by node, and the first bad value."""

import numpy as np
import pytest

import kinetograph as kg


def test_values_are_those_of_numpy():
    x = kg.placeholder((3,), name="x")
    value = np.array([0.5, 1.0, 2.0])
    found = kg.debug([kg.exp(x) + 1, x.sum()], {x: value})
    np.testing.assert_allclose(found.values[0], np.exp(value) + 1, rtol=1e-12)
    assert found.values[1] == 3.5
    assert found.first_bad is None


def test_the_first_bad_value_is_named_with_its_line_and_trip():
    x = kg.placeholder(name="x")

    def body(v, i):
        return v + kg.log(3.0 - i), i + 1  # -inf in trip 3

    v, _ = kg.while_loop(lambda v, i: i < 6, body, [x, 0], name="falling")
    found = kg.debug(v, {x: 1.0})
    assert found.first_bad.startswith("log(3 - i) = -inf")
    assert "test_debug.py:" in found.first_bad
    assert found.first_bad.endswith("in trip 3 of while loop 'falling'")
    assert found.trips == {"while loop 'falling'": 6}
    assert "first value that is not finite" in str(found)


def test_a_branch_not_taken_is_not_computed():
    x = kg.placeholder(name="x")
    y = kg.cond(x > 0, lambda: kg.log(x), lambda: 0.0)
    assert kg.debug(y, {x: -1.0}).first_bad is None
    found = kg.debug(kg.log(x), {x: -1.0})
    assert found.first_bad.startswith("log(x) = nan")


def test_bad_elements_of_arrays_are_counted_out():
    x = kg.placeholder((4,), name="x")
    found = kg.debug(kg.sqrt(x), {x: [1.0, 4.0, -1.0, -2.0]})
    assert "shape (4,), from 1 to 2, nan at [2]" in found.first_bad


def test_whether_loops_were_truncated():
    x = kg.placeholder(name="x")
    (y,) = kg.while_loop(lambda y: y < 8, lambda y: y * 2, [x], 3)
    outputs = [y, y.loop.trips, y.loop.truncated]
    for start, wanted in ((1.0, (8, 3, False)), (0.9, (7.2, 3, True)), (9.0, (9, 0, False))):
        assert kg.debug(outputs, {x: start}).values == pytest.approx(wanted)


def test_states_start_with_their_initial_values():
    s = kg.state(2.0, name="s")
    assert kg.debug(s.assign_add(3.0)).values[0] == 5.0


def test_what_is_missing_or_does_not_fit():
    x = kg.placeholder((2,), name="x")
    with pytest.raises(kg.ModelError, match=r"the value of x .*test_debug.py:\d+\) is needed"):
        kg.debug(x + 1)
    with pytest.raises(kg.ShapeError, match=r"x has shape \(2,\), the given value \(3,\)"):
        kg.debug(x + 1, {x: [1.0, 2.0, 3.0]})


def test_derivatives_are_those_of_the_unrolled_program():
    x = kg.placeholder(name="x")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * v, [x])
    found = kg.debug([y, kg.gradients(y, x), kg.hessian(y, x), kg.jvp(y, x, 1.0)], {x: 3.0})
    # 3 -> 9 -> 81 -> 6561: y = x**8
    np.testing.assert_allclose(found.values, [3.0**8, 8 * 3.0**7, 56 * 3.0**6, 8 * 3.0**7])


def first_bad(output, values=None):
    return kg.debug(output, values).first_bad


def test_infinite_constants_are_not_blamed():
    x = kg.placeholder(name="x")
    best, _ = kg.while_loop(
        lambda b, i: i < 3, lambda b, i: (kg.minimum(b, x + i), i + 1), [np.inf, 0]
    )
    assert first_bad(best, {x: 1.0}) is None
    assert first_bad(kg.logaddexp(-np.inf, x), {x: 1.0}) is None
    started = np.array([0.0, -np.inf])
    rows = kg.scan(lambda a, r: (kg.logaddexp(a, r * x), a), started, np.ones(3))[0]
    assert first_bad(rows, {x: 1.0}) is None


def test_what_makes_a_nan_of_infinite_constants_is_blamed():
    x = kg.placeholder(name="x")
    low = x + np.array([0.0, -np.inf])
    found = first_bad((low - low).sum(), {x: 1.0})
    assert found.startswith("low - low = shape (2,), from 0 to 0, nan at [1]")


def test_a_constant_that_is_the_result_is_blamed_itself():
    x = kg.placeholder(name="x")
    assert first_bad(x + np.inf, {x: 1.0}).startswith("the constant inf  test_debug.py:")


def test_values_that_do_not_reach_the_result_are_not_blamed():
    x = kg.placeholder(name="x")
    chosen = kg.where(x > 0, kg.log(-x), kg.sqrt(x - 5)) * 2
    assert first_bad(chosen, {x: 1.0}).startswith("log(-x) = nan")
    assert first_bad(chosen, {x: -1.0}).startswith("sqrt(x - 5) = nan")
    assert first_bad(kg.where(x > 0, x, kg.log(x)), {x: 2.0}) is None


def test_rows_of_a_scan_are_followed():
    rows = kg.scan(lambda c, r: (c + r, kg.log(r - 2)), 0.0, np.array([3.0, 4.0, 2.0, 5.0]))[1]
    found = first_bad(rows.sum())
    assert found.startswith("log(r - 2) = -inf")
    assert found.endswith("in row 2 of scan 'scan_" + found.rpartition("_")[2])


def test_the_operation_whose_derivative_is_bad_is_named():
    x = kg.placeholder(name="x")
    y = kg.while_loop(
        lambda v, i: i < 3, lambda v, i: (kg.sqrt(kg.maximum(v - x, 0.0)) + i, i + 1), [x, 0]
    )[0]
    found = first_bad(kg.gradients(kg.sqrt(x * x) * 2, x), {x: 0.0})
    assert found.startswith("the derivative of sqrt(x * x) by x * x = inf  test_debug.py:")
    backwards = first_bad(kg.gradients(y, x), {x: 1.0})
    assert "the derivative of sqrt(maximum(v - x, 0)) by maximum(v - x, 0) = inf" in backwards
    assert "in trip 2 of while loop" in backwards  # the first trip of the backward pass
    forwards = first_bad(kg.jvp(y, x, 1.0), {x: 1.0})
    assert forwards.startswith("the derivative of sqrt(maximum(v - x, 0)) = ")
    assert "in trip 0 of while loop" in forwards
    assert first_bad(kg.gradients(x * x, x), {x: 0.0}) is None


def test_what_is_no_array_is_refused():
    x = kg.placeholder(name="x")
    with pytest.raises(TypeError, match=r"a key of .* must be an array of the graph, got 'x'"):
        kg.debug(x, {"x": 1.0})
    for outputs in (3, [x, "x"]):
        with pytest.raises(TypeError, match="an output must be an array of the graph"):
            kg.debug(outputs, {x: 1.0})
