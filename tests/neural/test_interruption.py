"""Runs that Ctrl-C or an error ends, and the runs after them."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import kinetograph as kg
from kinetograph.neural import running

RNG = np.random.default_rng(1)
X = RNG.normal(size=(20, 2))
Y = X @ np.array([[1.0], [-0.5]]) + 0.3 + 0.1 * RNG.normal(size=(20, 1))
NAMES = {"run_file": "run_info", "trajectory_file": "trajectory", "averages_file": "averages"}
STEPS = 60


def simulation(folder, ending="csv", **options):
    files = {name: str(folder / f"{name}.{ending}") for name in NAMES}
    given = {"seed": 3, "max_steps": STEPS, "batch_size": 7, "number_walkers": 2}
    return kg.neural.Simulation([X, Y], **{**given, **files, **options})


def rows(folder, ending="csv", names=NAMES):
    """The rows of the files, without their times."""
    tables = []
    for name in names:
        path = folder / f"{name}.{ending}"
        table = (
            pd.read_csv(path)
            if ending == "csv"
            else xr.open_zarr(path, consolidated=False).to_dataframe()
        )
        tables.append(table.drop(columns="time_per_nth_step", errors="ignore"))
    return tables


@pytest.fixture(autouse=True)
def signals_are_heard():
    """Processes in the background of a shell begin with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ctrl_c(after):
    """A function for `progress=` that presses Ctrl-C after some steps."""

    def progress(done, total):
        if done >= after and total > 1:
            os.kill(os.getpid(), signal.SIGINT)

    return progress


def assert_equal(nn, whole, folder, expected, ending="csv"):
    """Parameters, momenta and files are those of the run in one piece."""
    for got, wanted in zip(rows(folder, ending), expected, strict=True):
        pd.testing.assert_frame_equal(got[wanted.columns], wanted, check_exact=True)
    np.testing.assert_array_equal(nn.parameters, whole.parameters)
    assert nn.loss() == pytest.approx(whole.loss(), rel=1e-12)


@pytest.fixture
def uninterrupted(tmp_path):
    """Runs in one piece, and their files, by ending and call."""

    def made(call, ending="csv", **options):
        folder = tmp_path / "whole"
        folder.mkdir()
        whole = simulation(folder, ending, **options)
        getattr(whole, call)()
        return whole, rows(folder, ending)

    return made


@pytest.mark.parametrize(
    ("call", "ending", "options"),
    [
        ("sample", "csv", {"sampler": "BAOAB"}),
        ("sample", "zarr", {"sampler": "GLA2", "chain_method": "batch"}),
        ("fit", "csv", {"optimizer": "adam", "every_nth": 3}),
    ],
)
def test_the_next_run_continues_after_ctrl_c(tmp_path, uninterrupted, call, ending, options):
    whole, expected = uninterrupted(call, ending, **options)
    nn = simulation(tmp_path, ending, progress=ctrl_c(5), save_model=tmp_path / "state", **options)
    with pytest.warns(kg.SamplingWarning, match=r"stopped by Ctrl-C after \d+ of 60 steps"):
        records = getattr(nn, call)()
    assert records.attrs["stopped_by"] == "Ctrl-C"
    made = int(records.run_info["step"].iloc[-1])
    assert 5 <= made < STEPS
    np.testing.assert_array_equal(records.parameters[:, -1], nn.parameters)
    restored = simulation(tmp_path, ending, restore_model=tmp_path / "state", **options)
    restored.set_options(max_steps=STEPS - made)
    getattr(restored, call)()
    assert_equal(restored, whole, tmp_path, expected, ending)


@pytest.mark.parametrize("ending", ["csv", "zarr"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), SystemExit(1)])
@pytest.mark.parametrize("count", [2, 5, 6])
def test_an_error_while_rows_are_written(
    tmp_path, uninterrupted, monkeypatch, ending, error, count
):
    """The rows of the block are in some of the files, and the simulation did not make its steps."""
    whole, expected = uninterrupted("sample", ending)
    nn, write, calls = simulation(tmp_path, ending), running.write_block, []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == count:
            raise error
        write(*arguments)

    monkeypatch.setattr(running, "write_block", failing)
    with pytest.raises(type(error)):
        nn.sample()
    if count > 3:  # the first block is complete
        lengths = {len(table) for table in rows(tmp_path, ending)}
        assert lengths == {2}
        np.testing.assert_array_equal(
            rows(tmp_path, ending)[1][["weight0", "weight1", "bias0"]].to_numpy(np.float32),
            nn.parameters,
        )
    monkeypatch.setattr(running, "write_block", write)
    nn.set_options(max_steps=STEPS if count == 2 else STEPS - 1)
    nn.sample()
    assert_equal(nn, whole, tmp_path, expected, ending)


def test_an_error_of_a_callback(tmp_path, uninterrupted):
    """The block before the call is complete."""
    whole, expected = uninterrupted("sample")

    def failing(done, total):
        if done > 5:
            raise RuntimeError("callback")

    nn = simulation(tmp_path, progress=failing)
    with pytest.raises(RuntimeError):
        nn.sample()
    made = rows(tmp_path)[0]["step"].max()
    assert 5 < made < STEPS
    nn.set_options(progress=False, max_steps=STEPS - made)
    nn.sample()
    assert_equal(nn, whole, tmp_path, expected)


def test_ctrl_c_in_the_first_block_undoes_it(tmp_path, uninterrupted, monkeypatch):
    whole, expected = uninterrupted("sample")
    nn, write = simulation(tmp_path), running.write_block
    start = np.array(nn.parameters)

    def pressed(*arguments):
        write(*arguments)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(running, "write_block", pressed)
    with pytest.raises(KeyboardInterrupt):
        nn.sample()
    np.testing.assert_array_equal(nn.parameters, start)
    monkeypatch.setattr(running, "write_block", write)
    nn.sample()
    assert_equal(nn, whole, tmp_path, expected)


def test_sigterm_writes_the_state(tmp_path, uninterrupted):
    whole, expected = uninterrupted("sample")
    code = (
        "import os, signal, sys, pathlib\n"
        "from tests.neural.test_interruption import simulation\n"
        "stop = lambda done, total: done < 5 or os.kill(os.getpid(), signal.SIGTERM)\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "simulation(folder, progress=stop, save_model=folder / 'state').sample()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=300, check=False)
    assert done.returncode == 143
    nn = simulation(tmp_path, restore_model=tmp_path / "state")
    made = rows(tmp_path)[0]["step"].max()
    assert 5 <= made < STEPS
    nn.set_options(max_steps=STEPS - made)
    nn.sample()
    for got, wanted in zip(rows(tmp_path), expected, strict=True):  # programs may differ in bits
        np.testing.assert_allclose(got[wanted.columns], wanted, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(nn.parameters, whole.parameters, rtol=1e-3, atol=1e-4)


def test_walkers_are_not_collapsed_by_a_run_without_steps(tmp_path, uninterrupted):
    whole, expected = uninterrupted("sample", collapse_walkers=True)

    def failing(done, total):
        raise RuntimeError("callback")

    nn = simulation(tmp_path, collapse_walkers=True, progress=failing)
    start = np.array(nn.parameters)
    assert (start[0] != start[1]).any()
    with pytest.raises(RuntimeError):
        nn.sample()
    np.testing.assert_array_equal(nn.parameters, start)
    nn.set_options(progress=False)
    assert nn.sample().attrs["stationary"] is False
    assert_equal(nn, whole, tmp_path, expected)


@pytest.mark.parametrize("change", ["append", "replace", "remove"])
def test_another_run_writes_to_the_file(tmp_path, change):
    path = tmp_path / "run_file.csv"

    def meanwhile(done, total):
        text = path.read_text() if done else ""
        if done > 5 and change == "append":
            path.write_text(text + text.splitlines()[-1] + "\n")
        elif done > 5 and change == "replace":
            path.write_text("\n".join(text.splitlines()[:3]) + "\n")
        elif done > 5:
            path.unlink()
        changed.append(path.read_text() if path.exists() else None)

    changed: list[str | None] = []
    nn = simulation(tmp_path, progress=meanwhile)
    with pytest.raises(
        kg.DataError, match=r"run_file: .*run_file.csv' was changed during this run"
    ):
        nn.sample()
    trajectory = rows(tmp_path, names=["trajectory_file"])[0]
    last = trajectory[["weight0", "weight1", "bias0"]].to_numpy(np.float32)[-2:]
    np.testing.assert_array_equal(last, nn.parameters)
    assert 5 < len(trajectory) // 2 < STEPS
    if change == "append":  # without the other row
        assert len(pd.read_csv(path)) == len(trajectory)
    else:  # as the other run left it
        assert (path.read_text() if path.exists() else None) == changed[-1]


def test_files_that_do_not_exist(tmp_path):
    cases = (
        ({"run_file": str(tmp_path / "none" / "r.csv")}, "run_file: .*does not exist"),
        ({"averages_file": str(tmp_path / "none" / "r.zarr")}, "averages_file: .*does not exist"),
        ({"directions_file": str(tmp_path / "d.csv")}, "directions_file: .*does not exist"),
    )
    for options, text in cases:
        with pytest.raises(FileNotFoundError, match=text):
            simulation(tmp_path, **options).sample()
    with pytest.raises(FileNotFoundError, match=r"restore_model or load: .*does not exist"):
        simulation(tmp_path, restore_model=tmp_path / "none")


def test_ctrl_c_in_a_step_undoes_it(tmp_path, uninterrupted, monkeypatch):
    whole, expected = uninterrupted("sample")
    nn, write = simulation(tmp_path), running.write_block

    def pressed(path, *arguments):
        write(path, *arguments)
        if "trajectory" in path:
            os.kill(os.getpid(), signal.SIGINT)

    for _ in range(4):
        nn.step()
    monkeypatch.setattr(running, "write_block", pressed)
    with pytest.raises(KeyboardInterrupt):
        nn.step()
    assert len(rows(tmp_path)[0]) == 8
    monkeypatch.setattr(running, "write_block", write)
    nn.set_options(max_steps=STEPS - 4)
    nn.sample()
    assert_equal(nn, whole, tmp_path, expected)


def test_ctrl_c_in_the_last_block_keeps_all_rows(tmp_path):
    nn = simulation(tmp_path, progress=ctrl_c(STEPS))
    with pytest.warns(kg.SamplingWarning, match="during the last steps, and the run is complete"):
        records = nn.sample()
    assert "stopped_by" not in records.attrs
    assert len(records.run_info) == 2 * STEPS


def test_steps_of_a_chain_are_made_whole_or_not_at_all(monkeypatch):
    """`kg.chain`: an error between two blocks of transitions leaves the chain as it was."""
    x = kg.normal(0, 1, shape=3, name="x")
    model = kg.model(x)
    first, second = (kg.chain(model, kg.samplers.HMC(), seed=1) for _ in range(2))
    expected = first.step(3000).posterior["x"]
    advance, calls = second._engine.advance, []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return advance(*arguments)

    monkeypatch.setattr(second._engine, "advance", failing)
    second._engine.pace.gradients = 100  # several blocks
    with pytest.raises(KeyboardInterrupt):
        second.step(3000)
    assert len(calls) == 2
    assert second.iteration == 0
    np.testing.assert_array_equal(second.step(3000).posterior["x"], expected)
