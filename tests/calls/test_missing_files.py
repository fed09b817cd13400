"""Every public call that gets the path of a missing file names the argument, file and line."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg
from kinetograph.neural import analysis, compare_records, datasets, surfaces

MU = kg.normal(0, 1, name="mu")
PAIR = [np.ones((4, 1)), np.ones((4, 1))]


def simulation(**options):
    return kg.neural.Simulation(dataset=PAIR, **options)


def assigned(path):
    simulation().dataset = path


READERS = [
    (kg.neural.Simulation, "Simulation: dataset"),
    (lambda p: kg.neural.Simulation(batch_data_files=p), "Simulation: batch_data_files"),
    (assigned, "dataset"),
    (lambda p: simulation(restore_model=p), "restore_model or load"),
    (lambda p: simulation().load(p), "restore_model or load"),
    (datasets.read, "read: data"),
    (lambda p: datasets.read([Path(p)]), "read: data"),
    (lambda p: compare_records(p, pd.DataFrame()), "compare_records"),
    (analysis.read_table, "read_table: path"),
    (lambda p: surfaces.read_directions(None, p), "read_directions: path"),
    (kg.load_graph, "load_graph: path"),
]
WRITERS = [
    (lambda p: simulation().save(p), "save: path"),
    (lambda p: datasets.write_csv(p, datasets.two_circles(10)), "write_csv: path"),
    (lambda p: analysis.write_table(p, {"a": [1.0]}), "write_table: path"),
    (lambda p: kg.save_graph(p, {"a": MU}), "save_graph: path"),
]


@pytest.mark.parametrize(("call", "subject"), READERS, ids=[s for _, s in READERS])
def test_a_missing_file_is_named_with_its_argument_folder_and_neighbour(
    call, subject, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("measurement.csv", "measured.txt", "other.csv"):
        (tmp_path / name).touch()
    with pytest.raises(FileNotFoundError) as caught:
        call("measurements.csv")
    wanted = (
        rf"{subject}: the file {re.escape(str(tmp_path))}/measurements\.csv does not exist "
        r"\(.*test_missing_files\.py:\d+\); did you mean 'measurement\.csv'\?"
    )
    assert re.fullmatch(wanted, str(caught.value))
    assert isinstance(caught.value, kg.KinetographError)


@pytest.mark.parametrize(("call", "subject"), WRITERS, ids=[s for _, s in WRITERS])
def test_a_missing_folder_of_a_file_to_write_is_named(call, subject, tmp_path):
    (tmp_path / "results").mkdir()
    with pytest.raises(FileNotFoundError) as caught:
        call(str(tmp_path / "result" / "a.csv"))
    wanted = rf"{subject}: the folder {re.escape(str(tmp_path))}/result does not exist \(.*py:\d+\)"
    assert re.match(wanted, str(caught.value))
    assert str(caught.value).endswith("; did you mean 'results'?")


def test_a_missing_store_is_named_with_its_neighbour(tmp_path):
    (tmp_path / "run1.zarr").mkdir()
    with pytest.raises(FileNotFoundError, match=r"run\.zarr does not exist .*mean 'run1\.zarr'\?"):
        kg.resume(tmp_path / "run.zarr")


def test_a_folder_in_place_of_a_file_is_named(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"read: data: /.* cannot be opened \(.*\): Is a"):
        datasets.read(tmp_path)


def test_names_with_another_kind_of_content_are_not_suggested(tmp_path):
    (tmp_path / "run.csv").touch()
    with pytest.raises(FileNotFoundError, match=r"runs\.graph does not exist \([^;]*\)$"):
        kg.load_graph(tmp_path / "runs.graph")


def test_errors_of_functions_of_users_are_theirs(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^\[Errno 2\]"):
        datasets.read(tmp_path / "a.csv", reader=lambda path: path.read_text())


def test_a_missing_file_of_a_restored_simulation_is_named(tmp_path, monkeypatch):
    """It is not the file of the simulation, which exists."""
    monkeypatch.chdir(tmp_path)
    datasets.write_csv("points.csv", datasets.two_circles(10))
    kg.neural.Simulation(batch_data_files="points.csv").save("saved")
    (tmp_path / "points.csv").rename(tmp_path / "point.csv")
    with pytest.raises(FileNotFoundError, match=r"/points\.csv does not exist .* 'point\.csv'\?"):
        kg.neural.Simulation(restore_model="saved")
