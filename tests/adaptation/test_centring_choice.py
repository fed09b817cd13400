"""Warm-up chooses the form of each element."""

import numpy as np
import pytest

import kinetograph as kg

AUTO = kg.samplers.NUTS(parametrisation="auto")
WRITTEN = kg.samplers.NUTS(parametrisation="as written")
EFFECTS = [28.0, 8, -3, 7, -1, 1, 18, 12]
ERRORS = [15.0, 10, 16, 11, 9, 11, 10, 18]


def schools(centred=True):
    mu, tau = kg.normal(0, 5), kg.half_cauchy(5)
    theta = kg.normal(mu, tau, shape=8) if centred else mu + tau * kg.normal(0, 1, shape=8)
    kg.observe(EFFECTS, kg.normal(theta, ERRORS))
    return {"mu": mu, "tau": tau, "theta": theta}


def run(build, sampler=AUTO, **options):
    return kg.mcmc(kg.model(build), sampler, seed=1, progress=False, **options)


def forms(tree, part=slice(2, None)):
    return tree["sampler_state"]["hyper_centring"].values[:, part]


def precise_and_vague():
    """Two elements that are known well, and ten that are hardly known."""
    mu, tau = kg.normal(0, 1), kg.lognormal(-1, 1.5)
    theta = kg.normal(mu, tau, shape=12)
    errors = np.repeat([0.01, 20.0], [2, 10])
    y = np.concatenate([[0.3, 0.2], np.random.default_rng(3).normal(size=10)])
    kg.observe(y, kg.normal(theta, errors))
    return mu, tau, theta


def test_elements_with_much_data_are_centred_and_others_are_not():
    tree = run(precise_and_vague)
    found = forms(tree)
    assert np.mean(found[:, :2]) > 0.6
    assert np.mean(found[:, 2:]) < 0.3


def test_a_funnel_that_is_written_centred_mixes():
    """The same model with the other form is the oracle."""
    tree, other = run(schools), run(lambda: schools(False), kg.samplers.NUTS())
    assert np.mean(forms(tree)) < 0.3
    summary, reference = kg.summary(tree), kg.summary(other)
    for name in ("mu", "tau", "theta[0]", "theta[7]"):
        assert summary["r_hat", name] < 1.02
        error = np.hypot(summary["mcse_mean", name], reference["mcse_mean", name])
        difference = summary["mean", name] - reference["mean", name]
        assert abs(difference) < 5.5 * error  # false alarms: 4e-8


def test_draws_statistics_and_state_are_those_of_the_free_state():
    model = kg.model(schools)
    tree = kg.mcmc(model, AUTO, draws=60, chains=2, seed=1, progress=False)
    posterior, lp = tree["posterior"], tree["sample_stats"]["lp"].values
    for chain in range(2):
        for draw in (0, 59):
            at = {n: posterior[n].values[chain, draw] for n in ("mu", "tau", "theta")}
            np.testing.assert_allclose(lp[chain, draw], model.log_prob(at), rtol=1e-9)
    q = tree["sampler_state"]["position_q"].values
    np.testing.assert_allclose(q[:, 2:], posterior["theta"].values[:, -1], rtol=1e-9)
    np.testing.assert_allclose(
        tree["sampler_state"]["position_gradient"].values, model.gradient(q), rtol=1e-6, atol=1e-9
    )
    more = kg.mcmc(
        model, AUTO, draws=5, warmup=0, tuned=tree, initial=q, chains=2, seed=2, progress=False
    )
    np.testing.assert_array_equal(forms(more), forms(tree))
    with pytest.raises(ValueError, match="parametrisation='auto'"):
        kg.mcmc(model, WRITTEN, draws=5, warmup=0, tuned=tree, chains=2, seed=2, progress=False)


@pytest.mark.slow
def test_runs_continue_to_the_last_bit(tmp_path):
    whole = run(schools, draws=60, chains=2)
    part = run(schools, draws=25, chains=2)
    more = kg.extra_samples(part, kg.model(schools), 35, progress=False)
    np.testing.assert_array_equal(more["posterior"]["theta"], whole["posterior"]["theta"])
    stored = run(schools, draws=25, chains=2, store=tmp_path / "run.zarr")
    resumed = kg.resume(tmp_path / "run.zarr", draws=60, progress=False)
    np.testing.assert_array_equal(resumed["posterior"]["theta"], whole["posterior"]["theta"])
    assert stored.attrs["warmup"] == part.attrs["warmup"]


@pytest.mark.slow
def test_a_batch_has_the_same_law():
    one, batch = run(schools), run(schools, chain_method="batch")
    for name in ("mu", "tau"):
        a, b = (tree["posterior"][name].values for tree in (one, batch))
        errors = [x.std() / np.sqrt(400) for x in (a, b)]  # fewer independent draws than there are
        assert abs(a.mean() - b.mean()) < 5.5 * np.hypot(*errors)


def test_models_without_a_hierarchy_run_as_before():
    def build():
        mu = kg.normal(0, 1)
        kg.observe([0.3, 0.5], kg.normal(mu, 1))
        return mu

    one, two = run(build, draws=20), run(build, kg.samplers.NUTS(), draws=20)
    np.testing.assert_array_equal(one["posterior"]["mu"], two["posterior"]["mu"])
    assert "hyper_centring" not in one["sampler_state"]
