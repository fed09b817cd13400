"""Jumps and doses: steps end there, and derivatives by their times are those of the solution."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetograph as kg

RATE = 0.1


def slow(values):
    """Further cases, for the slow run."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def switched_on(t, x):
    """The solution of y' = [t > x] - y / 10 from 0."""
    return np.where(t > x, (1 - np.exp(-RATE * (t - x))) / RATE, 0.0)


def steep(t, y, x):
    return kg.where(t > x, 1.0, 0.0) - RATE * y


def branched(t, y, x):
    if t <= x:
        rate = -RATE * y
    else:
        rate = 1.0 - RATE * y
    return rate


def nested(t, y, x):
    if t > 1.0:
        rate = steep(t, y, x)
    else:
        rate = -RATE * y
    return rate


def early(t, y, x):
    """A condition that is the other way about, and of a time that is computed."""
    return kg.where(x * 2 - x < t, 1.0, 0.0) - RATE * y


@pytest.mark.parametrize("f", [steep, branched, *slow([nested, early])])
def test_a_time_that_is_compared_with_the_time(f):
    """The derivative of y(10) by the time of the switch is -exp(-0.67) at 3.3."""
    x = kg.placeholder(name="x")
    ts = np.array([0.0, 3.0, 4.0, 10.0])
    y = kg.ode.solve(lambda t, y: f(t, y, x), 0.0, ts)
    value, gradient, forward = kg.compile([x], [y, kg.gradients(y[3], x), kg.jvp(y, x, 1.0)])(3.3)
    np.testing.assert_allclose(value, switched_on(ts, 3.3), rtol=1e-5, atol=1e-12)
    assert gradient == pytest.approx(-np.exp(-0.67), rel=1e-5)
    np.testing.assert_allclose(forward, -1.0 * (ts > 3.3) * np.exp(-RATE * (ts - 3.3)), rtol=1e-4)


@pytest.mark.slow
def test_second_derivatives_by_a_time():
    x = kg.placeholder(name="x")
    y = kg.ode.solve(lambda t, y: steep(t, y, x), 0.0, [0.0, 10.0], rtol=1e-9, atol=1e-11)[1]
    assert kg.compile([x], kg.hessian(y, x))(3.3) == pytest.approx(-RATE * np.exp(-0.67), rel=1e-5)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda t, y, x: kg.where(t - x > 0, 1.0, 0.0) - RATE * y, r"t - x > 0"),
        (lambda t, y, x: kg.floor(t / x) - y, r"floor\(t / x\)"),
        (lambda t, y, x: kg.where(kg.sin(x * t) > 0, 1.0, 0.0), r"sin\(x \* t\) > 0"),
    ],
)
def test_switches_that_cannot_be_found_are_named(f, text):
    x = kg.placeholder(name="x")
    with pytest.raises(ValueError, match=rf"switches by {text} \(test_stops.*depend on x.*jump_ts"):
        kg.ode.solve(lambda t, y: f(t, y, x), 0.0, [0.0, 10.0])
    # Of what is known nothing is lost, and where the time is given all is well.
    kg.ode.solve(lambda t, y: f(t, y, 2.0), 0.0, [0.0, 10.0])
    kg.ode.solve(lambda t, y: f(t, y, x), 0.0, [0.0, 10.0], jump_ts=[x])


def test_what_depends_on_the_solution_is_no_switch():
    x = kg.placeholder(name="x")
    y = kg.ode.solve(lambda t, y: kg.where(y + t > x, y, 2 * y) * kg.abs(x - t), 1.0, [0.0, 0.5])
    assert np.isfinite(kg.compile([x], y)(1.2)).all()


def test_jumps_that_are_given():
    """A vector of unknown times; one of them beyond the end, one before the start, two equal."""
    xs = kg.placeholder((4,), name="xs")

    def slope(t, y):
        return kg.where(t - xs > 0, [1.0, 2.0, 4.0, 8.0], 0.0).sum() - RATE * y

    y = kg.ode.solve(slope, 0.0, [0.0, 10.0], jump_ts=xs)[1]
    f = kg.compile([xs], [y, kg.gradients(y, xs)])
    for at in ([7.0, 3.3, 20.0, -1.0], [4.0, 4.0, 0.0, 9.9]):
        value, gradient = map(np.array, f(at))
        inside = np.maximum(at, 0.0)
        sizes = np.array([1.0, 2.0, 4.0, 8.0]) * (inside < 10)
        exact = (sizes * (1 - np.exp(-RATE * (10 - inside))) / RATE).sum()
        assert value == pytest.approx(exact, rel=1e-5)
        moved = -sizes * np.exp(-RATE * (10 - inside)) * (np.array(at) > 0)
        if at[0] == at[1]:  # f does not tell which of the two does what
            gradient[0], moved[0] = gradient[:2].sum(), moved[:2].sum()
        free = np.array([True, at[0] != at[1], at[2] != 0, True])  # one is at the start
        np.testing.assert_allclose(gradient[free], moved[free], rtol=1e-4)


def test_a_pulse_between_the_times_is_not_stepped_over():
    """0.05 long in a day of output times of an hour; by itself, and where only its size tells."""
    ts = np.arange(25.0)
    pulse = lambda t, y: kg.where((t > 12.5) & (t < 12.55), 1.0, 0.0) + 0 * y
    assert kg.compile([], kg.ode.solve(pulse, 0.0, ts))()[-1] == pytest.approx(0.05, rel=1e-6)
    smooth = lambda t, y: kg.exp(-0.5 * ((t - 12.5) / 0.02) ** 2) + 0 * y
    y = kg.ode.solve(smooth, 0.0, ts, max_step=0.05)
    f = kg.compile([], y)
    assert f()[-1] == pytest.approx(0.02 * np.sqrt(2 * np.pi), rel=1e-5)
    assert kg.explain(f)["steps"].most_trips >= 24 / 0.05


def test_doses():
    """At a known time, an unknown one, the start and the end; what is given then is there."""
    d, a = kg.placeholder(name="d"), kg.placeholder(name="a")
    ts = np.array([0.0, 1.0, 2.0, 3.0, 10.0])
    doses = [(d, a), (2.0, 2 * a), (0.0, 1.0), (10.0, 5.0)]
    y = kg.ode.solve(lambda t, y: -0.3 * y, 1.0, ts, rtol=1e-9, atol=1e-11, doses=doses)
    f = kg.compile([d, a], [y, *kg.gradients(y[4], [d, a]), kg.gradients(y[2], a)])

    def given(time, amount):
        return (ts >= time) * amount * np.exp(-0.3 * (ts - time))

    for time in (1.3, 2.0, 20.0):
        value, by_time, by_amount, at_once = f(time, 0.7)
        exact = given(0, 2.0) + given(2, 1.4) + given(10, 5.0) + given(time, 0.7)
        np.testing.assert_allclose(value, exact, rtol=1e-7)
        taken = time < 10
        late = 0.3 * 0.7 * np.exp(-0.3 * (10 - time)) * taken
        assert by_time == pytest.approx(late, rel=1e-6)
        both = 2 * np.exp(-2.4) + taken * np.exp(-0.3 * (10 - time))
        assert by_amount == pytest.approx(both, rel=1e-6)
        assert at_once == pytest.approx(2.0 + (time <= 2) * np.exp(-0.3 * (2 - time)), rel=1e-6)
    assert np.isnan(f(np.nan, 0.7)[0][1:]).all()


@pytest.mark.parametrize("count", [6, *slow([400])])
def test_doses_into_a_structure_against_pieces_by_scipy(count):
    """Michaelis and Menten's elimination with an intake: nonlinear, in two compartments."""
    k, at = kg.placeholder(name="k"), kg.placeholder(name="at")
    ts = np.linspace(0, 9, count)

    def rates(k, y):
        return [-k * y[0], k * y[0] - 1.1 * y[1] / (3.0 + y[1])]

    def slope(t, y):
        gut, blood = rates(k, [y["gut"], y["blood"]])
        return {"gut": gut, "blood": blood}

    doses = [(at, {"gut": 4.0, "blood": 0.0}), (at + 2.5, {"gut": 1.0, "blood": 2.0})]
    y = kg.ode.solve(slope, {"gut": 5.0, "blood": 0.0}, ts, rtol=1e-9, atol=1e-10, doses=doses)
    total = (y["blood"] * kg.data(np.cos(ts))).sum()
    value, *gradient = kg.compile([k, at], [y["blood"], *kg.gradients(total, [k, at])])(0.7, 1.7)

    def by_pieces(k, at):
        found, y0 = [], np.array([5.0, 0.0])
        edges = [0.0, at, at + 2.5, 9.0 + 1e-9]
        for begin, end, amount in zip(edges, edges[1:], ([4.0, 0.0], [1.0, 2.0], [0.0, 0.0])):
            inside = ts[(ts >= begin) & (ts < end)]
            options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
            part = solve_ivp(
                lambda t, y: rates(k, y), (begin, end), y0, t_eval=[*inside, end], **options
            ).y
            found.append(part[1, :-1])
            y0 = part[:, -1] + amount
        return np.concatenate(found)

    def target(k, at):
        return (by_pieces(k, at) * np.cos(ts)).sum()

    np.testing.assert_allclose(value, by_pieces(0.7, 1.7), rtol=1e-6, atol=1e-8)
    h = 1e-5
    by_k = (target(0.7 + h, 1.7) - target(0.7 - h, 1.7)) / (2 * h)
    by_at = (target(0.7, 1.7 + h) - target(0.7, 1.7 - h)) / (2 * h)
    np.testing.assert_allclose(gradient, [by_k, by_at], rtol=1e-5)


def test_back_in_time():
    x = kg.placeholder(name="x")
    y = kg.ode.solve(lambda t, y: steep(t, y, x), 0.0, [0.0, -2.0, -10.0], rtol=1e-8)
    f = kg.compile([x], [y, kg.gradients(y[2], x)])
    value, gradient = f(-3.3)
    # Down to -3.3 by y' = 1 - y / 10, and on by y' = -y / 10.
    down = lambda t: (1 - np.exp(-RATE * t)) / RATE
    exact = down(-3.3) * np.exp(RATE * (10 - 3.3))
    np.testing.assert_allclose(value, [0.0, down(-2.0), exact], rtol=1e-6)
    h = 1e-4
    difference = (f(-3.3 + h)[0][2] - f(-3.3 - h)[0][2]) / (2 * h)
    assert gradient == pytest.approx(difference, rel=1e-5)
    y = kg.ode.solve(lambda t, y: -0.3 * y, 1.0, [10, 5, 0], rtol=1e-8, doses=[(7.0, 1.0)])
    exact = [1, np.exp(1.5) + np.exp(0.6), np.exp(3) + np.exp(2.1)]
    np.testing.assert_allclose(kg.compile([], y)(), exact, rtol=1e-6)


@pytest.mark.slow
def test_an_unknown_dose_time_in_a_batch():
    def one(d):
        return kg.ode.solve(lambda t, y: -0.3 * y, 1.0, [0.0, 10.0], doses=[(d, 2.0)])[1]

    ds = kg.placeholder((4,), name="ds")
    y = kg.vmap(one)(ds)
    at = np.array([1.0, 9.0, 12.0, 0.0])
    value, gradient = kg.compile([ds], [y, kg.gradients(y.sum(), ds)])(at)
    given = (at <= 10) * 2 * np.exp(-0.3 * (10 - at))
    np.testing.assert_allclose(value, np.exp(-3) + given, rtol=1e-5)
    np.testing.assert_allclose(gradient[:3], 0.3 * given[:3], rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"jump_ts": [np.nan]}, ValueError, "jump_ts is nan"),
        ({"jump_ts": "now"}, kg.SymbolicError, "jump_ts"),
        ({"doses": 3.0}, TypeError, r"doses is float .*pairs \(time, amount\)"),
        ({"doses": [1.0]}, TypeError, r"doses\[0\] is not a pair"),
        ({"doses": [(-1.0, 1.0)]}, ValueError, r"time of doses\[0\] is before t0"),
        ({"doses": [([1.0, 2.0], 1.0)]}, kg.ShapeError, r"time of doses\[0\] has 2 elements"),
        ({"doses": [(1.0, {"a": 1})]}, TypeError, r"amount of doses\[0\] is dict of a where y is"),
        ({"doses": [(1.0, [1.0, 2.0, 3.0])]}, kg.ShapeError, r"of doses\[0\]"),
    ],
)
def test_misuse(options, kind, text):
    with pytest.raises(kind, match=text) as caught:
        kg.ode.solve(lambda t, y: -y, np.ones(2), [0.0, 2.0], **options)
    assert re.search(r"^solve: .*\(test_stops.py:\d+\)", str(caught.value))
