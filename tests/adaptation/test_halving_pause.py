"""Chains that do not leave their start stop halving their steps for a while."""

import numpy as np

import kinetograph as kg
from kinetograph.adaptation.halving_pause import LENGTH, STUCK, HalvingPause


def thresholds(diverging, end=10**6):
    pause, found = HalvingPause.start(np.float64(5.0)), []
    for done, each in enumerate(diverging):
        pause, threshold = pause.update(np.bool_(each), np.bool_(done + 1 >= end))
        found.append(float(threshold))
    return found


def test_a_pause_follows_divergences_in_a_row():
    found = thresholds([False] + [True] * STUCK + [False] * (LENGTH + 3))
    assert found == [5.0] * STUCK + [np.inf] * LENGTH + [5.0] * 4


def test_other_divergences_have_no_pause():
    assert set(thresholds(([True] * (STUCK - 1) + [False]) * 5)) == {5.0}


def test_there_is_no_pause_after_warm_up():
    found = thresholds([True] * 40, end=20)
    assert found[:19] == [5.0] * (STUCK - 1) + [np.inf] * (20 - STUCK)
    assert found[19:] == [5.0] * 21


def test_chains_leave_starts_that_are_far_away():
    x = np.linspace(1, 20, 40)
    y = 2.5 * x**0.7 + np.random.default_rng(0).normal(0, 0.5, 40)
    a, b, s = kg.half_normal(10, name="a"), kg.normal(0, 2, name="b"), kg.half_normal(2)
    kg.observe(y, kg.normal(a * x**b, s))
    model = kg.model(a, b)
    for initial in ({"b": 5.0}, {"a": 10.0, "b": 2.0}):
        tree = kg.mcmc(model, draws=100, initial=initial, seed=1, progress=False, chains=2)
        np.testing.assert_allclose(tree["posterior"]["b"], 0.7137, atol=0.1)  # sd 0.009
        assert set(tree["sampler_state/hyper_halving_threshold"].values) == {5.0}
