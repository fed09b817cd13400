"""Missing values in all types of data."""

import decimal

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import kinetograph as kg
from kinetograph.graph.missing import Incomplete
from kinetograph.graph.node import Data

NAN = np.nan
FORMS = {
    "nan": [1.0, NAN, 3.0],
    "none": [1, None, 3],
    "masked": np.ma.masked_array([1.0, np.inf, 3.0], [False, True, False]),
    "masked whole": np.ma.masked_array([1, -999, 3], [False, True, False]),
    "series": pd.Series([1.0, NAN, 3.0]),
    "nullable": pd.Series([1, pd.NA, 3], dtype="Int64"),
    "nullable float": pd.Series([1.0, pd.NA, 3.0], dtype="Float64"),
    "objects": pd.Series([1, pd.NA, 3.0], dtype=object),
    "decimals": np.array([np.float64(1), NAN, np.int32(3)], dtype=object),
    "xarray": xr.DataArray([1.0, NAN, 3.0], dims="t", coords={"t": [5, 6, 7]}),
}


@pytest.mark.parametrize("form", FORMS)
def test_missing_values_are_found(form):
    node = kg.data(FORMS[form], "y", missing="impute").node
    assert isinstance(node, Incomplete)
    np.testing.assert_array_equal(node.value, [1.0, NAN, 3.0])
    with pytest.raises(kg.DataError, match=r"at index 1.*kg\.data\(\.\.\., missing=\"impute\"\)"):
        kg.data(FORMS[form])
    with pytest.raises(kg.DataError, match=r"missing=\"impute\"") as told:
        kg.observe(FORMS[form], kg.normal(0, 1))
    if form.startswith("masked"):  # any number may be under the mask
        assert "masked at index 1" in str(told.value)


def test_tables_and_labels():
    table = pd.DataFrame(
        {"a": [1, 2], "b": pd.array([None, 4], dtype="Int64")},
        index=pd.Index(["p", "q"], name="row"),
    )
    node = kg.data(table, missing="impute").node
    np.testing.assert_array_equal(node.value, [[1, NAN], [2, 4]])
    node = kg.data(FORMS["xarray"], missing="impute").node
    assert node.dims == ("t",)
    assert node.coords["t"].tolist() == [5, 6, 7]


def test_what_is_complete_is_data():
    for value in ([1.0, 2.0], np.ma.masked_array([1, 2], [False, False]), [1, 2]):
        node = kg.data(value, missing="impute").node
        assert isinstance(node, Data)
        assert node.value.tolist() == [1, 2]


def test_what_is_not_missing_is_refused():
    for value, text in (
        ([1.0, np.inf, NAN], "inf at index 1"),
        (["a", None], "not numbers"),
        ([decimal.Decimal(1), None], "None at index 1 is not a number"),
    ):
        with pytest.raises(kg.DataError, match=text):
            kg.data(value, missing="impute")
    with pytest.raises(ValueError, match=r'missing must be None or "impute", got "?\'drop'):
        kg.data([1.0], missing="drop")


def test_use_before_a_distribution_is_refused():
    x = kg.data([1.0, NAN], missing="impute")
    mu = kg.normal(0, 1)
    for use in (
        lambda: x + 1,
        lambda: kg.normal(x, 1),
        lambda: x[0],
        lambda: kg.model(x),
        lambda: kg.calculate(x),
        lambda: kg.observe([1.0], kg.normal(mu * x[:1], 1)),
    ):
        with pytest.raises(kg.ModelError, match=r"x has missing values and no distribution") as e:
            use()
        assert "at index 1; state one before" in str(e.value)
        assert "let x = kg.normal(...) stand for a missing value" in str(e.value)


@pytest.mark.parametrize(
    "y",
    [
        np.array([0.1, 0.2, NAN, 0.3]),
        [0.1, 0.2, NAN, 0.3],
        pd.Series([0.1, 0.2, NAN, 0.3]),
        np.array([0.1, 0.2, NAN, 0.3], np.float32),
    ],
    ids=["array", "list", "series", "single"],
)
def test_a_missing_number_is_found_in_the_users_variables(y):
    def loop():
        rho = kg.normal(0, 1)
        for t in range(1, 4):
            kg.observe(y[t], kg.normal(rho * y[t - 1], 1))
        return rho

    said = r"^data at test_missing.py:\d+: nan \(y is nan at index 2\); .*let x = kg.normal"
    with pytest.raises(kg.DataError, match=said):
        kg.model(loop)
    y[2], y[0] = 0.2, NAN  # a predictor alone
    said = r"nan \(y is nan at index 0\), so that .* or, in a loop over single values"
    with pytest.raises(kg.DataError, match=said):
        kg.model(loop)
    y[0] = 0.1
    kg.model(loop)


def test_missing_numbers_that_no_variable_holds():
    with pytest.raises(kg.DataError, match=r"^data at test_missing.py:\d+: nan; drop or fill"):
        kg.data(float("nan"))
    y = np.full((2, 3), 1.0)
    y[1, 1:] = NAN
    with pytest.raises(kg.DataError, match=r"nan \(y is nan at index \(1, 1\) and 1 more\); drop"):
        kg.data(y[1, 2])


def test_missing_numbers_of_a_loop_are_unknowns():
    """As the messages advise: the same density as of a vector of all values."""
    y = np.array([0.1, 0.2, NAN, 0.3, NAN, NAN, 0.5])

    def loop():
        rho, sd = kg.normal(0, 1), kg.half_normal(1)
        before = y[0]
        for value in y[1:]:
            x = kg.normal(rho * before, sd)
            if not np.isnan(value):
                kg.observe(value, x)
                x = value
            before = x
        return rho, sd

    model = kg.model(loop)
    free = np.array([0.4, -0.3, 0.25, 0.35, 0.45])
    whole = np.where(np.isnan(y), 0.0, y)
    whole[[2, 4, 5]] = free[2:]
    rho, sd = free[0], np.exp(free[1])
    expected = stats.norm.logpdf(rho) + stats.halfnorm.logpdf(sd) + free[1]
    expected += stats.norm.logpdf(whole[1:], rho * whole[:-1], sd).sum()
    assert model.log_prob(free) == pytest.approx(expected, rel=1e-12)
