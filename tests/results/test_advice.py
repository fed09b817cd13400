"""Warnings after a run: each has to come when it should, and none on a good run."""

import json
import warnings

import numpy as np
import pytest
import xarray as xr
from arviz_stats.base import array_stats
from tests.runs.models import centred_schools, gaussian, run, schools

import kinetograph as kg
from kinetograph.results import diagnosis, diagnostics
from kinetograph.results.convergence import _above, convergence
from kinetograph.results.transitions import _divergences


def findings(tree) -> dict[str, kg.Advice]:
    return {each.kind: each for each in kg.diagnose(tree)}


def quietly(model, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.SamplingWarning)
        return run(model, **options)


def test_draws_without_statistics_are_examined():
    draws = np.random.default_rng(1).normal(size=(4, 1000))
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset({"x": (("chain", "draw"), draws)})})
    assert kg.diagnose(tree) == []
    tree["posterior/x"] = tree["posterior/x"] + np.arange(4)[:, None]
    assert findings(tree).keys() >= {"rhat"}


def test_a_good_run_has_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = run(gaussian(), draws=1000, warmup=500, chains=4)
    assert kg.diagnose(tree) == []
    # Nor is a quantity that never moves: the diagonal of a correlation matrix is 1 in every draw.
    omega = kg.lkj_correlation(2.0, 3)
    q = np.random.default_rng(1).normal(size=(4, 1000, 3))
    values = np.array(kg.model(omega).transform(q)["omega"])
    tree["posterior/omega"] = xr.DataArray(values, dims=("chain", "draw", "i", "j"))
    assert kg.diagnose(tree) == []
    values[:, :, 0, 1] = np.arange(1000)
    tree["posterior/omega"] = xr.DataArray(values, dims=("chain", "draw", "i", "j"))
    assert findings(tree)["rhat"].count == 1


@pytest.mark.slow
def test_centred_eight_schools_diverge():
    sampler = kg.samplers.NUTS(parametrisation="as written", max_halvings=0)
    with pytest.warns(kg.SamplingWarning, match=r"a divergence.*theta is centred.*NUTS\(target"):
        tree = run(centred_schools(), sampler=sampler, draws=1000, warmup=500, chains=4)
    found = findings(tree)["divergences"]
    assert found.count == int(tree["sample_stats"]["diverging"].sum()) > 0
    by_chain = tree["sample_stats"]["diverging"].values.sum(1)
    assert f"{by_chain.max()} of them in chain {by_chain.argmax()}" in found.message


def test_smaller_steps_are_those_of_the_sampler():
    def advised(name, target, **stats):
        stats = {"diverging": (("chain", "draw"), np.ones((1, 4), bool))} | stats
        tree = xr.DataTree.from_dict({"sample_stats": xr.Dataset(stats)})
        tree.attrs["sampler"] = name
        tree.attrs["sampler_settings"] = json.dumps({"target_acceptance": target})
        return _divergences(tree)[0].message

    assert advised("MALA", 0.574).endswith("sampler=kg.samplers.MALA(target_acceptance=0.95).")
    assert advised("NUTS", 0.9).endswith("sampler=kg.samplers.NUTS(target_acceptance=0.95).")
    # Steps that are hardly smaller do not help.
    assert advised("NUTS", 0.94).endswith("sampler=kg.samplers.NUTS(target_acceptance=0.99).")
    assert advised("NUTS", 0.95).endswith("sampler=kg.samplers.NUTS(target_acceptance=0.99).")
    assert advised("Mine", [0.8, 0.99]).endswith("sampler=Mine(target_acceptance=0.995).")
    inner = (("chain", "draw"), np.array([[True, False, True, False]]))
    none = (("chain", "draw"), np.zeros((1, 4), bool))
    assert advised("Mine", 0.8, diverging=none, long_diverging=inner).startswith("2 of 4 draws")
    rates = (("chain", "draw"), np.zeros((1, 4)))
    assert advised("HMC", 0.8, acceptance_rate=rates).endswith("or a smaller step_size of HMC.")


def test_saturated_trees():
    sampler = kg.samplers.NUTS(max_depth=2)
    with pytest.warns(kg.SamplingWarning, match=r"reached the largest tree depth, 2.*max_depth=4"):
        tree = run(gaussian(), sampler=sampler, draws=200)
    depth = tree["sample_stats"]["tree_depth"].values
    assert findings(tree)["tree_depth"].count == np.sum(depth == 2) > 0
    np.testing.assert_array_equal(tree["sample_stats"]["reached_max_treedepth"], depth == 2)


def test_draws_of_saturated_trees_are_right_only_if_chains_agree():
    draws = np.random.default_rng(0).normal(size=(4, 400))
    lead = ("chain", "draw")
    stats = {"tree_depth": (lead, np.full((4, 400), 10))}
    for shift, text in ((0.0, "are right but costly; "), (3.0, "are costly; ")):
        posterior = {"x": (lead, draws + shift * np.arange(4)[:, None])}
        groups = {"posterior": posterior, "sample_stats": stats}
        tree = xr.DataTree.from_dict({name: xr.Dataset(values) for name, values in groups.items()})
        tree.attrs["sampler_settings"] = json.dumps({"max_depth": 10})
        assert f"The draws {text}" in findings(tree)["tree_depth"].message


def test_acceptance_rates_that_are_no_probabilities(bad_rates):
    found = findings(bad_rates)["acceptance"]
    assert found.count == 2
    assert "2 of 4 draws have an acceptance_rate that is not a probability (3)" in found.message
    bad_rates["sample_stats"] = bad_rates["sample_stats"].to_dataset().drop_vars("step_size")
    assert "acceptance" not in findings(bad_rates)  # nothing was tuned by them


@pytest.fixture
def bad_rates():
    stats = {
        "acceptance_rate": np.array([[0.5, 3.0, np.nan, np.nan]]),
        "diverging": np.array([[False, False, False, True]]),
        "step_size": np.ones((1, 4)),
    }
    tree = quietly(gaussian(), draws=4, warmup=0, chains=1)
    for name, values in stats.items():
        tree[f"sample_stats/{name}"] = xr.DataArray(values, dims=("chain", "draw"))
    return tree


def bimodal() -> kg.Model:
    """Two normals 20 standard deviations apart: chains stay where they start."""
    x = kg.variable()
    density = kg.logaddexp(-0.5 * (x - 10) ** 2, -0.5 * (x + 10) ** 2)
    return kg.model(x, factors=[density])


def test_chains_in_two_modes():
    initial = [{"x": -10.0}, {"x": -10.0}, {"x": 10.0}, {"x": 10.0}]
    sampler = kg.samplers.RandomWalk()
    with pytest.warns(kg.SamplingWarning, match="R-hat is above 1.01 for 1 quantity"):
        tree = run(bimodal(), sampler=sampler, draws=2000, chains=4, initial=initial)
    found = findings(tree)
    assert found["rhat"].count == 1
    assert ": x)" in found["rhat"].message
    assert found["ess"].count == 1


@pytest.mark.parametrize(("values", "label"), [([0, 0, 1, 1], True), ([0.1, 0.2, 1.3, 1.1], False)])
def test_quantities_that_change_only_between_chains(values, label):
    """R-hat is infinite, without an error of rounding."""
    tree = quietly(gaussian(), draws=400, chains=4)
    draws = np.repeat(np.array(values)[:, None], 400, axis=1)
    tree["posterior/z"] = xr.DataArray(draws, dims=("chain", "draw"))
    found = findings(tree)["rhat"]
    assert (found.count, kg.summary(tree)["r_hat", "z"]) == (1, np.inf)
    assert "(up to inf: z)" in found.message
    assert "1 quantity (z) did not change within any chain" in found.message
    assert ("labels of groups" in found.message) == label


def test_few_draws():
    with pytest.warns(kg.SamplingWarning, match="effective sample size is below 100 per chain"):
        tree = run(gaussian(), draws=40)
    assert findings(tree)["ess"].count == 1


def test_the_worst_quantities_are_named():
    tree = quietly(schools(), draws=30)
    assert "theta[" in findings(tree)["ess"].message
    assert "more" in findings(tree)["ess"].message


def test_warnings_point_at_the_callers_line():
    with pytest.warns(kg.SamplingWarning) as caught:
        kg.mcmc(gaussian(), draws=40, chains=2, seed=5, progress=False)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("draws", range(8))
def test_runs_of_a_few_draws_are_diagnosed_without_an_error(draws):
    tree = quietly(schools(), draws=draws)
    found = findings(tree)
    if draws:
        str(kg.summary(tree))
    assert ("few_draws" in found) == (draws < 4)
    if draws < 4:
        assert found["few_draws"].count == 10
        assert f"{draws} draw" in found["few_draws"].message


@pytest.mark.parametrize(("value", "kind"), [(np.inf, "unknown"), (np.nan, "nan")])
def test_diagnostics_that_are_not_known_are_a_finding(value, kind):
    tree = quietly(gaussian(), draws=100)
    values = tree["posterior/x"].values.copy()
    values[1, 50] = value
    tree["posterior/logged"] = xr.DataArray(values, dims=("chain", "draw"))
    found = findings(tree)
    assert found[kind].count == 1
    assert "logged" in found[kind].message
    assert len({"unknown", "nan"} & set(found)) == 1


def test_other_things_are_refused():
    with pytest.raises(TypeError, match=r"expected results \(a DataTree"):
        kg.diagnose(3)


def test_a_chain_that_blew_up_is_told():
    """The step is far beyond the limit of stability."""
    x = kg.normal(0, 1, shape=2)
    with pytest.warns(kg.SamplingWarning, match="have no finite log density, from draw"):
        tree = run(kg.model(x), sampler=kg.samplers.SGLD(30.0), draws=1000, warmup=50, chains=2)
    assert "not_finite" in {advice.kind for advice in kg.diagnose(tree)}


def test_a_long_run_is_judged_by_some_of_its_draws(monkeypatch):
    """R-hat and ESS by some, and what is counted by all of them."""
    seen = []
    usual = diagnostics.rhat_and_ess_bulk

    def look(draws):
        seen.extend(values for values in draws.values())
        return usual(draws)

    monkeypatch.setattr(diagnostics, "rhat_and_ess_bulk", look)
    tree = run(gaussian(), draws=450)
    (name,) = tree["posterior"].data_vars
    assert [values.shape[1] for values in seen] == [450]
    tree["sample_stats"]["diverging"][1, 7] = True
    found = {each.kind: each for each in diagnosis.findings(tree, 100)}
    np.testing.assert_array_equal(seen[-1], tree["posterior"][name][:, ::5])
    assert found["divergences"].count == 1
    assert [each.kind for each in kg.diagnose(tree)].count("divergences") == 1
    assert seen[-1].shape[1] == 450


@pytest.mark.parametrize(
    ("rhat", "text"), [(1.0104, "1.0104"), (1.0123, "1.012"), (1.0349, "1.03"), (12.3, "12.3")]
)
def test_an_rhat_above_the_limit_is_written_above_it(rhat, text):
    assert _above(rhat) == text


def findings_of_draws(**draws):
    """The findings on convergence of draws, (chain, draw, ...), by name."""
    variables = {
        n: (("chain", "draw", *(f"{n}_{i}" for i in range(np.ndim(d) - 2))), d)
        for n, d in draws.items()
    }
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(variables)})
    return {each.kind: each for each in convergence(tree)}


def test_tails_with_a_small_effective_sample_size_are_told():
    """Loud and quiet times follow each other: the sign is new in each draw, the size is not."""
    rng = np.random.default_rng(1)
    loud = np.where(np.arange(1000) % 500 < 100, 100.0, 1.0)
    x = loud * rng.normal(size=(4, 1000))
    assert array_stats.ess(x, method="bulk", chain_axis=0, draw_axis=1) > 3000
    tail = array_stats.ess(x, method="tail", prob=(0.05, 0.95), chain_axis=0, draw_axis=1)
    assert tail < 400
    found = findings_of_draws(x=x, y=rng.normal(size=(4, 1000, 3)))
    assert "ess" not in found
    assert found["ess_tail"].count == 1
    assert f"1 quantity (down to {tail:.0f} in all: x)" in found["ess_tail"].message


def test_tails_of_independent_draws_are_not_told():
    """The limit is 50 standard deviations of log(ESS) below the sizes of independent draws."""
    rng = np.random.default_rng(2)
    draws = {
        "normal": rng.normal(size=(4, 1000, 200)),
        "heavy": rng.standard_cauchy(size=(4, 1000, 200)),
        "states": rng.binomial(3, 0.4, size=(4, 1000, 200)),
        "rare": (rng.random((4, 1000, 200)) < 0.03).astype(int),
    }
    assert not {"ess", "ess_tail"} & findings_of_draws(**draws).keys()


def test_a_quantity_whose_bulk_is_told_is_told_once():
    x = np.random.default_rng(3).normal(size=(4, 1000, 2))
    x[:, :, 0] = np.cumsum(x[:, :, 0], axis=1)
    found = findings_of_draws(x=x)
    assert found["ess"].count == 1
    assert "ess_tail" not in found


def test_real_numbers_are_named_before_states_that_are_equally_bad():
    states = np.arange(4)[:, None, None] % 2 + np.zeros((4, 100, 8), int)
    rng = np.random.default_rng(4)
    mean = np.arange(4)[:, None] % 2 * 9.0 + rng.normal(size=(4, 100))
    slow = np.arange(4)[:, None] * 0.2 + rng.normal(size=(4, 100))
    found = findings_of_draws(z=states, slow=slow, mu=mean)
    assert "inf: mu, z[0], z[1], z[2], z[3] and 5 more)" in found["rhat"].message
    assert "in all: mu, z[0]" in found["ess"].message
