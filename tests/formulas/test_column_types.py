"""Columns of small numbers, and of dates."""

import datetime
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kinetograph as kg

ROWS = 40
NUMBERS = pd.DataFrame({"x": [10, 50, 100, 120] * 10, "e": [3, 4, 5, 6] * 10})
NUMBERS["y"] = np.random.default_rng(1).normal(size=ROWS)
DAYS = pd.date_range("2024-01-01", periods=ROWS)
DATES = {
    "datetime64": DAYS,
    "zone": DAYS.tz_localize("Europe/Paris"),
    "datetime": pd.Series(list(DAYS.to_pydatetime()), dtype=object),
    "date": [day.date() for day in DAYS],
    "period": pd.period_range("2024-01-01", periods=ROWS),
    "timedelta64": DAYS - DAYS[0],
    "timedelta": pd.Series([datetime.timedelta(i) for i in range(ROWS)], dtype=object),
    "time": [datetime.time(i // 2) for i in range(ROWS)],
}
BESIDE = {
    "y": NUMBERS["y"],
    "d": np.arange(ROWS) % 7 * 1.0,
    "g": ["a", "b"] * 20,
    "c": ["none", "interval"] * 20,
}


def dated(kind):
    return pd.DataFrame({"t": DATES[kind], **BESIDE})


@pytest.mark.parametrize("small", ["int8", "uint8", "int16", "uint32", "Int8", "UInt16", "Int64"])
def test_whole_numbers_of_few_bits_do_not_overflow(small):
    data = NUMBERS.astype({"x": small, "e": small})
    terms = "x:e + I(x**2) + I(e - x) + {x * 3} + np.log(x)"
    expected = np.column_stack(
        [
            NUMBERS["x"] * NUMBERS["e"],
            NUMBERS["x"] ** 2,
            NUMBERS["e"] - NUMBERS["x"],
            3 * NUMBERS["x"],
            np.log(NUMBERS["x"]),
        ]
    )
    model = kg.formula(f"I(x**2) ~ {terms} + offset(log(e))", data)
    by_name = {array.name: array.value for array in model.data}
    centred = (expected - expected.mean(0)) / expected.std(0)
    scaled = by_name["X"] / by_name["X"].std(0)
    distances = np.abs(scaled[:, :, None] - centred[:, None]).max(0)
    assert (distances.min(0) < 1e-12).all()
    np.testing.assert_allclose(by_name["offset"], np.log(NUMBERS["e"]), rtol=1e-14)
    np.testing.assert_array_equal(by_name["I(x**2)"], NUMBERS["x"] ** 2)


@pytest.mark.parametrize("small", ["int8", "float32", "float16"])
def test_new_rows_of_few_bits(small):
    model = kg.formula("y ~ I(x**2) + np.log(x) + s(e, k=4)", NUMBERS)
    point = model.transform(np.linspace(-1, 1, model.free_size))
    means = []
    for new in (NUMBERS, NUMBERS.astype({"x": small, "e": small})):
        mean = model.parameter("mu", new)
        given = {model[name]: value for name, value in point.items() if name != "sigma"}
        means.append(kg.calculate(mean=mean, values=given)["mean"])
    np.testing.assert_allclose(*means, rtol=1e-13)


def test_missing_and_large_whole_numbers():
    large = NUMBERS.assign(x=np.full(ROWS, 2**64 - 1, np.uint64), e=range(ROWS))
    assert kg.formula("y ~ I(x * e)", large).names
    missing = NUMBERS.assign(x=pd.array([None, *range(ROWS - 1)], dtype="Int8"))
    assert kg.formula("y ~ e", missing).names
    with pytest.raises(kg.DataError, match="uses 'x', but 1 value is missing"):
        kg.formula("y ~ x", missing)


@pytest.mark.parametrize("kind", DATES)
@pytest.mark.parametrize(
    "text",
    [
        "y ~ t",
        "y ~ t:d",
        "y ~ I(t)",
        "y ~ poly(t, 2)",
        "y ~ d + (t | g)",
        "y ~ s(t)",
        "y ~ s(d, k=5, by=t)",
        "y ~ gp(t)",
        "y ~ mo(t)",
        "y ~ offset(t)",
        "y | weights(t) ~ d",
        "y | cens(c, t) ~ d",
        "y | trunc(lb=t) ~ d",
        "t ~ d",
    ],
)
def test_dates_are_not_numbers(text, kind):
    what = {"time": "times of the day", "timedelta": "durations", "period": "periods"}
    word = what.get(kind.removesuffix("64"), "dates")
    with pytest.raises(kg.DataError, match=rf"'t' has {word}: give numbers"):
        kg.formula(text, dated(kind))


# Polars has no periods, and refuses differences of dates with and without a time zone.
@pytest.mark.parametrize(
    ("library", "kind"),
    [
        (library, kind)
        for library, others in (("pandas", ()), ("polars", ("period", "zone")))
        for kind in DATES
        if kind not in ("time", *others)
    ],
)
def test_the_way_out_makes_numbers(library, kind):
    data = dated(kind) if library == "pandas" else pl.DataFrame({"t": list(DATES[kind])})
    if library == "polars":
        data = data.with_columns(**{name: pl.Series(column) for name, column in BESIDE.items()})
    names = {"pandas": pd, "polars": pl, "data": data}
    with pytest.raises(kg.DataError) as error:
        kg.formula("y ~ t", data)
    code = re.search(r"(?:model's dates: |example )(.*?) \(test_col", str(error.value))[1]
    found = eval(code, names)
    found = data.select(found).to_series() if isinstance(found, pl.Expr) else found
    scale = 86400 if "timedelta" in kind else 1
    np.testing.assert_array_equal(np.asarray(found, float), scale * np.arange(ROWS))


@pytest.mark.parametrize("kind", DATES)
def test_dates_are_labels(kind):
    data = dated(kind)
    assert "b_C(t)" in kg.formula("y ~ C(t)", data).names
    assert "sd_t" in kg.formula("y ~ d + (1 | t)", data).names


def test_parts_of_dates_are_numbers():
    model = kg.formula("y ~ I(t.dt.day) + s(t.dt.day, k=5)", dated("datetime64"))
    assert "b_I(t.dt.day)" in model.names


def test_dates_in_new_rows():
    model = kg.formula("y ~ C(t) + s(d, k=5)", dated("datetime64"))
    assert model.response(dated("datetime64")).shape == (ROWS,)
    with pytest.raises(kg.DataError, match=r"'t' has datetime.date\(2024, 1, 1\) in row 0, but Ti"):
        model.response(dated("date"))
    with pytest.raises(kg.DataError, match="'d' has dates: give numbers, as in the model's data"):
        model.response(dated("datetime64").assign(d=DAYS))
    with pytest.raises(kg.DataError, match="'d' has dates: give numbers, as in the model's data"):
        kg.formula("y ~ d", dated("date")).response({"d": DAYS})


def test_codes_with_minus_one_for_missing_groups_are_warned_of():
    frame = pd.DataFrame({"y": NUMBERS["y"], "c": [0, 1, -1, 2] * 10, "n": [-2, -1, 0, 1] * 10})
    text = (
        r"\(1 \| c\): c is -1 in row 2 and 9 more rows, .* use frame\['c'\]\.astype\('category'\)"
    )
    with pytest.warns(kg.KinetographWarning, match=text):
        kg.formula("y ~ 1 + (1 | c)", frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.formula("y ~ 1 + (1 | n)", frame)
        kg.formula("y ~ 1 + (1 | c)", frame.assign(c=frame["c"].astype("category")))
