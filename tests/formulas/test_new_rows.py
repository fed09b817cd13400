"""New rows: several arrays in one expression, types of columns, and predictions of other rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.formulas.cases import computed, frame

import kinetograph as kg

DATA = frame()
DATA["bo"] = DATA["b"] == 1
DATA["cat"] = pd.Categorical(DATA["g"])
MODEL = kg.formula("y ~ x + (1 | g)", DATA)
VALUES = {name: np.full(MODEL[name].shape, 0.5) for name in MODEL.names if name != "sigma"}


@pytest.fixture(scope="module")
def results():
    return kg.mcmc(MODEL, seed=1, draws=30, warmup=30, chains=2, progress=False)


@pytest.mark.parametrize("given", [None, 0, 1, [], float("nan"), 1.0, "NA"])
@pytest.mark.parametrize("call", ["response", "parameter", "predict"])
def test_group_effects_are_true_or_false(call, given):
    arguments = {"response": (), "parameter": ("mu",), "predict": (None,)}[call]
    with pytest.raises(TypeError, match="group_effects must be True or False"):
        getattr(MODEL, call)(*arguments, DATA, group_effects=given)


def test_booleans_of_numpy_are_taken():
    without = MODEL.parameter("mu", DATA, group_effects=np.False_)
    expected = 0.5 + 0.5 * (DATA["x"] - DATA["x"].mean())
    np.testing.assert_allclose(computed(MODEL, without, VALUES), expected)


@pytest.mark.parametrize("given", ["None", "0", "'no'", "1"])
def test_settings_of_smooth_terms_are_true_or_false(given):
    with pytest.raises(ValueError, match="scale=True or scale=False"):
        kg.formula(f"y ~ gp(x, scale={given})", DATA)


def test_parameters_of_two_frames_in_one_expression():
    low, high = ({"x": [x], "g": ["a"]} for x in (1.0, 3.5))
    difference = MODEL.parameter("mu", high) - MODEL.parameter("mu", low)
    slope = {"b_x": 0.7}
    values = kg.calculate(d=difference, values={**VALUES, **slope})
    np.testing.assert_allclose(values["d"], [0.7 * 2.5])
    both = kg.calculate(a=MODEL.parameter("mu"), b=MODEL.parameter("mu", low), draws=3, seed=1)
    assert both["a"].shape == (3, len(DATA))
    drawn = kg.calculate(a=MODEL.response(low), b=MODEL.response(high), draws=3, seed=1)
    assert (drawn["a"] != drawn["b"]).all()


def test_new_levels_of_two_frames_are_independent(results):
    new = {"x": [2.0], "g": ["other"]}
    first, second = (MODEL.parameter("mu", new, new_levels="draw") for _ in range(2))
    drawn = kg.predict(MODEL, results, first=first, second=second, seed=3)["predictions"]
    scaled = (drawn["first"] - drawn["second"]) / results["posterior"]["sd_g"] / np.sqrt(2)
    assert stats.kstest(np.ravel(scaled), "norm").pvalue > 1e-7


def test_predictions_of_other_rows_are_left_out(results):
    first, other = pd.DataFrame({"x": [1.0, 2.0], "g": ["a", "b"]}), {"x": [5, 6], "g": ["a", "b"]}
    tree = MODEL.predict(results, first, kind="mean")
    means = tree["predictions"]["y_mean"].values
    with pytest.warns(kg.KinetographWarning, match="y_mean of an earlier call is left out"):
        mixed = MODEL.predict(tree, other, seed=1)["predictions"]
    assert list(mixed.data_vars) == ["y"]
    same = MODEL.predict(tree, first.assign(unused=1), seed=1)["predictions"]
    assert set(same.data_vars) == {"y", "y_mean"}
    np.testing.assert_array_equal(same["y_mean"], means)
    assert "y_mean" in tree["predictions"]  # the given results are not changed


def test_a_model_without_terms_has_an_array():
    model = kg.formula("y ~ 0", DATA)
    for new, rows in ((None, len(DATA)), (DATA[:3], 3)):
        array = model.parameter("mu", new)
        assert isinstance(array, kg.Array)
        np.testing.assert_array_equal(kg.compile([], array)(), np.zeros(rows))


@pytest.mark.parametrize("text", ["y ~ bo", "y ~ s(x, by=bo, k=4)"])
def test_booleans_of_object_type(text):
    model = kg.formula(text, DATA)
    values = {name: np.arange(1.0, 1 + model[name].size).reshape(model[name].shape)
              for name in model.names}  # fmt: skip
    new = DATA.iloc[[3, 1, 0]]
    got = computed(model, model.parameter("mu", new.assign(bo=new["bo"].astype(object))), values)
    np.testing.assert_array_equal(got, computed(model, model.parameter("mu", new), values))


@pytest.mark.parametrize("value", [2, 0.5])
def test_numbers_in_place_of_booleans(value):
    model = kg.formula("y ~ bo", DATA)
    with pytest.raises(kg.DataError, match=r"'bo' is .* in row 0, but True or False"):
        model.parameter("mu", {"bo": [value]})
    model.parameter("mu", {"bo": [0, 1]})


@pytest.mark.parametrize("name", ["g", "cat"])
def test_maps_of_texts_and_categories(name):
    codes = {"a": 1.0, "b": 4.0, "c": 2.0, "d": 3.0}
    model = kg.formula(f"y ~ {name}.map({codes})", DATA)
    values = {n: np.arange(1.0, 1 + model[n].size).reshape(model[n].shape) for n in model.names}
    whole = computed(model, model.parameter("mu"), values)
    rows = [3, 0, 2]
    for kind in (object, pd.CategoricalDtype(list("abcd")), pd.CategoricalDtype(list("dcba"))):
        new = DATA.iloc[rows].assign(**{name: DATA[name].iloc[rows].astype(kind)})
        if name == "cat" and kind == pd.CategoricalDtype(list("dcba")):
            continue  # pandas gives the categories another order
        np.testing.assert_array_equal(
            computed(model, model.parameter("mu", new), values), whole[rows]
        )


def test_priors_of_all_classes():
    given = {"b": kg.normal(0, 3), "sd": kg.half_normal(2), "Intercept": kg.normal(1, 1)}
    model = kg.formula("kind ~ x + (1 | g)", DATA, family="categorical", prior=given)
    for label in "qrs":
        assert model.priors[f"b_mu{label}_x"] == "normal(0, 3)"
        assert model.priors[f"sd_mu{label}_g"] == "half_normal(2)"
        assert model.priors[f"Intercept_mu{label}"] == "normal(1, 1)"
    one = kg.formula("kind ~ x", DATA, family="categorical",
                     prior={"b": kg.normal(0, 3), "b_mur": kg.normal(0, 5)})  # fmt: skip
    assert [one.priors[f"b_mu{label}_x"] for label in "qrs"] == [
        "normal(0, 3)", "normal(0, 5)", "normal(0, 3)",
    ]  # fmt: skip
    sigma = kg.formula(["y ~ x", "sigma ~ x"], DATA, prior={"b": kg.normal(0, 9)})
    assert sigma.priors["b_sigma_x"] == "normal(0, 1)"


def test_a_group_may_have_the_name_of_a_dimension():
    model = kg.formula("y ~ x + (1 + x | X_column)", DATA.assign(X_column=DATA["g"]))
    assert model["z_X_column"].dims[0] == "X_column_level"


NEGATIVE = kg.formula("count | trunc(ub=20) ~ x", DATA, family="negbinomial")
SETTINGS = {
    "log": ({"link": np.log}, TypeError, r"the link of mu is .*, not a text.*write link='log'"),
    "sigm": ({"link": {"sigm": "log"}}, ValueError, r"its parameters are mu, sigma"),
    "sigma": ({"link": {"sigma": "identity"}}, ValueError, r"sigma has no formula"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_links(case):
    settings, error, message = SETTINGS[case]
    with pytest.raises(error, match=message) as caught:
        kg.formula("y ~ x", DATA, **settings)
    assert "mu, sigma, mu" not in str(caught.value)


def test_means_without_a_closed_form(results):
    with pytest.raises(TypeError, match=r"mean of the response count.*draw responses by model"):
        NEGATIVE.predict(results, kind="mean")


INDEXED = DATA.set_index("g")
LEVELS = DATA[["x", "y"]].copy()
LEVELS.columns = pd.MultiIndex.from_tuples([("A", "x"), ("A", "y")])
REFUSED = {
    "abs": (lambda: kg.formula("y ~ abs(z)", DATA), r"write np\.abs\("),
    "len": (lambda: kg.formula("y ~ np.ones(len(x))", DATA), "make a column of its values"),
    "times": (lambda: kg.formula("y ~ x*2", DATA), r"write I\(x\*2\)"),
    "divided": (lambda: kg.formula("y ~ x/2", DATA), r"write I\(x/2\)"),
    "multiple": (lambda: kg.formula("y ~ 2*x", DATA), r"write I\(2\*x\)"),
    "beside": (lambda: kg.formula("y ~ I(x>2) + z*2", DATA), r"write I\(z\*2\)"),
    "equal": (lambda: kg.formula("y ~ x==5", DATA), r"write I\(x==5\)"),
    "bracket": (lambda: kg.formula("y ~ (x + z", DATA), r"a '\)' is missing"),
    "group": (lambda: kg.formula("y ~ (1|n>3)", DATA), "make a column of n>3"),
    "cbind": (
        lambda: kg.formula("cbind(count, n - count) ~ x", DATA, family="binomial"),
        r"write 'count \| trials\(n\) ~ \.\.\.'",
    ),
    "index": (lambda: kg.formula("y ~ (1|g)", INDEXED), r"write INDEXED\.reset_index\(\)"),
    "columns": (lambda: kg.formula("y ~ x", LEVELS), "labels of 2 levels.*join them"),
    "row": (lambda: MODEL.parameter("mu", DATA.iloc[0]), r"iloc\[\[0\]\]"),
    "records": (
        lambda: kg.formula("y ~ x", [{"x": 1.0, "y": 2.0}, {"x": 2.0, "y": 1.0}]),
        r"write pandas\.DataFrame\(",
    ),
    "level": (
        lambda: kg.formula("y ~ C(n)", DATA).parameter("mu", {"n": [99]}),
        r"C\(n\) has 99, a level that the model's data do not have",
    ),
    "cut": (
        lambda: kg.formula("y ~ pd.cut(x, 3)", DATA).parameter("mu", {"x": [0.0, 90.0]}),
        r"pd\.cut\(x, 3\) has .*pd\.cut\(x, 3\) has other ends in new rows",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_what_to_write(case):
    call, message = REFUSED[case]
    with pytest.raises((kg.DataError, ValueError, TypeError), match=message):
        call()
