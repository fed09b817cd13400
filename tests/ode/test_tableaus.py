"""The coefficients of explicit pairs: order conditions, and pairs with any number of stages."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.ode.solver import _default_step_limit
from kinetograph.ode.tableaus import TABLEAUS, explicit_pair

# Of each method the order of the solution, and the order of the polynomial inside of a step.
ORDERS = {"tsit5": (5, 4), "dopri5": (5, 4), "bosh3": (3, 3)}

HEUN = explicit_pair(
    "heun", 2, ((1.0,),), (1.0,), lower=(1.0, 0.0), weights=(1 / 2, 1 / 2)
)  # fmt: skip
FEHLBERG = explicit_pair(
    "fehlberg",
    5,
    (
        (1 / 4,),
        (3 / 32, 9 / 32),
        (1932 / 2197, -7200 / 2197, 7296 / 2197),
        (439 / 216, -8.0, 3680 / 513, -845 / 4104),
        (-8 / 27, 2.0, -3544 / 2565, 1859 / 4104, -11 / 40),
    ),
    (1 / 4, 3 / 8, 12 / 13, 1.0, 1 / 2),
    lower=(25 / 216, 0.0, 1408 / 2565, 2197 / 4104, -1 / 5, 0.0),
    weights=(16 / 135, 0.0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55),
)
PAIRS = TABLEAUS | {"heun": HEUN, "fehlberg": FEHLBERG}
ORDERS |= {"heun": (2, 2), "fehlberg": (5, 3)}


def matrix(tableau):
    """The coefficients of all stages; the last row has the weights of the solution."""
    size = len(tableau.a) + 1
    a = np.zeros((size, size))
    for i, row in enumerate(tableau.a):
        a[i + 1, : len(row)] = row
    return a


def conditions(a, order):
    """Vectors v and numbers x: weights b of a method of this order have b v = x."""
    c = a.sum(1)
    by_order = [
        [(np.ones(len(c)), 1)],
        [(c, 1 / 2)],
        [(c**2, 1 / 3), (a @ c, 1 / 6)],
        [(c**3, 1 / 4), (c * (a @ c), 1 / 8), (a @ c**2, 1 / 12), (a @ a @ c, 1 / 24)],
        [
            (c**4, 1 / 5),
            (c**2 * (a @ c), 1 / 10),
            ((a @ c) ** 2, 1 / 20),
            (c * (a @ c**2), 1 / 15),
            (a @ c**3, 1 / 20),
            (c * (a @ a @ c), 1 / 30),
            (a @ (c * (a @ c)), 1 / 40),
            (a @ a @ c**2, 1 / 60),
            (a @ a @ a @ c, 1 / 120),
        ],
    ]
    return [(v, x, n + 1) for n in range(order) for v, x in by_order[n]]


@pytest.mark.parametrize("name", PAIRS)
def test_weights_are_consistent(name):
    """Each row of coefficients sums to its time, and the estimated error of a constant is 0."""
    tableau = PAIRS[name]
    # Terms of up to 100 have a rounding error of 1e-14 each.
    for row, c in zip(tableau.a, tableau.c, strict=True):
        assert sum(row) == pytest.approx(c, abs=1e-12)
    assert sum(tableau.error) == pytest.approx(0.0, abs=1e-12)
    assert len(tableau.error) == len(tableau.a) + 1


@pytest.mark.parametrize("name", PAIRS)
def test_order_conditions(name):
    """All conditions of the pair's orders: 17 for order 5, 8 for 4, 4 for 3, 2 for 2."""
    tableau, (order, _) = PAIRS[name], ORDERS[name]
    a = matrix(tableau)
    b = a[-1]
    lower = b - np.array(tableau.error)
    # Sums of seven terms of up to 100, rounded in any order, are right to 1e-13.
    for vector, value, _ in conditions(a, order):
        assert b @ vector == pytest.approx(value, abs=1e-12)
    for vector, value, _ in conditions(a, tableau.order - 1):
        assert lower @ vector == pytest.approx(value, abs=1e-12)
    missed = [abs(lower @ v - x) for v, x, _ in conditions(a, tableau.order)]
    assert max(missed) > 1e-4  # or the error would be estimated as too small


@pytest.mark.parametrize("name", PAIRS)
def test_order_conditions_inside_of_a_step(name):
    """All conditions of the polynomial's order, anywhere; the values and slopes of the ends."""
    tableau, (_, order) = PAIRS[name], ORDERS[name]
    a, q = matrix(tableau), np.array(tableau.bends)
    for x in (0.1, 0.5, 0.8):
        b = x * a[-1] + x * (1 - x) * sum(x**i * row for i, row in enumerate(q))
        for vector, value, n in conditions(a, order):
            assert b @ vector == pytest.approx(value * x**n, abs=1e-12)
    first, *_, last = np.eye(len(a))
    np.testing.assert_allclose(a[-1] + q[0], first, atol=1e-12)
    np.testing.assert_allclose(a[-1] - q.sum(0), last, atol=1e-12)


@pytest.mark.parametrize("name", ["bosh3", "heun", "fehlberg"])
def test_a_pair_with_any_number_of_stages(monkeypatch, name):
    """Values between the ends of steps, and a derivative by the rate."""
    monkeypatch.setitem(TABLEAUS, name, PAIRS[name])
    rate = kg.placeholder(name="rate")
    ts = np.linspace(0, 3, 7)
    y = kg.ode.solve(lambda t, y: -rate * y, 2.0, ts, method=name, rtol=1e-5, atol=1e-8)
    value, slope = kg.compile([rate], [y, kg.gradients(y[-1], rate)])(0.7)
    np.testing.assert_allclose(value, 2 * np.exp(-0.7 * ts), rtol=3e-4)
    assert slope == pytest.approx(-6 * np.exp(-2.1), rel=1e-3)


def test_a_dose_and_an_event_by_a_method_of_order_3():
    at = kg.placeholder(name="at")
    half = kg.ode.Event(lambda t, y: y - 0.5)
    options = {"method": "bosh3", "rtol": 1e-7, "atol": 1e-9}
    y, end = kg.ode.solve(
        lambda t, y: -y, 1.0, [0.0, 1.0, 9.0], doses=[(at, 1.0)], events=half, **options
    )
    f = kg.compile([at], [y, end.t, kg.gradients(end.t, at)])
    value, time, slope = f(0.5)  # y = exp(-t) + exp(0.5 - t) from the dose on
    total = 1 + np.exp(0.5)
    np.testing.assert_allclose(value[:2], [1.0, total * np.exp(-1)], rtol=1e-6)
    assert time == pytest.approx(np.log(2 * total), rel=1e-6)
    assert slope == pytest.approx(np.exp(0.5) / total, rel=1e-5)


@pytest.mark.parametrize(("name", "ratio"), [("tsit5", 4.0), ("bosh3", 10.0)])
def test_steps_follow_the_order(name, ratio):
    """For a thousandth of the tolerance there are 1000^(1 / order) times as many steps."""
    counts = []
    for rtol in (1e-5, 1e-8):
        y = kg.ode.solve(
            lambda t, y: kg.cos(t) * y, 1.0, [0.0, 10.0], method=name, rtol=rtol, atol=1e-12
        )
        f = kg.compile([], y)
        assert f()[1] == pytest.approx(np.exp(np.sin(10.0)), rel=100 * rtol)
        counts.append(kg.explain(f)["steps"].most_trips)
    assert ratio / 1.4 < counts[1] / counts[0] < ratio * 1.4


def test_the_default_number_of_steps_follows_the_order():
    assert [_default_step_limit(5, rtol) for rtol in (1e-3, 1e-6)] == [1000, 1000]
    assert _default_step_limit(5, 1e-11) == pytest.approx(10_000, abs=1)
    assert [_default_step_limit(3, rtol) for rtol in (1e-3, 1e-6)] == [1000, 6310]


def test_a_tableau_is_a_method():
    for method, tolerance in ((kg.ode.TSIT5, 1e-5), (FEHLBERG, 1e-5), (HEUN, 3e-3)):
        y = kg.ode.solve(lambda t, y: -y, 1.0, [0.0, 0.5, 1.0], method=method, rtol=1e-5)
        values = kg.compile([], y)()
        assert np.allclose(values, np.exp([0.0, -0.5, -1.0]), atol=tolerance, rtol=0)
    named = kg.ode.solve(lambda t, y: -y, 1.0, [0.0, 0.5, 1.0], method="tsit5", rtol=1e-5)
    given = kg.ode.solve(lambda t, y: -y, 1.0, [0.0, 0.5, 1.0], method=kg.ode.TSIT5, rtol=1e-5)
    assert np.array_equal(kg.compile([], named)(), kg.compile([], given)())
