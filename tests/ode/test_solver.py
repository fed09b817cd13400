"""`kg.ode.solve`: against closed forms and SciPy, its derivatives, its limits, its errors."""

import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.selection import thinned

import kinetograph as kg
from kinetograph.graph.control.structure import LEAF
from kinetograph.ode.arguments import Tolerance, read_tolerance
from kinetograph.ode.step import Method

METHODS = ("tsit5", "dopri5")
FIRST = thinned(METHODS, 2)
TIMES = np.arange(21.0)
HARES = np.array([0.55, 0.028, 0.8, 0.024, 34.0, 5.9])


class Oscillator(NamedTuple):
    x: Any
    v: Any


def predators(p):
    """Lotka-Volterra with rates p[:4]."""

    def slope(t, y):
        u, v = y[0], y[1]
        return [(p[0] - p[1] * v) * u, (-p[2] + p[3] * u) * v]

    return slope


def tight(f, span, y0, times, **options):
    """SciPy's solution to about 1e-12."""
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13} | options
    return solve_ivp(f, span, y0, t_eval=times, **options).y.T


def differences(function, x, step=1e-6):
    """The Jacobian of a function by central differences, in relative steps."""
    columns = []
    for i in range(len(x)):
        e = np.zeros_like(x)
        e[i] = step * max(1e-3, abs(x[i]))
        columns.append((function(x + e) - function(x - e)) / (2 * e[i]))
    return np.stack(columns, -1)


def steps_of(f):
    """How many steps a compiled function has made."""
    return kg.explain(f)["steps"].most_trips


# Values.


@pytest.mark.parametrize("method", FIRST)
def test_exponential(method):
    ts = np.linspace(0, 3, 7)
    y = kg.ode.solve(lambda t, y: -0.7 * y, 2.0, ts, method=method, rtol=1e-10, atol=1e-12)
    assert y.shape == (7,)
    np.testing.assert_allclose(kg.compile([], y)(), 2 * np.exp(-0.7 * ts), rtol=1e-9)


def test_a_rate_that_depends_on_time():
    ts = np.linspace(0.5, 4, 5)
    y = kg.ode.solve(lambda t, y: kg.cos(t) * y, 1.0, ts, t0=0, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(kg.compile([], y)(), np.exp(np.sin(ts)), rtol=1e-8)


def test_energy_of_an_oscillator():
    ts = np.linspace(0, 50, 11)
    y = kg.ode.solve(lambda t, y: [y[1], -y[0]], np.array([1.0, 0.0]), ts, rtol=1e-10, atol=1e-12)
    values = kg.compile([], y)()
    np.testing.assert_allclose((values**2).sum(1), 1.0, atol=1e-8)
    np.testing.assert_allclose(values[:, 0], np.cos(ts), atol=1e-8)


@pytest.mark.parametrize("method", FIRST)
def test_agrees_with_scipy(method):
    p = kg.placeholder((6,), name="p")
    y = kg.ode.solve(predators(p), p[4:], TIMES, method=method, rtol=1e-11, atol=1e-11)
    expected = tight(predators(HARES), (0, 20), HARES[4:], TIMES)
    np.testing.assert_allclose(kg.compile([p], y)(HARES), expected, rtol=1e-9)


def test_a_matrix_of_ten_unknowns():
    """A linear system, y' = A y with a matrix y, against the exponential of A."""
    from scipy.linalg import expm

    a = np.random.default_rng(0).normal(0, 0.5, (5, 5))
    y0 = np.random.default_rng(1).normal(size=(5, 2))
    ts = np.array([0.0, 0.4, 2.0])
    y = kg.ode.solve(lambda t, y: kg.data(a) @ y, y0, ts, rtol=1e-11, atol=1e-12)
    assert y.shape == (3, 5, 2)
    np.testing.assert_allclose(
        kg.compile([], y)(), [expm(a * t) @ y0 for t in ts], rtol=1e-8, atol=1e-10
    )


def test_structures():
    """Tuples, dictionaries and shapes in them come back as they are."""

    def slope(t, y):
        return {"x": y["v"], "v": -y["x"], "both": (y["x"], kg.stack([y["v"], y["v"]]))}

    y0 = {"x": 0.0, "v": 1.0, "both": (0.0, np.zeros(2))}
    ts = np.linspace(0, 2, 5)
    y = kg.ode.solve(slope, y0, ts, rtol=1e-10, atol=1e-12)
    x, v, first, second = kg.compile([], [y["x"], y["v"], *y["both"]])()
    np.testing.assert_allclose(x, np.sin(ts), atol=1e-9)
    np.testing.assert_allclose(v, np.cos(ts), atol=1e-9)
    np.testing.assert_allclose(first, 1 - np.cos(ts), atol=1e-9)
    np.testing.assert_allclose(second, np.stack([np.sin(ts)] * 2, -1), atol=1e-9)


@pytest.mark.parametrize("kind", thinned([list, tuple], 2))
def test_a_list_is_a_structure(kind):
    """Of numbers, too: what goes in comes out, with times in front."""
    a = kg.placeholder(name="a")
    for other in (2.5, a):
        y = kg.ode.solve(lambda t, y: kind([0 * y[0], 0 * y[1]]), kind([1.5, other]), [0, 1])
        assert isinstance(y, kind)
        first, second = kg.compile([a], list(y))(2.5)
        np.testing.assert_array_equal(first, [1.5, 1.5])
        np.testing.assert_array_equal(second, [2.5, 2.5])


def test_a_named_tuple_comes_back():
    ts = np.linspace(0, 1, 3)
    y0 = Oscillator(np.zeros(2), np.ones(2))
    y = kg.ode.solve(lambda t, y: Oscillator(y.v, -y.x), y0, ts, rtol=1e-9)
    assert isinstance(y, Oscillator)
    np.testing.assert_allclose(kg.compile([], y.x)(), np.sin(ts)[:, None] * [1, 1], atol=1e-7)


def test_a_tolerance_for_each_element():
    """An element that is tolerated to be wrong asks for fewer steps."""

    def slope(t, y):
        return kg.stack([-y[0], 50 * kg.cos(50 * t)])

    steps = []
    for atol in (1e-8, [1e-8, 1e-8], [1e-8, 10.0]):
        f = kg.compile([], kg.ode.solve(slope, np.array([1.0, 0.0]), [0.0, 2.0], atol=atol))
        assert f()[1, 0] == pytest.approx(np.exp(-2), rel=1e-4)
        steps.append(steps_of(f))
    assert steps[0] == steps[1] > 3 * steps[2]
    y0 = {"x": 1.0, "v": 0.0}
    slope = lambda t, y: {"x": -y["x"], "v": 50 * kg.cos(50 * t)}
    f = kg.compile([], kg.ode.solve(slope, y0, [0.0, 2.0], atol={"x": 1e-8, "v": 10.0})["x"])
    assert f()[1] == pytest.approx(np.exp(-2), rel=1e-4)
    assert steps_of(f) == steps[2]


@pytest.mark.slow
def test_times_that_go_back():
    """To where it came from; known times and others, and derivatives by the first value."""
    y1, ts = kg.placeholder(name="y1"), np.array([2.0, 1.0, 0.0, -1.0])
    slope = lambda t, y: -t * y
    exact = np.exp((4 - ts**2) / 2)
    y = kg.ode.solve(slope, y1, ts, rtol=1e-9, atol=1e-11)
    f = kg.compile([y1], [y, kg.gradients(y[3], y1)])
    value, gradient = f(3.0)
    np.testing.assert_allclose(value, 3 * exact, rtol=1e-7)
    assert gradient == pytest.approx(exact[3], rel=1e-7)
    at, first = kg.placeholder((3,), name="at"), kg.placeholder(name="first")
    y = kg.ode.solve(slope, 1.0, at, t0=first, rtol=1e-9, atol=1e-11)
    f = kg.compile([at, first], [y, *kg.gradients(y[2], [at, first])])
    for start, to in ((2.0, ts[1:]), (-1.5, np.array([-1.0, 0.0, 2.0]))):
        value, by_times, by_start = f(to, start)
        exact = np.exp((start**2 - to**2) / 2)
        np.testing.assert_allclose(value, exact, rtol=1e-7)
        np.testing.assert_allclose(by_times, [0, 0, -to[2] * exact[2]], rtol=1e-6, atol=1e-7)
        assert by_start == pytest.approx(start * exact[2], rel=1e-6)
    assert np.isnan(f([0.0, -1.0, -2.0], -1.5)[0]).all()  # from both sides of the start


@pytest.mark.slow
@pytest.mark.parametrize("method", FIRST)
def test_error_follows_the_tolerance(method):
    """A hundredth of the tolerance, about a hundredth of the error: local errors are controlled."""
    p = kg.placeholder((6,), name="p")
    expected = tight(predators(HARES), (0, 20), HARES[4:], TIMES)
    tolerances = 10.0 ** -np.arange(4, 11, 3)
    errors, trips = [], []
    for rtol in tolerances:
        y = kg.ode.solve(predators(p), p[4:], TIMES[[0, 20]], method=method, rtol=rtol, atol=rtol)
        f = kg.compile([p], y)
        errors.append(np.max(np.abs(f(HARES)[1] / expected[-1] - 1)))
        trips.append(steps_of(f))
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.85 < slope < 1.25
    # A method of order 5 whose error per step is held at tol makes about tol^(-1/5) steps.
    steps = np.polyfit(np.log(tolerances), np.log(trips), 1)[0]
    assert -0.23 < steps < -0.15


@pytest.mark.parametrize("method", FIRST)
def test_no_more_evaluations_than_scipy(method):
    """Steps are chosen about as well as by SciPy's Dormand-Prince, to the same tolerance."""
    p = kg.placeholder((6,), name="p")
    y = kg.ode.solve(predators(p), p[4:], [0.0, 20.0], method=method, rtol=1e-7, atol=1e-7)
    f = kg.compile([p], y)
    f(HARES)
    other = solve_ivp(predators(HARES), (0, 20), HARES[4:], rtol=1e-7, atol=1e-7)
    assert 6 * steps_of(f) < 1.15 * other.nfev


@pytest.mark.slow
def test_steps_do_not_depend_on_the_times():
    """As many steps for two times as for a hundred or a thousand, which are values inside of steps.

    The error inside is that of a method of the same order; there are about 15 steps of an error of
    at most 1e-6 each, and 300 times are the most that are written as they are passed.
    """
    trips = []
    for count in (2, 101, 1001):
        ts = np.linspace(0, 3, count)
        f = kg.compile([], kg.ode.solve(lambda t, y: -y, 1.0, ts))
        np.testing.assert_allclose(f(), np.exp(-ts), rtol=3e-5)
        trips.append(steps_of(f))
    assert trips[0] == trips[1] == trips[2] < 25


@pytest.mark.parametrize("count", thinned([400, 40], 2))
def test_values_and_gradients_inside_of_steps(count):
    """Against SciPy and differences; 40 times are written as they are passed, 400 looked up."""
    p, ts = kg.placeholder((6,), name="p"), np.linspace(0, 8, count)
    y = kg.ode.solve(predators(p), p[4:], ts, rtol=1e-10, atol=1e-10)
    weights = np.cos(np.arange(2.0 * count)).reshape(count, 2)
    value, gradient = kg.compile([p], [y, kg.gradients((weights * y).sum(), p)])(HARES)

    def target(p):
        return (weights * tight(predators(p), (0, 8), p[4:], ts)).sum()

    np.testing.assert_allclose(value, tight(predators(HARES), (0, 8), HARES[4:], ts), rtol=1e-7)
    np.testing.assert_allclose(gradient, differences(target, HARES, 1e-5), rtol=1e-5)


@pytest.mark.slow
def test_many_steps_between_few_times_and_few_steps_between_many():
    """Whether there is room for the rows of all steps makes no difference."""
    k, ts = kg.placeholder(name="k"), np.linspace(0, 1, 301)
    found = []
    for steps in (1000, 10**7):
        y = kg.ode.solve(lambda t, y: -k * (y - kg.cos(t)), 2.0, ts, max_steps=steps)
        found.append(kg.compile([k], [y, kg.gradients((ts * y).sum(), k)])(200.0))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-9)


def test_symbolic_times():
    ts = kg.placeholder((3,), name="ts")
    y = kg.ode.solve(lambda t, y: -y, 1.0, ts, rtol=1e-9)
    f = kg.compile([ts], y)
    for values in ([0.0, 1.0, 2.0], [1.0, 1.5, 7.0]):
        np.testing.assert_allclose(f(values), np.exp(values[0] - np.array(values)), rtol=1e-6)


def test_a_time_that_goes_back_is_nan():
    ts = kg.placeholder((3,), name="ts")
    y = kg.ode.solve(lambda t, y: -y, 1.0, ts)
    values = kg.compile([ts], y)([0.0, 2.0, 1.0])
    np.testing.assert_allclose(values[:2], [1, np.exp(-2)], rtol=1e-5)
    assert np.isnan(values[2])


def test_an_equilibrium():
    y = kg.ode.solve(lambda t, y: 0 * y, np.array([0.0, 1.0]), [0.0, 1.0, 1e6])
    np.testing.assert_array_equal(kg.compile([], y)(), [[0, 1]] * 3)


@pytest.mark.parametrize("method", METHODS)
def test_float32_by_default(method):
    """Tolerances that are not given fit the precision."""
    with kg.precision("float32"):
        ts = np.linspace(0, 3, 5)
        value = kg.compile([], kg.ode.solve(lambda t, y: -y, 1.0, ts, method=method))()
    assert value.dtype == np.float32
    np.testing.assert_allclose(value, np.exp(-ts), rtol=3e-3)


def test_float32():
    with kg.precision("float32"):
        y = kg.ode.solve(lambda t, y: -y, 1.0, [0.0, 1.0], rtol=1e-4, atol=1e-5)
        value = kg.compile([], y)()
    assert value.dtype == np.float32
    assert value[1] == pytest.approx(np.exp(-1), rel=1e-3)


# Derivatives.


@pytest.mark.slow
def test_derivatives_of_an_exponential():
    """y = y0 exp(-k t): derivatives by k and y0, in closed form."""
    k, y0 = kg.placeholder(name="k"), kg.placeholder(name="y0")
    y = kg.ode.solve(lambda t, y: -k * y, y0, [0.0, 1.5], rtol=1e-10, atol=1e-12)[1]
    values = kg.compile([k, y0], [*kg.gradients(y, [k, y0]), kg.jvp(y, k, 1.0)])(0.6, 2.0)
    e = np.exp(-0.9)
    np.testing.assert_allclose(values, [-3 * e, e, -3 * e], rtol=1e-7)
    assert values[0] == pytest.approx(values[2], rel=1e-11)  # forward and reverse agree


@pytest.mark.slow
def test_second_derivative_of_an_exponential():
    k = kg.placeholder(name="k")
    y = kg.ode.solve(lambda t, y: -k * y, 2.0, [0.0, 1.5], rtol=1e-10, atol=1e-12)[1]
    assert kg.compile([k], kg.hessian(y, k))(0.6) == pytest.approx(4.5 * np.exp(-0.9), rel=1e-7)


@pytest.mark.parametrize("method", FIRST)
@pytest.mark.parametrize("rtol", thinned([1e-6, 1e-9], 2))
def test_gradients_are_within_the_tolerance(method, rtol):
    """Against differences of a solution that is much more accurate."""
    p = kg.placeholder((6,), name="p")
    ts = TIMES[:9]
    y = kg.ode.solve(predators(p), p[4:], ts, method=method, rtol=rtol, atol=rtol)
    gradient = kg.compile([p], kg.gradients((kg.log(y) ** 2).sum(), p))(HARES)

    def target(p):
        return np.sum(np.log(tight(predators(p), (0, 8), p[4:], ts)) ** 2)

    expected = differences(target, HARES, 1e-5)
    np.testing.assert_allclose(gradient, expected, rtol=300 * rtol + 1e-7)


@pytest.mark.slow
def test_forward_and_reverse_agree():
    p, d = kg.placeholder((6,), name="p"), np.arange(1.0, 7.0)
    y = kg.ode.solve(predators(p), p[4:], TIMES)
    z = kg.log(y).sum()
    f = kg.compile([p], [kg.gradients(z, p) @ d, kg.jvp(z, p, d)])
    reverse, forward = f(HARES)
    assert reverse == pytest.approx(forward, rel=1e-11)


@pytest.mark.slow
def test_hessian():
    p = kg.placeholder((6,), name="p")
    y = kg.ode.solve(predators(p), p[4:], TIMES[:6], rtol=1e-10, atol=1e-10)
    z = kg.log(y).sum()
    f = kg.compile([p], [kg.gradients(z, p), kg.hessian(z, p)])
    hessian = f(HARES)[1]
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-8, atol=1e-8)
    expected = differences(lambda p: f(p)[0], HARES, 1e-4)
    np.testing.assert_allclose(hessian, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("grad", thinned(["stack", "forward", "checkpoint"], 3))
def test_strategies_give_the_right_gradient(grad):
    # y = k / (1 + k^2 t)
    k, ts = kg.placeholder(name="k"), TIMES[:4]
    options = {"rtol": 1e-9, "atol": 1e-11, "max_steps": 256}
    y = kg.ode.solve(lambda t, y: -k * y**2, k, ts, grad=grad, **options)
    gradient = kg.compile([k], kg.gradients(kg.log(y).sum(), k))(1.3)
    exact = (1 / 1.3 - 2 * 1.3 * ts / (1 + 1.3**2 * ts)).sum()
    assert gradient == pytest.approx(exact, rel=1e-6)


@pytest.mark.slow
def test_a_buffer_that_is_small_has_room_for_all_steps():
    """What a step keeps for the backward pass is known before the loop is made."""
    k = kg.placeholder(name="k")
    for size, at_once in ((250, True), (260, False)):
        y = kg.ode.solve(lambda t, y: -k * y, np.ones(size), [0.0, 1.0], max_steps=64)
        report = kg.explain(kg.compile([k], kg.gradients(y.sum(), k)))["steps"]
        assert report.rows == 64
        # The time, the value, the slopes, the size of the step, how many outputs there are.
        assert 64 * 16 * size < report.bytes <= 64 * (16 * size + 40)
        assert report.reason == ("room for all trips" if at_once else "the bound is small")


def test_derivatives_by_times():
    """dy/dt at an output time is f there, at the first time minus its flow."""
    t0, ts = kg.placeholder(name="t0"), kg.placeholder((2,), name="ts")
    y = kg.ode.solve(lambda t, y: kg.cos(t) * y, 2.0, ts, t0=t0, rtol=1e-10, atol=1e-12)
    f = kg.compile([t0, ts], [y, *kg.gradients(y[1], [t0, ts])])
    value, by_start, by_times = f(0.3, [1.0, 2.0])
    exact = 2 * np.exp(np.sin(2.0) - np.sin(0.3))
    assert value[1] == pytest.approx(exact, rel=1e-8)
    assert by_start == pytest.approx(-np.cos(0.3) * exact, rel=1e-6)
    np.testing.assert_allclose(by_times, [0.0, np.cos(2.0) * exact], rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_more_steps_than_there_is_room_for():
    """The buffer of the loop is doubled: the gradient does not depend on it."""
    k = kg.placeholder(name="k")
    y = kg.ode.solve(
        lambda t, y: [k * y[1], -k * y[0]], np.array([1.0, 0.0]), [0.0, 1.0], rtol=1e-9
    )
    f = kg.compile([k], [y[1], kg.gradients(y[1, 0], k)])
    value, gradient = f(30.0)
    assert steps_of(f) > 64
    np.testing.assert_allclose(value, [np.cos(30), -np.sin(30)], rtol=1e-6)
    assert gradient == pytest.approx(-np.sin(30), rel=1e-6)


@pytest.mark.slow
def test_in_a_batch():
    """Each lane is what it would be alone, values and gradients."""
    k = np.array([0.5, 2.0, 9.0])

    def one(k):
        return kg.ode.solve(lambda t, y: -k * y, 1.0, [0.0, 1.0])[1]

    ks = kg.placeholder((3,), name="ks")
    y = kg.vmap(one)(ks)
    f = kg.compile([ks], [y, kg.gradients(y.sum(), ks)])
    found, trips = np.array(f(k)), f.most_trips
    # Lanes that are all the same go in step, as one alone does.
    alone = [f(np.full(3, v)) for v in k]
    np.testing.assert_allclose(found, np.transpose([np.array(a)[:, 0] for a in alone]), rtol=1e-12)
    np.testing.assert_allclose(found, [np.exp(-k), -np.exp(-k)], rtol=1e-4, atol=1e-7)
    assert trips == f.most_trips  # those of the lane that goes on longest


# Limits.


def test_too_many_steps_give_nan():
    """Stiff: 1000 explicit steps are too few for a rate of 1e6. What was reached before stays."""
    k = kg.placeholder(name="k")
    slope = lambda t, y: -k * (y - kg.cos(t))
    y = kg.ode.solve(slope, 1.0, [0.0, 1e-4, 1.0, 2.0], max_steps=1000)
    values = kg.compile([k], y)(1e6)
    np.testing.assert_allclose(values[:2], 1.0, atol=1e-3)
    assert np.isnan(values[2:]).all()


@pytest.mark.slow
def test_derivatives_are_nan_where_the_solution_is():
    """Whatever stopped it, by whatever goes in; and those of times that were reached are right."""
    names = ["rate", "late", "y0", "span"]
    rate, late, y0, span = inputs = [kg.placeholder(name=name) for name in names]
    slope = lambda t, y: -kg.sqrt(rate) * y + kg.where(t > 9, late, 0.0)
    y = kg.ode.solve(slope, y0, np.array([0.0, 0.01, 1.0]) * span, max_steps=50)
    ct = kg.placeholder((3,), name="ct")
    outputs = [kg.jvp(y, rate, 1.0), *kg.gradients((ct * y).sum(), inputs)]
    f = kg.compile([ct, *inputs], outputs)

    def exact(k, t, span):
        y = np.exp(-np.sqrt(k) * t * span)
        return np.array([-t * span * y / (2 * np.sqrt(k)), 0, y, -np.sqrt(k) * y * t])

    second, third = np.eye(3)[1:]
    forward, *found = f(third, 1.0, 1.0, 1.0, 1.0)
    np.testing.assert_allclose(found, exact(1, 1, 1), rtol=1e-4, atol=1e-9)
    assert forward[2] == pytest.approx(found[0], rel=1e-9)
    # More steps than there may be, after the second time; no right-hand side; no times.
    forward, *found = f(second, 1e4, 1.0, 1.0, 2.0)
    np.testing.assert_allclose(found, exact(1e4, 0.01, 2), rtol=1e-3, atol=1e-9)
    assert forward[1] == pytest.approx(found[0], rel=1e-9)
    for point in ((1e4, 1.0, 1.0, 2.0), (-1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, np.nan)):
        forward, *found = f(third, *point)
        assert np.isnan([forward[2], *found]).all()


def test_a_relative_tolerance_of_values_that_are_known_at_run_time():
    y0 = kg.placeholder((2,), name="y0")
    f = kg.compile([y0], kg.ode.solve(lambda t, y: -y, y0, [0.0, 1.0], rtol=1e-8, atol=0))
    np.testing.assert_allclose(f([1e-30, 2.0])[1], np.exp(-1) * np.array([1e-30, 2]), rtol=1e-6)
    with pytest.raises(ValueError, match=r"an element of y0 is 0 \(test_solver.py"):
        f([1.0, 0.0])


def test_too_many_steps_can_be_an_error():
    slope = lambda t, y: -1e6 * (y - kg.cos(t))
    y = kg.ode.solve(slope, 1.0, [0.0, 1.0], max_steps=100, on_limit="error")
    with pytest.raises(
        kg.LoopError, match=r"test_solver.py:\d+\).* max_steps = 100 steps; .*rodas5p"
    ):
        kg.compile([], y)()


def test_times_of_every_scale_and_offset():
    """The unit of time does not matter, nor where it begins; nor intervals of no length."""
    rate, start, length = (kg.placeholder(name=name) for name in ("rate", "start", "length"))
    ts = start + length * np.array([0.0, 0.5, 1.0])
    f = kg.compile(
        [rate, start, length],
        kg.ode.solve(lambda t, y: -rate * y, 1.0, ts, on_limit="error"),
    )
    for scale in (1e-200, 4.9e-18, 1.0, 4.9e18, 1e200):
        np.testing.assert_allclose(f(scale, 0.0, 0.7 / scale), np.exp([0, -0.35, -0.7]), rtol=1e-5)
    for scale in (1e-5, 1.0):
        offset = 1e9 / scale
        np.testing.assert_allclose(f(scale, offset, 1 / scale), np.exp([0, -0.5, -1]), rtol=1e-5)
    np.testing.assert_array_equal(f(1.0, 0.0, 0.0), 1.0)
    np.testing.assert_array_equal(f(1.0, 1e20, 0.0), 1.0)


def test_what_stops_short_can_be_an_error():
    y0, k = kg.placeholder(name="y0"), kg.placeholder(name="k")
    y = kg.ode.solve(lambda t, y: k * y**2, y0, [0.0, 0.5, 1.5], on_limit="error")
    f = kg.compile([y0, k], y)
    np.testing.assert_allclose(f(0.5, 1.0), [0.5, 1 / 1.5, 2], rtol=1e-5)
    for start, factor in ((1.0, 1.0), (1.0, np.nan), (np.nan, 1.0)):
        with pytest.raises(kg.LoopError, match=r"test_solver.py:\d+\): the last of the times"):
            f(start, factor)


def test_a_singularity_gives_nan():
    """y' = y^2 from 1 is 1 / (1 - t): steps get shorter for ever."""
    y = kg.ode.solve(lambda t, y: y**2, 1.0, [0.0, 0.5, 1.5, 2.0])
    f = kg.compile([], y)
    values = f()
    np.testing.assert_allclose(values[:2], [1, 2], rtol=1e-5)
    assert np.isnan(values[2:]).all()
    assert steps_of(f) < 1000


def test_what_is_not_finite_gives_nan_soon():
    y0 = kg.placeholder(name="y0")
    f = kg.compile([y0], kg.ode.solve(lambda t, y: kg.sqrt(y), y0, [0.0, 1.0, 2.0]))
    for start in (np.nan, np.inf, -1.0):
        assert np.isnan(f(start)[1:]).all()
        assert steps_of(f) < 1000


def test_steps_follow_the_error_of_every_element():
    """The error is relative to the larger end of a step, and its mean is over all elements."""
    x = np.array([1.0, 3.0])
    right = lambda t, y: [2.0 * y[0], -y[1]]
    trial = Method(right, kg.ode.DOPRI5, Tolerance(1e-2, [1e-3, 1e-3]))
    leaves = [kg.placeholder(name=n) for n in "uv"]
    new, _, _, square = trial.step(0.0, leaves, right(0.0, leaves), 0.5, 0.5)
    *ends, square = kg.compile(leaves, [*new, square])(*x)
    # The same step by hand: the error is the difference of the two solutions.
    rates, stages = np.array([2.0, -1.0]), [np.array([2.0, -1.0]) * x]
    for row in kg.ode.DOPRI5.a:
        after = x + 0.5 * sum(w * s for w, s in zip(row, stages, strict=True))
        stages.append(rates * after)
    error = 0.5 * sum(w * s for w, s in zip(kg.ode.DOPRI5.error, stages, strict=True))
    scale = 1e-3 + 1e-2 * np.maximum(np.abs(x), np.abs(after))
    np.testing.assert_allclose(ends, after, rtol=1e-12)
    np.testing.assert_allclose(square, np.mean((error / scale) ** 2), rtol=1e-8)


def test_a_step_into_where_f_is_not_finite_is_made_again():
    """y' = -10 sqrt(y) from 1 is (1 - 5 t)^2; the first step would go far below 0."""
    slope = lambda t, y: -10 * kg.sqrt(y)
    y = kg.ode.solve(slope, 1.0, [0.0, 0.15], first_step=0.15, on_limit="error")
    assert kg.compile([], y)()[1] == pytest.approx(0.0625, rel=1e-4)


# Misuse.


VECTOR = np.array([1.0, 2.0])


def bad(t, y):
    return y[:1]


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        ((None, 1.0, [0, 1]), {}, TypeError, "f argument required"),
        ((3, 1.0, [0, 1]), {}, TypeError, "f must be callable, got int"),
        ((bad, None, [0, 1]), {}, ValueError, "y0 must be provided"),
        ((bad, (), [0, 1]), {}, ValueError, "y0 has no elements"),
        ((bad, VECTOR, None), {}, ValueError, "ts must be provided"),
        ((bad, VECTOR, 3.0), {}, kg.ShapeError, "expected a vector"),
        ((bad, VECTOR, []), {}, kg.ShapeError, "at least one time"),
        (
            (bad, VECTOR, [0, 2, 1]),
            {},
            ValueError,
            r"ts\[1\] = 2 is followed by ts\[2\] = 1 \(test_solver.py:\d+\)",
        ),
        ((bad, VECTOR, [0, 1, 1]), {}, ValueError, r"ts\[2\] = 1 .*; give each time once"),
        ((bad, VECTOR, [1, 0, 2]), {}, ValueError, r"ts\[0\] = 1 is followed .*; sort them"),
        ((bad, np.array([1.0, np.nan]), [0, 1]), {}, ValueError, r"y0\[1\] is nan \(test_"),
        ((bad, {"a": np.inf}, [0, 1]), {}, ValueError, r"y0\['a'\] is inf"),
        ((bad, VECTOR, [0, 1]), {"t0": np.nan}, ValueError, "t0 is nan"),
        ((bad, VECTOR, [0, np.nan]), {}, ValueError, r"ts\[1\] is nan"),
        (
            (bad, VECTOR, [0, 1]),
            {"t0": 5.0},
            ValueError,
            r"5 lies after .*t0=0 or less, .*ts\[::-1\]",
        ),
        ((bad, VECTOR, [1, 0]), {"t0": -5.0}, ValueError, r"lies before all .*give t0=1 or more"),
        ((bad, VECTOR, [0, 1]), {"t0": 0.5}, ValueError, "lie on both sides of t0 = 0.5"),
        ((bad, VECTOR, [0, 1]), {"t0": [0.5]}, kg.ShapeError, "t0 has shape"),
        (
            (bad, VECTOR, [0, 1]),
            {},
            kg.ShapeError,
            r"bad \(test_solver.py:\d+\) returns shape \(1,\) for y of shape \(2,\)",
        ),
        ((lambda t, y: None, 1.0, [0, 1]), {}, ValueError, r"f \(test_solver.py:\d+\) must have"),
        ((lambda t, y: (y, y), 1.0, [0, 1]), {}, TypeError, "returns tuple of 2 where y is an arr"),
        ((lambda t, y: y[0], (1.0, 2.0), [0, 1]), {}, TypeError, "returns an array where y is tup"),
        ((lambda t, y: "no", 1.0, [0, 1]), {}, kg.SymbolicError, r"the result of f \(test_solv"),
        ((bad, VECTOR, [0, 1]), {"method": "euler"}, ValueError, "one of 'tsit5', 'dopri5'"),
        ((bad, VECTOR, [0, 1]), {"rtol": 0}, ValueError, "rtol is 0"),
        ((bad, VECTOR, [0, 1]), {"atol": -1}, ValueError, "atol is -1"),
        (
            (bad, np.array([1.0, 0.0]), [0, 1]),
            {"atol": 0},
            ValueError,
            r"atol is 0, and y0\[1\] is 0 \(test_",
        ),
        ((bad, {"s": 1.0, "i": 0.0}, [0, 1]), {"atol": 0}, ValueError, r"and y0\['i'\] is 0"),
        ((bad, VECTOR, [0, 1]), {"atol": [1e-6] * 3}, kg.ShapeError, r"atol has shape \(3,\)"),
        ((bad, [1.0, 2.0], [0, 1]), {"atol": (1, 1)}, TypeError, "atol is tuple of 2 where y0"),
        ((lambda t, y: y[0] * VECTOR, [1.0, 2.0], [0, 1]), {}, TypeError, r"give np.array\(y0\)"),
        ((bad, VECTOR, [0, 1]), {"max_step": -1.0}, ValueError, "max_step must be positive"),
        ((bad, VECTOR, [0, 1]), {"max_steps": 0}, ValueError, "max_steps is 0"),
        ((bad, VECTOR, [0, 1]), {"on_limit": "x"}, ValueError, "'nan', 'error'"),
        ((bad, VECTOR, [0, 1]), {"grad": "x"}, ValueError, "grad is 'x'"),
        ((lambda t, y: y, 1.0, [0, 1]), {"first_step": 0.0}, ValueError, "must be positive"),
        ((lambda t, y: y, 1.0, [0, 1]), {"first_step": [1.0]}, kg.ShapeError, "first_step has"),
    ],
)
def test_misuse(arguments, options, kind, message):
    with pytest.raises(kind, match=message) as caught:
        kg.ode.solve(*arguments, **options)
    assert re.search(r"^solve: ", str(caught.value))


def test_the_least_relative_tolerance():
    """A hundred rounding errors of the working precision."""
    others = 0.0, [kg.placeholder()], [""], LEAF
    assert read_tolerance(100 * 2**-52, *others).relative == 100 * 2**-52
    with pytest.raises(ValueError, match="at least 2e-14, a hundred rounding errors of float64"):
        read_tolerance(99 * 2**-52, *others)


def test_stop_gradient():
    x = kg.placeholder(name="x")
    f = kg.compile([x], [kg.stop_gradient(x) * x, kg.gradients(kg.stop_gradient(x) * x, x)])
    assert [float(v) for v in f(3.0)] == [9.0, 3.0]
