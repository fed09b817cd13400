"""The database of runs and the comparison of records."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

X = np.linspace(-1, 1, 20)[:, None]


def test_runs_and_scalars_are_rows(tmp_path):
    path = tmp_path / "runs.db"
    settings = {"number_walkers": 2, "seed": 5, "batch_size": 4, "sql_scalars": True}
    nn = kg.neural.Simulation([X, 2 * X], sql_db=path, max_steps=500, every_nth=5, **settings)
    info = nn.sample().run_info
    nn.set_options(max_steps=0, sql_scalars=False)
    nn.sample()
    with sqlite3.connect(path) as database:
        runs = pd.read_sql("SELECT * FROM runs", database)
        scalars = pd.read_sql("SELECT * FROM scalars", database)
    assert runs["role"].tolist() == ["sampling", "sampling"]
    first = runs.iloc[0]
    assert (first["method"], first["walkers"], first["batch_size"]) == ("BAOAB()", 2, 4)
    assert (first["parameters"], first["data_rows"], first["seed"]) == (2, 20, 5)
    assert runs["first_step"].tolist() == [1, 501]
    assert first["seconds"] > 0
    assert first["steps_per_second"] == pytest.approx(500 / first["seconds"])
    assert runs["steps_per_second"][1] == 0
    assert scalars["run"].unique().tolist() == [1]
    losses = scalars[scalars["name"] == "loss"]
    assert 2 < len(losses) < len(info)
    for row in losses.itertuples():
        (value,) = info[(info["id"] == row.walker) & (info["step"] == row.step)]["loss"]
        assert row.value == value
    assert "accuracy" not in set(scalars["name"])  # NaN for a regression


def test_a_file_that_is_not_a_database_is_refused(tmp_path):
    path = tmp_path / "runs.db"
    path.write_text("no database at all, but a text that is long enough" * 10)
    nn = kg.neural.Simulation([X, X], sql_db=path, max_steps=1, seed=1)
    with pytest.raises(kg.DataError, match=r"sql_db: .*runs.db cannot be used .*not a database"):
        nn.sample()
    assert "no database" in path.read_text()
