"""Events: found to the last bit, and all derivatives with them."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetograph as kg
from kinetograph.ode import Event
from kinetograph.ode.limited_derivatives import limited

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
GRAVITY = 9.81


def slow(values):
    """Further cases, for the slow run."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def differences(function, x, step=1e-6):
    """The Jacobian of a function by central differences."""
    columns = []
    for i in range(len(x)):
        e = np.zeros(len(x))
        e[i] = step
        columns.append((function(x + e) - function(x - e)) / (2 * step))
    return np.stack(columns, -1)


# Events that end the solution.


def test_a_decay_that_reaches_a_level():
    """At log(y0 / c) / k, if it starts above and if the time suffices."""
    k, c = kg.placeholder(name="k"), kg.placeholder(name="c")
    ts = np.arange(5.0)
    y, end = kg.ode.solve(lambda t, y: -k * y, 2.0, ts, events=lambda t, y: y - c, **TIGHT)
    assert (y.shape, end.count.shape, end.t.shape, end.y.shape) == ((5,), (), (), ())
    f = kg.compile(
        [k, c], [y, end.count, end.t, end.y, *kg.gradients(end.t, [k, c]), kg.jvp(end.t, k, 1.0)]
    )
    value, count, time, level, by_k, by_c, forward = f(0.5, 0.5)
    exact = np.log(4) / 0.5
    np.testing.assert_allclose(value[:3], 2 * np.exp(-0.5 * ts[:3]), rtol=1e-8)
    assert np.isnan(value[3:]).all()
    assert count == 1
    np.testing.assert_allclose([time, level], [exact, 0.5], rtol=1e-8)
    np.testing.assert_allclose([by_k, by_c], [-exact / 0.5, -1 / (0.5 * 0.5)], rtol=1e-7)
    assert forward == pytest.approx(by_k, rel=1e-9)
    # Too low to be reached; above it from the start; at the start itself.
    for c in (0.1, 2.5, 2.0):
        value, count, time, level, *derivatives = f(0.5, c)
        np.testing.assert_allclose(value, 2 * np.exp(-0.5 * ts), rtol=1e-8)
        assert (count, time) == (0, np.inf)
        assert np.isnan(level)
        assert derivatives == [0, 0, 0]


@pytest.mark.slow
def test_second_and_third_derivatives():
    k = kg.placeholder(name="k")
    _, end = kg.ode.solve(lambda t, y: -k * y, 2.0, [0, 9.0], events=lambda t, y: y**3 - 1, **TIGHT)
    second = kg.jvp(kg.jvp(end.t, k, 1.0), k, 1.0)
    f = kg.compile([k], [kg.hessian(end.t, k), kg.gradients(second, k), kg.hessian(end.y, k)])
    exact = np.log(2)
    np.testing.assert_allclose(
        f(0.5), [2 * exact / 0.5**3, -6 * exact / 0.5**4, 0], rtol=1e-5, atol=1e-6
    )


def test_derivatives_that_are_not_known_are_no_numbers():
    """Of t* = c^5, whose fourth derivative the steps of Newton's do not have."""
    c = kg.placeholder(name="c")
    derivatives = [limited(c**5, 3)]
    for _ in range(4):
        derivatives.append(kg.gradients(derivatives[-1], c))
    *known, fourth = kg.compile([c], derivatives)(1.1)
    np.testing.assert_allclose(known, [1.1**5, 5 * 1.1**4, 20 * 1.1**3, 60 * 1.1**2])
    assert np.isnan(fourth)


@pytest.mark.slow
def test_the_fourth_derivative_of_a_time_is_no_number():
    c = kg.placeholder(name="c")
    _, end = kg.ode.solve(lambda t, y: 1 + 0 * y, 0.0, [0, 9.0], events=lambda t, y: y - c**5)
    derivatives = [end.t]
    for _ in range(4):
        derivatives.append(kg.jvp(derivatives[-1], c, 1.0))
    *known, fourth = kg.compile([c], derivatives)(1.1)
    np.testing.assert_allclose(known, [1.1**5, 5 * 1.1**4, 20 * 1.1**3, 60 * 1.1**2])
    assert np.isnan(fourth)


def test_no_events_are_a_pair_too():
    y, events = kg.ode.solve(lambda t, y: -y, 2.0, [0.0, 1.0], events=[])
    assert events == []
    np.testing.assert_allclose(kg.compile([], y)(), [2, 2 / np.e], rtol=1e-5)


@pytest.mark.slow
def test_what_is_not_there_behind_the_end():
    """The value at the time of the end itself is; and NaN can be replaced, with its derivatives."""
    k = kg.placeholder(name="k")
    y, end = kg.ode.solve(lambda t, y: -k * y, 2.0, [0, 1, 2], events=lambda t, y: t - 1.0)
    held = kg.where(np.arange(3) <= end.t, y, end.y)
    f = kg.compile([k], [y, held, kg.gradients(held.sum(), k), kg.gradients(y.sum(), k)])
    value, held, gradient, nothing = f(0.5)
    once = 2 * np.exp(-0.5)
    np.testing.assert_allclose(value, [2, once, np.nan], rtol=1e-5)
    np.testing.assert_allclose(held, [2, once, once], rtol=1e-5)
    assert gradient == pytest.approx(-2 * once, rel=1e-4)
    assert np.isnan(nothing)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tsit5", "rodas5p"])
@pytest.mark.parametrize("count", [5, 400])
def test_an_epidemic_that_ends(method, count):
    """When a tenth of the largest number is ill again, which is found within; against SciPy."""
    ts = np.linspace(0, 60, count)

    def rates(p, y):
        return [-p[0] * y[0] * y[1], p[0] * y[0] * y[1] - p[1] * y[1]]

    def exact(p):
        falls = lambda t, y: y[1] - p[2]
        falls.direction, falls.terminal = -1, True
        run = solve_ivp(
            lambda t, y: rates(p, y),
            (0, 60),
            [1 - p[3], p[3]],
            method="DOP853",
            events=falls,
            dense_output=True,
            rtol=1e-12,
            atol=1e-13,
        )
        end = run.t_events[0][0]
        values = np.where(ts <= end, run.sol(np.minimum(ts, end))[0], 0)
        return np.array([end, run.y_events[0][0][0], (values * np.cos(ts)).sum()])

    p = kg.placeholder((4,), name="p")
    event = Event(lambda t, y: y[1] - p[2], direction=-1)
    y0 = kg.stack([1 - p[3], p[3]])
    y, end = kg.ode.solve(
        lambda t, y: rates(p, y), y0, ts, events=event, method=method, rtol=1e-10, atol=1e-12
    )
    total = (kg.where(ts <= end.t, y[:, 0], 0.0) * np.cos(ts)).sum()
    found = kg.stack([end.t, end.y[0], total])
    f = kg.compile([p], [found, *(kg.gradients(found[i], p) for i in range(3))])
    at = np.array([0.8, 0.3, 0.02, 0.01])
    value, *gradients = f(at)
    np.testing.assert_allclose(value, exact(at), rtol=1e-6)
    np.testing.assert_allclose(gradients, differences(exact, at, 1e-5), rtol=1e-4, atol=1e-5)


# Events that change the value.


def ball(drop, bounciness, ts, **options):
    fall = lambda t, y: {"height": y["speed"], "speed": -GRAVITY + 0 * y["speed"]}
    bounce = Event(
        lambda t, y: y["height"],
        change=lambda t, y: {"height": 0.0, "speed": -bounciness * y["speed"]},
        direction=-1,
        keep=4,
    )
    start = {"height": drop, "speed": 0.0}
    return kg.ode.solve(fall, start, ts, events=bounce, **options)


def bounced(p, ts, count=4):
    """Times of bounces, and the heights."""
    drop, e = p
    speeds = np.sqrt(2 * GRAVITY * drop) * e ** np.arange(1, 60)
    times = np.sqrt(2 * drop / GRAVITY) + np.append(0, np.cumsum(2 * speeds / GRAVITY))
    n = np.minimum(np.searchsorted(times, ts, side="right"), 59)
    since = ts - times[n - 1]
    flying = speeds[np.maximum(n - 1, 0)] * since - GRAVITY / 2 * since**2
    return times[:count], np.where(n == 0, drop - GRAVITY / 2 * ts**2, flying)


@pytest.mark.parametrize("count", [7, *slow([400])])
def test_a_ball_that_bounces(count):
    """Its solution is a polynomial: one step, and without a bounce no second one, is enough."""
    p, ts = kg.placeholder((2,), name="p"), np.linspace(0, 2.9, count)
    y, bounces = ball(p[0], p[1], ts)
    weights = np.cos(np.arange(count))
    total = (y["height"] * weights).sum() + bounces.t[2]
    found = [bounces.count, bounces.t, bounces.y["speed"], y["height"], kg.gradients(total, p)]
    f = kg.compile([p], [*found, kg.jvp(total, p, p) if count > 7 else total])
    at = np.array([1.3, 0.8])
    times, heights = bounced(at, ts)
    number, found, speeds, values, gradient, forward = f(at)
    assert number == 4 == (bounced(at, ts, 50)[0] < 2.9).sum()
    np.testing.assert_allclose(found, times, rtol=1e-6)
    np.testing.assert_allclose(speeds, -np.sqrt(2 * GRAVITY * 1.3) * 0.8 ** np.arange(4), rtol=1e-6)
    np.testing.assert_allclose(values, heights, atol=1e-5)

    def exact(p):
        times, heights = bounced(p, ts)
        return heights @ weights + times[2]

    np.testing.assert_allclose(gradient, differences(exact, at), rtol=1e-4)
    if count > 7:
        assert forward == pytest.approx(gradient @ at, rel=1e-9)
    # Fewer bounces than are kept, and more.
    _, found, *_ = f([20.0, 0.8])
    np.testing.assert_allclose(found, [np.sqrt(40 / GRAVITY), np.inf, np.inf, np.inf], rtol=1e-6)
    number, found, _, values, *_ = f([1.3, 0.5])
    times, heights = bounced([1.3, 0.5], ts)
    assert number > 4  # they come together at 1.54, and then there is no solution
    np.testing.assert_allclose(found, times, rtol=1e-6)
    before, after = ts < 1.54, ts > 1.55
    np.testing.assert_allclose(values[before], heights[before], atol=1e-5)
    assert np.isnan(values[after]).all()


@pytest.mark.slow
def test_a_switch_of_the_right_hand_side():
    """A heater with hysteresis: on below 18, off above 21. What f switches by is in y."""
    p = kg.placeholder((3,), name="p")  # the lower and the upper temperature, the power
    start = {"warm": 20.0, "on": 0.0}
    events = [
        Event(lambda t, y: y["warm"] - p[0], lambda t, y: y | {"on": 1.0}, direction=-1, keep=9),
        Event(lambda t, y: y["warm"] - p[1], lambda t, y: y | {"on": 0.0}, direction=1, keep=9),
    ]
    slope = lambda t, y: {"warm": p[2] * y["on"] - 0.1 * (y["warm"] - 5), "on": 0 * y["on"]}
    y, (on, off) = kg.ode.solve(slope, start, [0.0, 20.0], events=events, **TIGHT)
    warm = y["warm"][1]
    f = kg.compile([p], [on.count, off.count, on.t, off.t, warm, kg.gradients(warm, p)])

    def exact(p):
        """Pieces of exponentials."""
        times, warm, heated = [0.0], 20.0, False
        while True:
            rest, level = 5 + heated * p[2] / 0.1, p[1] if heated else p[0]
            until = times[-1] + np.log((warm - rest) / (level - rest)) / 0.1
            if until > 20:
                return times[1:], rest + (warm - rest) * np.exp(-0.1 * (20 - times[-1]))
            times.append(until)
            warm, heated = level, not heated

    at = np.array([18.0, 21.0, 3.0])
    times, last = exact(at)
    count_on, count_off, on, off, warm, gradient = f(at)
    assert count_on + count_off == len(times) > 4
    np.testing.assert_allclose(np.sort([*on, *off])[: len(times)], times, rtol=1e-8)
    assert warm == pytest.approx(last, rel=1e-8)
    np.testing.assert_allclose(gradient, differences(lambda p: exact(p)[1], at), rtol=1e-5)


# Which changes of the sign there are.


def test_directions():
    """All zeros of a sine, those where it grows, and those where it falls; against SciPy."""
    g = lambda t, y: y[0] - 0.3
    events = [Event(g, direction=d, terminal=False, keep=6) for d in (0, 1, -1)]
    slope = lambda t, y: [y[1], -y[0]]
    y, found = kg.ode.solve(slope, np.array([0.0, 1.0]), [0, 5, 12.0], events=events, **TIGHT)
    values, *found = kg.compile([], [y[:, 0], *(part for e in found for part in (e.count, e.t))])()
    np.testing.assert_allclose(values, np.sin([0, 5, 12.0]), atol=1e-8)
    gs = [lambda t, y, d=d: g(t, y) for d in (0, 1, -1)]
    for function, event in zip(gs, events, strict=True):
        function.direction = event.direction
    run = solve_ivp(slope, (0, 12), [0.0, 1.0], events=gs, rtol=1e-10, atol=1e-12)
    for count, times, expected in zip(found[::2], found[1::2], run.t_events, strict=True):
        assert count == len(expected)
        np.testing.assert_allclose(times, [*expected, *[np.inf] * (6 - count)], rtol=1e-8)


@pytest.mark.slow
def test_back_in_time():
    """The direction is that of the way: back from 0 a sine falls first."""
    p = kg.placeholder(name="p")
    events = [Event(lambda t, y: y[0] - p, direction=d, terminal=False) for d in (1, -1)]
    end = lambda t, y: t + 5.5
    slope = lambda t, y: [y[1], -y[0]]
    y, (up, down, end) = kg.ode.solve(
        slope, np.array([0.0, 1.0]), [0, -5, -6.0], events=[*events, end], **TIGHT
    )
    never = Event(lambda t, y: y[0] - 2.0)
    _, none = kg.ode.solve(slope, np.array([0.0, 1.0]), [0, -1.0], events=never)
    ts = [up.t, down.t, end.t, none.t]
    f = kg.compile([p], [y[:, 0], kg.stack(ts), *(kg.gradients(t, p) for t in ts[:3])])
    value, times, *derivatives = f(-0.5)
    np.testing.assert_allclose(value, [0, np.sin(-5.0), np.nan], atol=1e-9)
    np.testing.assert_allclose(times, [-5 * np.pi / 6, -np.pi / 6, -5.5, -np.inf], rtol=1e-8)
    expected = 1 / np.cos([-5 * np.pi / 6, -np.pi / 6])
    np.testing.assert_allclose(derivatives, [*expected, 0], rtol=1e-7)


@pytest.mark.slow
def test_several_changes_in_a_step():
    """The steps of a straight line are as long as they may be."""
    x = kg.placeholder((3,), name="x")
    events = [Event(lambda t, y, i=i: y - x[i], lambda t, y, i=i: y + i) for i in range(3)]
    y, found = kg.ode.solve(lambda t, y: 1.0 + 0 * y, 0.0, [0, 50, 100], events=events)
    ts = kg.stack([e.t for e in found])
    f = kg.compile([x], [y, ts, kg.gradients(y[1], x), kg.gradients(ts[2], x)])
    value, times, by_value, by_time = f([10.0, 11.0, 12.5])
    # At 11 it is 12 at once.
    np.testing.assert_allclose(times, [10.0, 11.0, 11.5], rtol=1e-7)
    np.testing.assert_allclose(value, [0, 53, 103], rtol=1e-7)
    np.testing.assert_allclose(by_value, 0, atol=1e-7)
    np.testing.assert_allclose(by_time, [0, 0, 1], atol=1e-7)
    # Carried over the level of another one, which moves with it.
    value, times, _, by_time = f([10.0, 11.0, 11.5])
    np.testing.assert_allclose(times, [10.0, 11.0, 11.0], rtol=1e-7)
    np.testing.assert_allclose(value, [0, 53, 103], rtol=1e-7)
    np.testing.assert_allclose(by_time, [0, 1, 0], atol=1e-7)


@pytest.mark.slow
def test_two_balls_at_the_same_time():
    """Each moves with its own height."""
    h = kg.placeholder((2,), name="h")
    bounce = [
        Event(
            lambda t, y, i=i: y[i],
            lambda t, y, i=i: kg.stack([*y[:2], *(y[2:] * [(-0.5, 1), (1, -0.5)][i])]),
            direction=-1,
            keep=2,
        )
        for i in range(2)
    ]
    slope = lambda t, y: kg.concatenate([y[2:], np.full(2, -GRAVITY)])
    y0 = kg.concatenate([h, np.zeros(2)])
    y, balls = kg.ode.solve(slope, y0, [0, 0.9, 1.0], events=bounce)
    second = kg.stack([ball.t[1] for ball in balls])
    by = [kg.gradients(second[i], h) for i in range(2)]
    f = kg.compile([h], [second, y[:, :2], *by, *(kg.gradients(y[2, i], h) for i in range(2))])
    for at in ([1.0, 1.0], [1.0, 1.2]):
        times, values, *derivatives = f(at)
        exact = lambda x: bounced([x, 0.5], np.array([0.0, 0.9, 1.0]))
        np.testing.assert_allclose(times, [exact(x)[0][1] for x in at], rtol=1e-6)
        np.testing.assert_allclose(values, np.stack([exact(x)[1] for x in at], -1), atol=1e-6)
        changes = [(exact(x + 1e-6)[0][1] - exact(x - 1e-6)[0][1]) / 2e-6 for x in at]
        np.testing.assert_allclose(derivatives[:2], np.diag(changes), rtol=1e-5, atol=1e-7)
        changes = [(exact(x + 1e-6)[1][2] - exact(x - 1e-6)[1][2]) / 2e-6 for x in at]
        np.testing.assert_allclose(derivatives[2:], np.diag(changes), rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_beside_doses_and_jumps():
    """A dose over the level, a jump of f at the time of an event, an event at the last time."""
    d, c = kg.placeholder(name="d"), kg.placeholder(name="c")
    slope = lambda t, y: kg.where(t > d, 2.0, 1.0) + 0 * y
    level = Event(lambda t, y: y - c, terminal=False)
    y, level = kg.ode.solve(slope, 0.0, [0, 3, 5.0], doses=[(3.0, 4.0)], events=level)
    f = kg.compile([d, c], [y, level.count, level.t, *kg.gradients(level.t, [d, c])])
    for at, time, by in (
        ((1.0, 0.5), 0.5, (0, 1)),
        ((1.0, 3.0), 2.0, (0.5, 0.5)),
        ((1.0, 6.0), 3.0, (0, 0)),  # the dose is known
        ((1.0, 11.0), 4.0, (0.5, 0.5)),
        ((1.0, 13.0), 5.0, (0.5, 0.5)),
    ):
        value, count, found, *derivatives = f(*at)
        np.testing.assert_allclose(value, [0, 9, 13], rtol=1e-7)
        assert count == 1
        assert found == pytest.approx(time, rel=1e-7)
        np.testing.assert_allclose(derivatives, by, atol=1e-6)
    # At the jump itself the derivative is that of one of its sides.
    value, count, found, *derivatives = f(1.0, 1.0)
    assert (count, found) == (1, pytest.approx(1.0, rel=1e-7))
    np.testing.assert_allclose(value, [0, 9, 13], rtol=1e-7)


def test_what_only_touches():
    """t (t - 1)^2 has a root that is none, and one that is two; neither comes or all is seen."""
    p = kg.placeholder(name="p")
    event = Event(lambda t, y: y - p, terminal=False, keep=3)
    slope = lambda t, y: kg.cos(t) + 0 * y
    _, found = kg.ode.solve(slope, 0.0, [0.0, 3.0], events=event, **TIGHT)
    f = kg.compile([p], [found.count, found.t])
    for above in (1e-3, 1e-6):
        assert f(1 + above)[0] == 0
    for below in (0.1, 1e-1):
        count, times = f(1 - below)
        first = np.arcsin(1 - below)
        assert count == 2
        np.testing.assert_allclose(times, [first, np.pi - first, np.inf], rtol=1e-8)


@pytest.mark.slow
def test_what_is_not_a_number():
    """An event that cannot be told, and one that comes infinitely often, are no numbers."""
    p = kg.placeholder(name="p")
    event = lambda t, y: kg.log(p - y)
    y, end = kg.ode.solve(lambda t, y: 1.0 + 0 * y, 0.0, [0.0, 5.0], events=event)
    f = kg.compile([p], [y, end.t, kg.gradients(end.t, p)])
    value, time, gradient = f(3.0)
    np.testing.assert_allclose([time, gradient], [2, 1], rtol=1e-7)
    value, time, gradient = f(-1.0)
    assert value[0] == 0
    assert np.isnan([value[1], time, gradient]).all()
    event = Event(lambda t, y: y - p, lambda t, y: 0 * y)  # at once again, for p = 0
    y, end = kg.ode.solve(lambda t, y: -1.0 + 0 * y, 1.0, [0.0, 5.0], events=event, max_steps=100)
    f = kg.compile([p], [y, end.t, end.count])
    np.testing.assert_allclose(f(0.5)[0], [1.0, -4.5], rtol=1e-7)
    limited = kg.ode.solve(
        lambda t, y: -kg.sqrt(p - t), 0.0, [0.0, 5.0], events=lambda t, y: y - 1.0, on_limit="error"
    )
    f = kg.compile([p], [limited.y, limited.events.t])
    assert f(6.0)[1] == np.inf
    with pytest.raises(kg.LoopError, match=r"test_events.py:\d+\): the last of the times"):
        f(2.0)
    early = kg.ode.solve(
        lambda t, y: -kg.sqrt(p - t), 0.0, [0.0, 5.0], events=lambda t, y: y + 1.0, on_limit="error"
    )
    assert np.isfinite(kg.compile([p], early.events.t)(2.0))


# Batches, precision, models.


@pytest.mark.slow
def test_in_a_batch():
    def one(k):
        y, end = kg.ode.solve(lambda t, y: -k * y, 2.0, [0.0, 1.0], events=lambda t, y: y - 1.0)
        bounce = Event(lambda t, y: y - 1.0, lambda t, y: y + 1.0)
        again, _ = kg.ode.solve(lambda t, y: -k * y, 2.0, [0.0, 1.0], events=bounce)
        return end.t, y[1], again[1]

    ks = kg.placeholder((4,), name="ks")
    times, values, again = kg.vmap(one)(ks)
    total = kg.where(times < np.inf, times, 0.0).sum()
    f = kg.compile(
        [ks], [times, values, again, kg.gradients(total, ks), kg.gradients(again.sum(), ks)]
    )
    k = np.array([0.5, 0.9, 2.0, 0.1])
    times, values, again, by_times, by_again = f(k)
    exact = np.where(k > np.log(2), np.log(2) / k, np.inf)
    count = np.floor(k / np.log(2))
    np.testing.assert_allclose(times, exact, rtol=1e-5)
    np.testing.assert_allclose(values, np.where(count == 0, 2 * np.exp(-k), np.nan), rtol=1e-5)
    np.testing.assert_allclose(again, 2**count * 2 * np.exp(-k), rtol=1e-5)
    np.testing.assert_allclose(by_times, np.where(count > 0, -np.log(2) / k**2, 0), rtol=1e-4)
    np.testing.assert_allclose(by_again, -(2 ** (count + 1)) * np.exp(-k), rtol=1e-4)


@pytest.mark.slow
def test_float32():
    with kg.precision("float32"):
        k = kg.placeholder(name="k")
        _, end = kg.ode.solve(lambda t, y: -k * y, 2.0, [0.0, 9.0], events=lambda t, y: y - 0.5)
        _, bounces = ball(1.3, 0.8, np.linspace(0, 2.9, 7))
        f = kg.compile([k], [end.t, kg.gradients(end.t, k), bounces.count, bounces.t])
        time, gradient, count, times = f(0.5)
    assert time.dtype == gradient.dtype == np.float32
    assert [time, gradient] == pytest.approx([np.log(4) / 0.5, -np.log(4) / 0.25], rel=2e-3)
    assert count == 4
    np.testing.assert_allclose(times, bounced([1.3, 0.8], np.zeros(1))[0], rtol=2e-3)


@pytest.mark.slow
def test_an_unknown_rate_from_times_to_a_level():
    """The times are those of a closed form, and so is the posterior, by quadrature."""
    levels = np.array([1.5, 1.0, 0.5])
    truth, noise = 0.7, 0.05
    seen = np.log(2 / levels) / truth * np.exp(noise * np.array([0.5, -1.0, 0.8]))
    rate = kg.lognormal(0.0, 1.0)
    ends = [
        kg.ode.solve(lambda t, y: -rate * y, 2.0, [0.0, 50.0], events=lambda t, y, c=c: y - c)[1].t
        for c in levels
    ]
    kg.observe(seen, kg.lognormal(kg.log(kg.stack(ends)), noise))
    tree = kg.mcmc(kg.model(rate), draws=400, warmup=300, chains=2, seed=3, progress=False)
    grid = np.linspace(0.5, 0.95, 20001)
    exact = np.log(2 / levels)[:, None] / grid
    log_posterior = -(np.log(grid) ** 2) / 2 - np.log(grid)
    log_posterior -= ((np.log(seen)[:, None] - np.log(exact)) ** 2).sum(0) / (2 * noise**2)
    weights = np.exp(log_posterior - log_posterior.max())
    mean = (weights * grid).sum() / weights.sum()
    sd = np.sqrt((weights * (grid - mean) ** 2).sum() / weights.sum())
    draws = tree.posterior["rate"].values
    assert draws.mean() == pytest.approx(mean, abs=6 * sd / np.sqrt(100))
    assert draws.std() == pytest.approx(sd, rel=0.35)
    assert tree.sample_stats["diverging"].values.sum() == 0


# Misuse.


def threshold(t, y):
    return y[0] > 1.0


def falling(t, y):
    return y[0] - 1.0


falling.direction = -1


@pytest.mark.parametrize(
    ("events", "kind", "text"),
    [
        (3.0, TypeError, r"events is float \(test_events.py:\d+\); expected kg.ode.Event"),
        ([threshold, "no"], TypeError, r"events\[1\] is str"),
        (threshold, TypeError, r"threshold \(test_events.py:\d+\) returns bool; .*not y > c"),
        (
            falling,
            TypeError,
            r"falling \(.*has an attribute 'direction'; .*Event\(g, direction=-1\)",
        ),
        ([lambda t, y: 1], TypeError, r"g of events\[0\] \(test_events.py:\d+\) returns int"),
        (lambda t, y: y, kg.ShapeError, r"returns shape \(2,\); .*an event for each element"),
        (lambda t, y: None, ValueError, r"g of events\[0\].* must have a return value"),
        (lambda t, y: "no", kg.SymbolicError, r"the result of g of events\[0\]"),
        (Event(lambda t, y: y[0], lambda t, y: y[:1]), kg.ShapeError, r"change \(test_.*\(1,\)"),
        (Event(lambda t, y: y[0], lambda t, y: {}), TypeError, r"change .*returns dict"),
    ],
)
def test_misuse(events, kind, text):
    with pytest.raises(kind, match=text) as caught:
        kg.ode.solve(lambda t, y: -y, np.ones(2), [0.0, 2.0], events=events)
    assert re.search(r"^solve: ", str(caught.value))


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "text"),
    [
        ((None,), {}, TypeError, "g argument required"),
        ((3,), {}, TypeError, "g must be callable, got int"),
        ((lambda t: t,), {}, TypeError, r"g is called with 2 \(t, y\)"),
        ((threshold, 3), {}, TypeError, "change must be callable"),
        ((threshold,), {"direction": 2}, ValueError, "direction is 2"),
        ((threshold,), {"direction": True}, ValueError, "direction is True"),
        ((threshold,), {"direction": np.array([1, -1])}, ValueError, "direction is array"),
        ((threshold,), {"keep": 0}, ValueError, "keep is 0"),
        ((threshold,), {"terminal": "no"}, ValueError, "terminal is 'no'"),
        ((threshold, threshold), {"terminal": True}, ValueError, "has a change"),
    ],
)
def test_misuse_of_an_event(arguments, options, kind, text):
    with pytest.raises(kind, match=text) as caught:
        Event(*arguments, **options)
    assert re.search(r"^Event: .*\(test_events.py:\d+\)", str(caught.value))
