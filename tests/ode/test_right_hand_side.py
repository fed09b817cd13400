"""Right-hand sides in plain Python: `if` and loops in them become part of the graph."""

import warnings

import numpy as np
import pytest

import kinetograph as kg


def solved(f, y0, ts, inputs=(), outputs=None, values=(), **options):
    y = kg.ode.solve(f, y0, ts, **options)
    return kg.compile(list(inputs), y if outputs is None else outputs(y))(*values)


def test_an_if_on_the_time():
    """y' = 1 up to t = 1, then -2."""

    def slope(t, y):
        if t < 1:
            return 1.0
        return -2.0

    ts = np.array([0.0, 0.5, 1.0, 1.25, 2.0])
    values = solved(slope, 0.0, ts, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(values, np.minimum(ts, 3 - 2 * ts), atol=1e-6)


@pytest.mark.slow
def test_an_if_on_the_value_and_its_derivative():
    """y' = k (1 - y), from y = 1/2 on k / 2: a straight line from t = log(2) / k."""
    k = kg.placeholder(name="k")

    def slope(t, y):
        if y < 0.5:
            rate = k * (1 - y)
        else:
            rate = k / 2
        return rate

    def outputs(y):
        return [y[1], kg.gradients(y[1], k)]

    found = solved(slope, 0.0, [0.0, 1.0], [k], outputs, [2.0], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found[0], 0.5 + (2 - np.log(2)) / 2, rtol=1e-7)
    # The step that passes the corner has stages on both sides of it.
    np.testing.assert_allclose(found[1], 0.5, rtol=1e-3)


def test_a_while_in_it():
    """A rate that is a series, added up as far as it matters."""

    def slope(t, y):
        term, total, n = 1.0 + 0 * t, 0.0, 0
        while abs(term) > 1e-14:
            total = total + term
            n = n + 1
            term = -term * t / n
        return total

    ts = np.array([0.0, 1.0, 3.0])
    values = solved(slope, 0.0, ts, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(values, 1 - np.exp(-ts), rtol=1e-7)


def test_a_function_it_calls():
    def positive(y):
        return y if y > 0 else 0.0

    values = solved(lambda t, y: -positive(y), -1.0, [0.0, 1.0])
    np.testing.assert_array_equal(values, [-1.0, -1.0])


def test_a_method_and_a_callable_object():
    class Decay:
        def __call__(self, t, y):
            return -y if t < 1 else 0.0 * y

        def growing(self, t, y):
            return y if t < 1 else 0.0 * y

    ts = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(solved(Decay(), 1.0, ts), np.exp(-np.minimum(ts, 1)), rtol=1e-4)
    grown = solved(Decay().growing, 1.0, ts)
    np.testing.assert_allclose(grown, np.exp(np.minimum(ts, 1)), rtol=1e-4)


def test_a_staged_function():
    @kg.function
    def slope(t, y):
        return -y if t < 1 else 0.0 * y

    ts = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(solved(slope, 1.0, ts), np.exp(-np.minimum(ts, 1)), rtol=1e-4)


def test_what_is_known_stays_python():
    """A condition on a Python value is decided now, and the other way is never built."""
    seen = []

    def slope(t, y, damped=True):
        if damped:
            return -y
        seen.append(1)
        return y

    np.testing.assert_allclose(solved(slope, 1.0, [0.0, 1.0])[1], np.exp(-1), rtol=1e-5)
    assert not seen


def test_the_control_a_function_that_is_not_converted():
    @kg.autograph.do_not_convert
    def slope(t, y):
        if t < 1:
            return 1.0
        return -2.0

    with pytest.raises(kg.SymbolicTruthError, match=r"test_right_hand_side.py:\d+"):
        kg.ode.solve(slope, 0.0, [0.0, 1.0])


def test_errors_name_the_line_in_it():
    def slope(t, y):
        if t < 1:
            rate = 1.0
        return rate * y

    with pytest.raises(
        ValueError, match=r"'rate' must also be initialized.*test_right_hand_side.py:\d+"
    ):
        kg.ode.solve(slope, 1.0, [0.0, 1.0])


def test_tuples_and_lists_are_interchangeable():
    def as_list(t, y):
        return [-y[0], y[0] - 2.0 * y[1]]

    def as_tuple(t, y):
        return tuple(as_list(t, y))

    ts = np.array([0.0, 0.5, 1.0])
    wanted = solved(as_list, [1.0, 0.5], ts)
    for f, y0 in ((as_list, (1.0, 0.5)), (as_tuple, [1.0, 0.5]), (as_tuple, (1.0, 0.5))):
        assert type(kg.ode.solve(f, y0, ts)) is type(y0)
        np.testing.assert_array_equal(solved(f, y0, ts), wanted)


@pytest.mark.parametrize("y0", [[1.0, 0.0], (1.0, 0.0)])
def test_a_list_is_not_a_vector(y0):
    kind = type(y0).__name__
    said = rf"f \(test_.*\) computes with y as a vector; y is a {kind}, .* give np.array\(y0\)"
    with pytest.raises(TypeError, match=said):
        kg.ode.solve(lambda t, y: np.eye(2) @ y, y0, [0.0, 1.0])
    with pytest.raises(TypeError, match=rf"can't multiply .*; y is a {kind}, as y0 is"):
        kg.ode.solve(lambda t, y: -0.5 * y, y0, [0.0, 1.0])
    with pytest.raises(TypeError, match=f"returns an array .*; y0 is a {kind}: .*"):
        kg.ode.solve(lambda t, y: -kg.stack(y), y0, [0.0, 1.0])


@pytest.mark.parametrize("y0", [1.0, np.array([1.0, 2.0, 3.0]), np.array(1.0)])
def test_a_list_of_another_length(y0):
    with pytest.raises((TypeError, kg.ShapeError), match=r"f \(test_.*\) returns (list|shape)"):
        kg.ode.solve(lambda t, y: [0.1, 0.2], y0, [0.0, 1.0])


def decay(t, y):
    return [-y[0], y[0]] if isinstance(y, (list, tuple)) else -y


def test_the_order_of_scipy():
    for span, start in (((0, 2), [1.0]), ([0.0, 2], [1.0, 0.0, 0.5]), ((0, 2.0), [0.0, 0.0])):
        with pytest.raises(
            ValueError, match=r"looks like a span of times, .*\(test_.*solve\(f, y0"
        ):
            kg.ode.solve(decay, span, start)
    with pytest.warns(
        kg.KinetographWarning, match=r"span of times, .* \[1.0, 0.0\] like an initial"
    ):
        kg.ode.solve(decay, [0, 2], [1.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.ode.solve(decay, [2, 0], [1.0, 0.0])
        kg.ode.solve(decay, [0, 2], [0.0, 1.0])
        kg.ode.solve(decay, [0, 2], [1.0], t0=0.0)
        kg.ode.solve(decay, np.array([0, 2]), [1.0, 0.0])
