"""The sensitivity to prior and data on the page of `kg.report`."""

import arviz_stats
import numpy as np
import pytest
from tests.runs.pages import check

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def build():
    """A prior that contradicts 9 data, and one that no data inform."""
    mu, alone = kg.normal(0, 0.5), kg.normal(0, 1)
    theta = kg.normal(mu, 0.5, shape=3)
    for i in range(3):
        kg.observe(kg.data([4.0, 5.0, 6.0], name=f"y{i}"), kg.normal(theta[i] + 0.0 * alone, 1))
    return mu, theta, alone


def test_the_table_of_sensitivities():
    model = kg.model(build)
    results = kg.mcmc(model, draws=500, seed=2, progress=False)
    without = check(kg.report(results, model)).texts["sensitivity"]
    assert "kg.report(kg.log_prior(model, kg.log_likelihood(model, results)))" in without
    results = kg.log_prior(model, kg.log_likelihood(model, results))
    flags = {n: v.attrs["hierarchical"] for n, v in results["log_prior"].dataset.items()}
    assert flags == {"mu": 0, "alone": 0, "theta": 1}
    text = check(kg.report(results, model)).texts["sensitivity"]
    assert "the priors of mu, alone" in text
    top = ["mu", "alone"]
    prior = arviz_stats.psense(results, group="prior", group_var_names=top)
    data = arviz_stats.psense(results, group="likelihood")
    for name in top:
        numbers = f"{prior[name].item():.3f}{data[name].item():.3f}"
        assert numbers in text.replace("\n", "").replace(" ", ""), name
    assert prior["mu"] > 0.05 < data["mu"]
    assert "prior and data may disagree" in text
    assert prior["alone"] > 0.05 > data["alone"]
    assert "the prior matters: the data say little, or only through effects of groups" in text


def test_priors_of_standardised_effects_belong_to_the_model():
    def effects():
        mu, tau = kg.normal(0, 1), kg.half_normal(1)
        z, scaled = kg.normal(0, 1, shape=3), kg.normal(0, 1)
        factor, u = kg.lkj_cholesky(2.0, 2), kg.normal(0, 1, shape=(3, 2))
        rows = (u @ factor.T) * tau
        kg.observe(np.zeros(3), kg.normal(mu + tau * z + 2 * scaled + rows[:, 0] - rows[:, 1], 1))
        return mu, tau, z, scaled, factor, u

    model = kg.model(effects)
    results = kg.mcmc(model, draws=4, warmup=4, chains=1, seed=1, progress=False)
    results = kg.log_prior(model, results)
    flags = {n: v.attrs["hierarchical"] for n, v in results["log_prior"].dataset.items()}
    assert flags == {"mu": 0, "tau": 0, "z": 1, "scaled": 0, "factor": 0, "u": 1}


def test_effects_of_a_formula_are_not_sensitive_to_their_own_scale():
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(6), 20)
    data = {"g": [f"group {i}" for i in g], "y": rng.normal(0, 1, 6)[g] + rng.normal(size=120)}
    model = kg.formula("y ~ 1 + (1 | g)", data)
    results = kg.mcmc(model, seed=1, progress=False)
    results = kg.log_prior(model, kg.log_likelihood(model, results))
    text = check(kg.report(results, model)).texts["sensitivity"]
    assert "z_g" not in text
    assert "the prior matters" not in text
