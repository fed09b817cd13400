"""Draws of the unknowns that are not targets: the group `unknowns` of results."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from tests.runs.models import EFFECTS, ERRORS, run, same_draws

import kinetograph as kg
from kinetograph.models import recorded_unknowns
from kinetograph.runs import kept_targets

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

QUICK = kg.samplers.RandomWalk()  # to compile
EVERY = ("posterior", "unknowns", "sample_stats")


def built(*hidden):
    """Eight schools; the targets are theta and the unknowns that are not hidden."""
    mu, tau = kg.normal(0, 5), kg.half_cauchy(5)
    z = kg.normal(0, 1, shape=8, dims="school")
    theta = mu + tau * z
    kg.observe(kg.data(EFFECTS, name="y"), kg.normal(theta, ERRORS))
    arrays = {"mu": mu, "tau": tau, "z": z, "theta": theta}
    return kg.model(**{name: array for name, array in arrays.items() if name not in hidden})


@pytest.fixture(scope="module")
def model():
    return built("tau", "z")


@pytest.fixture(scope="module")
def tree(model):
    return run(model)


def test_they_are_the_draws_of_a_run_in_which_they_are_targets(tree):
    assert list(tree["posterior"].data_vars) == ["mu", "theta"]
    assert list(tree["unknowns"].data_vars) == ["tau", "z"]
    assert tree["unknowns"]["z"].dims == ("chain", "draw", "school")
    every = run(built())
    assert "unknowns" not in every
    for name, values in {**tree["posterior"].data_vars, **tree["unknowns"].data_vars}.items():
        np.testing.assert_array_equal(values, every["posterior"][name])


def test_later_computations_read_them(model, tree):
    drawn = tree["unknowns"]
    prior = kg.log_prior(model, tree)["log_prior"]
    np.testing.assert_allclose(prior["z"], stats.norm.logpdf(drawn["z"]), rtol=1e-10)
    np.testing.assert_allclose(
        prior["tau"], stats.halfcauchy(0, 5).logpdf(drawn["tau"]), rtol=1e-10
    )
    doubled = kg.calculate(values=tree, doubled=2 * model["tau"])["posterior"]["doubled"]
    np.testing.assert_array_equal(doubled, 2 * drawn["tau"])
    again = kg.predict(model, tree, z_again=model["z"])["predictions"]["z_again"]
    np.testing.assert_array_equal(again, drawn["z"])


@pytest.mark.slow
def test_leave_one_out_moves_draws():
    mu, spread = kg.normal(0, 10), kg.half_normal(5)
    y = kg.data([0.1, -0.4, 0.6, 0.2, -0.1, 9.0], name="y")
    kg.observe(y, kg.normal(mu, spread))
    model = kg.model(mu)
    tree = run(model, draws=500)
    moved = kg.loo(model, tree, refits=0)
    with pytest.warns(kg.SamplingWarning, match="unreliable"):
        plain = kg.loo(model, tree, refits=0, moment_match=False)
    assert plain.pareto_k.values[5] > plain.good_k > moved.pareto_k.values[5]


def test_tables_and_diagnostics_have_targets_only(tree):
    assert not {"tau", "z"} & {str(row).partition("[")[0] for row in kg.summary(tree).names}
    without = tree.copy()
    del without["unknowns"]
    assert str(kg.diagnose(tree)) == str(kg.diagnose(without))


def test_the_switch(model, monkeypatch):
    for keep, flag, names in (
        (True, None, ["tau", "z"]),
        (True, False, []),
        (["mu"], None, []),
        (["theta"], True, ["mu", "tau", "z"]),
        (["theta"], False, []),
        (False, None, []),
    ):
        assert kept_targets.kept_unknowns(model, keep, flag) == names
    for given, error, text in (
        ("yes", TypeError, "keep_unknowns must be True or False"),
        (True, ValueError, "keep=False keeps no draws"),
    ):
        with pytest.raises(error, match=text):
            run(model, keep=False, averages=[model["mu"]], keep_unknowns=given)
    chosen = run(model, sampler=QUICK, keep=["theta"], keep_unknowns=True)
    assert list(chosen["posterior"].data_vars) == ["theta"]
    assert list(chosen["unknowns"].data_vars) == ["mu", "tau", "z"]
    monkeypatch.setattr(kept_targets, "MOST", 8)
    assert kept_targets.kept_unknowns(model, True, None) == []
    assert kept_targets.kept_unknowns(model, True, True) == ["tau", "z"]


def test_runs_continue_with_them(model, tree, tmp_path):
    longer = run(model, draws=90)
    assert same_draws(longer, kg.extra_samples(tree, model, 30, progress=False), EVERY)
    tree.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "a.nc", engine="h5netcdf") as saved:
        assert same_draws(longer, kg.extra_samples(saved, model, 30, progress=False), EVERY)
    stored = run(model, store=tmp_path / "run")
    assert same_draws(tree, stored, EVERY)
    assert same_draws(longer, kg.resume(tmp_path / "run", draws=90, progress=False), EVERY)
    opened = xr.open_datatree(tmp_path / "run", engine="zarr", consolidated=True)
    np.testing.assert_array_equal(opened["unknowns"]["z"], longer["unknowns"]["z"])


@pytest.mark.slow
def test_runs_without_them_continue_without_them(model, tree, tmp_path):
    """So do results and stores that were written before there was such a group."""
    without = run(model, keep_unknowns=False)
    longer = kg.extra_samples(without, model, 30, progress=False)
    assert "unknowns" not in longer
    assert same_draws(longer, kg.extra_samples(tree, model, 30, progress=False))
    run(model, keep_unknowns=False, store=tmp_path / "run")
    resumed = kg.resume(tmp_path / "run", draws=90, progress=False)
    assert "unknowns" not in resumed
    assert same_draws(longer, resumed)
    assert not (tmp_path / "run" / "unknowns").exists()
    with pytest.raises(kg.KinetographError, match="another keep_unknowns"):
        run(model, store=tmp_path / "run", chains=range(2, 4))


def test_another_model_does_not_continue_them(tree, tmp_path):
    other = kg.model(lambda: {"mu": kg.normal(0, 5), "theta": kg.normal(0, 1, shape=8)})
    with pytest.raises(kg.ModelError, match=r"draws of tau, z, which .* as an unknown"):
        kg.extra_samples(tree, other, 30, progress=False)


@pytest.mark.slow
def test_walkers_and_rows_of_warm_up(model):
    walking = run(model, sampler=kg.samplers.Stretch(walkers=24), draws=5, warmup=5)
    assert walking["unknowns"]["z"].shape == (48, 5, 8)
    centre, width = (walking["posterior"]["mu"], walking["unknowns"]["tau"])
    theta = centre.values[..., None] + width.values[..., None] * walking["unknowns"]["z"].values
    np.testing.assert_allclose(walking["posterior"]["theta"], theta, rtol=1e-10)
    warmed = run(model, sampler=QUICK, keep_warmup=True, warmup=20)
    assert warmed["warmup_unknowns"]["z"].shape == (2, 20, 8)


def test_a_selection_from_the_posterior_alone_leaves_them_out(model, tree):
    thinned = tree.copy()
    thinned["posterior"] = tree["posterior"].to_dataset().isel(draw=slice(None, None, 2))
    with pytest.raises(kg.ModelError, match=r"z .*do not hold its draws; .*keep_unknowns=True"):
        kg.log_prior(model, thinned)
    assert kg.log_prior(model, tree.isel(draw=slice(0, 9)))["log_prior"]["z"].shape == (2, 9, 8)


@pytest.mark.slow
def test_the_end_of_a_run_depends_on_targets_only():
    sound, scale = kg.normal(0, 1), kg.half_cauchy(1)
    deep = kg.normal(0, scale, shape=3)
    kg.observe([0.0, 0.1], kg.normal(sound + deep.sum(), 1))
    model = kg.model(sound)
    condition = {"draws": 2000, "until": kg.until(ess=100, r_hat=1.05)}
    kept, plain = (run(model, keep_unknowns=flag, **condition) for flag in (True, False))
    assert "scale" in kept["unknowns"]
    assert kept["posterior"].sizes == plain["posterior"].sizes


def test_names_that_results_cannot_hold_are_left_out():
    level = kg.normal(0, 1, name="level")
    chain = kg.normal(0, 1, name="chain")
    school = kg.normal(0, 1, shape=2, dims="school", name="school")
    kept = kg.normal(0, 1, shape=2, dims="school", name="kept")
    total = level + chain + school.sum() + kept.sum()
    model = kg.model(total=total)
    names = [model.name(v) for v in recorded_unknowns.unknowns_beside(model, model.targets, None)]
    assert names == ["level", "kept"]


def test_rearranged_unknowns_are_not_kept_again():
    x, y = kg.normal(0, 1, shape=(2, 3), name="x"), kg.normal(0, 1, shape=4, name="y")
    model = kg.model(flat=kg.concatenate([x.reshape(6), y]))
    assert recorded_unknowns.unknowns_beside(model, model.targets, None) == []
    halved = kg.model(flat=kg.concatenate([x.reshape(6), y / 2]))
    assert [
        halved.name(v) for v in recorded_unknowns.unknowns_beside(halved, halved.targets, None)
    ] == ["y"]


def test_approximations_have_them():
    mu, spread = kg.normal(0, 1), kg.half_normal(1)
    z = kg.normal(0, 1, shape=2)
    kg.observe([0.3, 1.4], kg.normal(mu + spread * z, 0.5))
    model = kg.model(mu)
    tree = kg.laplace_approximation(model, draws=20, seed=1)
    values = model.transform(tree["unconstrained_posterior/q"].values)
    np.testing.assert_allclose(tree["unknowns"]["z"], values["z"], rtol=1e-12)
    assert kg.log_prior(model, tree)["log_prior"]["z"].shape == (1, 20, 2)
