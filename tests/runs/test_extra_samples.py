"""`kg.extra_samples`: a run that goes on is the run that never stopped, to the last bit."""

import warnings
from contextlib import nullcontext, suppress

import numpy as np
import pytest
import xarray as xr
from tests.runs.models import gaussian, run, same_draws, schools

import kinetograph as kg
from kinetograph.programs import pace
from kinetograph.runs.progress.display import SilentProgress

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
GROUPS = ("posterior", "sample_stats", "sampler_state")
S = kg.samplers


class Stopping(SilentProgress):
    """Asks to stop once a chain has made so many transitions."""

    def __init__(self, transitions):
        self.transitions = transitions

    def start(self, chains, lengths, at_once):
        self.chains = chains

    def update(self):
        if max(chain.transition for chain in self.chains) > self.transitions:
            raise KeyboardInterrupt


def more(tree, model=None, draws=70, **options):
    return kg.extra_samples(tree, model or schools(), draws, progress=False, **options)


RUNS = {
    "nuts": {},
    "thinned": {"thin": 3},
    "own warm-up": {"warmup": None},
    "batch": {"chain_method": "batch"},
    "hmc": {"sampler": S.HMC(0.3, n_steps=4)},
    "baoab": {"sampler": S.BAOAB(0.1), "averages": [kg.observables.kinetic_energy]},
    "observables": {"observables": [kg.observables.gradient_norm]},
    "slots": {"sampler": S.SGNHT(0.05)},
    "slice": {"sampler": S.Slice()},
    "walkers": {"sampler": S.Stretch(walkers=24)},
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_and_more_is_one_run(name, tmp_path):
    options = dict(RUNS[name])
    averages = options.get("averages", ())
    tree = run(schools(), draws=50, **options)
    path = tmp_path / "run.nc"
    tree.to_netcdf(path, engine="h5netcdf")
    whole = run(schools(), draws=120, **options)
    with xr.open_datatree(path, engine="h5netcdf") as loaded:
        found = more(loaded)  # observables and averages are known by their names
    assert same_draws(found, whole, GROUPS)
    twice = more(more(tree, draws=30, averages=averages), draws=40, averages=averages)
    assert same_draws(twice, whole, GROUPS)
    assert found.attrs["draws"] == 120
    if averages:
        np.testing.assert_array_equal(
            found["averages/mean/kinetic_energy"], whole["averages/mean/kinetic_energy"]
        )


def test_a_run_from_zarr_goes_on(tmp_path):
    """Its arrays are in alphabetical order."""
    tree = run(schools(), draws=50)
    tree.to_zarr(tmp_path / "run.zarr")
    found = more(xr.open_datatree(tmp_path / "run.zarr", engine="zarr"))
    assert same_draws(found, run(schools(), draws=120), GROUPS)


@pytest.mark.parametrize("transitions", [0, 90, 230, 900])
@pytest.mark.parametrize("method", ["threads", "batch"])
def test_a_stopped_run_goes_on_from_anywhere(monkeypatch, transitions, method):
    """Within warm-up, with chains that have draws and others that have none, and later."""
    monkeypatch.setattr(pace, "MOST_GRADIENTS", 40)
    options = {"draws": 2500, "warmup": None, "chain_method": method}
    with pytest.warns(kg.SamplingWarning) if transitions > 500 else nullcontext():
        with suppress(KeyboardInterrupt):  # before any chain had a draw
            run(schools(), progress=Stopping(transitions), **options)
    tree = kg.stashed_samples()
    drawn = tree["posterior"].sizes["draw"]
    assert drawn < 2500
    whole = run(schools(), **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="extra_samples: the results have")
        assert same_draws(more(tree, draws=2500 - drawn), whole, GROUPS)
    made = tree["sampler_state"]["draws"].values
    if drawn:
        assert drawn == made[made > 0].min()
    if (made > drawn).any():
        ahead = tree["unfinished_posterior"]
        assert ahead.sizes["draw"] == max(made - np.where(made > 0, drawn, 0))


def test_covariances_and_rows_of_warm_up_are_taken_over():
    model = schools()
    theta = kg.Array(model.targets[2])
    options = {"averages": [kg.observables.covariance(theta)], "keep_warmup": True}
    found = more(run(model, draws=50, **options))
    whole = run(model, draws=120, **options)
    name = "averages/covariance/theta"
    np.testing.assert_array_equal(found[name], whole[name])
    assert same_draws(found, whole, ("warmup_posterior", "warmup_sample_stats"))


def test_averages_alone_go_on():
    options = {"averages": [kg.observables.virial], "keep": False, "sampler": S.GLA2(0.1)}
    tree = run(schools(), draws=50, **options)
    found = more(tree, averages=options["averages"])
    whole = run(schools(), draws=120, **options)
    np.testing.assert_array_equal(found["averages/mean/virial"], whole["averages/mean/virial"])
    assert found["averages/count"].values.tolist() == [120, 120]


def test_another_thinning_of_what_is_kept_of_a_few_targets():
    tree = run(schools(), draws=50, keep=["tau"])
    found = more(tree)
    assert list(found["posterior"].data_vars) == ["tau"]
    whole = run(schools(), draws=120)
    np.testing.assert_array_equal(found["posterior"]["tau"], whole["posterior"]["tau"])


class Walk(kg.Sampler):
    step_size = kg.hyper(1.0, positive=True)

    def step(self, at):
        new = self.evaluate(at.q + self.step_size * self.noise("walk", like=at.q))
        accepted = kg.log(self.noise.uniform(name="accept")) < at.potential - new.potential
        if accepted:
            at = new
        return at


def test_a_sampler_of_the_users_has_to_be_given():
    tree = run(gaussian(), sampler=Walk(0.7), draws=30)
    with pytest.raises(ValueError, match=r"give the sampler of that run by sampler=Walk\(\.\.\.\)"):
        more(tree, gaussian())
    with pytest.raises(ValueError, match=r"drawn with step_size=0.7, .* has step_size=0.8"):
        more(tree, gaussian(), sampler=Walk(0.8))
    with pytest.raises(ValueError, match="come from Walk, got sampler=NUTS"):
        more(tree, gaussian(), sampler=S.NUTS())
    found = more(tree, gaussian(), sampler=Walk(0.7))
    assert same_draws(found, run(gaussian(), sampler=Walk(0.7), draws=100), GROUPS)


def test_what_is_not_of_the_run_is_refused():
    tree = run(schools(), draws=20, warmup=20)
    with pytest.raises(TypeError, match=r"expected results \(a DataTree"):
        more(3)
    with pytest.raises(TypeError, match="no state of chains"):
        more(xr.DataTree.from_dict({"posterior": tree["posterior"].dataset}))
    with pytest.raises(kg.ModelError, match=r"draws of .*, which this model does not have"):
        more(tree, gaussian())
    with pytest.raises(ValueError, match="other records of each draw"):
        more(tree, observables=[kg.observables.gradient_norm])
    with pytest.raises(ValueError, match="averages of nothing, and averages= asks for virial"):
        more(tree, averages=[kg.observables.virial])
    with pytest.raises(ValueError, match="draws must be a whole number"):
        more(tree, draws=1.5)
    data = tree["observed_data"].dataset
    tree["observed_data"] = xr.DataTree(data.assign(effects=data["effects"] + 1.0))
    with pytest.raises(kg.ModelError, match="effects has other values than when the results"):
        more(tree)
    tree = run(schools(), draws=20, warmup=20)
    cut = tree.isel(draw=slice(0, 10), missing_dims="ignore")
    with pytest.raises(ValueError, match="chain 0 has made 20 draws, but the results hold 10"):
        more(cut)
    state = tree["sampler_state"].dataset.drop_vars("position_q")
    groups = {name: child.dataset for name, child in tree.children.items()}
    without = xr.DataTree.from_dict({**groups, "sampler_state": state})
    without.attrs.update(tree.attrs)
    with pytest.raises(ValueError, match="position_q is missing"):
        more(without)


def test_groups_that_were_added_to_the_results_are_named():
    mu = kg.normal(0, 1, name="mu")
    kg.observe([0.3, -0.2], kg.normal(mu, 1), name="y")
    model = kg.model(mu)
    run = kg.mcmc(model, draws=10, warmup=20, chains=2, seed=1, progress=False)
    more = kg.predict(model, run, seed=1)
    with pytest.warns(kg.KinetographWarning, match="have posterior_predictive of the draws so far"):
        longer = kg.extra_samples(more, model, 5, progress=False)
    assert "posterior_predictive" not in longer.children
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.KinetographWarning)
        warnings.simplefilter("ignore", kg.SamplingWarning)
        kg.extra_samples(run, model, 5, progress=False)
