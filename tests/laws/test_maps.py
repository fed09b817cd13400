"""Maps of phase space: right integrators pass, and each fault is found by its own test."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph import laws


def gradient(q):
    """Of sum q^4 / 4 + (q_1 q_2)^2 / 2 and so on around the ring: coupled, and not harmonic."""
    return q**3 + q * (q[..., [1, 2, 3, 0]] ** 2 + q[..., [3, 0, 1, 2]] ** 2)


def energy(q, p):
    return (0.5 * p**2 + 0.25 * q**4 + 0.5 * (q * q[..., [1, 2, 3, 0]]) ** 2).sum(-1)


def leapfrog(q, p, h=0.1, steps=8, lost=0.0):
    for _ in range(steps):
        p = p - 0.5 * h * gradient(q)
        q = q + h * p
        p = p - 0.5 * h * gradient(q)
        p = (1 - lost) * p
    return q, p


def symplectic_euler(q, p, h=0.1, steps=8):
    for _ in range(steps):
        p = p - h * gradient(q)
        q = q + h * p
    return q, p


def euler(q, p, h=0.1, steps=8):
    for _ in range(steps):
        q, p = q + h * p, p - h * gradient(q)
    return q, p


def heun(q, p, h=0.1, steps=8):
    for _ in range(steps):
        x, y = q + h * p, p - h * gradient(q)
        q, p = q + h / 2 * (p + y), p - h / 2 * (gradient(q) + gradient(x))
    return q, p


Q, P = np.random.default_rng(3).normal(size=(2, 4))


@pytest.mark.parametrize(
    ("map", "reversible", "keeps_volume"),
    [
        (leapfrog, True, True),
        (symplectic_euler, False, True),
        (euler, False, False),
        (heun, False, False),
        (lambda q, p: leapfrog(q, p, lost=1e-6), False, False),
    ],
)
def test_reversibility_and_volume(map, reversible, keeps_volume):
    assert laws.reversibility(map, Q, P).passed() is reversible
    assert laws.volume(map, Q, P).passed() is keeps_volume


def test_volume_is_measured_at_the_given_position():
    """The volume element of this map is 1 + 0.03 q**2, whatever p is."""
    assert not laws.volume(euler_cubic, [1.0, 0.5], [0.0, 0.0]).passed()
    assert laws.volume(euler_cubic, [0.0, 0.0], [1.0, 0.5]).passed()


def euler_cubic(q, p):
    return q + 0.1 * p, p - 0.1 * q**3


def test_a_step_on_kinetographs_arrays():
    def step(q, p):
        p = p - 0.05 * q**3
        q = q + 0.1 * p
        return q, p - 0.05 * q**3

    compiled = kg.function(step)
    assert laws.reversibility(compiled, Q, P).passed()
    assert laws.volume(compiled, Q, P).passed()


def test_single_precision():
    q, p = Q.astype(np.float32), P.astype(np.float32)
    test = laws.reversibility(leapfrog, q, p)
    assert test.tolerance == 1e-4
    assert test.passed()
    assert not test.passed(1e-10)
    assert laws.volume(leapfrog, q, p).passed()
    assert not laws.volume(euler, q, p).passed()


def test_maps_that_leave_the_numbers_fail():
    broken = lambda q, p: (q * np.nan, p)
    assert not laws.reversibility(broken, Q, P).passed()
    assert not laws.volume(broken, Q, P).passed()
    with pytest.raises(ValueError, match=r"q has the shape \(4,\) and p \(3,\)"):
        laws.reversibility(leapfrog, Q, P[:3])
    with pytest.raises(ValueError, match="turns"):
        laws.reversibility(lambda q, p: (q[:2], p[:2]), Q, P)


STEPS = [0.05, 0.1, 0.2]


@pytest.fixture(scope="module")
def equilibrium():
    """Independent points of a pendulum's law exp(-p^2/2 + cos q)."""
    rng = np.random.default_rng(5)
    return rng.vonmises(0, 1, 20_000), rng.normal(size=20_000)


def pendulum(q, p):
    return 0.5 * p**2 - np.cos(q)


def swing(q, p, h, kick=np.sin, end=0.5):
    for _ in range(round(2.0 / h)):
        p = p - 0.5 * h * kick(q)
        q = q + h * p
        p = p - end * h * kick(q)
    return q, p


def test_energy_errors_of_leapfrog(equilibrium):
    found = laws.energy_order(swing, pendulum, *equilibrium, STEPS)
    assert found.passed()
    assert found.trajectory.slope == pytest.approx(2, abs=0.05)
    assert found.mean.slope == pytest.approx(4, abs=0.1)


def test_energy_errors_of_wrong_integrators(equilibrium):
    q, p = equilibrium

    def first_order(q, p, h):  # symplectic Euler: volume is kept, the order is 1
        for _ in range(round(2.0 / h)):
            p = p - h * np.sin(q)
            q = q + h * p
        return q, p

    one = laws.energy_order(first_order, pendulum, q, p, STEPS)
    assert not one.passed()
    assert one.trajectory.slope == pytest.approx(1, abs=0.1)
    with_friction = laws.energy_order(
        lambda q, p, h: (swing(q, p, h)[0], 0.99 * swing(q, p, h)[1]), pendulum, q, p, STEPS
    )
    assert not with_friction.passed()
    assert not any(test.passed() for test in with_friction.exponential)
    wrong_kick = laws.energy_order(lambda q, p, h: swing(q, p, h, end=0.45), pendulum, q, p, STEPS)
    assert not wrong_kick.passed()
    with pytest.raises(ValueError, match="have energies of the shape"):
        laws.energy_order(swing, lambda q, p: 1.0, q, p, STEPS)
