"""Walls and tethers: closed forms, moments of the truncated target, the oscillator."""

import numpy as np
import pytest
from scipy import integrate

import kinetograph as kg

X = np.array([-3.0, -0.4, 0.0, 0.2, 0.5, 0.7, 1.0, 1.3, 1.9, 2.0, 2.4])


def wall(d, w, a, n):
    base = np.maximum(1 - d / w, 0)
    return a * w / (n + 1) * base ** (n + 1), a * np.where(d < w, base**n, 0)


def test_they_are_their_formulas_and_the_force_is_minus_the_gradient():
    x, powers = kg.variable(shape=X.size, name="x"), [0.0, 0.5, 1.0, 2.0, 3.0]
    walls = [kg.wall(x, 0.0, 2.0, width=0.5, factor=7.0, power=n) for n in powers]
    tethers = [kg.tether(x, 0.7, factor=7.0, power=n) for n in powers]
    terms = [*walls, *tethers]
    found = kg.compile([x], [*terms, *(kg.gradients(t.sum(), x) for t in terms)])(X)
    model = kg.model(x)  # all of them at once
    np.testing.assert_allclose(model.log_prob(X), np.sum(found[:10]), rtol=1e-13)
    np.testing.assert_allclose(model.gradient(X), np.sum(found[10:], axis=0), rtol=1e-13)
    for i, n in enumerate(powers):
        v_low, f_low = wall(X, 0.5, 7.0, n)
        v_high, f_high = wall(2.0 - X, 0.5, 7.0, n)
        np.testing.assert_allclose(found[i], -(v_low + v_high), rtol=1e-13)
        np.testing.assert_allclose(found[10 + i], f_low - f_high, rtol=1e-13, atol=1e-13)
        d = X - 0.7
        v, f = 7.0 * np.abs(d) ** (n + 1) / (n + 1), 7.0 * np.sign(d) * np.abs(d) ** n
        np.testing.assert_allclose(found[5 + i], -v, rtol=1e-13)
        np.testing.assert_allclose(found[15 + i], -f, rtol=1e-13, atol=1e-13)


def test_a_wall_begins_without_a_jump_at_its_width():
    x = kg.variable(shape=3, name="x")
    value = kg.compile([x], kg.wall(x, 1.0, width=0.25, factor=[3.0, 5.0, 7.0], power=[0, 1, 2]))
    at, beyond = value(np.full(3, np.nextafter(1.25, 0))), value(np.full(3, 1.25))
    np.testing.assert_allclose(at, beyond, atol=1e-14)
    np.testing.assert_array_equal(beyond, 0.0)


def test_default_widths():
    lower = [2.0, 0.0, -2.0, 0.0, -np.inf, -np.inf]
    upper = [6.0, 1.0, np.inf, np.inf, 5.0, np.inf]
    begins = np.array([2.04, 0.01, -1.98, 0.01, 4.95, 0.0])
    inwards = np.array([1, 1, 1, 1, -1, 1])
    x = kg.variable(shape=6, name="x")
    term = kg.wall(x, lower, upper)
    slope = kg.compile([x], kg.gradients(term.sum(), x))
    assert (slope(begins + 1e-9 * inwards) == 0).all()
    forces = slope(begins - 1e-9 * inwards)
    assert (forces[:5] * inwards[:5] > 0).all()
    assert forces[5] == 0  # open
    single = kg.compile([x], [kg.wall(x, lower=-2.0), kg.wall(x, upper=0.0)])
    for value, at in zip(single(np.array([-1.98, -0.01] * 3)), (0, 1)):
        assert value[at] == pytest.approx(0, abs=1e-15)
    below, above = single(np.array([-1.99, -0.005] * 3))
    assert below[0] < 0
    assert above[1] < 0


def test_the_width_of_bounds_that_are_unknown():
    x, top = kg.normal(0, 1, name="x"), kg.normal(3, 1, name="top")
    term = kg.wall(x, upper=top, factor=2.0)
    model = kg.model(x, top)
    v, f = wall(3.0 - 2.99, 0.03, 2.0, 1.0)
    np.testing.assert_allclose(kg.compile([x, top], term)(2.99, 3.0), -v, rtol=1e-12)
    np.testing.assert_allclose(model.gradient([2.99, 3.0])[0], -2.99 - f, rtol=1e-12)


def test_the_curvature_of_a_spring_in_its_middle():
    x = kg.variable(shape=2, name="x")
    kg.tether(x, [1.0, 2.0], factor=5.0)
    np.testing.assert_allclose(kg.model(x).hessian([1.0, 2.0]), -5.0 * np.eye(2))


def test_a_spring_is_the_oscillator_of_its_stiffness():
    q, r = kg.variable(name="q", shape=4), kg.variable(name="q", shape=4)
    kg.tether(q, factor=2.5)
    models = kg.model(q), kg.model(r, factors=[-0.5 * 2.5 * kg.sum(r * r)])
    points = np.random.default_rng(1).normal(size=(50, 4))
    np.testing.assert_allclose(*[m.log_prob(points) for m in models], rtol=1e-12)
    np.testing.assert_allclose(*[m.gradient(points) for m in models], rtol=1e-12)


def test_leapfrog_steps_keep_the_energy_to_second_order_at_a_wall():
    x = kg.normal(0, 1, name="x")
    kg.wall(x, lower=0.0, width=0.5, factor=50.0, power=3)
    model = kg.model(x)
    errors, steps = [], np.array([0.02, 0.01, 0.005, 0.0025])
    for h in steps:
        q, p = np.array([1.0]), np.array([-1.0])
        energy = [0.5 * p @ p - model.log_prob(q)]
        for _ in range(round(2.0 / h)):
            p = p + 0.5 * h * model.gradient(q)
            q = q + h * p
            p = p + 0.5 * h * model.gradient(q)
            energy.append(0.5 * p @ p - model.log_prob(q))
        errors.append(np.ptp(energy))
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - 2) < 0.1


@pytest.mark.slow
def test_moments_and_equipartition_with_walls_and_tethers():
    x, y = kg.normal(0, 1, name="x"), kg.variable(name="y")
    kg.wall(x, lower=0.0, width=0.5, factor=20.0, power=2)
    kg.tether(y, 1.0, factor=4.0, power=3)
    kg.wall(y, 0.0, 1.5, width=0.3, factor=30.0)
    model = kg.model(x, y)

    def density(x, y):
        v = 0.5 * x * x + wall(x, 0.5, 20.0, 2)[0] + np.abs(y - 1) ** 4
        return np.exp(-(v + wall(y, 0.3, 30.0, 1)[0] + wall(1.5 - y, 0.3, 30.0, 1)[0]))

    def moment(f, one):
        total = [
            integrate.quad(lambda t: g(t) * one(t), -3, 8, limit=200)[0] for g in (f, np.ones_like)
        ]
        return total[0] / total[1]

    expected = {
        "mean_x": moment(lambda t: t, lambda t: density(t, 1.0)),
        "square_x": moment(lambda t: t * t, lambda t: density(t, 1.0)),
        "square_y": moment(lambda t: t * t, lambda t: density(0.5, t)),
        "virial": 1.0,  # N / 2, which includes the force of the walls
    }
    observe = kg.observables.observable
    tree = kg.mcmc(
        model, kg.samplers.HMC(step_size=0.15, n_steps=8, tune=()), draws=2000, warmup=100,
        chains=24, seed=5, keep=False, progress=False, initial={"x": 1.0, "y": 1.0},
        averages=[
            observe(lambda step: step.parts["x"], "mean_x"),
            observe(lambda step: step.parts["x"] ** 2, "square_x"),
            observe(lambda step: step.parts["y"] ** 2, "square_y"),
            kg.observables.virial,
        ],
    )  # fmt: skip
    for name, wanted in expected.items():
        found = tree["averages/mean"][name].values
        # 24 independent chains exceed 7 standard errors with probability 4e-7.
        assert abs(found.mean() - wanted) < 7 * found.std(ddof=1) / np.sqrt(24), name


def test_what_is_refused():
    d = kg.data([1.0], name="d")
    x = kg.normal(0, 1, shape=3, name="x")
    for error, text, make in [
        (ValueError, "wall: give lower=, upper= or both", lambda: kg.wall(x)),
        (ValueError, "wall: lower must be below upper", lambda: kg.wall(x, 1.0, [2.0, 1.0, 3.0])),
        (ValueError, "wall: width must be positive", lambda: kg.wall(x, 1.0, width=0.0)),
        (ValueError, "wall: factor must be positive", lambda: kg.wall(x, 1.0, factor=-1.0)),
        (ValueError, "wall: power must be at least 0", lambda: kg.wall(x, 1.0, power=-0.5)),
        (ValueError, "wall: lower is NaN", lambda: kg.wall(x, np.nan)),
        (
            kg.ShapeError,
            r"wall: upper of shape \(2,\) does not fit x",
            lambda: kg.wall(x, 0, [1, 2]),
        ),
        (TypeError, "wall: width must be numbers", lambda: kg.wall(x, 0.0, width="wide")),
        (TypeError, "wall: x must be an unknown.* got the number 1.0", lambda: kg.wall(1.0, 0.0)),
        (
            kg.ModelError,
            "wall: d depends on no unknown",
            lambda: kg.wall(d, 0),
        ),
        (ValueError, "tether: factor must be positive", lambda: kg.tether(x, factor=0)),
        (ValueError, "tether: center must be finite", lambda: kg.tether(x, np.inf)),
        (ValueError, "tether: power must be at least 0", lambda: kg.tether(x, power=-1)),
        (kg.ShapeError, r"tether: center of shape \(2,\)", lambda: kg.tether(x, [1.0, 2.0])),
        (TypeError, "tether: x must be an unknown", lambda: kg.tether([1.0])),
    ]:
        with pytest.raises(error, match=text):
            make()
    assert kg.model(x).log_prob(np.zeros(3)) == pytest.approx(-1.5 * np.log(2 * np.pi))
