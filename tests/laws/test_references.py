"""Example models of the field: kinetograph's draws against long runs of NumPyro.

Means may differ by 5 combined Monte Carlo standard errors, standard deviations by 5 of theirs: a
correct sampler fails an assertion less than once in 10^6 times.
"""

from typing import Any

import numpy as np
import pytest
from tests.laws import references
from tests.laws.helpers import assert_mean, assert_sd, rhat

import kinetograph as kg

EVERYDAY = {"iris"}
CAREFUL = {
    "air": 0.95,
    "seeds": 0.95,
    "iris": 0.95,
    "lasso": 0.95,
    "horseshoe": 0.99,
    "finnish_horseshoe": 0.98,
    "election88": 0.95,
}


def compare(tree: Any, name: str) -> None:
    """Means and standard deviations of all quantities agree, all chains have mixed."""
    posterior, wanted = tree["posterior"].dataset, references.reference(name)
    found = {}
    for target, draws in posterior.data_vars.items():
        flat = draws.values.reshape(*draws.shape[:2], -1)
        for i in range(flat.shape[2]):
            found[f"{target}[{i}]" if draws.ndim > 2 else str(target)] = flat[:, :, i]
    assert set(found) == set(wanted)
    for quantity, x in found.items():
        r = wanted[quantity]
        assert rhat(x) < 1.01, f"R-hat of {quantity} is {rhat(x):.4f}"
        assert_mean(x, r["mean"], truth_error=r["mcse_mean"], what=f"mean of {quantity}")
        assert_sd(x, r["sd"], truth_ess=r["ess"] / 2, what=f"sd of {quantity}")


def sampled(model: kg.Model, name: str, draws: int) -> Any:
    sampler = kg.samplers.NUTS(target_acceptance=CAREFUL.get(name, 0.8))
    return kg.mcmc(model, sampler, draws=draws, seed=30, progress=False)


@pytest.mark.parametrize(
    "name",
    [n if n in EVERYDAY else pytest.param(n, marks=pytest.mark.slow) for n in references.MODELS],
)
@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_agrees_with_a_long_run_of_another_library(name):
    compare(sampled(references.build(name), name, 2000 if name in EVERYDAY else 4000), name)


@pytest.mark.slow
def test_groups_that_are_integrated_out():
    model = references.marginal_rats(references.data("rats"))
    compare(sampled(model, "rats", 2000), "rats")


def test_another_prior_is_found():
    """A control: half the spread between species."""
    d = references.data("iris")
    level = 5.0 + 0.5 * kg.normal(0, 1, shape=3)
    slope, error = kg.normal(0, 2), kg.half_normal(1)
    mean = level[d["species"]] + slope * (d["width"] - d["width"].mean())
    kg.observe(d["length"], kg.normal(mean, error))
    tree = sampled(kg.model(level, slope, error), "iris", 2000)
    r = references.reference("iris")["level[2]"]
    with pytest.raises(AssertionError, match="off by"):
        assert_mean(
            tree["posterior"]["level"].values[..., 2], r["mean"], truth_error=r["mcse_mean"]
        )


def test_each_reference_is_compared():
    files = {p.stem for p in (references.ROOT / "tests" / "references").glob("*.json")}
    assert files == set(references.MODELS)


@pytest.mark.parametrize("name", sorted(EVERYDAY))
def test_the_long_run_is_long(name):
    for quantity, r in references.reference(name).items():
        assert r["ess"] > 2000, quantity
        assert r["mcse_mean"] == pytest.approx(r["sd"] / np.sqrt(r["ess"]), rel=1e-6)
