"""Labels and names of values from pandas, polars and xarray."""

import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import kinetograph as kg
from kinetograph.graph.tables import labelled_axes, name_of, plain_labels

FRAME = pd.DataFrame({"age": [1.0, 2.0, 3.0], "income": [3.0, 4.0, 5.0]})
DAYS = pd.date_range("2020-01-01", periods=3)


def coords(array):
    return {dim: labels.tolist() for dim, labels in array.node.coords.items()}


# Labels by dims= ---------------------------------------------------------------------------------


def test_columns_and_index_without_a_name():
    x = kg.data(FRAME.set_index(DAYS), dims=("day", "coef"))
    assert x.dims == ("day", "coef")
    assert coords(x)["coef"] == ["age", "income"]
    assert (x.node.coords["day"] == DAYS.to_numpy()).all()
    y = kg.data(pd.Series([1.0, 2.0, 3.0], index=DAYS), dims="day")
    assert (y.node.coords["day"] == DAYS.to_numpy()).all()
    assert kg.data(FRAME).dims is None


def test_an_axis_with_a_name_of_its_own_needs_no_dims():
    x = kg.data(FRAME.rename_axis("row"))
    assert x.dims == ("row", None)
    assert coords(kg.data(FRAME.rename_axis(columns="coef"))) == {"coef": ["age", "income"]}


def test_labels_arrive_in_results():
    x = kg.data(FRAME, dims=(None, "coef"))
    b = kg.normal(0, 1, dims="coef", shape=2)
    kg.observe([1.0, 2.0, 3.0], kg.normal(x @ b, 1))
    drawn = kg.simulate(kg.model(b), draws=3, seed=1)
    assert drawn["prior"]["b"].sel(coef="income").size == 3
    assert drawn["prior"].coords["coef"].values.tolist() == ["age", "income"]


def test_other_labels_than_those_of_the_dimension_are_refused():
    coef = kg.dim("coef", ["income", "age"])
    with pytest.raises(kg.DimsError, match=re.escape("['income' 'age']..., but the values have")):
        kg.data(FRAME, dims=(None, coef))
    assert coords(kg.data(FRAME[["income", "age"]], dims=(None, coef)))["coef"][0] == "income"


def test_numbers_of_rows_yield_to_labels():
    school = kg.dim("school", ["A", "B"])
    rest = pd.Series([1.0, 2.0, 3.0])[[0, 2]]  # the index that pandas kept is 0, 2
    assert coords(kg.data(rest, dims=school)) == {"school": ["A", "B"]}
    assert coords(kg.data(rest, dims="school")) == {"school": [0, 2]}
    with pytest.raises(kg.DimsError, match="the values have"):  # the user's own numbers
        kg.data(rest.rename_axis("school"), dims=school)
    with pytest.raises(kg.DimsError, match="the values have"):
        kg.data(rest, dims=kg.dim("school", [2, 0]))


def test_parameters_have_labels_too():
    means = pd.Series([1.0, 2.0], index=["A", "B"])
    theta = kg.normal(means, 1, dims="school")
    assert coords(theta) == {"school": ["A", "B"]}
    table = pd.DataFrame(np.zeros((2, 2)), index=["A", "B"], columns=["x", "y"])
    assert coords(kg.normal(table, means.to_numpy(), dims=("school", "coef"))) == {
        "school": ["A", "B"],
        "coef": ["x", "y"],
    }
    assert coords(kg.normal(means, 1, dims=(None, "school"), shape=(3, 2))) == coords(theta)
    assert coords(kg.normal(means, 1, truncation=(0, None), dims="school")) == coords(theta)
    assert coords(kg.normal(means[:1], 1, dims="school", shape=2)) == {}
    with pytest.raises(kg.DimsError, match="sort the values by the dimension's labels first"):
        kg.normal(means, 1, dims=kg.dim("school", ["B", "A"]))


# Kinds of labels ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pd.Index(["Oslo", "Bonn"]), ["Oslo", "Bonn"]),
        (pd.Index(["Oslo", 2]), ["Oslo", "2"]),
        (pd.MultiIndex.from_product([["Oslo"], [2001, 2002]]), ["Oslo, 2001", "Oslo, 2002"]),
        (pd.CategoricalIndex(["b", "a"]), ["b", "a"]),
        (pd.interval_range(0, 2), ["(0, 1]", "(1, 2]"]),
        (pd.period_range("2020-01", periods=2, freq="M"), ["2020-01", "2020-02"]),
        (pd.Index([2, 1]), [2, 1]),
    ],
)
def test_labels_are_numbers_texts_or_dates(labels, expected, tmp_path):
    assert plain_labels(labels).tolist() == expected
    y = kg.data(pd.Series([1.0, 2.0], index=labels), dims="row")
    assert coords(y) == {"row": expected}
    assert kg.dim("row", labels).labels.tolist() == expected
    mu = kg.normal(0, 1)
    kg.observe(y, kg.normal(mu, 1), name="y")
    kg.simulate(kg.model(mu), draws=2, seed=1).to_netcdf(tmp_path / "results.nc")
    stored = xr.open_datatree(tmp_path / "results.nc")
    assert stored["observed_data"].coords["row"].values.tolist() == expected


def test_times_of_a_zone_are_utc():
    hours = pd.date_range("2020-01-01 01:00", periods=2, freq="h", tz="Europe/Oslo")
    assert (plain_labels(hours) == np.array(["2020-01-01T00", "2020-01-01T01"], "M8[h]")).all()


def test_labels_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"age": [1.0, 2.0], "income": [3.0, 4.0]})
    x = kg.data(frame, dims=("row", "coef"))
    assert coords(x) == {"coef": ["age", "income"]}
    assert x.node.value.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert kg.dim("city", pl.Series(["Oslo", "Bonn"])).labels.tolist() == ["Oslo", "Bonn"]
    assert name_of(frame["age"]) == "age"


def test_values_without_labels():
    assert labelled_axes(np.zeros(3)) == ()
    assert labelled_axes([1.0]) == ()
    assert name_of(np.zeros(3)) is None
    assert name_of(pd.Series([1.0])) is None
    assert name_of(pd.Series([1.0], name="a/b")) is None
    assert name_of(pd.Series([1.0], name=3)) is None
    assert name_of(xr.DataArray([1.0], name="y")) == "y"


# New values --------------------------------------------------------------------------------------


def test_new_tables_have_the_columns_of_the_old():
    x = kg.data(FRAME, dims=("row", "coef"))
    b = kg.normal(0, 1, dims="coef", shape=2)
    kg.observe(y := kg.data([1.0, 2.0, 3.0], dims="row"), kg.normal(x @ b, 1))
    model = kg.model(b)
    model.set_data(x=(FRAME + 1).rename_axis("id"))
    assert model.value_of(x.node)[0].tolist() == [2.0, 4.0]
    wrong = FRAME[["income", "age"]]
    with pytest.raises(kg.DimsError, match=re.escape("got income, age")) as error:
        model.set_data(x=wrong)
    assert "in the order of the model, as in table[['age', 'income']]" in str(error.value)
    assert model.value_of(x.node)[0].tolist() == [2.0, 4.0]
    model.set_data(x=wrong.to_numpy())
    assert y.shape == (3,)


def test_labels_of_a_dimension_stay_for_an_index_without_labels():
    """The index 0, 1, 2 that pandas makes by itself agrees with labels, and yields to them."""
    year = kg.dim("year", [2001, 2002, 2003])
    series = pd.Series([1.0, 2.0, 3.0])
    x = kg.normal(series, 1.0, dims=year, name="x")
    tree = kg.simulate(kg.model(x), 2, seed=1)
    group = next(g for g in tree.children.values() if "x" in g)
    assert group["year"].values.tolist() == [2001, 2002, 2003]
