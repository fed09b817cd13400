"""Dual averaging: the published recursion, and that it finds the step size asked for."""

import jax
import numpy as np
import pytest
from tests.selection import thinned

import kinetograph as kg
from kinetograph.adaptation.step_size import DualAveraging, risen_target
from kinetograph.graph.precision import x64


def published(accepted, start: float, target: float):
    """Hoffman and Gelman (2014), algorithm 6, in NumPy: log h and the log of its average."""
    gamma, t_0, kappa, mu = 0.05, 10.0, 0.75, np.log(10 * start)
    error, average = 0.0, np.log(start)
    rows = []
    for t, a in enumerate(accepted, 1):
        error = (1 - 1 / (t + t_0)) * error + (target - a) / (t + t_0)
        log_h = mu - np.sqrt(t) / gamma * error
        average = t**-kappa * log_h + (1 - t**-kappa) * average
        rows.append((log_h, average))
    return np.array(rows)


def test_equals_the_published_recursion():
    accepted = np.random.default_rng(1).uniform(size=200)
    with x64():
        state = DualAveraging.start(np.float64(0.5))
        rows = []
        for a in accepted:
            state = state.update(a, 0.8)
            rows.append((float(state.log_step), float(state.log_average)))
    np.testing.assert_allclose(rows, published(accepted, 0.5, 0.8), rtol=1e-12)


@pytest.mark.parametrize("target", [0.6, 0.8, 0.95])
def test_converges_where_the_acceptance_is_the_target(target):
    """A toy whose acceptance is exp(-h), with noise: the answer is h = -log(target)."""
    rng = np.random.default_rng(2)
    with x64():
        update = jax.jit(lambda state, acceptance: state.update(acceptance, target))
        state = DualAveraging.start(np.float64(1.0))
        for _ in range(3000):
            acceptance = np.exp(-np.exp(float(state.log_step))) + rng.normal(0, 0.1)
            state = update(state, acceptance)
    assert float(np.exp(state.log_average)) == pytest.approx(-np.log(target), rel=0.1)


@pytest.mark.parametrize("target", thinned([0.8, 0.65, 0.9], 3))
def test_a_run_accepts_what_it_aims_at(target):
    """Within 0.05 on a Gaussian of 50 dimensions."""
    sd = kg.data(np.ones(50), name="sd")  # as in test_metric.py, whose program this is
    model = kg.model(x=kg.normal(0, sd, shape=50))
    sampler = kg.samplers.NUTS(target_acceptance=target)
    tree = kg.mcmc(model, sampler, draws=500, warmup=1000, seed=3, progress=False)
    assert float(tree["sample_stats"]["acceptance_rate"].mean()) == pytest.approx(target, abs=0.05)


def test_a_target_rises_with_each_divergence_up_to_its_limit():
    hyper = {"target_acceptance": np.float64(0.8), "target_limit": np.float64(0.9)}
    seen = []
    with x64():
        for asked in (False, True, True, True, True, True):
            risen = risen_target(hyper, np.bool_(asked))
            hyper["target_acceptance"] = np.float64(risen)
            seen.append(float(risen))
        given = {"target_acceptance": np.float64(0.95), "target_limit": np.float64(0.9)}
        assert float(risen_target(given, np.bool_(True))) == 0.95
    np.testing.assert_allclose(seen, [0.8, 0.84, 0.872, 0.8976, 0.9, 0.9])


def test_a_target_that_is_given_stays():
    for sampler in (kg.samplers.NUTS(0.9), kg.samplers.NUTS(target_acceptance=0.9)):
        assert sampler.target_limit == 0.9
    assert kg.samplers.NUTS().target_limit == 0.99
    assert kg.samplers.NUTS(0.9, target_limit=0.95).target_limit == 0.95
    later = kg.samplers.NUTS()
    later.target_acceptance = 0.7
    assert later.target_limit == 0.7


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_a_run_that_diverges_takes_smaller_steps_by_itself():
    """Beyond a wall there is no density: whoever comes near diverges at any step size."""
    x = kg.normal(0, 1, shape=3, name="x")
    wall = kg.where(kg.sum(x * x) < 4.0, 0.0, -1e6 * (kg.sum(x * x) - 4.0))
    model = kg.model(x, factors=[wall])
    settings = {"draws": 50, "seed": 1, "progress": False, "chains": 2}
    trees = [kg.mcmc(model, s, **settings) for s in (kg.samplers.NUTS(), kg.samplers.NUTS(0.8))]
    risen, fixed = (t["sampler_state"]["hyper_target_acceptance"].values for t in trees)
    assert (risen > 0.9).all()
    assert (fixed == 0.8).all()
    by_itself, given = (t["sampler_state"]["hyper_step_size"].values for t in trees)
    assert by_itself.max() < given.min()
    assert trees[0].attrs["compile_time"] > 0 == trees[1].attrs["compile_time"]
    (advice,) = [a for a in kg.diagnose(trees[0]) if a.kind == "divergences"]
    assert "no step was short enough" in advice.message


def test_the_last_phase_begins_anew_at_the_average_with_small_changes():
    with x64():
        state = DualAveraging.start(np.float64(0.5))
        for a in np.random.default_rng(3).uniform(size=50):
            state = state.update(a, 0.8)
        steady = state.steady
        assert float(steady.log_step) == float(steady.log_average) == float(state.log_average)
        up = steady.update(1.0, 0.8)
    # sqrt(t) / (gamma (t + t_0)) of what was too much, after 2,501 updates.
    moved = float(up.log_step - steady.log_step)
    assert moved == pytest.approx(0.2 * np.sqrt(2501) / 0.05 / 2511, rel=1e-6)
    assert float(up.log_average) == float(up.log_step)


def test_a_noisy_acceptance_is_met_by_the_average():
    """Where acceptance is concave, its mean over wide steps is below that at their mean."""

    def ends(steady: bool) -> float:
        rng = np.random.default_rng(4)
        with x64():
            update = jax.jit(lambda state, acceptance: state.update(acceptance, 0.8))
            state = DualAveraging.start(np.float64(0.1))
            for t in range(400):
                if steady and t == 200:
                    state = state.steady
                drawn = np.exp(-np.exp(2 * float(state.log_step)))
                state = update(state, float(rng.random() < drawn))
        return float(np.exp(-np.exp(2 * state.log_average)))

    assert ends(True) == pytest.approx(0.8, abs=0.06)
    assert ends(False) > ends(True) + 0.02
