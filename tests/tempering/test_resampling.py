"""Weights, systematic resampling and the variance of the evidence."""

import numpy as np
import pytest

from kinetograph.tempering.resampling import (
    log_mean,
    next_power,
    systematic,
    variance_of_evidence,
)


def test_next_power_keeps_the_efficiency():
    log_likelihood = np.random.default_rng(1).normal(0, 50, 1000)
    log_likelihood[:100] = -np.inf
    power = next_power(log_likelihood, 0.1, 0.8)
    weights = np.exp((power - 0.1) * (log_likelihood - log_likelihood.max()))
    assert weights.sum() ** 2 / (weights**2).sum() / 900 == pytest.approx(0.8, abs=1e-6)
    assert next_power(np.zeros(10), 0.3, 0.8) == 1.0


def test_systematic_children():
    rng = np.random.default_rng(2)
    log_weights = rng.normal(0, 2, 500)
    weights = np.exp(log_weights) / np.exp(log_weights).sum()
    total = np.zeros(500)
    for _ in range(200):
        parents = systematic(log_weights, rng.random(), np.arange(500)).parents
        assert (np.diff(parents) >= 0).all()
        children = np.bincount(parents, minlength=500)
        assert (np.abs(children - 500 * weights) < 1 + 1e-9).all()
        total += children
    # A number of children has a variance of at most 1/4.
    assert (np.abs(total / 200 - 500 * weights) < 6 * 0.5 / np.sqrt(200)).all()


def test_weights_of_zero_have_no_children():
    log_weights = np.array([-np.inf, 0.0, -np.inf, 0.0, -np.inf])
    for uniform in (0.0, 0.5, 1 - 1e-9, np.nextafter(1.0, 0.0)):
        parents = systematic(log_weights, uniform, np.arange(5)).parents
        assert np.isin(parents, [1, 3]).all()
        assert (parents == 1).sum() in (2, 3)


def test_log_mean():
    assert log_mean(np.array([1000.0, 1000.0])) == 1000.0
    assert log_mean(np.array([-np.inf, np.log(3)])) == pytest.approx(np.log(1.5))


def test_variance_of_plain_importance_sampling():
    rng = np.random.default_rng(3)
    weights = rng.gamma(2.0, size=5000)
    variance = variance_of_evidence(np.arange(5000), np.log(weights), 0.0)
    assert variance == pytest.approx(weights.var() / weights.mean() ** 2 / 5000, rel=1e-9)


def runs(moves, size=200, steps=5, count=1000):
    """Errors of Z, and stated variances, for the prior normal(0, 1) and L = exp(x).

    At the power b the density is normal(b, 1), and Z = exp(1/2). With `moves` the particles are
    new draws at each power, else they stay where they are.
    """
    rng = np.random.default_rng(4)
    errors, variances = [], []
    for _ in range(count):
        x, first, z, noise = rng.normal(size=size), np.arange(size), 0.0, 0.0
        for number in range(1, steps + 1):
            log_weights = x / steps
            z += log_mean(log_weights)
            if number == steps:
                variances.append(variance_of_evidence(first, log_weights, noise))
            parents, added = systematic(log_weights, rng.random(), first)
            x, first, noise = x[parents], first[parents], noise + added
            if moves:
                x = rng.normal(number / steps, 1, size)
        errors.append(np.exp(z - 0.5) - 1)
    return np.var(errors), np.mean(variances)


def test_variance_over_many_runs():
    # The relative error of a variance of 1000 numbers is about sqrt(4 / 1000).
    noise = 6 * np.sqrt(4 / 1000)
    for steps in (3, 20):
        moved, stated = runs(moves=True, steps=steps)
        assert stated == pytest.approx(moved, rel=noise)
    # Without moves Z varies much more; most of that is seen in the sizes of the families.
    still, stated_still = runs(moves=False)
    assert still > 3 * runs(moves=True)[0]
    assert 0.85 - noise < stated_still / still < 0.85 + noise
