"""Densities of observations that are left out, against closed forms of a normal mean."""

import numpy as np
import pytest
from scipy import stats

from kinetograph.prediction.left_out import bridged, is_reliable_mean

COUNT = 4000


def draws(y, sd, seed):
    """log p(y | mu) of draws of mu ~ normal(0, sd), and of the posterior given y."""
    rng = np.random.default_rng(seed)
    precision = 1 + 1 / sd**2
    without = rng.normal(0, sd, (4, COUNT // 4))
    together = rng.normal(y / precision, precision**-0.5, (2, COUNT // 2))
    return (stats.norm(mu, 1).logpdf(y) for mu in (without, together))


@pytest.mark.parametrize("y", [0.3, 3.0, 6.0])
@pytest.mark.parametrize("sd", [0.3, 1.0])
def test_a_bridge_has_the_density_within_its_error(y, sd):
    for seed in range(5):
        value, error = bridged(*draws(y, sd, seed))
        assert error < 0.3
        assert abs(value - stats.norm(0, np.hypot(1, sd)).logpdf(y)) < 6 * error + 1e-6


def test_a_bridge_without_overlap_is_not_trusted():
    for seed in range(5):
        without, together = draws(25.0, 1.0, seed)
        assert bridged(without, together)[1] > 0.5
        assert not is_reliable_mean(without)
        assert is_reliable_mean(next(draws(0.5, 1.0, seed)))


def test_draws_that_are_impossible_with_the_observation():
    without, together = draws(0.3, 1.0, 1)
    half = np.where(np.arange(COUNT).reshape(without.shape) % 2 == 0, without, -np.inf)
    expected, _ = bridged(without[:, ::2], together)
    assert bridged(half, together)[0] == pytest.approx(expected - np.log(2))
    assert bridged(np.full(10, -np.inf), together) == (-np.inf, np.inf)
    assert not is_reliable_mean(np.full(10, -np.inf))
