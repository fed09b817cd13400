"""The DataTree: groups, names, dims, coordinates, types; what ArviZ makes of it; files."""

import json

import arviz_stats
import numpy as np
import pytest
import xarray as xr
from tests.runs.models import EFFECTS, ERRORS, NAMES, gaussian, run, schools, weights

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

QUICK = kg.samplers.RandomWalk()  # to compile


@pytest.fixture(scope="module")
def tree():
    return run(schools(), draws=200, chains=3)


def test_groups(tree):
    data = {"observed_data", "constant_data"}
    assert set(tree.children) == data | {"posterior", "unknowns", "sample_stats", "sampler_state"}


def test_posterior_has_the_targets_with_their_dims_and_labels(tree):
    posterior = tree["posterior"].dataset
    assert list(posterior.data_vars) == ["mu", "tau", "theta"]
    assert posterior["mu"].dims == ("chain", "draw")
    assert posterior["theta"].dims == ("chain", "draw", "school")
    assert posterior["theta"].shape == (3, 200, 8)
    assert posterior["school"].values.tolist() == NAMES
    assert posterior["chain"].values.tolist() == [0, 1, 2]
    assert posterior["draw"].values.tolist() == list(range(200))
    assert (
        float(posterior["theta"].sel(school="Choate").mean())
        == posterior["theta"].values[..., 0].mean()
    )


def test_posterior_is_on_the_constrained_scale(tree):
    assert np.all(tree["posterior"]["tau"] > 0)


@pytest.mark.slow
def test_a_simplex_is_on_the_constrained_scale():
    share = run(weights(), sampler=QUICK)["posterior"]["share"].values
    np.testing.assert_allclose(share.sum(-1), 1)
    assert np.all(share > 0)


def test_sample_stats_have_arvizs_names_and_types(tree):
    stats = tree["sample_stats"].dataset
    kinds = {
        "lp": "f", "acceptance_rate": "f", "n_steps": "i", "tree_depth": "i", "diverging": "b",
        "reached_max_treedepth": "b", "energy": "f", "energy_error": "f",
    }  # fmt: skip
    for name, kind in kinds.items():
        assert stats[name].dims == ("chain", "draw")
        assert stats[name].dtype.kind == kind
        assert stats[name].attrs["description"]


def test_data_is_in_the_tree(tree):
    assert tree["observed_data"]["effects"].values.tolist() == EFFECTS
    assert tree["observed_data"]["effects"].dims == ("school",)
    assert tree["constant_data"]["errors"].values.tolist() == ERRORS
    assert tree["constant_data"]["school"].values.tolist() == NAMES


def test_lp_is_the_models_log_density_of_the_state(tree):
    state = tree["sampler_state"].dataset
    q = state["position_q"].values
    np.testing.assert_allclose(schools().log_prob(q), tree["sample_stats"]["lp"][:, -1], rtol=1e-12)
    values = schools().transform(q)
    np.testing.assert_allclose(values["tau"], tree["posterior"]["tau"][:, -1], rtol=1e-12)
    np.testing.assert_allclose(schools().gradient(q), state["position_gradient"], rtol=1e-9)


def test_sampler_state_counts(tree):
    state, stats = tree["sampler_state"].dataset, tree["sample_stats"].dataset
    assert np.all(state["transition"] == 280)
    assert np.all(state["gradients"].values > stats["n_steps"].values.sum(1))
    assert int(state["gradients"].sum()) == tree.attrs["gradients"]
    assert np.array_equal(state["divergences"], stats["diverging"].sum("draw"))


def test_attributes(tree):
    a = tree.attrs
    assert (a["seed"], a["draws"], a["warmup"], a["thin"], a["interrupted"]) == ("5", 200, 80, 1, 0)
    assert a["inference_library"] == "kinetograph"
    assert a["inference_library_version"] == kg.__version__
    assert a["sampler"] == "NUTS"
    assert json.loads(a["sampler_settings"])["max_depth"] == 10
    assert a["sampling_time"] > 0


@pytest.mark.slow
def test_unnamed_dims_are_called_after_their_array():
    v = kg.normal(0, 1, shape=(2, 3))
    posterior = run(kg.model(v), sampler=QUICK)["posterior"].dataset
    assert posterior["v"].dims == ("chain", "draw", "v_dim_0", "v_dim_1")
    assert posterior["v_dim_1"].values.tolist() == [0, 1, 2]


def test_a_model_without_data_has_no_data_groups():
    assert set(run(gaussian()).children) == {"posterior", "sample_stats", "sampler_state"}


def test_arviz_takes_it(tree):
    table = arviz_stats.summary(tree)
    assert len(table) == 10
    sizes = arviz_stats.ess(tree)
    ours = kg.summary(tree)
    ess = sizes.dataset
    assert float(ess["mu"]) == pytest.approx(float(ours["ess_bulk", "mu"]), rel=1e-10)
    rhats = arviz_stats.rhat(tree)
    rhats = rhats.dataset
    assert float(rhats["tau"]) == pytest.approx(float(ours["r_hat", "tau"]), rel=1e-10)
    assert arviz_stats.bfmi(tree) is not None


@pytest.mark.parametrize("plot", ["plot_trace", "plot_dist", "plot_forest", "plot_energy"])
def test_arviz_plots_it(tree, plot):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import arviz_plots

    assert getattr(arviz_plots, plot)(tree, backend="matplotlib") is not None


def test_files_hold_everything(tree, tmp_path):
    path = tmp_path / "run.nc"
    tree.to_netcdf(path)
    with xr.open_datatree(path) as opened:
        for group in tree.children:
            for name, values in tree[group].dataset.data_vars.items():
                loaded = opened[group][name]
                assert np.array_equal(loaded, values, equal_nan=values.dtype.kind == "f"), name
                assert loaded.dims == values.dims
        assert opened.attrs["seed"] == "5"
        assert str(kg.summary(opened)) == str(kg.summary(tree))
        assert kg.diagnose(opened) == kg.diagnose(tree)


def test_draws_are_the_users_to_change(tree):
    posterior = run(gaussian())["posterior"]
    posterior["x"].values[:] = 0
    assert float(posterior["x"].sum()) == 0


@pytest.mark.parametrize(("draws", "warmup"), [(0, 50), (50, 0), (0, 0), (1, 1)])
def test_runs_without_draws_or_warm_up(draws, warmup):
    tree = run(schools(), draws=draws, warmup=warmup)
    assert tree["posterior"]["theta"].shape == (2, draws, 8)
    assert tree["sample_stats"]["lp"].shape == (2, draws)
    assert np.all(tree["sampler_state"]["transition"] == draws + warmup)


def test_without_warm_up_the_samplers_own_step_size_is_used():
    sampler = kg.samplers.NUTS(step_size=0.25)
    tree = run(gaussian(), sampler=sampler, draws=20, warmup=0)
    assert np.all(tree["sampler_state"]["hyper_step_size"] == 0.25)


def test_more_warm_up_than_draws():
    tree = run(gaussian(), draws=10, warmup=1000)
    assert tree["posterior"]["x"].shape == (2, 10)


@pytest.mark.slow
def test_single_precision_runs():
    with kg.precision("float32"):
        x = kg.normal(0, 1, shape=2)
        y = kg.data([0.3, 0.5])
        kg.observe(y, kg.normal(x, 1))
        model = kg.model(x)
        tree = run(model, draws=2000, warmup=300, chains=4)
    assert tree["posterior"]["x"].dtype == np.float32
    assert tree["sampler_state"]["position_q"].dtype == np.float32
    mean = tree["posterior"]["x"].values.astype(float).mean((0, 1))
    np.testing.assert_allclose(mean, [0.15, 0.25], atol=0.06)  # 5 standard errors
