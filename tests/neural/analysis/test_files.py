"""Tables as CSV files."""

import csv

import numpy as np
import pytest

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
