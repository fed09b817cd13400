"""The statistical assertions themselves: they hold for right draws and fail for wrong ones."""

import numpy as np
import pytest
from tests.laws.helpers import assert_mean, assert_moments, assert_sd, ess, mean_error, rhat


def autoregression(phi: float, chains: int, length: int, seed: int) -> np.ndarray:
    """x' = phi x + sqrt(1 - phi^2) r: autocorrelation time (1 + phi) / (1 - phi)."""
    rng = np.random.default_rng(seed)
    x = np.empty((chains, length))
    x[:, 0] = rng.normal(size=chains)
    for i in range(1, length):
        x[:, i] = phi * x[:, i - 1] + np.sqrt(1 - phi**2) * rng.normal(size=chains)
    return x


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_effective_sample_size_of_an_autoregression(phi):
    x = autoregression(phi, 4, 20_000, seed=1)
    assert ess(x) == pytest.approx(x.size * (1 - phi) / (1 + phi), rel=0.1)


def test_right_draws_pass():
    assert_moments(3 + 2 * autoregression(0.8, 4, 10_000, seed=2), 3, 2)


def test_a_shift_of_a_tenth_is_found():
    x = autoregression(0.8, 4, 10_000, seed=3)
    with pytest.raises(AssertionError, match=r"mean is off by [+].* standard errors"):
        assert_mean(x + 0.1, 0.0)


def test_a_scale_of_0_9_is_found():
    x = autoregression(0.8, 4, 10_000, seed=4)
    with pytest.raises(AssertionError, match="sd is off by -"):
        assert_sd(0.9 * x, 1.0)


def test_too_few_draws_are_refused_rather_than_passed():
    x = autoregression(0.99, 4, 1000, seed=5)
    with pytest.raises(AssertionError, match="run longer"):
        assert_mean(x, 0.0)
    with pytest.raises(AssertionError, match="run longer"):
        assert_sd(x, 1.0)


def test_mean_error_is_standard_normal():
    """Over 200 sets of draws the error in standard errors has sd 1: z means what it says."""
    sets = autoregression(0.5, 800, 500, seed=100).reshape(200, 4, 500)
    errors = [mean_error(draws, 0.0) for draws in sets]
    assert np.std(errors) == pytest.approx(1, abs=4 / np.sqrt(400))


def test_chains_apart_show_in_rhat():
    x = autoregression(0.0, 4, 1000, seed=6)
    assert rhat(x) < 1.01
    assert rhat(x + np.array([[0.0], [0.0], [0.0], [1.0]])) > 1.05
