"""Predictions from discrete unknowns that the results do not hold."""

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg

N = 30
Y = np.r_[np.zeros(12), np.full(18, 4.0)] + np.random.default_rng(1).normal(size=N)
T = np.arange(N)


def shares(a, b):
    """p(when | a, b, y) at each value, by brute force."""
    logs = [stats.norm.logpdf(Y, np.where(T < when, a, b)).sum() for when in range(N)]
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum()


def change_point(targets):
    def build():
        a, b = kg.normal(0, 10), kg.normal(0, 10)
        when = kg.discrete_uniform(0, N - 1)
        level = kg.where(np.arange(N) < when, a, b)
        kg.observe(Y, kg.normal(level, 1), name="y")
        return {"a": a, "b": b, "when": when, "level": level, "twice": 2 * when}

    def chosen():
        found = build()
        return {name: found[name] for name in targets}

    return kg.model(chosen)


@pytest.mark.parametrize("targets", ["a b", "a b level", "a b twice", "a b when"])
def test_replicates_follow_the_posterior_of_a_change_point(targets):
    """The mean of a replicate is that of the level, under p(when | a, b, y) of each draw."""
    model = change_point(targets.split())
    results = kg.mcmc(model, seed=1, draws=500, progress=False)
    predicted = kg.predict(model, results, seed=2)["posterior_predictive"]["y"].values
    a, b = (results["posterior"][name].values.ravel()[::10] for name in "ab")
    later = np.array([np.cumsum(shares(*pair)) for pair in zip(a, b, strict=True)])
    # Row t is before the change if when > t.
    expected = (a[:, None] * (1 - later) + b[:, None] * later).mean(0)
    # 2,000 draws of sd at most 2.3, and 200 for the expectation: 7 standard errors.
    np.testing.assert_allclose(predicted.mean((0, 1)), expected, atol=7 * 2.3 / np.sqrt(200))
    assert predicted[..., 0].mean() < 1 < 3 < predicted[..., -1].mean()


def test_states_of_a_chain_and_new_quantities():
    def build():
        mu = kg.sort(kg.normal(0, 5, shape=2))
        state = kg.markov_chain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], N, name="state")
        kg.observe(Y, kg.normal(mu[state], 1), name="y")
        return mu

    model = kg.model(build)
    results = kg.mcmc(model, seed=1, draws=200, progress=False)
    results = kg.predict(model, results, state=model["state"], seed=1)
    results = kg.predict(model, results, seed=1)
    first, last = results["predictions"]["state"].values.mean((0, 1))[[0, -1]]
    assert first < 0.02
    assert last > 0.98
    means = results["posterior_predictive"]["y"].values.mean((0, 1))
    assert means[0] < 1
    assert means[-1] > 3


def test_each_draw_has_its_own_state():
    """Draws with equal values of the other unknowns do not share a state."""

    def build():
        a = kg.normal(0, 1)
        z = kg.bernoulli(0.5, name="z")
        kg.observe(0.3, kg.normal(z + 0 * a, 1), name="y")
        return a

    model = kg.model(build)
    results = kg.mcmc(model, seed=1, draws=1000, progress=False)
    results["posterior"]["a"][:] = 0.0
    z = kg.predict(model, results, z=model["z"], seed=1)["predictions"]["z"].values
    p = stats.norm.pdf(0.3, 1) / (stats.norm.pdf(0.3, 1) + stats.norm.pdf(0.3, 0))
    assert abs(z.mean() - p) < 5.5 * np.sqrt(p * (1 - p) / z.size)


def test_recorded_states_are_kept():
    """z - s is 0, so that s is z in each draw."""

    def build():
        a = kg.normal(0, 1)
        z, s = kg.bernoulli(0.5, name="z"), kg.bernoulli(0.5, name="s")
        kg.observe(np.zeros(4), kg.normal(0 * a + z - s * 1.0, 0.1), name="y")
        return a, z

    model = kg.model(build)
    results = kg.mcmc(model, seed=1, draws=100, progress=False)
    predicted = kg.predict(model, results, s=model["s"], both=model["z"] + 0, seed=1)
    z = results["posterior"]["z"].values
    np.testing.assert_array_equal(predicted["predictions"]["s"].values, z)
    np.testing.assert_array_equal(predicted["predictions"]["both"].values, z)
    assert 0.2 < z.mean() < 0.8


def test_recorded_arrays_of_an_unknown_that_is_drawn_again():
    """They would belong to other values of the unknown."""
    model = change_point(["a", "b", "twice"])
    results = kg.mcmc(model, seed=1, draws=50, progress=False)
    when, twice = model["when"], model["twice"]
    predicted = kg.predict(model, results, difference=twice - 2 * when, seed=1)
    assert not predicted["predictions"]["difference"].values.any()


def test_states_of_a_loop_and_one_that_is_recorded():
    """A state that stays: the recorded one determines all states, and the predictions."""

    def build():
        a, state = kg.normal(0, 1), kg.categorical([0.5, 0.5], name="state0")
        states = [state]
        for t in range(1, 9):
            states.append(state := kg.categorical(kg.data(np.eye(2))[state], name=f"state{t}"))
        for t in range(9):
            kg.observe(0.1, kg.normal(100 * states[t] + a, 1000.0), name=f"y{t}")
        return {"a": a, "state7": states[7]}

    model = kg.model(build)
    results = kg.mcmc(model, seed=1, draws=200, progress=False)
    recorded = results["posterior"]["state7"].values
    assert 0.2 < recorded.mean() < 0.8
    wanted = {name: model[name] for name in ("state0", "state6", "state8")}
    predicted = kg.predict(model, results, **wanted, seed=1)
    for name in wanted:
        np.testing.assert_array_equal(predicted["predictions"][name].values, recorded)
    y = kg.predict(model, results, seed=2)["posterior_predictive"]["y3"].values
    difference = y[recorded == 1].mean() - y[recorded == 0].mean()
    assert abs(difference - 100) < 6 * 1000 * np.sqrt(1 / 200)
