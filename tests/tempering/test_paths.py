"""The steps of powers and levels."""

import numpy as np
import pytest
from scipy.special import expit

from kinetograph.tempering.paths import LEAST_EFFICIENCY, OF_POWERS, LevelPath, PowerPath

LOG_LIKELIHOODS = {
    "normals": lambda rng: -0.5 * (rng.normal(size=(1000, 5)) ** 2).sum(1),
    "heavy": lambda rng: -np.exp(3 * rng.normal(size=1000)),
    "few are possible": lambda rng: np.where(
        rng.random(1000) < 0.2, rng.normal(size=1000), -np.inf
    ),
    "a plateau": lambda rng: np.r_[np.zeros(900), rng.uniform(1, 2, size=100)],
    "a peak on a hill": lambda rng: np.r_[rng.normal(size=995) / 100, np.full(5, 50.0)],
}


def kept(log_weights):
    """The efficiency of weights, among those that are not 0."""
    weights = np.exp(log_weights[log_weights > -np.inf])
    return weights.sum() ** 2 / (weights**2).sum() / len(weights)


@pytest.fixture(params=LOG_LIKELIHOODS)
def log_likelihood(request):
    return LOG_LIKELIHOODS[request.param](np.random.default_rng(1))


def test_weights_of_levels_are_ratios_of_their_densities(log_likelihood):
    path = LevelPath()
    before, after = (-2.0, 0.5), (0.3, 0.2)
    possible = log_likelihood > -np.inf
    old, new = (
        np.log(expit((log_likelihood[possible] - level) / width) + 1e-300)
        for level, width in (before, after)
    )
    found = path.log_weights(log_likelihood, before, after)
    near = new > -300
    np.testing.assert_allclose(found[possible][near], (new - old)[near], rtol=1e-6, atol=1e-9)
    assert (found[~possible] == -np.inf).all()
    begin = path.log_weights(log_likelihood, path.begin, after)
    np.testing.assert_allclose(begin[possible], path.log_factor(log_likelihood[possible], after))


def test_steps_keep_the_efficiency(log_likelihood):
    path, settings, rng = LevelPath(), LevelPath.begin, np.random.default_rng(2)
    particles = log_likelihood
    for count in range(4):
        after = path.step(particles, settings, count)
        assert after[0] > settings[0]
        assert 0 < after[1] < np.inf
        log_weights = path.log_weights(particles, settings, after)
        assert kept(log_weights) > LEAST_EFFICIENCY
        weights = np.exp(log_weights - log_weights.max())
        particles = rng.choice(particles, 1000, p=weights / weights.sum())
        settings = after
    powers = PowerPath()
    (power,) = powers.step(log_likelihood, powers.begin, 0)
    assert 0 < power <= 1
    assert kept(powers.log_weights(log_likelihood, (0.0,), (power,))) >= OF_POWERS - 1e-6


def test_equal_likelihoods_do_not_hold_up_levels():
    """A plateau: the level reaches the particles."""
    path, flat = LevelPath(), np.full(100, -3.0)
    level, width = path.step(flat, path.begin, 0)
    assert level == pytest.approx(-3.0)
    assert np.isfinite(width)


def test_a_given_ladder():
    path = PowerPath(np.array([0.25, 1.0]))
    assert path.step(np.zeros(3), (0.0,), 0) == (0.25,)
    assert path.step(np.zeros(3), (0.25,), 1) == (1.0,)
