"""Pareto-smoothed weights, against ArviZ and weights with known tails."""

import numpy as np
import pytest
from scipy import stats

from kinetograph.approximations.pareto import (
    efficiency,
    log_mean,
    smoothed,
    trusted,
)

WEIGHTS = {
    "heavy": lambda rng, n: 0.9 * rng.exponential(size=n),
    "light": lambda rng, n: np.log(rng.uniform(0.5, 1.5, size=n)),
    "normal": lambda rng, n: 2.0 * rng.normal(size=n) - 500.0,
    "far": lambda rng, n: 30.0 * rng.normal(size=n),
}


@pytest.mark.parametrize("count", [35, 400, 3000])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_as_arviz_has_it(kind, count):
    from arviz_stats.base import array_stats  # takes seconds

    log_weights = WEIGHTS[kind](np.random.default_rng(3), count)
    made, k = smoothed(log_weights)
    expected, shape = array_stats.psislw(-log_weights)  # which takes log likelihoods
    np.testing.assert_allclose(k, shape, rtol=1e-6)
    np.testing.assert_allclose(made, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", [0.3, 0.9])
def test_the_shape_of_a_pareto_distribution(shape):
    # With m = 3 sqrt(n) tail draws the estimate has the standard error (1 + k) / sqrt(m).
    count = 100_000
    weights = stats.genpareto(shape).rvs(count, random_state=np.random.default_rng(1)) + 1.0
    _, k = smoothed(np.log(weights))
    assert abs(k - shape) < 6 * (1 + shape) / np.sqrt(3 * np.sqrt(count))


def test_what_has_no_tail():
    equal = np.full(100, -3.0) + 1e-12 * np.arange(100)
    made, k = smoothed(equal)
    assert k == 0.0
    np.testing.assert_allclose(made, -np.log(100), rtol=1e-10)
    few = np.log([1.0, 2.0, 7.0])
    made, k = smoothed(few)
    assert np.isnan(k)
    np.testing.assert_allclose(np.exp(made), [0.1, 0.2, 0.7])
    assert smoothed(np.full(100, -np.inf))[1] == np.inf
    one = np.r_[0.0, np.full(99, -np.inf)]
    made, k = smoothed(one)
    assert k == np.inf
    np.testing.assert_allclose(np.exp(made), [1.0] + [0.0] * 99)


def test_weights_that_are_no_numbers_count_as_none():
    rng = np.random.default_rng(5)
    given = np.where(np.arange(200) % 7, rng.normal(size=200), np.nan)
    made, k = smoothed(given)
    assert np.isfinite(k)
    assert np.isneginf(made[::7]).all()
    np.testing.assert_allclose(np.exp(made).sum(), 1.0)
    np.testing.assert_allclose(log_mean(given), np.log(np.nansum(np.exp(given)) / 200))


def test_efficiency():
    np.testing.assert_allclose(efficiency(np.log([1.0, 2.0, 3.0])), 36 / (3 * 14))
    np.testing.assert_allclose(efficiency(np.array([0.0, 0.0, -np.inf])), 2 / 3)
    assert efficiency(np.array([np.nan, -np.inf])) == 0.0


def test_the_largest_k():
    assert trusted(10_000) == 0.7
    np.testing.assert_allclose(trusted(100), 0.5)
