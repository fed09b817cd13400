"""Resampled draws of a pool, and their warnings."""

import warnings

import numpy as np
import pytest
from tests.approximations.models import COVARIANCE, MEAN, check_moments, correlated, evidence

import kinetograph as kg
from kinetograph.approximations import resampling
from kinetograph.approximations.low_rank import LowRankNormal
from kinetograph.approximations.resampling import judge, picked
from kinetograph.bits.draws import chain_key
from kinetograph.optimizers.objective import Objective

KEY = chain_key(1, 0)


def judged(model, law, count=1000):
    return judge("fit", Objective(model, True), {0: law}, [], count, 1, KEY, "Go")


def test_draws_are_weighted_to_the_posterior():
    narrow = LowRankNormal.of_rows(MEAN, 0.5 * np.linalg.cholesky(COVARIANCE).T)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judged(correlated(), narrow, 4000)
    check_moments(found.free, MEAN, COVARIANCE, 0.5)
    assert (found.attributes["resampled"], found.attributes["doubt"]) == (1, "")
    log_weight = found.statistics["lp"] - found.statistics["log_q"]
    assert log_weight.std() > 0.1


def test_where_weights_mean_nothing_draws_are_the_approximation_s():
    """A posterior with power-law tails, which no fitted distribution covers."""
    x = kg.variable(shape=10, name="x")
    model = kg.model(x, factors=[-0.55 * kg.sum(kg.log1p(x**2))])
    law = LowRankNormal.of_rows(np.zeros(10), 0.1 * np.eye(10))
    with pytest.warns(
        kg.ApproximationWarning, match=r"fit: the Pareto k .* unweighted draws .* Go\.$"
    ):
        found = judged(model, law)
    assert found.attributes["resampled"] == 0
    assert found.attributes["pareto_k"] >= 1
    assert found.attributes["doubt"].startswith("the Pareto k")
    check_moments(found.free, np.zeros(10), 0.01 * np.eye(10))
    np.testing.assert_allclose(found.statistics["log_q"], law.log_density(found.free), rtol=1e-10)


@pytest.mark.parametrize(
    ("limit", "value", "text"),
    [
        (
            "EFFICIENT",
            0.99,
            r"of \d+ weighted draws only \d+ are effective, fewer than 99%\. Do not",
        ),
        ("MEAN_ERROR", 1e-4, r"the mean of mu has a standard error of 0\.0\d+ standard dev"),
        (
            "SD_ERROR",
            1e-4,
            "the standard deviation of mu has a standard error .* than 0.0001",
        ),
    ],
)
def test_each_limit_is_warned_of(monkeypatch, limit, value, text):
    model, mean, deviation, _ = evidence()
    law = LowRankNormal.of_rows(np.array([mean]), np.array([[0.8 * deviation]]))
    monkeypatch.setattr(resampling, limit, value)
    with pytest.warns(kg.ApproximationWarning, match=text):
        judged(model, law)


def test_the_errors_of_mean_and_deviation():
    """Equal weights give the errors 1 / sqrt(n) and sqrt(1 / (2 n))."""
    model, mean, deviation, _ = evidence()
    objective = Objective(model, True)
    law = LowRankNormal.of_rows(np.array([mean]), np.array([[deviation]]))
    pool = resampling.Pool(objective, 1)
    pool.add([(law, 4000, 0)])
    of_mean, of_sd = resampling._target_errors(objective, pool, pool.weights)
    assert (of_mean.name, of_sd.name) == ("mu", "mu")
    assert abs(of_mean.error * np.sqrt(4000) - 1) < 0.1
    assert abs(of_sd.error * np.sqrt(8000) - 1) < 0.1
    assert of_mean.exceeds(0.9 * of_mean.error / of_mean.limit)
    assert not of_mean.exceeds(1.1 * of_mean.error / of_mean.limit)


def test_the_pool_is_doubled_until_errors_are_well_below_their_limits(monkeypatch):
    model, mean, deviation, _ = evidence()
    law = LowRankNormal.of_rows(np.array([mean]), np.array([[deviation]]))
    first = judged(model, law).attributes["pool"]
    error = judged(model, law).pool
    (of_mean, _) = resampling._target_errors(Objective(model, True), error, error.weights)
    for factor, doublings in ((1.1, 0), (0.9, 1), (0.6, 2), (1e-3, resampling.DOUBLINGS)):
        monkeypatch.setattr(
            resampling, "MEAN_ERROR", factor * of_mean.error / resampling.WELL_BELOW
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kg.ApproximationWarning)
            assert judged(model, law).attributes["pool"] == first * 2**doublings


def test_picked_by_their_chances_in_random_order():
    chances, runs, count = np.array([0.05, 0.55, 0.3, 0.1]), 600, 7
    places = np.array([picked(chances, chain_key(i, 0), count, 3) for i in range(runs)])
    times = np.array([np.bincount(row, minlength=4) for row in places])
    expected = count * chances
    assert (np.floor(expected) <= times).all()
    assert (times <= np.ceil(expected)).all()
    part = expected % 1
    error = np.sqrt(part * (1 - part) / runs)
    assert (abs(times.mean(0) - expected) <= 6 * error).all()
    for column in (places[:, 0], places[:, -1]):  # each position has the same probabilities
        found = np.bincount(column, minlength=4) / runs
        assert (abs(found - chances) < 6 * np.sqrt(chances * (1 - chances) / runs)).all()
