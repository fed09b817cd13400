"""Variables of the caller in formulas: values for each row, and names of functions."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.formulas.cases import assert_same_density, computed, frame

import kinetograph as kg

DATA = frame()
ROWS = len(DATA)
VALUES = {"b_age": 2.0, "b_Intercept": 0.0, "Intercept": 0.0}
KINDS = {
    "array": np.asarray,
    "list": list,
    "series": lambda x: pd.Series(x, DATA.index),
    "polars": pl.Series,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("term", ["age", "np.sqrt(age)", "bs(age, df=4)", "offset(age)", "s(age)"])
def test_new_rows_need_a_variable_with_a_value_for_each_row(kind, term):
    age = KINDS[kind](np.linspace(1.0, 9.0, ROWS))
    model = kg.formula(f"y ~ x + {term}", DATA)
    with pytest.raises(
        kg.DataError, match=r"no column 'age'.*a variable .* new.assign\(age=\.\.\.\)"
    ):
        model.response(DATA.iloc[::-1])
    column = kg.formula(f"y ~ x + {term}", DATA.assign(age=np.asarray(age)))
    assert model.names == column.names
    values = {name: np.full(model[name].shape, 0.5) for name in model.names if name != "sigma"}
    new = DATA.iloc[::-1].assign(age=np.asarray(age)[::-1])
    found = [computed(m, m.parameter("mu", new), values) for m in (model, column)]
    np.testing.assert_allclose(*found)
    assert np.ptp(found[0]) > 0


def test_trials_and_groups_that_are_variables():
    tries, place = np.full(ROWS, 30), np.resize(["p", "q", "r"], ROWS)
    model = kg.formula("count | trials(tries) ~ (1 | place)", DATA, family="binomial")
    for missing in ("tries", "place"):
        new = DATA.assign(tries=tries, place=place).drop(columns=missing)
        with pytest.raises(kg.DataError, match=f"no column '{missing}'"):
            model.response(new)
    assert model.response(DATA.assign(tries=tries, place=place)).shape == (ROWS,)


def test_a_response_and_weights_that_are_variables():
    seen, size = np.arange(float(ROWS)), np.linspace(1.0, 2.0, ROWS)
    model = kg.formula("seen | weights(size) ~ x", DATA)
    column = kg.formula("seen | weights(size) ~ x", DATA.assign(seen=seen, size=size))
    values = {"b_x": 0.1, "Intercept": 2.0, "sigma": 3.0}
    assert model.log_prob(values) == pytest.approx(column.log_prob(values), rel=1e-12)
    assert model.response({"x": [1.0]}).shape == (1,)


def test_the_frame_itself_is_not_a_variable_of_new_rows():
    model = kg.formula("y ~ np.abs(DATA.x)", DATA)
    with pytest.raises(kg.DataError, match="DATA is a variable that holds the rows of the model"):
        model.response(DATA.iloc[::-1])


def test_other_variables_are_not_columns():
    factor, edges, own = 2.0, np.array([-9.0, 2.0, 9.0]), ["b", "a", "c", "d"]  # noqa: F841
    small = pd.DataFrame({"y": [1.0, 2, 4, 1], "x": [1.0, 3, 0, 2], "g": list("abab")})
    model = kg.formula("y ~ {x * factor}", small)
    assert model.response({"x": [1.0]}).shape == (1,)
    model = kg.formula("y ~ pd.cut(x, edges)", DATA)
    assert model.response({"x": [1.0]}).shape == (1,)
    small["g"] = own
    model = kg.formula("y ~ C(g, levels=own)", small)
    assert model.response({"g": ["a"]}).shape == (1,)


def test_a_series_of_the_caller_in_another_order():
    late = DATA["x"].sort_values()
    with pytest.raises(kg.DataError, match=r"late and the rows of DATA .*another order.*: row 0"):
        kg.formula("y ~ late", DATA)
    late = late.sort_index()
    columns = next(n.value for n in kg.formula("y ~ late", DATA).data if n.name == "X")
    np.testing.assert_allclose(np.ravel(columns), DATA.x - DATA.x.mean())


@pytest.mark.parametrize("term", ["C(g)", "scale(x)", "center(x)", "poly(x, 2)", "bs(x, df=4)"])
def test_a_variable_hides_no_function_of_formulas(term):
    expected = kg.formula(f"y ~ {term}", DATA)
    C, scale, center, poly, bs = DATA, 2.0, DATA["x"].mean(), 3, np.ones(ROWS)  # noqa: F841
    model = kg.formula(f"y ~ {term}", DATA)
    assert_same_density(model, expected)


def test_a_function_of_the_caller_replaces_one_of_formulas():
    def center(x):
        return 2.0 * x

    models = (
        kg.formula("y ~ center(x)", DATA),
        kg.formula("y ~ two", DATA.assign(two=2 * DATA["x"])),
    )
    columns = [next(n.value for n in model.data if n.name == "X") for model in models]
    np.testing.assert_allclose(*columns)
