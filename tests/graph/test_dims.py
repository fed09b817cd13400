"""Dimensions made before the model: shapes, labels and errors."""

import dataclasses
import datetime
import re

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

SCHOOL = kg.dim("school", ["A", "B", "C"])
YEAR = kg.dim("year", 2)


def refused(text):
    return pytest.raises(kg.DimsError, match=re.escape(text))


def test_what_a_dimension_knows():
    assert (SCHOOL.name, SCHOOL.size, len(SCHOOL)) == ("school", 3, 3)
    assert SCHOOL.labels.tolist() == ["A", "B", "C"]
    assert YEAR.labels.tolist() == [0, 1]
    assert repr(SCHOOL) == "<dim school, 3 labels: A, B, C>"
    assert repr(YEAR) == "<dim year, length 2>"
    with pytest.raises(dataclasses.FrozenInstanceError):
        SCHOOL.size = 4
    with pytest.raises(ValueError, match="read-only"):
        SCHOOL.labels[0] = "Z"
    given = np.array([3, 1])
    made = kg.dim("k", given)
    given[0] = 7
    assert made.labels.tolist() == [3, 1]


def test_labels_of_pandas():
    pd = pytest.importorskip("pandas")
    days = kg.dim("day", pd.date_range("2020-01-01", periods=2))
    assert (days.labels == np.array(["2020-01-01", "2020-01-02"], "M8[D]")).all()
    assert kg.dim("city", pd.Index(["Oslo", "Bonn"])).labels.tolist() == ["Oslo", "Bonn"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((3, 4), "dim: the name of a dimension must be text, got 3"),
        (("", 4), "dim: the name of a dimension must be text, got ''"),
        (("k", -1), "dim 'k': the length -1 is negative"),
        (("k", "abc"), "dim: the labels of 'k' are not one-dimensional, got 'abc'"),
        (("k", [[1]]), "dim: the labels of 'k' are not one-dimensional"),
        (("k", True), "dim: the labels of 'k' are not one-dimensional, got True"),
        (("k", [None, 1]), "or all dates, got None (NoneType)"),
        (("k", ["a", "b", "a"]), "dim 'k': the label a occurs 2 times"),
    ],
)
def test_what_is_no_dimension(arguments, text):
    with refused(text):
        kg.dim(*arguments)


def test_shapes_of_unknowns():
    mean = np.zeros((3, 2))
    made = {
        (3,): [kg.normal(0, 1, dims=SCHOOL), kg.variable(lower=0, dims=SCHOOL)],
        (3, 2): [
            kg.normal(0, 1, dims=(SCHOOL, YEAR)),
            kg.normal(mean, 1, dims=("school", YEAR)),
            kg.normal(np.zeros(2), 1, dims=[SCHOOL, "year"]),
            kg.dirichlet([1.0, 2.0], dims=(SCHOOL, YEAR)),
            kg.simplex_variable(dims=(SCHOOL, YEAR)),
            kg.ordered_variable(dims=(SCHOOL, YEAR)),
            kg.mixture(kg.normal(0, 1), kg.normal(1, 1), weights=[0.5, 0.5], dims=(SCHOOL, YEAR)),
            kg.joint(kg.normal(0, 1), kg.normal(0, 1), dims=(SCHOOL, YEAR)),
        ],
        (3, 2, 2): [
            kg.cholesky_variable(2, dims=(SCHOOL, YEAR, None)),
            kg.covariance_variable(2, dims=(SCHOOL, None, YEAR)),
            kg.correlation_variable(2, dims=(SCHOOL, None, None)),
        ],
    }
    for shape, arrays in made.items():
        for array in arrays:
            assert array.shape == shape
            assert array.dims[0] == "school"
    assert kg.normal(0, 1, dims=(SCHOOL, YEAR)).dims == ("school", "year")
    assert kg.normal(0, 1, dims=SCHOOL, shape=3).shape == (3,)


def test_lengths_that_differ_or_are_not_known():
    with refused("normal 'z' (test_dims.py:"):
        kg.normal(0, 1, shape=4, dims=SCHOOL, name="z")
    with refused("axis 0 has length 4, but <dim school, 3 labels: A, B, C> has 3"):
        kg.variable(shape=4, dims=SCHOOL)
    with pytest.raises(kg.ShapeError, match=r"'year' is not known; .*kg.dim\('year', labels_or"):
        kg.normal(0, 1, dims=(SCHOOL, "year"))
    with pytest.raises(kg.ShapeError, match="does not fit the parameters"):
        kg.normal(np.zeros(4), 1, dims=SCHOOL)
    with refused("the shape () has 0; give shape=, or use dimensions with lengths"):
        kg.normal(0, 1, dims="school")


def test_data():
    y = kg.data([1.0, 2.0, 4.0], dims=SCHOOL)
    assert y.dims == ("school",)
    assert y.node.coords["school"].tolist() == ["A", "B", "C"]
    with refused("axis 0 has length 2, but <dim school, 3 labels: A, B, C> has 3"):
        kg.data([1.0, 2.0], "y", dims=SCHOOL)
    with refused("dims ('school', 'year') name 2 axes, but the shape (3,) has 1"):
        kg.data([1.0, 2.0, 4.0], dims=(SCHOOL, YEAR))


def test_labels_that_data_bring_along():
    xr = pytest.importorskip("xarray")
    values = xr.DataArray([1.0, 2.0, 4.0], dims="s", coords={"s": ["A", "B", "C"]})
    assert kg.data(values, dims=SCHOOL).dims == ("school",)
    unlabelled = kg.data(values, dims=kg.dim("school", 3))
    assert unlabelled.node.coords["school"].tolist() == ["A", "B", "C"]
    with refused("the values have ['C' 'B' 'A']...; sort the values by the dimension's labels"):
        kg.data(values[::-1], dims=SCHOOL)


@pytest.mark.parametrize("make", [pd.Timestamp, datetime.datetime.fromisoformat])
def test_dates_of_python_are_labels(make):
    texts = ["2024-01-01", "2024-02-01", "2024-03-01"]
    expected = np.array(texts, "M8[D]")
    np.testing.assert_array_equal(kg.dim("month", list(map(make, texts))).labels, expected)
    days = [make(text).date() for text in texts]
    np.testing.assert_array_equal(kg.dim("month", days).labels, expected)
    with pytest.raises(kg.DimsError, match="all numbers, all texts or all dates"):
        kg.dim("month", [make(text).replace(tzinfo=datetime.UTC) for text in texts])
