"""Rows of pandas objects are combined by position, with a warning where pandas would not."""

import warnings

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

RNG = np.random.default_rng(1)
DATA = pd.DataFrame({"x": RNG.normal(size=12), "y": RNG.normal(size=12), "g": list("abc") * 4})
SHUFFLED = DATA.sample(frac=1, random_state=1)
NAMED = DATA.set_index(pd.Index([f"r{i}" for i in range(12)]))


def line(x, y):
    """A regression of y on x."""
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    kg.observe(y, kg.normal(a + b * x, 1))
    return a, b


def two_columns():
    b = kg.normal(0, 1, name="b")
    kg.observe(np.zeros(12), kg.normal(b * DATA["x"] + SHUFFLED["y"], 1))
    return b


def matrix():
    b = kg.normal(0, 1, shape=2, name="b")
    x = kg.data(SHUFFLED[["x", "y"]])
    kg.observe(DATA["y"], kg.normal(x @ b, 1))
    return b


def column():
    b = kg.normal(0, 1, name="b")
    x = kg.data(SHUFFLED[["x", "y"]])
    kg.observe(DATA["y"], kg.normal(x[:, 0] * b, 1))
    return b


def groups():
    g = kg.groups(SHUFFLED["g"])
    b = kg.normal(0, 1, dims=g.dim, name="b")
    kg.observe(DATA["y"], kg.normal(b[g.codes], 1))
    return b


def latent():
    z = kg.normal(kg.normal(0, 1, name="b") * SHUFFLED["x"], 1)
    kg.observe(DATA["y"], kg.normal(kg.where(z > 0, z, 0.0), 1))
    return z


def factor():
    b = kg.normal(0, 1, name="b")
    kg.factor(kg.log_density(kg.normal(b * SHUFFLED["x"], 1), kg.data(DATA["y"])).sum())
    return b


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(12),
        pd.Index(list("abcdefghijkl")),
        pd.date_range("2020-01-01", periods=12, freq="MS"),
        pd.date_range("2020-01-01", periods=12, tz="UTC"),
        pd.period_range("2020-01", periods=12, freq="M"),
        pd.MultiIndex.from_product([["a", "b"], range(6)]),
    ],
    ids=["numbers", "text", "dates", "zone", "periods", "levels"],
)
def test_columns_without_other_missing_values_are_warned_of(index):
    """pandas combines 10 of the rows; by position, some labels agree and others do not."""
    y, x = (pd.Series(DATA[name].values, index).drop(index[k]) for name, k in (("y", 3), ("x", 8)))
    with pytest.warns(kg.KinetographWarning, match="different labels: row 3 is "):
        kg.model(*line(x, y))


@pytest.mark.parametrize(
    "build",
    [
        lambda: line(DATA["x"].sort_values(), DATA["y"]),
        lambda: line(kg.data(DATA["x"]), kg.data(SHUFFLED["y"])),
        lambda: line(NAMED["x"], NAMED["y"].sort_values()),
        lambda: line(SHUFFLED["x"], (10 * DATA["y"]).astype(int)),
        two_columns,
        matrix,
        column,
        groups,
        latent,
        factor,
    ],
)
def test_another_order_is_warned_of(build):
    with pytest.warns(kg.KinetographWarning, match="the same labels in another order: row ") as w:
        kg.model(build)
    assert len(w) == 1


def test_both_lines_are_named_with_their_labels():
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    mean = a + b * SHUFFLED["x"]
    kg.observe(DATA["y"], kg.normal(mean, 1))
    with pytest.warns(kg.KinetographWarning) as found:
        kg.model(a, b)
    (text,) = (str(warning.message) for warning in found)
    first = test_both_lines_are_named_with_their_labels.__code__.co_firstlineno
    places = [f"(written at test_row_labels.py:{first + i})" for i in (2, 3)]
    assert text.startswith(f"model: x {places[0]} and y {places[1]} are combined ")
    assert f"row 0 is {SHUFFLED.index[0]} in one and 0 in the other. " in text
    assert "as in x.loc[y.index], or write x.to_numpy() if the positions are right" in text


def test_other_rows_of_one_frame_are_warned_of():
    with pytest.warns(kg.KinetographWarning, match="different labels: row 0 is "):
        kg.model(lambda: line(SHUFFLED["x"][:6], SHUFFLED["y"][6:]))


DOUBLED = DATA.set_index("g")
DAYS = pd.Series(DATA["y"].to_numpy(), pd.date_range("2024", periods=12), name="y")
MIXED = DAYS.iloc[[0, 2, 1, *range(3, 12)]]


@pytest.mark.parametrize(
    ("x", "row"),
    [
        (DOUBLED["x"].sort_index(), 1),
        (DOUBLED["x"].iloc[::-1], 0),
        (DOUBLED["x"].iloc[[*range(5), 6, 5, *range(7, 12)]], 5),
    ],
)
def test_labels_that_occur_several_times_in_another_order_are_warned_of(x, row):
    text = f"the same labels in another order: row {row} is "
    with pytest.warns(kg.KinetographWarning, match=text):
        kg.model(lambda: line(x, DOUBLED["y"]))


def process(y):
    rho = kg.uniform(-1, 1, name="rho")
    kg.observe(y, kg.ar([rho], 1.0, 12))
    return rho


def walk(y):
    sd = kg.half_normal(1)
    kg.observe(y, kg.normal(2 * kg.random_walk(sd, 12) + 1, 1))
    return sd


def covariate(y):
    sd = kg.half_normal(1)
    kg.observe(np.zeros(12), kg.normal(kg.random_walk(sd, 12) + y, 1))
    return sd


def labelled(y):
    sd = kg.half_normal(1)
    level = kg.random_walk(sd, dims=kg.dim("day", y.index))
    kg.observe(y.to_numpy(), kg.normal(level, 1))
    return sd


def hidden(y):
    states = kg.markov_chain([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], 12)
    mean = kg.normal(0, 1, shape=2)
    kg.observe(y, kg.normal(mean[states], 1))
    return mean


SERIES = [process, walk, covariate, labelled, hidden]


@pytest.mark.parametrize("build", SERIES)
def test_dates_of_a_series_that_are_not_sorted_are_warned_of(build):
    text = "row 2 is 2024-01-02 00:00:00, after 2024-01-03 00:00:00 in row 1"
    with pytest.warns(kg.KinetographWarning, match=f"dates are not sorted: {text}") as found:
        kg.model(lambda: build(MIXED))
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["period", "date", "zone", "duration"])
def test_dates_of_every_kind(kind):
    index = MIXED.index
    made = {
        "period": index.to_period("D"),
        "date": index.date,
        "zone": index.tz_localize("Europe/Oslo"),
        "duration": index - index[0],
    }
    with pytest.warns(kg.KinetographWarning, match="dates are not sorted: row 2 is "):
        kg.model(lambda: process(MIXED.set_axis(made[kind])))


@pytest.mark.parametrize("build", SERIES)
@pytest.mark.parametrize(
    "y",
    [
        DAYS,
        MIXED.sort_index().rename(None),
        MIXED.reset_index(drop=True),
        MIXED.set_axis(MIXED.index.day),  # numbers may be labels of another order
    ],
)
def test_sorted_dates_and_numbers_of_a_series_are_not_warned_of(build, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(lambda: build(y))


def test_dates_of_rows_that_are_not_a_series_may_have_any_order():
    def build():
        sd, week = kg.half_normal(1), np.arange(12) // 4
        kg.observe(MIXED, kg.normal(kg.random_walk(sd, 3)[week], 1))
        return sd

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(build)


HOURS = pd.date_range("2024", periods=12, freq="h", tz="UTC")


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (DATA["x"], DATA["y"]),
        (NAMED["x"], DATA["y"]),
        (SHUFFLED["x"], SHUFFLED["y"]),
        (SHUFFLED["x"].reset_index(drop=True), DATA["y"]),
        (SHUFFLED["x"].to_numpy(), DATA["y"]),
        (DATA["y"][:-1], DATA["y"][1:]),
        (SHUFFLED["y"][:-2], SHUFFLED["y"][2:]),
        (NAMED["y"][1:], NAMED["y"][:-1]),
        (SHUFFLED["x"][:6], NAMED["y"][:6]),
        (DATA["x"][6:], DATA["y"][:6]),
        (DATA["x"].drop(2), DATA["y"][1:].reset_index(drop=True)),
        (DATA["x"].set_axis(HOURS), DATA["y"].set_axis(HOURS.tz_convert("Europe/Oslo"))),
        (DATA["x"].set_axis(DATA.index.astype("Int64")), DATA["y"].set_axis([*range(12)])),
        (NAMED["x"], pd.Series(DATA["y"].to_numpy(), index=list("ab") * 6)),
        (DOUBLED["x"], DOUBLED["y"]),
        (DOUBLED["x"][1:], DOUBLED["y"][:-1]),
        (DOUBLED["x"][:-3], DOUBLED["y"][3:]),
        (DOUBLED["x"].set_axis([1, 1, 2] * 4), DOUBLED["y"].set_axis([1.0, 1.0, 2.0] * 4)),
        (DOUBLED["x"].set_axis(list("aab") * 4), DOUBLED["y"]),  # not equally often
    ],
)
def test_what_is_meant_is_not_warned_of(x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(lambda: line(x, y))


def test_arrays_that_are_not_combined_by_rows_are_not_compared():
    def build():
        b = kg.normal(0, 1, name="b")
        kg.observe(DATA["y"], kg.normal(b * SHUFFLED["x"].mean(), 1))
        kg.observe(DATA["x"], kg.normal(b, kg.data(SHUFFLED["y"]).std()))
        kg.observe(SHUFFLED["y"] + 1, kg.normal(b, 1))
        return b

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(build)


AREAS = kg.dim("area", list("pqrs"))
COUNTS = pd.Series([3, 5, 1, 2], list("sprq"))


def model_of_areas(counts, effects=None):
    def build():
        mean = kg.normal(0, 1)
        effect = kg.normal(0, 1, dims=AREAS) if effects is None else effects()
        kg.observe(counts, kg.poisson(kg.exp(mean + effect)))
        return mean, effect

    return kg.model(build)


def test_an_index_and_the_labels_of_a_dimension_in_another_order():
    with pytest.warns(kg.KinetographWarning, match=r"labels of a dimension have the same .* row 0"):
        model_of_areas(COUNTS)
    adjacency = pd.DataFrame(np.eye(4, k=1) + np.eye(4, k=-1), list("pqrs"), list("pqrs"))
    with pytest.warns(kg.KinetographWarning, match="the same labels in another order"):
        model_of_areas(COUNTS, lambda: kg.gp.icar(adjacency, dims="area"))


@pytest.mark.parametrize(
    "counts",
    [
        COUNTS.loc[list("pqrs")],
        COUNTS.reset_index(drop=True),
        COUNTS.to_numpy(),
        COUNTS.set_axis(list("wxyz")),  # other labels may be combined by position
        COUNTS.set_axis(list("zxwy")),
    ],
)
def test_labels_of_a_dimension_that_fit_are_not_warned_of(counts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_of_areas(counts)
