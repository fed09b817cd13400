"""`kg.groups`: codes and labels of groups, made together."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

TOWNS = ["Oslo", "Bonn", "Oslo", "Rome"]


def made(values, *rest, **named):
    g = kg.groups(values, *rest, **named)
    return g.dim.labels.tolist(), g.codes.node.value.tolist()


def test_codes_and_labels_are_those_of_pandas():
    g = kg.groups(pd.Series(TOWNS, name="town"))
    expected = pd.Categorical(TOWNS)
    assert g.codes.node.value.tolist() == expected.codes.tolist()
    assert g.dim.labels.tolist() == list(expected.categories)
    assert (g.dim.name, g.dim.size, g.codes.node.name) == ("town", 3, "town_codes")
    assert repr(g) == "<groups of 4 rows, <dim town, 3 labels: Bonn, Oslo, Rome>>"


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (TOWNS, ["Bonn", "Oslo", "Rome"]),
        (np.array(TOWNS), ["Bonn", "Oslo", "Rome"]),
        (pd.Series(TOWNS, dtype="object"), ["Bonn", "Oslo", "Rome"]),
        (pd.Index(TOWNS), ["Bonn", "Oslo", "Rome"]),
        ([3, 1, 3, 9], [1, 3, 9]),
        ([0.5, 0.25, 0.5, 1.0], [0.25, 0.5, 1.0]),
        ([True, False, True, True], [False, True]),
        (pd.Series([3, 1, 3, 9], dtype="Int64"), [1, 3, 9]),
        (pd.Categorical(TOWNS, ["Rome", "Oslo", "Bonn"]), ["Rome", "Oslo", "Bonn"]),
        (pd.Series(TOWNS, dtype=pd.CategoricalDtype(["x", *TOWNS[1:]])), ["x", *TOWNS[1:]]),
        (pd.cut([0.5, 1.5, 0.5, 2.0], [0, 1, 2]), ["(0, 1]", "(1, 2]"]),
    ],
)
def test_columns_of_every_kind(values, levels):
    labels, codes = made(values, "k")
    assert labels == levels
    texts = [str(labels[code]) for code in codes]
    assert texts == [str(value) for value in values]
    assert kg.groups(values, "k").encode(values).tolist() == codes


def test_dates():
    days = pd.Series(pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-02"]), name="day")
    g = kg.groups(days)
    assert g.codes.node.value.tolist() == [1, 0, 1]
    assert g.encode(np.array(["2020-01-01"], "M8[ns]")).tolist() == [0]
    assert g.dim.labels[0] == np.datetime64("2020-01-01")


def test_columns_of_polars():
    pl = pytest.importorskip("polars")
    series = pl.Series("town", TOWNS)
    assert made(series) == (["Bonn", "Oslo", "Rome"], [1, 0, 1, 2])
    assert kg.groups(series).dim.name == "town"
    assert made(series.cast(pl.Categorical))[0] == ["Bonn", "Oslo", "Rome"]
    assert made(series.cast(pl.Enum(["Rome", "Oslo", "Bonn"]))) == (
        ["Rome", "Oslo", "Bonn"],
        [1, 2, 1, 0],
    )
    days = pl.Series("day", [2, 1, 2]).cast(pl.Date)
    assert made(days)[1] == [1, 0, 1]
    for column in (pl.Series("town", ["Oslo", None]), pl.Series("town", [1, None])):
        with pytest.raises(kg.DataError, match="town is missing in row 1"):
            kg.groups(column)


def test_labels_of_effects_in_results():
    frame = pd.DataFrame({"town": TOWNS, "y": [1.0, 2.0, 3.0, 4.0]}).rename_axis("row")
    town = kg.groups(frame["town"])
    effect = kg.normal(0, 1, dims=town.dim)
    kg.observe(frame["y"], kg.normal(effect[town.codes], 1))
    model = kg.model(effect)
    assert model.coords["town"].tolist() == ["Bonn", "Oslo", "Rome"]
    assert town.codes.dims == ("row",)
    drawn = kg.simulate(model, draws=3, seed=1)
    assert drawn["prior"]["effect"].sel(town="Rome").size == 3
    model.set_data(town_codes=town.encode(["Rome"] * 4))
    assert model.value_of(town.codes.node).tolist() == [2, 2, 2, 2]


def test_names():
    assert kg.groups(TOWNS).dim.name == "TOWNS"
    assert kg.groups(list("ab")).dim.name == "group"
    assert kg.groups(TOWNS, "k").dim.name == "k"


def test_levels_that_are_given():
    dim = kg.dim("town", ["Rome", "Oslo", "Bonn", "Paris"])
    assert made(TOWNS, "town", levels=dim) == (dim.labels.tolist(), [1, 2, 1, 0])
    assert made(TOWNS, "town", levels=["Rome", "Oslo", "Bonn"])[1] == [1, 2, 1, 0]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["a", None, "b"], "k is missing in row 1 (test_groups"),
        (["a", None, np.nan, "b"], "k is missing in row 1 and 1 more row (test_groups"),
        ([1.0, np.nan], "k is missing in row 1"),
        (pd.Series(["a", None], index=["x", "z"]), "k is missing in row 1 (index z)"),
        (pd.Series([1, None], dtype="Int64"), "k is missing in row 1"),
        (pd.Categorical(["a", None]), "k is missing in row 1"),
        (pd.Series(pd.to_datetime(["2020-01-01", None])), "k is missing in row 1"),
        (pd.DataFrame({"a": ["x"]}), "k must be one column, got a DataFrame"),
        ("abc", "k must be one column, got the text 'abc'"),
        ([["a"], ["b", "c"]], "k must be one column, got a list"),
        (np.array(["a", 1], object), "k has values of several kinds, int, str"),
        (kg.normal(0, 1, shape=2), "not known values"),
    ],
)
def test_columns_that_are_refused(values, text):
    with pytest.raises(
        kg.DataError, match=re.escape(f"groups: {text}") if text[0] == "k" else text
    ):
        kg.groups(values, "k")


def test_levels_not_seen_are_named_with_their_row():
    town = kg.groups(TOWNS, "town")
    new = pd.Series(["Oslo", "oslo", "Riga"], index=["x", "y", "z"])
    with pytest.raises(kg.DataError) as error:
        town.encode(new)
    message = str(error.value)
    assert "town has no level 'oslo', which is in row 1 (index y) and 1 more row" in message
    assert "its levels are Bonn, Oslo, Rome" in message
    assert "did you mean 'Oslo'?" in message
    with pytest.raises(kg.DataError, match="no level 'Oslo', which is in row 0"):
        kg.groups(TOWNS, "town", levels=["Rome", "Bonn"])


def test_one_level_is_warned_of():
    with pytest.warns(kg.KinetographWarning, match="all rows of k have the level 'a'"):
        kg.groups(["a", "a"], "k")


CODES, _ = pd.factorize(np.array(["b", "a", None, "b", "c", None], object))


def test_missing_values_of_factorize_are_warned_of():
    text = r"groups: k is -1 in row 2 and 1 more row, and a code from 0 to 2 .*test_groups\.py"
    with pytest.warns(kg.KinetographWarning, match=text):
        kg.groups(CODES, "k")
    with pytest.warns(kg.KinetographWarning, match=r"k is -1 in row 2 \(index z\) and 1 more row"):
        kg.groups(pd.Series(CODES, list("xyzuvw"), name="k"))


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([-2, -1, 0, 1], None),
        ([-1, 0, 2], None),
        ([-1, 1], None),
        ([-1, 0], None),
        ([0, 1, 2], None),
        ([-1.0, 0.0, 1.0], None),
        (CODES, [-1, 0, 1, 2]),
        (CODES.astype(str), None),
        (pd.Categorical(CODES), None),
        (pd.Series(CODES).astype("category"), None),
    ],
)
def test_levels_that_are_numbers_are_not_warned_of(values, levels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.groups(values, "k", levels=levels)


def test_groups_are_not_an_index():
    g = kg.groups(TOWNS, "town")
    effect = kg.normal(0, 1, dims=g.dim)
    with pytest.raises(kg.SymbolicError, match=re.escape("write effect[g.codes]")):
        effect[g]


def effects_by(dims, coords=None):
    """A model of effects that are indexed by the codes of towns."""
    town = kg.groups(TOWNS, "town")
    effect = kg.normal(0, 9, dims=dims, shape=3, name="effect")
    y = kg.observe(np.arange(float(len(TOWNS))), kg.normal(effect[town.codes], 1.0))
    return kg.model(effect, coords=coords), effect, town, y


def test_codes_have_the_labels_of_the_effects():
    labels = list(kg.groups(TOWNS, "town").dim.labels)
    assert list(effects_by("town")[0].coords["town"]) == labels  # the codes bring them
    other = labels[::-1]
    for dims, coords in ((kg.dim("town", other), None), ("town", {"town": other})):
        with pytest.raises(kg.DimsError, match=r"different labels for dimension 'town'.*encode"):
            effects_by(dims, coords)
    effects_by("place")  # a dimension of another name, without labels
    effects_by(kg.dim("place", labels))


def test_codes_of_another_dimension_with_other_labels():
    message = (
        r"effect\[town_codes\] \(written at test_groups.py:\d+\): the codes are of 'town', with 3 "
        r"\(.*\), and the dimension of effect is 'place', with 3 \(a, b, c\): .*; index with the "
        r"codes of kg.groups\(..., 'place'\), or .*, dims=town.dim$"
    )
    with pytest.raises(kg.DimsError, match=message):
        effects_by(kg.dim("place", ["a", "b", "c"]))
    with pytest.raises(kg.DimsError, match="the codes are of 'town', "):
        effects_by("place", {"place": ["a", "b", "c"]})
    other, town = kg.groups(["a", "b", "c"], "other"), kg.groups(TOWNS, "town")
    table = kg.normal(0, 1, dims=(other.dim, town.dim), name="table")
    kg.observe(np.zeros(len(TOWNS)), kg.normal(table[:, town.codes].sum(0), 1.0))
    assert kg.model(table).names == ("table",)
    kg.observe(np.zeros(len(TOWNS)), kg.normal(table[town.codes].sum(1), 1.0))
    with pytest.raises(kg.DimsError, match=r"table\[town_codes\].* of table is 'other'"):
        kg.model(table)


def test_numbers_of_groups_are_positions():
    effect = kg.normal(0, 1, dims=kg.dim("place", ["a", "b", "c"]), name="effect")
    numbers = kg.groups([0, 1, 1, 0], "number")
    kg.observe(np.zeros(4), kg.normal(effect[numbers.codes], 1.0))
    assert list(kg.model(effect).coords["place"]) == ["a", "b", "c"]


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_predictions_by_codes_of_another_dimension():
    model, effect, _, _ = effects_by(kg.groups(TOWNS, "town").dim)
    results = kg.mcmc(model, draws=20, warmup=50, chains=1, seed=1, progress=False)
    doctors = kg.groups(["d", "e", "d"], "doctor")
    with pytest.raises(
        kg.DimsError, match=r"^predict: effect\[doctor_codes\].* of 'doctor', with 2"
    ):
        kg.predict(model, results, v=effect[doctors.codes])


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_codes_of_other_levels_at_new_rows():
    model, effect, town, _ = effects_by(kg.groups(TOWNS, "town").dim)
    results = kg.mcmc(model, draws=20, warmup=50, chains=1, seed=1, progress=False)
    draws = results["posterior"]["effect"]
    new = ["Rome", "Oslo"]
    with pytest.raises(kg.DimsError, match=r"town_codes.* has the labels 2 \(Oslo, Rome\).*encode"):
        kg.predict(model, results, v=effect[kg.groups(new, "town").codes])
    expected = draws.sel(town=new).values
    for codes in (town.encode(new), kg.groups(new, "town", levels=town.dim).codes):
        got = kg.predict(model, results, v=effect[codes])["predictions"]["v"].values
        np.testing.assert_allclose(got, expected)
    with pytest.raises(kg.DimsError, match=r"different labels for dimension 'town'.*encode"):
        model.set_data(town_codes=kg.groups(new * 2, "town").codes)
    model.set_data(town_codes=town.encode(new * 2))
