"""Tables as CSV files."""

import csv

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.neural import analysis


def test_a_table_comes_back(tmp_path):
    columns = {
        "id": np.array([0, 1]),
        "parameter": np.array(["weight0", "theta[a, b]"]),
        "tau": np.array([np.pi * 1e-7, np.nan]),
        "free_energy": np.array([0.0, np.inf]),
    }
    analysis.write_table(tmp_path / "table.csv", columns)
    back = analysis.read_table(tmp_path / "table.csv")
    assert list(back) == list(columns)
    assert back["parameter"].tolist() == ["weight0", "theta[a, b]"]
    for name in ("id", "tau", "free_energy"):
        assert back[name] == pytest.approx(columns[name].astype(float), rel=1e-8, nan_ok=True)
    with open(tmp_path / "table.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert {len(row) for row in rows} == {4}
    assert rows[1][2] == "3.14159265e-07"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "is empty"),
        ("a,a\n1,2\n", "has the columns a twice"),
        ("a,b\n1,2\n3\n", "line 3 of .* has 1 entries, but the header has 2 names"),
        ("a,b\n1,2,3\n", "line 2 of .* has 3 entries, but the header has 2 names"),
    ],
)
def test_broken_files_are_named(tmp_path, text, error):
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=error):
        analysis.read_table(path)


def test_a_header_without_rows_gives_empty_columns(tmp_path):
    (tmp_path / "empty.csv").write_text("a,b\n")
    assert {k: v.shape for k, v in analysis.read_table(tmp_path / "empty.csv").items()} == {
        "a": (0,),
        "b": (0,),
    }


def test_other_mistakes(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        analysis.read_table(tmp_path / "nowhere.csv")
    with pytest.raises(ValueError, match=r"columns of one length .*'b': \(2,\)"):
        analysis.write_table(tmp_path / "x.csv", {"a": [1], "b": [1, 2]})
    assert not (tmp_path / "x.csv").exists()


def test_folders_of_zarr_are_the_files_of_the_same_run(tmp_path):
    """More than ten weights, so that the order of names is not the one of the columns."""
    x = np.random.default_rng(1).normal(size=(20, 12))
    paths = {}
    for ending in ("csv", "zarr"):
        paths[ending] = [tmp_path / f"{name}.{ending}" for name in ("trajectory", "run")]
        trajectory, run = map(str, paths[ending])
        options = {"trajectory_file": trajectory, "run_file": run, "number_walkers": 2}
        nn = kg.neural.Simulation([x, x[:, 0]], seed=1, step_width=0.05, max_steps=12, **options)
        nn.sample()
        nn.sample()  # appends
    text, stored = (analysis.Analysis.from_files(*paths[ending]) for ending in ("csv", "zarr"))
    assert stored.names == text.names == nn.landscape.names
    np.testing.assert_allclose(stored.draws, text.draws, rtol=1e-7)
    assert {*stored.records} == {*text.records}
    assert stored.inverse_temperature == text.inverse_temperature
    table = kg.neural.surfaces.trajectory(nn.landscape, paths["zarr"][0], progress=False)
    np.testing.assert_allclose(table.loss, stored.records["loss"].ravel(), rtol=1e-5)
    file = {"parse_parameters_file": str(paths["zarr"][0]), "parse_steps": 3}
    begun = kg.neural.Simulation([x, x[:, 0]], **file)
    np.testing.assert_allclose(begun.parameters, stored.draws[0, 2], rtol=1e-7)
