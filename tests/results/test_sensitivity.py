"""The sensitivity to prior and data on the page of `kg.report`."""

import arviz_stats
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
    assert "the prior decides: the data say little" in text
