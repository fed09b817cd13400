"""Records of simulations: columns of all samplers, values, averages, files."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import kinetograph as kg

RNG = np.random.default_rng(2)
X = RNG.normal(size=(20, 1))
Y = 0.5 * X + 0.1 * RNG.normal(size=(20, 1))
BASE = [
    *("id", "step", "epoch", "accuracy", "loss", "potential"),
    *("time_per_nth_step", "beta", "step_width"),
]
FORCE = ["scaled_gradient", "virial"]
LANGEVIN = ["total_energy", "kinetic_energy", "scaled_momentum", *FORCE, "scaled_noise"]
TEST = ["average_rejection_rate", "accepted"]
HAMILTONIAN = [
    *("total_energy", "old_total_energy", "kinetic_energy", "scaled_momentum"),
    *FORCE,
    *TEST,
]
COLUMNS = {
    **{name: [*FORCE, "scaled_noise"] for name in ("SGLD", "LM")},
    **{name: LANGEVIN for name in ("BAOAB", "GLA1", "GLA2", "SGHMC", "UBU")},
    "SGNHT": [*LANGEVIN, "thermostat"],
    "CCAdL": [*LANGEVIN, "thermostat", "noise_covariance_trace"],
    **{name: HAMILTONIAN for name in ("HMC", "GHMC", "NUTS")},
    **{name: [*FORCE, *TEST] for name in ("MALA", "MAMS", "RandomWalk")},
    "MCLMC": FORCE,
}


AVERAGES = ["id", "step", "epoch", "loss", "average_loss"]


def linear(**options):
    settings = {"seed": 1, "max_steps": 6, "step_width": 0.3, "precision": "float64", **options}
    return kg.neural.Simulation([X, Y], **settings)


@pytest.fixture(scope="module")
def plain():
    """The records of BAOAB."""
    return linear().sample()


def recomputed(data, rows=None):
    """Parameters, losses and gradients of all rows of the trajectory, by NumPy.

    `rows` are the rows of the data in the batch of each row of the trajectory.
    """
    w = data.trajectory[["weight0", "bias0"]].to_numpy(float)
    rows = np.arange(20)[None] if rows is None else rows
    x, y = X[rows, 0], Y[rows, 0]
    errors = w[:, :1] * x + w[:, 1:] - y
    slopes = 2 * np.stack([(errors * x).mean(1), errors.mean(1)], 1)
    return w, (errors**2).mean(1), slopes


def check(info, data, rows=None, precision="float64"):
    w, losses, slopes = recomputed(data, rows)
    norms = np.linalg.norm(slopes, axis=1)
    limits = {"rtol": 1e-12, "atol": 1e-14}
    if precision == "float32":
        limits = {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(info["loss"], losses, **limits)
    np.testing.assert_allclose(info["potential"], losses, **limits)
    np.testing.assert_allclose(info["scaled_gradient"], info["step_width"] * norms, **limits)
    np.testing.assert_allclose(info["virial"], 0.5 * (w * slopes).sum(1), **limits)
    if "total_energy" in info:
        kinetic = info["total_energy"] - losses
        np.testing.assert_allclose(info["kinetic_energy"], kinetic, **limits)
        momentum = info["step_width"] * np.sqrt(2 * info["kinetic_energy"])
        np.testing.assert_allclose(info["scaled_momentum"], momentum, **limits)


EVERYDAY = ("BAOAB", "CCAdL", "HMC", "NUTS")
SAMPLERS = [
    name if name in EVERYDAY else pytest.param(name, marks=pytest.mark.slow)
    for name in kg.neural.Simulation().get_samplers()
]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_columns_and_values_of_a_sampler(sampler):
    data = linear(sampler=sampler).sample()
    info = data.run_info
    assert list(info) == BASE + COLUMNS[sampler]
    assert list(data.trajectory) == ["id", "step", "loss", "weight0", "bias0"]
    check(info, data)
    assert np.isfinite(info.drop(columns="accuracy").to_numpy(float)).all()
    if "average_rejection_rate" in info:
        rates = np.cumsum(1 - info["accepted"]) / np.arange(1, 7)
        np.testing.assert_allclose(info["average_rejection_rate"], rates)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", kg.neural.Simulation().get_samplers())
def test_values_in_single_precision(sampler):
    data = linear(sampler=sampler, precision="float32", number_walkers=2).sample()
    check(data.run_info, data, precision="float32")


@pytest.mark.parametrize(
    "sampler", ["BAOAB", *(pytest.param(n, marks=pytest.mark.slow) for n in ("SGLD", "SGNHT"))]
)
def test_values_on_the_batches_of_the_steps(sampler):
    """Cyclic batches of 5 of 20 rows."""
    data = linear(sampler=sampler, batch_size=5, shuffle="cyclic").sample()
    rows = (5 * np.arange(6)[:, None] + np.arange(5)) % 20
    check(data.run_info, data, rows)


SIGNS = np.sign(X[:, 0] + 0.3 * RNG.normal(size=20))


@pytest.mark.parametrize(
    ("sampler", "chain_method"),
    [
        ("BAOAB", "threads"),
        *(
            pytest.param(*pair, marks=pytest.mark.slow)
            for pair in (("BAOAB", "batch"), ("SGLD", "threads"), ("CCAdL", "threads"))
        ),
        pytest.param(None, None, marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("ignore:CCAdL takes the noise")
def test_values_with_a_prior_on_batches_of_two_walkers(sampler, chain_method):
    """The gradient of 4 L + V; accuracies of signs. None is training."""
    options = {"prior": 0.5, "loss_scale": 4.0, "number_walkers": 2, "step_width": 0.05}
    options |= {"batch_size": 7, "shuffle": "cyclic", "inverse_temperature": 2.0}
    if sampler is not None:
        options |= {"sampler": sampler, "chain_method": chain_method}
    settings = {"seed": 1, "max_steps": 6, "precision": "float64", **options}
    nn = kg.neural.Simulation([X, SIGNS], **settings)
    data = nn.fit() if sampler is None else nn.sample()
    info, rows = data.run_info, (7 * np.arange(6)[:, None] + np.arange(7)) % 20
    assert info["epoch"].tolist() == np.repeat(np.arange(1, 7) * 7 // 20, 2).tolist()
    x, y = (np.repeat(v[rows], 2, 0) for v in (X[:, 0], SIGNS))
    w = data.trajectory[["weight0", "bias0"]].to_numpy()
    outputs = w[:, :1] * x + w[:, 1:]
    losses = ((outputs - y) ** 2).mean(1)
    slopes = 2 * np.stack([((outputs - y) * x).mean(1), (outputs - y).mean(1)], 1)
    slopes = 4 * slopes + w / 0.25
    potential = 4 * losses + 0.5 * (w**2).sum(1) / 0.25
    wanted = {
        "loss": losses,
        "accuracy": (np.sign(outputs) == y).mean(1),
        "potential": potential,
        "virial": 0.5 * (w * slopes).sum(1),
        "scaled_gradient": info["step_width"] * np.linalg.norm(slopes, axis=1),
    }
    if "total_energy" in info:
        wanted["total_energy"] = potential + info["kinetic_energy"]
    for name, values in wanted.items():
        np.testing.assert_allclose(info[name], values, rtol=1e-11, atol=1e-13, err_msg=name)
    np.testing.assert_array_equal(info["loss"], data.trajectory["loss"])


WALKERS = {"number_walkers": 4, "covariance_blending": 2.0, "covariance_after_steps": 2}


@pytest.mark.parametrize("sampler", ["BAOAB", pytest.param("SGLD", marks=pytest.mark.slow)])
def test_columns_and_values_of_walkers_that_precondition_each_other(sampler):
    data = linear(sampler=sampler, **WALKERS).sample()
    inside = [name for name in COLUMNS[sampler] if name != "scaled_noise"]
    assert list(data.run_info) == [*BASE, *inside, "unpreconditioned", "eta_effective"]
    assert data.run_info["step"].tolist() == np.repeat([2, 4, 6], 4).tolist()
    check(data.run_info, data)


@pytest.mark.parametrize(
    "optimizer",
    [
        name if name == "gradient_descent" else pytest.param(name, marks=pytest.mark.slow)
        for name in kg.neural.Simulation().get_optimisers()
    ],
)
def test_columns_and_values_of_an_optimiser(optimizer):
    data = linear(optimizer=optimizer, learning_rate=0.05, schedule="constant").fit()
    assert list(data.run_info) == [*BASE, *FORCE, "learning_rate"]
    assert list(data.averages) == [*AVERAGES, "average_virials"]
    check(data.run_info, data)
    assert (data.run_info["learning_rate"] == 0.05).all()
    assert np.isfinite(data.parameters).all()
    assert (np.diff(data.parameters, axis=1) != 0).all()


@pytest.mark.parametrize(
    "options",
    [
        {"sampler": "BAOAB"},
        {"sampler": "HMC"},
        {"sampler": "NUTS"},
        {"sampler": "MALA"},
        {"number_walkers": 4, "covariance_blending": 0.5, "covariance_after_steps": 1},
    ],
)
def test_the_potential_of_the_rows(options):
    """It has the prior and the scale of the loss, and no inverse temperature."""
    nn = linear(prior=0.5, loss_scale="sum", inverse_temperature=3.0, step_width=0.05, **options)
    info = (data := nn.sample()).run_info
    exact = nn.landscape.potential(data.trajectory[["weight0", "bias0"]].to_numpy())
    np.testing.assert_allclose(info["potential"], exact, rtol=1e-12)
    if "total_energy" in info:
        potential = info["total_energy"] - info["kinetic_energy"]
        np.testing.assert_allclose(potential, info["potential"], rtol=1e-12)
    assert (info["potential"] > 20 * info["loss"]).all()


def test_the_potential_of_training():
    nn = linear(prior=0.5)
    data = nn.fit()
    exact = nn.landscape.potential(data.trajectory[["weight0", "bias0"]].to_numpy())
    np.testing.assert_allclose(data.run_info["potential"], exact, rtol=1e-12)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("walkers", [1, 5])
def test_averages_of_each_walker_begin_after_the_burn_in(sampler, walkers):
    """By NumPy from the rows, and the inertia from positions and momenta."""
    options = {"sampler": sampler, "number_walkers": walkers, "step_width": 0.2}
    data = linear(burn_in_steps=3, max_steps=9, **options).sample()
    by_steps, inertia = linear(**options), []
    has_momenta = "average_inertia" in data.averages
    for _ in range(9 if has_momenta else 0):
        by_steps.step()
        parts = [np.array(v).reshape(walkers, 2) for v in (by_steps.momenta, by_steps.parameters)]
        inertia.append((parts[0] * parts[1]).sum(1))
    columns = COLUMNS[sampler]
    expected = [*AVERAGES, *(["average_kinetic_energy"] if "kinetic_energy" in columns else [])]
    expected += ["average_virials", *(["average_inertia"] if has_momenta else [])]
    expected += ["average_rejection_rate"] if "accepted" in columns else []
    assert list(data.averages) == expected
    assert has_momenta == ("kinetic_energy" in columns and sampler not in ("HMC", "NUTS"))
    got, info = data.averages, data.run_info.assign(rejected=1 - data.run_info.get("accepted", 1))
    assert got["step"].tolist() == [step for step in range(4, 10) for _ in range(walkers)]
    means = {
        "average_loss": "loss",
        "average_kinetic_energy": "kinetic_energy",
        "average_virials": "virial",
        "average_rejection_rate": "rejected",
    }
    counts = np.arange(1, 7)
    for walker in range(walkers):
        rows = info[(info["id"] == walker) & (info["step"] > 3)]
        averages = got[got["id"] == walker]
        np.testing.assert_array_equal(averages["loss"], rows["loss"])
        for average, column in means.items():
            if average in got:
                wanted = np.cumsum(rows[column]) / counts
                np.testing.assert_allclose(averages[average], wanted, rtol=1e-12)
        if has_momenta:
            each = np.array(inertia)[3:, walker]
            wanted = (each - each[0]) / np.maximum(counts - 1, 1)
            np.testing.assert_allclose(averages["average_inertia"], wanted, rtol=1e-9, atol=1e-14)


def test_files_have_the_rows_in_memory(tmp_path):
    names = ("run_file", "trajectory_file", "averages_file")
    files = {name: str(tmp_path / f"{name}.csv") for name in names}
    nn = linear(number_walkers=2, every_nth=2, **files)
    parts = [nn.sample(), nn.sample()]
    for name, frame in zip(names, ("run_info", "trajectory", "averages"), strict=True):
        read = pd.read_csv(files[name])
        wanted = pd.concat([getattr(part, frame) for part in parts], ignore_index=True)
        assert list(read) == list(wanted)
        np.testing.assert_allclose(read, wanted, rtol=1e-8)
    assert pd.read_csv(files["run_file"])["step"].tolist() == [
        2,
        2,
        4,
        4,
        6,
        6,
        8,
        8,
        10,
        10,
        12,
        12,
    ]
    second = linear(parse_parameters_file=files["trajectory_file"], parse_steps=[4])
    row = parts[0].trajectory.query("step == 4 and id == 0")[["weight0", "bias0"]].to_numpy()[0]
    np.testing.assert_allclose(second.parameters, row, rtol=1e-8)


@pytest.mark.parametrize("sampler", ["NUTS", pytest.param("CCAdL", marks=pytest.mark.slow)])
def test_a_store_has_the_rows_in_memory(tmp_path, sampler):
    """To the last bit, and in their order."""
    names = {"run_file": "run_info", "trajectory_file": "trajectory", "averages_file": "averages"}
    files = {name: str(tmp_path / f"{name}.zarr") for name in names}
    data = linear(number_walkers=2, sampler=sampler, burn_in_steps=2, **files).sample()
    for name, frame in names.items():
        read = xr.open_zarr(files[name], consolidated=False).load().to_dataframe()
        wanted = getattr(data, frame)
        assert set(read) == set(wanted)
        pd.testing.assert_frame_equal(
            read[list(wanted)].reset_index(drop=True), wanted, check_exact=True, check_names=False
        )


def test_rows_may_be_in_files_only(tmp_path, monkeypatch, plain):
    monkeypatch.setattr(kg.neural.running, "NUMBERS", 100)
    path = str(tmp_path / "run.zarr")
    data = linear(run_file=path).sample(keep=False)
    assert len(data.run_info) == 0
    rows = xr.open_zarr(path, consolidated=False)
    np.testing.assert_allclose(rows["loss"], plain.run_info["loss"])


def test_without_accumulates_draws_are_the_same(plain):
    without = linear(do_accumulates=False).sample()
    assert list(without.run_info) == BASE
    np.testing.assert_array_equal(without.parameters, plain.parameters)


def test_projections_on_directions(tmp_path, plain):
    path = tmp_path / "directions.csv"
    path.write_text("3,4\n0,2\n")
    got = linear(directions_file=path).sample().trajectory
    w = plain.parameters[0]
    np.testing.assert_allclose(got[["c0", "c1"]], w @ np.array([[0.6, 0.0], [0.8, 1.0]]))


def test_the_tree_has_weights_by_name():
    data = linear(fix_parameters={"layer0/bias": 0.25}).sample()
    tree = data.to_tree()
    assert tree["posterior/layer0_weights"].shape == (1, 6, 1, 1)
    assert (tree["posterior/layer0_bias"] == 0.25).all()
    np.testing.assert_array_equal(tree["sample_stats/loss"][0], data.run_info["loss"])
    assert tree.attrs["n"] == 20


def test_arviz_reads_the_tree():
    """Means and standard deviations of its summary are those of the rows, by NumPy."""
    from arviz_stats import summary

    data = linear(number_walkers=4, max_steps=200).sample()
    table = summary(data.to_tree(), round_to="none")
    draws = data.parameters.reshape(-1, 2)
    assert table.index.tolist() == ["layer0_weights[0, 0]", "layer0_bias[0]"]
    np.testing.assert_allclose(table["mean"], draws.mean(0), rtol=1e-10)
    np.testing.assert_allclose(table["sd"], draws.std(0, ddof=1), rtol=1e-2)


def test_an_analysis_has_no_fixed_parameters(tmp_path):
    files = {"trajectory_file": str(tmp_path / "t.csv"), "run_file": str(tmp_path / "r.csv")}
    fixed = {"layer0/weights": 0.25, "bias0": 0.5}
    network = {"network": kg.neural.mlp((2,)), "fix_parameters": fixed}
    data = linear(**network, **files).sample()
    tree = kg.neural.analysis.Analysis.from_tree(data.to_tree())
    files = kg.neural.analysis.Analysis.from_files(*files.values())
    assert files.names == [*data.trajectory.columns[3:]]
    assert tree.names[-2:] == ["layer0_bias[1]", "layer1_bias[0]"]
    np.testing.assert_allclose(tree.draws, data.parameters)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["BAOAB", "GLA2", "HMC", "NUTS"])
def test_the_law_of_the_linear_network(sampler):
    """The mean loss is L_min + N / (2 beta)."""
    data = linear(sampler=sampler, max_steps=20_000, inverse_temperature=10.0).sample()
    losses = data.run_info["loss"].to_numpy()[1000:]
    lowest = np.linalg.lstsq(np.column_stack([X, np.ones(20)]), Y, rcond=None)[1][0] / 20
    blocks = losses[: len(losses) // 50 * 50].reshape(50, -1).mean(1)
    assert abs(losses.mean() - lowest - 0.1) < 6 * blocks.std(ddof=1) / np.sqrt(50) + 0.002


def test_the_trace_of_a_full_covariance():
    """A thermostat that remembers nothing estimates the covariance of each batch anew."""
    traces = []
    for covariance in ("diagonal", "full"):
        sampler = kg.samplers.CCAdL(1e-6, covariance=covariance, forgetting=0.999999)
        data = linear(sampler=sampler, step_width=1e-6, batch_size=5, max_steps=3).sample()
        traces.append(data.run_info["noise_covariance_trace"].to_numpy())
    np.testing.assert_allclose(*traces, rtol=1e-4)


def test_the_energy_before_a_leapfrog_step():
    """With one leapfrog step the first momentum follows from both positions."""
    settings = {"n_steps": 1, "step_jitter": 0, "path_jitter": 0, "inverse_temperature": 3.0}
    sampler = kg.samplers.HMC(0.7, scale=1.0, **settings)
    data = linear(sampler=sampler, step_width=0.7, max_steps=40).sample()
    info, (w, losses, slopes) = data.run_info, recomputed(data)
    half = np.diff(w, axis=0) / 0.7
    before = losses[:-1] + 0.5 * ((half + 0.35 * slopes[:-1]) ** 2).sum(1)
    accepted = info["accepted"].to_numpy()[1:] == 1
    assert accepted.sum() > 10
    got = info["old_total_energy"].to_numpy()[1:]
    np.testing.assert_allclose(got[accepted], before[accepted], rtol=1e-9)
