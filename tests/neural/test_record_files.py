"""Files of records: which rows belong to a file, and which runs are refused."""

import shutil

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import kinetograph as kg

RNG = np.random.default_rng(1)
X = RNG.normal(size=(20, 2))
Y = X @ np.array([[1.0], [-0.5]]) + 0.3 + 0.1 * RNG.normal(size=(20, 1))
NAMES = {"run_file": "run_info", "trajectory_file": "trajectory", "averages_file": "averages"}
BEGINNING = {"prior": 2.0, "fix_parameters": {"bias0": 0.1}}


def simulation(folder, ending="csv", **options):
    files = {name: str(folder / f"{name}.{ending}") for name in NAMES}
    return kg.neural.Simulation([X, Y], **{"seed": 3, "max_steps": 4, **files, **options})


def contents(folder):
    return {
        path: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "state"
    }


def steps(path):
    if str(path).endswith(".zarr"):
        return xr.open_zarr(path, consolidated=False)["step"].values.tolist()
    return pd.read_csv(path)["step"].tolist()


COLUMNS = [
    ({"fix_parameters": {"bias0": 0.1}}, {"fix_parameters": {"weight0": 0.1}}, "weight0", "bias0"),
    ({"sampler": "HMC"}, {"sampler": "GLA2"}, "old_total_energy", "scaled_noise"),
    ({}, {"do_accumulates": False}, "total_energy", None),
    ({"do_accumulates": False}, {"do_accumulates": True}, None, "total_energy"),
    ({"directions_file": "directions.csv"}, {"directions_file": None}, "c0", "weight0"),
]


@pytest.mark.parametrize(("first", "then", "there", "here"), COLUMNS)
@pytest.mark.parametrize(("ending", "restored"), [("csv", False), ("zarr", True)])
def test_rows_with_other_columns_are_refused(
    tmp_path, monkeypatch, first, then, there, here, ending, restored
):
    """Before a step is made, and without a change of a file."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("directions.csv", np.eye(3)[:2], delimiter=",")
    nn = simulation(tmp_path, ending, **first)
    nn.sample()
    nn.save("state")
    before, position = contents(tmp_path), np.array(nn.parameters)
    if restored:
        nn = simulation(tmp_path, ending, restore_model="state", **then)
        position = np.array(nn.parameters)
    else:
        nn.set_options(**then)
        position = np.array(nn.parameters)
    with pytest.raises(
        kg.DataError, match=r"_file: .*other columns.*another name, or .*reset_par"
    ) as e:
        nn.sample()
    assert there is None or f"{there}" in str(e.value).split("only in the file")[0]
    assert here is None or f"{here}" in str(e.value).split("only in the new rows")[0]
    assert contents(tmp_path) == before
    np.testing.assert_array_equal(nn.parameters, position)
    nn.set_options(**{name: str(tmp_path / f"other_{name}.{ending}") for name in NAMES})
    records = nn.sample()
    assert steps(tmp_path / f"other_run_file.{ending}") == records.run_info["step"].tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"prior": 0.1},
        {"prior": lambda tree: -0.5 * np.sum(tree.weights[0] ** 2)},
        {"loss_scale": "sum"},
        {"loss": "absolute_difference"},
        {"fix_parameters": {"bias0": 0.5}},
        {"prior_upper_boundary": 5.0},
        {"output_activation": "tanh"},
        {"dropout": 0.5, "hidden_dimension": (2,)},
        "data",
    ],
    ids=lambda change: "data" if change == "data" else next(iter(change)),
)
@pytest.mark.filterwarnings("ignore:.*dropout makes the potential random")
def test_samples_of_another_density_are_refused(tmp_path, change):
    beginning = BEGINNING | ({"hidden_dimension": (2,)} if "dropout" in change else {})
    nn = simulation(tmp_path, **beginning)
    nn.sample()
    before = contents(tmp_path)
    if change == "data":
        nn.dataset = [X, Y + 1.0]
    else:
        nn.set_options(**change)
    with pytest.raises(
        kg.DataError, match=r"run_file: .* has rows of another density: a change of the data, "
    ):
        nn.sample()
    assert contents(tmp_path) == before
    if change == "data":
        nn.dataset = [X.copy(), Y.copy()]
    else:
        nn.set_options(**BEGINNING, dropout=0.0)
        back = {"prior_upper_boundary": None, "loss_scale": "mean", "loss": "mean_squared"}
        nn.set_options(**back, output_activation="linear")
    nn.sample()
    assert steps(tmp_path / "run_file.csv") == list(range(1, 9))


def test_what_does_not_change_the_density_continues_the_file(tmp_path):
    """The column beta has the temperature; training has no density."""
    nn = simulation(tmp_path, **BEGINNING)
    nn.sample()
    change = {"inverse_temperature": 3.0, "step_width": 0.01, "batch_size": 5, "seed": 9}
    nn.set_options(**change)
    nn.sample()
    assert pd.read_csv(tmp_path / "run_file.csv")["beta"].tolist() == [1.0] * 4 + [3.0] * 4
    nn = simulation(tmp_path)
    nn.fit()
    nn.set_options(prior=1.0)
    nn.fit()
    assert steps(tmp_path / "run_file.csv") == list(range(1, 9))


@pytest.mark.parametrize("restored", [False, True])
@pytest.mark.parametrize("calls", [("fit", "sample"), ("sample", "fit")])
def test_training_and_sampling_do_not_replace_each_other(tmp_path, calls, restored):
    nn = simulation(tmp_path)
    getattr(nn, calls[0])()
    nn.save(str(tmp_path / "state"))
    if restored:
        nn = simulation(tmp_path, restore_model=str(tmp_path / "state"))
    before = contents(tmp_path)
    with pytest.raises(kg.DataError, match=rf"has the rows of {calls[0]}\(\), and {calls[1]}\(\)"):
        getattr(nn, calls[1])()
    assert contents(tmp_path) == before
    nn.set_options(**{name: str(tmp_path / f"other_{name}.csv") for name in NAMES})
    getattr(nn, calls[1])()
    nn.set_options(**{name: str(tmp_path / f"{name}.csv") for name in NAMES})
    getattr(nn, calls[0])()
    assert steps(tmp_path / "run_file.csv") == list(range(1, 9))


@pytest.mark.parametrize("ending", ["csv", "zarr"])
def test_a_file_is_known_by_its_rows(tmp_path, ending):
    """Also in another folder, under another name, and after a run without it."""
    (tmp_path / "old").mkdir()
    nn = simulation(tmp_path / "old", ending)
    nn.sample()
    nn.save(str(tmp_path / "state"))
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    moved = simulation(tmp_path / "new", ending, restore_model=str(tmp_path / "state"))
    moved.sample()
    assert steps(tmp_path / "new" / f"run_file.{ending}") == list(range(1, 9))
    run_file = str(tmp_path / "old" / f"run_file.{ending}")
    nn.set_options(run_file=str(tmp_path / f"other.{ending}"))
    nn.sample()
    nn.set_options(run_file=None)
    nn.sample()
    nn.set_options(run_file=run_file)
    nn.sample()
    assert steps(run_file) == [1, 2, 3, 4, 13, 14, 15, 16]


def test_files_of_other_runs(tmp_path):
    """The first run replaces them, and so does one whose rows come before all of theirs."""
    path, state = str(tmp_path / "run_file.csv"), str(tmp_path / "state")
    for _ in range(2):
        nn = kg.neural.Simulation([X, Y], seed=3, max_steps=4, run_file=path)
        nn.sample()
        assert steps(path) == [1, 2, 3, 4]
    for _ in range(2):  # a script that names the file after a run
        nn = kg.neural.Simulation([X, Y], seed=3, max_steps=4)
        nn.sample()
        nn.set_options(run_file=str(tmp_path / "later.csv"))
        nn.sample()
        nn.save(state)
    assert steps(tmp_path / "later.csv") == [5, 6, 7, 8]
    other = kg.neural.Simulation([X, Y], restore_model=state, run_file=path)
    with pytest.raises(
        kg.DataError, match=r"does not have the rows .* its step 8, and has rows of"
    ):
        other.sample()
    assert steps(path) == [1, 2, 3, 4]
    nn.set_options(run_file=path)
    nn.reset_parameters()
    nn.sample()
    assert steps(path) == [1, 2, 3, 4]


SIGNS = np.sign(Y - 0.3)


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 10},
        {"batch_size": 10, "prior": 2.0, "number_walkers": 2},
        {"prior": 2.0},
        {"batch_size": 10, "number_walkers": 3, "chain_method": "batch"},
    ],
    ids=["batches", "walkers", "all rows", "batch of chains"],
)
def test_the_division_of_a_run_changes_no_bit(tmp_path, monkeypatch, options):
    """Of any column, in single precision, and also if files are written in short blocks."""
    options = {"hidden_dimension": (4,), "seed": 3, "max_steps": 400, **options}
    (nn, whole), parts = [kg.neural.Simulation([X, SIGNS], **options) for _ in range(2)], []
    expected = nn.sample()
    path = str(tmp_path / "run.csv")
    monkeypatch.setattr("kinetograph.neural.running.SECONDS", 1e-9)
    for count in (1, 99, 200, 100):
        whole.set_options(max_steps=count, run_file=path if count == 99 else None)
        parts.append(whole.sample())
    for name in NAMES.values():
        rows = pd.concat([getattr(part, name) for part in parts], ignore_index=True)
        drop = [] if name != "run_info" else ["time_per_nth_step"]
        pd.testing.assert_frame_equal(
            rows.drop(columns=drop), getattr(expected, name).drop(columns=drop), check_exact=True
        )


@pytest.mark.parametrize(("seconds", "lengths"), [(1e9, [1, 8, 64, 127]), (1e-9, [1] * 12)])
def test_files_have_rows_during_a_run(tmp_path, monkeypatch, seconds, lengths):
    """The first block is one row; later ones have at most eight times the rows."""
    from kinetograph.neural import running

    written, write = [], running.write_block

    def counted(path, frame, first):
        written.append(len(frame))
        write(path, frame, first)

    monkeypatch.setattr(running, "SECONDS", seconds)
    monkeypatch.setattr(running, "write_block", counted)
    path = str(tmp_path / "run.csv")
    kg.neural.Simulation([X, Y], seed=3, max_steps=sum(lengths), run_file=path).sample()
    assert steps(path) == list(range(1, sum(lengths) + 1))
    assert written == lengths
    path = str(tmp_path / "run.zarr")
    kg.neural.Simulation([X, Y], seed=3, max_steps=sum(lengths), run_file=path).sample()
    assert xr.open_zarr(path, consolidated=False)["loss"].encoding["chunks"] == (4096,)
    assert steps(path) == list(range(1, sum(lengths) + 1))


@pytest.mark.parametrize("ending", ["csv", "zarr"])
def test_a_sorted_file_is_kept(tmp_path, ending):
    """Its first row is later than the state, and other rows are not."""
    path, state = str(tmp_path / f"run.{ending}"), str(tmp_path / "state")
    nn = kg.neural.Simulation([X, Y], seed=3, max_steps=4, run_file=path)
    nn.sample()
    nn.save(state)
    nn.sample()
    if ending == "csv":
        pd.read_csv(path)[::-1].to_csv(path, index=False)
    else:
        backwards = xr.open_zarr(path, consolidated=False).load()[{"row": slice(None, None, -1)}]
        backwards.drop_encoding().to_zarr(path, mode="w", consolidated=False, zarr_format=3)
    before = contents(tmp_path)
    with pytest.raises(kg.DataError, match=r"before its step 4, and has rows of earlier steps"):
        kg.neural.Simulation([X, Y], restore_model=state, run_file=path).sample()
    assert contents(tmp_path) == before
