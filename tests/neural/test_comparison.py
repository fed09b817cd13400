"""Comparison of records with tolerances."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import kinetograph as kg
from kinetograph.cli import main

compare = kg.neural.compare_records
FIRST = pd.DataFrame(
    {"step": [1, 2, 3], "loss": [0.5, 0.25, np.nan], "c0": [1.0, -2.0, 0.0], "time": [1.0, 2, 3]}
)


def changed(**columns):
    return FIRST.assign(**columns)


def test_differences_are_absolute_or_relative():
    other = changed(loss=[0.5, 0.2, np.nan])
    (row,) = compare(FIRST, other).table.query("column == 'loss'").itertuples()
    assert row.difference == pytest.approx(0.05)
    assert (row.row, row.first, row.second, row.equal) == (1, 0.25, 0.2, False)
    assert compare(FIRST, other, threshold=0.051).equal
    assert not compare(FIRST, other, threshold=0.049).equal
    assert compare(FIRST, other, threshold=0.201, relative=True).equal
    assert not compare(FIRST, other, threshold=0.199, relative=True).equal
    assert compare(FIRST, other, thresholds={"loss": 0.06}).equal
    assert not compare(FIRST, other, threshold=0.06, thresholds={"loss": 0.04}).equal


def test_columns_without_sign_and_columns_left_out():
    other = changed(c0=[-1.0, 2.0, 0.0], time=[0.0, 0, 0])
    assert compare(FIRST, other, ignore_sign=["c0"], drop=["time"]).equal
    assert not compare(FIRST, other, drop=["time"]).equal
    assert not compare(FIRST, other, ignore_sign=["c0"]).equal
    assert compare(FIRST, other.drop(columns="time"), ignore_sign=["c0"], drop=["time"]).equal
    assert "time" not in compare(FIRST, other, drop=["time"]).table["column"].tolist()


def test_missing_and_infinite_values():
    assert compare(FIRST, FIRST, threshold=0.0).equal
    assert not compare(FIRST, changed(loss=[0.5, 0.25, 1.0]), threshold=1e9).equal
    infinite = changed(c0=[np.inf, -2.0, 0.0])
    assert compare(infinite, infinite, threshold=0.0, relative=True).equal
    assert not compare(FIRST, infinite, threshold=1e9).equal
    assert compare(FIRST[:0], FIRST[:0]).equal


def test_records_that_cannot_be_compared(tmp_path):
    with pytest.raises(kg.DataError, match=r"second records have no column 'loss'"):
        compare(FIRST, FIRST.drop(columns="loss"))
    with pytest.raises(kg.DataError, match="first records have 3 rows, the second 2"):
        compare(FIRST, FIRST[:2])
    with pytest.raises(ValueError, match=r"unknown column 'los'.*; did you mean 'loss'"):
        compare(FIRST, FIRST, thresholds={"los": 1.0})
    with pytest.raises(ValueError, match=r"unknown column 'losss'.*; did you mean 'loss'"):
        compare(FIRST, FIRST, drop=["losss"])
    with pytest.raises(ValueError, match="loss: expected 0 or more, got -1"):
        compare(FIRST, FIRST, thresholds={"loss": -1.0})
    with pytest.raises(kg.DataError, match="column time: expected numbers"):
        compare(FIRST, changed(time=["a", "b", "c"]))
    with pytest.raises(TypeError, match="expected files or frames, got int"):
        compare(FIRST, 3)
    with pytest.raises(FileNotFoundError):
        compare(FIRST, tmp_path / "none.csv")


def test_files_and_the_command(tmp_path):
    one, two, store = (str(tmp_path / name) for name in ("a.csv", "b.csv", "c.zarr"))
    FIRST.to_csv(one, index=False)
    changed(loss=[0.5, 0.2, np.nan]).to_csv(two, index=False)
    kg.neural.records.write_block(store, FIRST, True)
    assert compare(one, store).equal

    def call(*words):
        return CliRunner().invoke(main, ["neural", "compare", *words], prog_name="kinetograph")

    result = call(one, two)
    assert result.exit_code == 1
    assert "loss" in result.stdout
    assert call(one, two, "--drop", "loss").exit_code == 0
    assert call(one, two, "--column-threshold", "loss=0.2").exit_code == 0
    assert call(one, two, "--relative", "--threshold", "0.3").exit_code == 0
    assert call(one, two, "--column-threshold", "loss").exit_code == 2
    assert call(one, two, "--ignore-sign", "los").exit_code == 2
