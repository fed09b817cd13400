"""Errors of means and of weights, by processes whose truth is known."""

import numpy as np
import pytest
from scipy import stats

from kinetograph.results.diagnostics import ess_mean
from kinetograph.results.mean_errors import mean_error, weight_errors

EGGBOX = np.array([0.25] * 4 + [0.5] * 8 + [1.0] * 6) / 11
TWO = np.array([0.1, 0.9])


def members_of(rng, weights, stay, chains=4, draws=1000):
    """Draws whose mode changes with probability 1 / stay: (chain, draw, mode)."""
    changes = rng.random((chains, draws)) < 1 / stay
    chosen = rng.choice(len(weights), size=(chains, draws), p=weights)
    last = np.maximum.accumulate(np.where(changes, np.arange(draws), 0), axis=1)
    modes = np.take_along_axis(chosen, last, axis=1)
    return (modes[..., None] == np.arange(len(weights))).astype(float)


def ratios(weights, stay, errors_of, count=60):
    """The errors of weights in units of their standard errors."""
    found = []
    for seed in range(count):
        members = members_of(np.random.default_rng(seed), weights, stay)
        errors = errors_of(members)
        visited = errors > 0
        found += list(((members.mean((0, 1)) - weights)[visited] / errors[visited]).tolist())
    return np.abs(found)


def by_autocorrelation(members):
    return np.nan_to_num(
        members.std((0, 1)) / np.sqrt([ess_mean(x) for x in members.T.swapaxes(1, 2)])
    )


@pytest.mark.parametrize(("weights", "stay"), [(EGGBOX, 20), (EGGBOX, 1), (TWO, 20)])
def test_weights_lie_within_their_errors(weights, stay):
    found = ratios(weights, stay, weight_errors)
    # 0.05 and 0.003 for normal errors. The two modes of a run have the same ratio: 60 independent
    # ratios, of which three may exceed 3.
    assert (found > 2).mean() < 0.1
    assert (found > 3).mean() <= 0.05
    assert found.max() < 6
    assert np.sqrt((found**2).mean()) > 0.6  # not too large either


def test_autocorrelation_alone_gives_too_small_errors():
    found = ratios(EGGBOX, 20, by_autocorrelation)
    assert (found > 3).mean() > 0.02
    assert found.max() > 6


def test_independent_draws_have_their_error():
    rng = np.random.default_rng(1)
    errors = np.array([mean_error(rng.normal(size=(4, 1000))) for _ in range(200)])
    assert 0.95 / np.sqrt(4000) < np.median(errors) < 1.3 / np.sqrt(4000)
    means = np.array([rng.normal(size=(4, 1000)).mean() for _ in range(200)])
    assert stats.kstest(means / np.median(errors), "norm", alternative="two-sided").pvalue > 1e-7


def test_chains_that_never_change_have_the_error_of_their_means():
    values = np.repeat([[0.0], [0.0], [0.0], [1.0]], 100, axis=1)
    expected = np.std([0, 0, 0, 1], ddof=1) / 2
    assert mean_error(values) == pytest.approx(expected)
    members = np.stack([values, 1 - values], -1)
    m = 3 / 16 / expected**2
    smoothed = (m / 4 + 2) / (m + 4)
    assert weight_errors(members)[0] == pytest.approx(np.sqrt(smoothed * (1 - smoothed) / m))


@pytest.mark.parametrize("shape", [(100, 1), (60, 2), (40, 3), (1, 100), (2, 50)])
def test_short_chains(shape):
    rng = np.random.default_rng(2)
    error = mean_error(rng.normal(size=shape))
    assert 0.5 < error * np.sqrt(shape[0] * shape[1]) < 3


def test_constant_values_have_no_error():
    assert mean_error(np.ones((4, 100))) == 0
    np.testing.assert_array_equal(weight_errors(np.ones((4, 100, 1))), [0.0])
    assert np.isnan(mean_error(np.array([[0.0, 1.0]])))  # nothing to estimate from
