"""Ladders of parallel tempering, round trips, and evidence from rungs."""

import numpy as np
import pytest

from kinetograph.tempering.barrier import (
    barrier_between,
    barrier_of_rejections,
    ladder_of,
    local_barrier,
    round_trip_rate,
)
from kinetograph.tempering.evidence import stepping_stones, thermodynamic


def test_local_barrier_is_half_the_mean_difference():
    values = np.random.default_rng(1).normal(size=50)
    pairs = np.abs(values[:, None] - values)
    assert local_barrier(values) == pytest.approx(pairs.sum() / (50 * 49) / 2)
    assert local_barrier(np.array([1.0])) == 0.0


def test_weighted_local_barrier():
    """A value of weight 2 stands for two equal values."""
    values, weights = np.array([3.0, -1.0, 0.5, -np.inf]), np.array([2.0, 1, 1, 5])
    repeated = np.array([3.0, 3.0, -1.0, 0.5])
    pairs = np.abs(repeated[:, None] - repeated).sum() / 16 / 2
    expected = pairs / (1 - (0.5**2 + 2 * 0.25**2))
    assert local_barrier(values, weights) == pytest.approx(expected)


def test_barrier_between_powers_of_a_known_family():
    """lambda(b) = 0.75 / (0.2 + b) if -log L is gamma(2, 0.2 + b)."""
    drawn = gamma_rungs(np.random.default_rng(3), np.array([0.0, 0.1]))[..., 1].ravel()
    expected = 0.75 * np.log(0.5 / 0.3)
    assert barrier_between(drawn, 0.1, 0.3) == pytest.approx(expected, rel=0.03)
    # Control: lambda at the lower end alone is another value.
    assert local_barrier(drawn) * 0.2 > 1.2 * expected


def test_barrier_of_a_log_likelihood_without_a_mean():
    """log L = -1 / (2 s^2) and a half-normal s: E_0 [log L] is infinite, Lambda is not."""
    s = np.geomspace(1e-3, 10, 1500)
    values = -0.5 / s**2
    local, powers = [], 0.2 * np.linspace(0.01, 1, 100) ** 2
    for power in powers:
        log_density = -0.5 * s**2 + power * values + np.log(s)
        shares = np.exp(log_density - log_density.max())
        shares /= shares.sum()
        local.append(shares @ np.abs(values[:, None] - values) @ shares / 2)
    expected = np.trapezoid(local, powers)
    drawn = -0.5 / np.random.default_rng(4).normal(size=20_000) ** 2
    assert barrier_between(drawn, 0.0, 0.2) == pytest.approx(expected, rel=0.1)
    # Control: lambda at the prior itself gives a ladder of any size.
    assert local_barrier(drawn) * 0.2 > 100 * expected


def test_ladder_of_equal_steps():
    powers = np.linspace(0, 1, 200)
    ladder = ladder_of(powers, np.sqrt(powers), 6)  # Lambda(b) = sqrt(b)
    np.testing.assert_allclose(ladder, (np.arange(6) / 5) ** 2, atol=1e-3)
    np.testing.assert_array_equal(ladder_of(powers, np.zeros(200), 3), [0, 0.5, 1])
    flat = ladder_of(np.array([0, 0.5, 1]), np.array([0, 1, 1.0]), 4)
    assert (np.diff(flat) > 0).all()


def test_round_trip_rate():
    assert round_trip_rate(np.zeros(5)) == 0.5
    assert round_trip_rate(np.full(3, 0.5)) == pytest.approx(1 / 8)
    assert round_trip_rate(np.array([0.2, 1.0])) == 0.0
    np.testing.assert_allclose(barrier_of_rejections([0.1, 0.2]), [0, 0.1, 0.3])


def gamma_rungs(rng, powers, chains=4, scans=2000):
    """-log L of a d-dimensional normal at power b is gamma(d / 2, 1 / b); Z = b^(-d/2)."""
    shape = (chains, scans, len(powers))
    return -rng.gamma(2.0, 1.0, shape) / (0.2 + powers)


def test_evidence_of_a_known_family():
    """p(l) proportional to l exp(-0.2 l) and L = exp(-l): Z(b) = (0.2 / (0.2 + b))^2."""
    powers = np.linspace(0, 1, 12) ** 2
    truth = 2 * np.log(0.2 / 1.2)
    errors, stated = [], []
    for seed in range(40):
        rungs = gamma_rungs(np.random.default_rng(seed), powers)
        evidence = stepping_stones(rungs, powers)
        errors.append(evidence.value - truth)
        stated.append(evidence.error)
        assert thermodynamic(rungs, powers) == pytest.approx(truth, abs=0.05)
    assert abs(np.mean(errors)) < 6 * np.mean(stated) / np.sqrt(40)
    assert 0.4 < np.std(errors) / np.mean(stated) < 1.8
    # Control: without the power of a rung the evidence is wrong.
    assert abs(stepping_stones(rungs[..., 1:], powers[1:]).value - truth) > 6 * np.mean(stated)


def test_thermodynamic_integral_of_few_rungs():
    """Trapezoids without the correction by variances are wrong by 0.08 on average."""
    powers = np.array([0, 0.02, 0.1, 0.4, 1.0])
    rngs = [np.random.default_rng(seed) for seed in range(8)]
    each = [thermodynamic(gamma_rungs(rng, powers, scans=10_000), powers) for rng in rngs]
    assert np.mean(each) == pytest.approx(2 * np.log(0.2 / 1.2), abs=0.03)


def test_error_counts_autocorrelation():
    rng = np.random.default_rng(5)
    powers = np.linspace(0, 1, 12) ** 2
    rungs = gamma_rungs(rng, powers, scans=500)
    slow = np.repeat(rungs, 8, axis=1)
    one, repeated = stepping_stones(rungs, powers), stepping_stones(slow, powers)
    assert repeated.value == pytest.approx(one.value)
    assert repeated.error == pytest.approx(one.error, rel=0.3)


def test_errors_of_a_single_chain_are_not_small_by_chance():
    """The mean of 4 parts alone would give errors of any size."""
    powers = np.linspace(0, 1, 12) ** 2
    long = gamma_rungs(np.random.default_rng(7), powers, chains=1, scans=200_000)
    usual = stepping_stones(long, powers).error * np.sqrt(200_000 / 250)
    for seed in range(40):
        rungs = gamma_rungs(np.random.default_rng(seed), powers, chains=1, scans=250)
        slow = np.repeat(rungs, 8, axis=1)
        assert stepping_stones(slow, powers).error > 0.6 * usual


def test_infinite_likelihoods():
    powers = np.array([0.0, 0.5, 1.0])
    rungs = gamma_rungs(np.random.default_rng(6), powers)
    rungs[:, ::2, 0] = -np.inf
    evidence = stepping_stones(rungs, powers)
    assert np.isfinite(evidence.value)
    assert np.isfinite(evidence.error)
    exact = gamma_rungs(np.random.default_rng(6), powers)
    integral = thermodynamic(exact, powers)
    # The interval at the prior is the stepping stone: half of the values are impossible.
    assert thermodynamic(rungs, powers) == pytest.approx(integral - np.log(2), abs=0.05)
    rungs[0, 0, 1] = -np.inf
    assert np.isnan(thermodynamic(rungs, powers))


def test_thermodynamic_integral_without_a_mean_at_the_prior():
    """L = s^-1 exp(-1 / (2 s^2)), s half-normal: draws by resampling of many."""
    rng, powers = np.random.default_rng(8), np.array([0, 0.01, 0.05, 0.2, 0.5, 1.0])
    s = np.abs(rng.normal(size=400_000))
    values = -0.5 / s**2 - np.log(s)
    columns = []
    for power in powers:
        shares = np.exp(power * values - (power * values).max())
        columns.append(rng.choice(values, 8000, p=shares / shares.sum()))
    rungs = np.stack(columns, -1).reshape(4, 2000, -1)
    assert thermodynamic(rungs, powers) == pytest.approx(np.log(np.exp(values).mean()), abs=0.05)
