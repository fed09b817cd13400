"""Levels of categoricals that have no rows, which pandas keeps when rows are left out."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.formulas.cases import assert_same_density, computed

import kinetograph as kg

GROUPS = list("abcabcabcb")
DATA = pd.DataFrame(
    {
        "g": pd.Categorical(GROUPS, ["gone", "a", "lost", "b", "c"]),
        "x": np.linspace(-1, 2, 10),
        "dose": pd.Categorical(np.tile([1, 2, 4, 5, 2], 2), [0, 1, 2, 3, 4, 5, 6], ordered=True),
        "y": np.array([0, 1, 2, 0.1, 1.1, 1.9, -0.1, 0.9, 2.1, 3.0]),
    }
)
USED = DATA.assign(**{n: DATA[n].cat.remove_unused_categories() for n in ("g", "dose")})
CUT = "pd.cut(x, [-9, -5, 0, 0.1, 1, 9])"


@pytest.mark.parametrize(
    "terms",
    [
        "g",
        "0 + g",
        "C(g)",
        "C(g, contr.sum)",
        "C(g, contr.helmert)",
        "C(g, Treatment('c'))",
        "g * x",
        "g:x",
        "x + (x + g | dose)",
        "dose",
        "s(x, k=3, by=g)",
        "mo(dose)",
        "mo(dose):g",
    ],
)
@pytest.mark.filterwarnings("ignore:.*mo|.*linear combination")
def test_they_have_no_effects(terms):
    model, other = kg.formula(f"y ~ {terms}", DATA), kg.formula(f"y ~ {terms}", USED)
    assert_same_density(model, other)
    new, new_used = DATA.iloc[[5, 0, 1]], USED.iloc[[5, 0, 1]]
    values = model.transform(np.linspace(-0.5, 0.5, model.free_size))
    means = [
        computed(each, each.parameter("mu", rows), values)
        for each, rows in ((model, new), (other, new_used))
    ]
    np.testing.assert_allclose(*means, rtol=1e-12)


@pytest.mark.parametrize("terms", ["g", "C(g, contr.sum)", "g * x", "(g | dose)"])
def test_there_are_no_warnings_of_pandas(terms):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kg.formula(f"y ~ {terms}", DATA)
        model.parameter("mu", DATA.iloc[[5, 0, 1]])


def test_intervals_without_rows():
    model = kg.formula(f"y ~ {CUT}", DATA)
    columns = kg.calculate(X=model["X"])["X"]
    assert columns.shape == (10, 2)
    assert np.linalg.matrix_rank(np.column_stack([np.ones(10), columns])) == 3
    assert model.parameter("mu", DATA.iloc[:2]).shape == (2,)
    with pytest.raises(kg.DataError, match=r"has Interval\(-9.0, -5.0.*; leave these rows out$"):
        model.response({"x": [-7.0]})


@pytest.mark.parametrize("terms", ["g", "C(g, contr.sum)", "mo(dose)"])
@pytest.mark.filterwarnings("ignore:.*mo")
def test_new_rows_have_no_such_level(terms):
    model = kg.formula(f"y ~ {terms}", DATA)
    new = pd.DataFrame({"g": ["a", "gone"], "dose": [1, 3]})
    level = "3" if "dose" in terms else "'gone'"
    for column in (new, new.astype({"g": DATA["g"].dtype, "dose": DATA["dose"].dtype})):
        with pytest.raises(kg.DataError, match=f"has {level}.*, (a|which is not a) level"):
            model.response(column)


def test_a_reference_without_rows_is_refused():
    with pytest.raises(kg.DataError, match="'gone' is not a level; the levels of g are a, b, c"):
        kg.formula("y ~ C(g, Treatment('gone'))", DATA)


def test_listed_levels_stay_with_a_warning():
    with pytest.warns(kg.KinetographWarning, match="is a linear combination .* fewer columns$"):
        model = kg.formula("y ~ C(g, levels=['gone', 'a', 'b', 'c'])", DATA)
    assert model["b_C(g, levels=['gone', 'a', 'b', 'c'])"].shape == (3,)


def test_codes_of_categories_are_those_of_the_model():
    model = kg.formula("y ~ I(g.cat.codes)", DATA)
    np.testing.assert_array_equal(
        np.unique(np.round(kg.calculate(X=model["X"])["X"] + DATA["g"].cat.codes.mean(), 9)),
        [1, 3, 4],
    )
    rows = [
        kg.calculate(
            mu=model.parameter("mu", new),
            values={model["b_I(g.cat.codes)"]: 1.0, model["Intercept"]: 0.0},
        )["mu"]
        for new in (DATA.iloc[:2], USED.iloc[:2], {"g": ["a", "b"]})
    ]
    np.testing.assert_allclose(rows[0], rows[1])
    np.testing.assert_allclose(rows[0], rows[2])


def test_steps_of_an_empty_level_are_one_step_with_a_warning():
    with pytest.warns(kg.KinetographWarning, match=r"'dose' has no rows of 3: .* step of mo\(dos"):
        model = kg.formula("y ~ mo(dose)", DATA)
    assert model["simo_mo(dose)"].shape == (3,)
    assert list(model.coords["simo_mo(dose)_level"]) == ["2", "4", "5"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ends = DATA["dose"].cat.remove_categories([3])
        kg.formula("y ~ mo(dose)", DATA.assign(dose=ends))
