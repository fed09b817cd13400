"""Integrators on the oscillator: published values, and leapfrog itself in NumPy."""

import math

import numpy as np
import pytest

from kinetograph import laws

LEAPFROG = (0.5, 1.0, 0.5)


def two_stage(b):
    return (b, 0.5, 1 - 2 * b, 0.5, b)


B1, A1 = 0.11888010966548, 0.29619504261126
BCSS3 = (B1, A1, 0.5 - B1, 1 - 2 * A1, 0.5 - B1, A1, B1)
# Coefficients, gradients a step, limit of stability, rho at 1/4, 1/2, 3/4 and 1 per gradient.
TABLE = {
    "leapfrog": (LEAPFROG, 1, 2.0, (1.24e-4, 2.08e-3, 1.15e-2, 4.17e-2)),
    "minimum norm": (two_stage(0.1931833275037836), 2, 2.55, (3.5e-8, 7.4e-6, 6.2e-4, 1.85e-2)),
    "BCSS 2": (two_stage(0.21178), 2, 2.63, (1.5e-5, 1.9e-4, 3.9e-4, 4.0e-4)),
    "BCSS 3": (BCSS3, 3, 4.66, (3.7e-6, 4.1e-5, 6.9e-5, 7.4e-5)),
}


@pytest.mark.parametrize("name", TABLE)
def test_published_integrators(name):
    coefficients, stages, limit, errors = TABLE[name]
    assert laws.stability_limit(coefficients) == pytest.approx(limit, abs=0.005)
    for s, error in zip((0.25, 0.5, 0.75, 1.0), errors, strict=True):
        got = laws.largest_energy_error(s * stages, coefficients)
        assert got == pytest.approx(error, rel=0.03)
    assert laws.largest_energy_error(1.01 * limit, coefficients) == math.inf


@pytest.mark.parametrize(
    ("h", "steps", "mean", "acceptance"),
    [(0.8, 3, 0.0059132, 0.965418), (1.2, 5, 0.0023160, 0.978344), (1.6, 2, 0.1644168, 0.822237)],
)
def test_published_acceptance(h, steps, mean, acceptance):
    law = laws.hmc_oscillator(h, steps)
    assert law.mean_energy_error == pytest.approx(mean, abs=1e-7)
    assert law.acceptance == pytest.approx(acceptance, abs=6e-7)
    k, m = 2.3, 0.7
    scaled = laws.hmc_oscillator(h * math.sqrt(m / k), steps, stiffness=k, mass=m)
    assert scaled.acceptance == pytest.approx(law.acceptance)
    x = h * h / 4
    assert law.angle == pytest.approx(math.acos(1 - h * h / 2))
    zeta = math.sqrt(1 - x)
    assert mean == pytest.approx(
        0.5 * math.sin(steps * law.angle) ** 2 * (zeta - 1 / zeta) ** 2, rel=1e-4
    )


def composed(q, p, h, steps, k, m, coefficients):
    for _ in range(steps):
        for i, c in enumerate(coefficients):
            if i % 2 == 0:
                p = p - c * h * k * q
            else:
                q = q + c * h * p / m
    return q, p


def test_energy_errors_of_trajectories_at_equilibrium():
    k, m, beta, h, steps = 2.0, 1.5, 1.3, 1.4, 3
    rng = np.random.default_rng(2)
    q = rng.normal(size=(50, 400)) / math.sqrt(beta * k)
    p = rng.normal(size=(50, 400)) * math.sqrt(m / beta)
    energy = lambda q, p: p**2 / (2 * m) + k * q**2 / 2
    for coefficients in (LEAPFROG, two_stage(0.1931833275037836), BCSS3):
        law = laws.hmc_oscillator(h, steps, stiffness=k, mass=m, coefficients=coefficients)
        change = beta * (energy(*composed(q, p, h, steps, k, m, coefficients)) - energy(q, p))
        mean = law.mean_energy_error
        assert laws.mean_test(change, mean).passed()
        assert laws.mean_test((change - mean) ** 2, law.energy_error_variance).passed()
        assert laws.mean_test(np.minimum(1, np.exp(-change)), law.acceptance).passed()
        assert laws.mean_test(np.exp(-change), 1.0).passed()
    # The formula of many dimensions, at one where it is off by less than the error.
    many = beta * (energy(*composed(q, p, h, steps, k, m, LEAPFROG)) - energy(q, p)).sum(0)
    law = laws.hmc_oscillator(h, steps, stiffness=k, mass=m)
    assert np.minimum(1, np.exp(-many)).mean() == pytest.approx(law.acceptance_in(50), abs=0.1)


def test_the_shadow_energy_is_conserved():
    for coefficients in (LEAPFROG, two_stage(0.21178)):
        law = laws.hmc_oscillator(1.1, 1, stiffness=2.0, mass=1.5, coefficients=coefficients)
        q, p = composed(0.7, -0.4, 1.1, 10_000, 2.0, 1.5, coefficients)
        start = law.shadow_energy(0.7, -0.4)
        assert law.shadow_energy(q, p) == pytest.approx(start, rel=1e-10)
    leapfrog = laws.hmc_oscillator(1.1, 1, stiffness=2.0, mass=1.5)
    x = 1.1**2 * 2.0 / 4 / 1.5
    assert leapfrog.shadow_energy(1.0, 0.0) == pytest.approx(1 - x)


@pytest.mark.parametrize(
    "coefficients", [(0.5, 1.0), (0.5, 1.0, 0.4), (0.4, 1.0, 0.4), (0.5, 0.9, 0.5), ()]
)
def test_coefficients_that_are_no_integrator_are_refused(coefficients):
    with pytest.raises(ValueError, match="an integrator must be a palindrome"):
        laws.stability_limit(coefficients)


def test_unstable_steps_are_refused():
    with pytest.raises(ValueError, match=r"it is stable below 1$"):
        laws.hmc_oscillator(1.0, 3, stiffness=4.0)
    with pytest.raises(ValueError, match="must be positive"):
        laws.hmc_oscillator(1.0, 0)
