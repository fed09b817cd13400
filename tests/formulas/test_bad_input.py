"""Errors name the column and the row, and say what to do."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.formulas.cases import frame

import kinetograph as kg

DATA = frame()
MODEL = kg.formula("y ~ x + t + (1 | g)", DATA)


def changed(**columns):
    data = DATA.copy()
    for name, (row, value) in columns.items():
        data[name] = data[name].astype(object)
        data.loc[row, name] = value
    return data


TEXT = DATA.assign(x=DATA["x"].astype(str))
TEXT.loc[7, "x"] = "n/a"
_OF_G = ("log(g)", "I(g**2)", "center(g)", "scale(g)", "np.log(g)", "bs(g, df=4)", "poly(g, 2)")
_TEXT = r"'g' is a column of text, 'a' in row 0; .* converted by pandas\.to_numeric"
TEXTS = DATA.assign(x=DATA["x"].astype(str))


@pytest.mark.parametrize(
    ("text", "data", "settings", "message"),
    [
        ("y ~ X", DATA, {}, "unknown column 'X'.* did you mean 'x'"),
        ("yy ~ x", DATA, {}, "unknown column 'yy'.* did you mean 'y'"),
        ("y ~ x, sigma ~ t", DATA, {}, r"write a list: \['y ~ x', 'sigma ~ t'\]$"),
        ("y ~ log(xx)", DATA, {}, "unknown column 'xx'"),
        ("y ~ factor(g)", DATA, {}, r"a column of numbers as categories is C\(x\)"),
        ("y ~ np.sin(2 * pi * x)", DATA, {}, r"unknown column 'pi'.*; write np\.pi"),
        ("bf(y ~ x, sigma ~ t)", DATA, {}, r"write a list of formulas: \['y ~ x', 'sigma"),
        ("y ~ x, offset=log(t)", DATA, {}, r"an offset is a summand, '\+ offset\(x\)'"),
        ("y/x ~ t", DATA, {"family": "binomial"}, r"write 'y \| trials\(x\) ~ ...'"),
        (
            "y ~ x",
            DATA,
            {"prior": {"b": kg.normal(0, 1, shape=5)}},
            r"'b' has shape \(5,\), but b_x",
        ),
        ("y ~ sqrt(x)", DATA, {}, r"square roots are np.sqrt\(x\)"),
        ("mvbind(y, x) ~ g", DATA, {}, "a formula has one response"),
        ("y ~ I(x^2)", DATA, {}, r"write \*\*, as in I\(x\*\*2\)"),
        ("b ~ x", DATA, {"family": "bernoulli()"}, "; did you mean 'bernoulli'"),
        (
            "count ~ x",
            DATA,
            {"family": "poisson", "link": "logit"},
            "'logit' does not fit mu of .*log",
        ),
        ("b ~ x", DATA, {"family": "bernoulli", "link": "sqrt"}, "the links are logit, probit"),
        ("y ~ x z", DATA, {}, "Missing operator between `x` and `z`.*in backticks: `my column`"),
        ("y ~ (1 | g +)", DATA, {}, r"the group of .1 \| g \+. cannot be read .* 0 \+ g ⧛\+⧚$"),
        ("y ~ .", DATA, {}, "'.' does not stand for all columns here; write their names"),
        ("p(count, n) ~ x", DATA, {"family": "binomial"}, r"write 'count \| trials\(n\) ~ ...'$"),
        ("cbind(b, n) ~ x", DATA, {"family": "binomial"}, r"'b \| trials\(n\).* n = b \+ n$"),
        ("censored(y, t) ~ x", DATA, {}, r"write 'y \| cens\(t\) ~ \.\.\.'$"),
        ("Surv(y, b) ~ x", DATA, {}, r"write 'y \| cens\(1 - b\) ~ \.\.\.', where b is 1"),
        (
            "count | trials(n) ~ x",
            DATA.assign(count=9, n=7),
            {"family": "binomial"},
            r"'count' is 9 in row 0, but trials\(n\) is 7 there",
        ),
        ("y ~ Intercept", {"y": [1.0, 2.0], "Intercept": [0.0, 1.0]}, {}, "rename the column"),
        ("y ~ (1 | gg)", DATA, {}, "unknown column 'gg' in .*group.* mean 'g'"),
        ("y ~ offset(oo)", DATA, {}, "unknown column 'oo' in"),
        ("y ~ x", changed(x=(5, np.nan)), {}, r"'x', but 1 value is missing .* row 5.*dropna"),
        ("y ~ x", changed(y=(6, None)), {}, r"'y', but 1 value is missing .* row 6"),
        ("y ~ t", changed(t=(3, None)), {}, r"'t', but 1 value is missing .* row 3"),
        ("y ~ (1 | g)", changed(g=(2, None)), {}, r"'g', but 1 value is missing .* row 2"),
        (
            "y ~ w",
            DATA.assign(w=pd.to_timedelta(DATA["x"], "s")),
            {},
            "'w' has durations: .*seconds",
        ),
        (
            "y ~ w",
            DATA.assign(w=pd.date_range("2020-01-01", periods=len(DATA))),
            {},
            "'w' has dates: give numbers, such as days from the first of the model's dates",
        ),
        ("y ~ x + (1 | g", DATA, {}, r"; a '\)' is missing; write group effects"),
        ("w ~ x", DATA.assign(w=1j * DATA["x"]), {}, r"'w', a column of complex128.*imaginary"),
        ("y ~ x", TEXT, {}, "39 of 40 values are numbers; row 7 has 'n/a'"),
        ("y ~ x", TEXTS, {}, "'x', a column of text in which all .* row 0 .*pandas.to_numeric"),
        ("y ~ (1 | x)", TEXTS, {}, r"all values are numbers.*data\['x'\].astype\('category'\)"),
        (
            "t ~ x",
            DATA,
            {},
            "response 't' must be numbers, but is text: row 0.*family='categorical'",
        ),
        (
            "u ~ x",
            DATA.assign(u=pd.Categorical(DATA["t"], ordered=True)),
            {},
            "for classes give family='cumulative'",
        ),
        ("y ~ one", DATA.assign(one="a"), {}, "'one', which has one level, 'a'"),
        ("y ~ (1 | one)", DATA.assign(one="a"), {}, "'one', has one level, 'a'"),
        ("y ~ (x | one)", DATA.assign(one=1), {}, r"\(x \| one\), 'one', has one level, '1', in"),
        ("y ~ (one | g)", DATA.assign(one="a"), {}, "'one', which has one level, 'a'"),
        ("y ~ (0 | g)", DATA, {}, r"\(0 \| g\) has no effects"),
        ("y ~ (1 | g) + (1 | g)", DATA, {}, r"\(1 \| g\) is given twice.*; write one term"),
        ("y ~ (1 | g) + (1 || g)", DATA, {}, "have the same effects of 'g'.*; write one term"),
        ("y ~ (1 | log(x))", DATA, {}, r"'log\(x\)', which is not a column.*make a column of"),
        ("y ~ (mo(grade) | g)", DATA, {}, r"mo\(grade\) in .* cannot vary .*mo\(...\) \+ \(1 \|"),
        ("y ~ (1 + gp(x) | g)", DATA, {}, r"gp\(x\) in .* cannot vary between groups"),
        ("y ~ (offset(x) | g)", DATA, {}, r"offset\(x\) in .*'\+ offset"),
        ("t ~ x", DATA.assign(t="a"), {"family": "categorical"}, "has one level, 'a'"),
        ("t ~ x", DATA, {"family": "cumulative"}, "must have an order.*Categorical"),
        ("y ~ x", DATA, {"family": "cumulative"}, "'y' of the family cumulative must be whole num"),
        ("t ~ x", DATA, {"family": "bernoulli"}, "must have two levels"),
        ("y ~ x", DATA, {"family": "bernoulli"}, "must be 0 or 1 .* in row 0"),
        ("y ~ x", DATA, {"family": "poisson"}, "must be a whole number from 0 on"),
        ("y ~ x", DATA, {"family": "gamma"}, "positive|above|greater"),
        (
            "rain ~ x",
            DATA,
            {"family": "gamma"},
            "'rain' must be positive in the family gamma, but is 0 in row 0.*'hurdle_gamma'$",
        ),
        (
            "rain | weights(w) ~ x",
            DATA,
            {"family": "lognormal"},
            "'rain' must be positive.* 0 in row 0.*for responses with zeros.*'hurdle_lognormal'",
        ),
        (
            "rain | cens(b) ~ x",
            DATA,
            {"family": "weibull"},
            "'rain' must be positive in the family weibull, but is 0 in row 0.*intervals$",
        ),
        ("rain ~ x", DATA, {"family": "weibull"}, "zeros use family='hurdle_gamma'"),
        ("cover ~ x", DATA, {"family": "beta"}, "'cover' must be.*'zero_inflated_beta'$"),
        (
            "cover ~ x",
            DATA.assign(cover=np.where(np.arange(len(DATA)) == 3, 1.0, DATA["cover"])),
            {"family": "zero_inflated_beta"},
            "'cover' must be at least 0 and below 1 .* is 1 in row 3.*zeros and ones make separate",
        ),
        (
            "share ~ x",
            DATA.assign(share=np.where(DATA["b"] == 1, 1.0, DATA["share"])),
            {"family": "beta"},
            "is 1 in row 1.*; for responses with ones write '1 - share ~ .*='zero_inflated_beta'$",
        ),
        ("cover ~ x", DATA, {"family": "zero_one_inflated_beta"}, "'bernoulli' for whether"),
        (
            "y ~ x",
            DATA.assign(y=-1.0),
            {"family": "hurdle_gamma"},
            "'y' must be at least 0 in the family hurdle_gamma, but is -1 in row 0",
        ),
        (
            ["rain ~ x", "zi ~ x"],
            DATA,
            {"family": "hurdle_gamma"},
            "'zi' is not a parameter.*mu, shape, hu",
        ),
        ("rain ~ x", DATA, {"family": "hurdle_gama"}, "did you mean 'hurdle_gamma'"),
        ("y ~ x", DATA, {"family": "poison"}, "did you mean 'poisson'"),
        ("b ~ x", DATA, {"family": "bernoulli", "link": "probi"}, "did you mean 'probit'"),
        ("count ~ x", DATA, {"family": "binomial"}, r"write 'count \| trials\(n\) ~ \.\.\.'$"),
        ("b ~ x", DATA, {"family": "binomial"}, r"'b \| trials\(n\).*, or family='bernoulli' for"),
        (
            "sigma ~ x",
            DATA,
            {},
            r"'sigma' is not a column.*gaussian.*\['y ~ \.\.\.', 'sigma ~ \.\.\.'\]",
        ),
        ("count | trials(n) ~ x", DATA, {"family": "poisson"}, "has no trials"),
        ("count | trials(y) ~ x", DATA, {"family": "binomial"}, "must be a whole number"),
        ("y | cens(t) ~ x", DATA, {}, "is 'low'|is 'mid'|is 'high'|is 'top'"),
        ("y | cens(1 - q) ~ x", DATA, {}, r"unknown column .q. in cens\(1 - q\)"),
        ("y | cens(3 - x) ~ x", DATA, {}, r"cens\(3 - x\) is .* -1, 1 and 2$"),
        ("y | cens(!b) ~ x", DATA, {}, "'cens.!b.' is not an .* for '!b' write '1 - b'$"),
        ("y ~ log(x x)", DATA, {}, r"'log\(x x\)' is not an expression of Python$"),
        ("y | se(z) ~ x", DATA, {}, r"; .*\['y ~ ...', 'sigma ~ 0 \+ offset\(log\(error\)\)'\]$"),
        ("y | mi() ~ x", DATA, {}, '\'mi.*is not an addition.*missing="impute"'),
        ("y | weights(z) ~ x", DATA, {}, "weights are not negative"),
        (["y ~ x", "sigm ~ x"], DATA, {}, "did you mean 'sigma'"),
        (["y ~ x", "mu ~ x"], DATA, {}, "mu has two formulas"),
        ("y ~ x", DATA, {"prior": {"b_xx": kg.normal(0, 1)}}, "did you mean 'b_x'"),
        ("y ~ x", DATA, {"prior": {"sigma": kg.normal(0, 1)}}, "sigma must be positive.*half_n"),
        (
            "y ~ x + (1 + x | g)",
            DATA,
            {"prior": {"cor": kg.normal(0, 1, shape=(2, 2))}},
            "is not one of correlation matrices.*lkj_correlation",
        ),
        (
            "y ~ (1 | g)",
            DATA,
            {"prior": {"sd_g__Intercept": kg.half_normal(1)}},
            "; here it is 'sd_g'$",
        ),
        ("y ~ (1 | g)", DATA, {"prior": {"1|g_sigma": kg.half_normal(1)}}, "here it is 'sd_g'$"),
        ("y ~ (1 | g)", DATA, {"prior": {"1|g": kg.half_normal(1)}}, "; here it is 'sd_g'$"),
        ("y ~ x", DATA, {"default_priors": "brm"}, "did you mean 'brms'"),
        ("y ~ log(z)", DATA, {}, r"'log\(z\)' is nan in row"),
        ("log(z) ~ x", DATA, {}, r"'log\(z\)' is nan in row"),
        ("y ~ bs(x, q=3)", DATA, {}, "cannot be computed"),
        *((f"y ~ {term}", DATA, {}, _TEXT) for term in _OF_G),
        ("y ~ offset(log(g))", DATA, {}, _TEXT),
        ("np.log(g) ~ x", DATA, {}, _TEXT),
        ("y ~ x + x.abs().clip(0, 1)", DATA, {}, r"; write I\(x\.abs\(\)\.clip\(0, 1\)\)$"),
        ("y | weights(0 * x) ~ x", DATA, {}, r"weights\(0 \* x\) is 0 in all 40 rows"),
    ],
)
@pytest.mark.filterwarnings("error:invalid value")
def test_data_and_formulas(text, data, settings, message):
    with pytest.raises(ValueError, match=message):
        kg.formula(text, data, **settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "y ~ (1 | x)",
            r"group 'x' of \(1 \| x\) .* its 40 different numbers in 40 rows .*s\(x\)",
        ),
        ("y ~ (1 | g/dose)", r"'dose' of .* such as 0.5: .* 4 different .*\['dose'\].astype"),
        ("y ~ z + one", "'one' in 'z . one' is 2 in all 40 rows: .* from the intercept; leave it"),
        ("y ~ (one | g)", "'one' in 'one' is 2 in all 40 rows"),
        ("y ~ half * other", "'half:other' .* is 0 in all 40 rows: the data say nothing about"),
    ],
)
def test_terms_that_are_seldom_meant(text, message):
    data = DATA.assign(
        one=2.0, dose=np.tile([1.0, 0.5, 2.0, 4.0], 10), half=DATA.index < 20, other=DATA.index > 30
    )
    data[["half", "other"]] = data[["half", "other"]].astype(float)
    with pytest.warns(kg.KinetographWarning, match=message):
        kg.formula(text, data)


@pytest.mark.filterwarnings("error")
def test_whole_numbers_and_categories_are_groups():
    data = DATA.assign(
        id=np.arange(len(DATA)) * 1.0, dose=pd.Categorical(np.round(DATA["x"], 1)), one=1.0
    )
    for group in ("id", "dose", "grade", "b", "h"):
        assert f"sd_{group}" in kg.formula(f"y ~ (1 | {group})", data).names
    assert kg.formula("y ~ 0 + one", data).names == ("b_one", "sigma")


def test_arguments_of_other_types():
    for arguments in [(3, DATA), ("y ~ x", [1, 2]), ("y ~ x", DATA)]:
        settings = {"prior": {"b_x": 3}} if arguments[1] is DATA and arguments[0] == "y ~ x" else {}
        with pytest.raises(TypeError, match="formula: "):
            kg.formula(*arguments, **settings)


def test_short_names_of_families():
    families = {"zip": "zero_inflated_poisson", "zinb": "zero_inflated_negbinomial"}
    for name, family in (families | {"nb": "negbinomial"}).items():
        assert f"family    {family} " in str(kg.formula("count ~ x", DATA, family=name))


@pytest.mark.parametrize("library", [pd, pl])
def test_advice_in_the_language_of_the_frame(library):
    """The code in the messages can be pasted, for frames of pandas and of polars."""
    names = {"pandas": pd, "polars": pl}
    names["data"] = library.DataFrame({"t": list("abacabbac"), "x": [0.5, None, *range(7)]})
    texts = ["write (data = .*), with the levels", "rows out: (.*)"]
    texts[0] = texts[0] if library is pl else r"write (data\['t'\] = .*), with the levels"
    with pytest.raises(kg.DataError) as error:
        kg.formula("t ~ 1", names["data"], family="cumulative")
    exec(re.search(texts[0], str(error.value))[1], names)
    assert "thresholds" in kg.formula("t ~ 1", names["data"], family="cumulative").names
    with pytest.raises(kg.DataError) as error:
        kg.formula("t ~ x", names["data"], family="cumulative")
    rest = eval(re.search(texts[1], str(error.value))[1], names)
    assert "b_x" in kg.formula("t ~ x", rest, family="cumulative").names


def test_levels_of_another_type():
    model = kg.formula("y ~ (1 | id)", DATA.assign(id=np.arange(len(DATA)) % 4))
    with pytest.raises(ValueError, match=r"'3' in row 0.*it is '3', but the model has 3: conv"):
        model.response({"id": ["3"]})
    with pytest.raises(ValueError, match=r"'9' in row 0.*give new_levels='draw'"):
        model.response({"id": [9]})


def test_lazy_frames_and_functions_as_families():
    with pytest.raises(TypeError, match=r"are a LazyFrame, .*; give data.collect\(\)$"):
        kg.formula("y ~ x", pl.from_pandas(DATA[["x", "y"]]).lazy())
    with pytest.raises(TypeError, match=r"got the function bernoulli .*family='bernoulli'$"):
        kg.formula("b ~ x", DATA, family=kg.bernoulli)


def test_swapped_arguments():
    with pytest.raises(TypeError, match=r"swapped.*write kg\.formula\('y ~ x', data\)"):
        kg.formula(DATA, "y ~ x")


def test_arguments_of_a_wrong_form_are_named():
    for prior in ([kg.normal(0, 1)], "normal", kg.normal(0, 1)):
        with pytest.raises(TypeError, match="prior= must be a dictionary, got "):
            kg.formula("y ~ x", DATA, prior=prior)
    with pytest.raises(TypeError, match=r"the column 'x' is 1\.0, and not a list.*{'x': \[1\.0\]}"):
        MODEL.response({"x": 1.0, "t": ["low"], "g": ["a"]})
    twice = pd.concat([DATA, DATA[["x"]]], axis=1)
    with pytest.raises(ValueError, match="uses 'x', but 2 columns have this name"):
        kg.formula("y ~ x", twice)
    assert kg.formula("y ~ z", twice).names == kg.formula("y ~ z", DATA).names


def test_columns_of_splines_are_missed():
    model = kg.formula("y ~ z + bs(x, df=4)", DATA)
    with pytest.raises(ValueError, match=r"have no column .x., which the model needs in .z \+ bs"):
        model.response({"z": [1.0, 2.0]})
    with pytest.raises(ValueError, match="uses 'x', but 1 value is missing there, first in row 5"):
        kg.formula("y ~ bs(x, df=4)", changed(x=(5, np.nan)))


def test_a_column_that_follows_from_another_is_warned_of():
    with pytest.warns(
        kg.KinetographWarning, match=r"'I\(1 - 2 \* x\)' .* a number times 'x', plus"
    ):
        kg.formula("y ~ x + t + I(1 - 2 * x)", DATA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.formula("y ~ x + I(x**2) + I(x + 1e-6 * z) + t + t:x + bs(w, df=5)", DATA)


@pytest.mark.parametrize(
    ("data", "settings", "message"),
    [
        (DATA, {"noncentered": True}, "kg.mcmc chooses the parametrisation"),
        (DATA, {"prior": {"sigma": 1.0}}, r"'sigma': kg.half_normal\(1\)"),
        (np.zeros((5, 2)), {}, r"name its columns: pandas.DataFrame\(data, columns=\[...\]\)"),
    ],
)
def test_types(data, settings, message):
    with pytest.raises(TypeError, match=message):
        kg.formula("y ~ x", data, **settings)


def test_times_of_zero_are_not_a_hurdle():
    data = {"t": [0.0, 1.0, 2.0, 3.0], "c": [0, 0, 1, 0], "x": [1.0, 2.0, 3.0, 4.0]}
    with pytest.raises(ValueError, match="times of 0 are rounded: give half of the unit of time"):
        kg.formula("t | cens(c) ~ x", data, family="weibull")


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_results_come_before_new_rows():
    results = kg.mcmc(MODEL, draws=4, warmup=4, chains=1, seed=1, progress=False)
    with pytest.raises(TypeError, match=r"results come first .*write model.predict\(results, DATA"):
        MODEL.predict(DATA, results)
    assert "r_g" in results["posterior"]
    with pytest.raises(KeyError, match="effects of groups are 'r_g'"):
        kg.summary(results, "1|g")
    with pytest.raises(KeyError, match="names select what is shown"):
        kg.summary(results, "~sigma")


def test_missing_numbers_can_be_drawn_by_a_model_of_arrays():
    data = DATA.assign(x=DATA["x"].where(DATA["x"] != DATA["x"][5]))
    advice = "a model written with arrays can draw .* missing='impute'.; otherwise leave these rows"
    with pytest.raises(ValueError, match=advice):
        kg.formula("y ~ x", data)
    with pytest.raises(ValueError, match="missing there") as caught:  # no categories
        kg.formula("y ~ g", changed(g=(5, None)))
    assert "draw missing" not in str(caught.value)
    with pytest.raises(ValueError, match="missing there") as caught:  # and no new rows
        kg.formula("y ~ x", DATA).response({"x": [1.0, None]})
    assert "draw missing" not in str(caught.value)


def test_a_censored_response_may_be_outside_of_the_family():
    """A time of 0 after which an event comes says nothing, and is not refused."""
    data = DATA.assign(zero=(DATA["rain"] == 0).astype(int))
    assert (data["zero"] == 1).any()
    assert kg.formula("rain | cens(zero) ~ x", data, family="weibull").names


def test_the_label_of_a_row_is_named():
    data = changed(x=(5, np.nan)).set_index("kind")
    with pytest.raises(ValueError, match=r"row 5 \(labelled '[pqrs]'\)"):
        kg.formula("y ~ x", data)
    for index, label in (
        (range(100, 140), "105"),
        (pd.date_range("2020-01-01", periods=len(data)), "2020-01-06 00:00:00"),
    ):
        with pytest.raises(ValueError, match=rf"row 5 \(labelled {label}\)"):
            kg.formula("y ~ x", data.set_index(pd.Index(index)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": ["low", "new"]}, "'t' has 'new' in row 1, a level that the model's data"),
        ({"g": ["new", "a"]}, "'g' has 'new' in row 0, .* new_levels='draw'"),
        ({"x": [1.0, None]}, "'x', but 1 value is missing there, first in row 1"),
        ({"x": ["1", "b"]}, "'x' must be numbers, but is text: row 1 has 'b'"),
    ],
)
def test_new_rows(change, message):
    new = pd.DataFrame({"x": [1.0, 2.0], "t": ["low", "mid"], "g": ["a", "b"]}).assign(**change)
    with pytest.raises(ValueError, match=message):
        MODEL.response(new)


def test_a_variable_is_not_taken_for_a_column():
    x, n = np.zeros(2), 30
    model = kg.formula("count | trials(n) ~ x", DATA, family="binomial")
    for rows, name in [({"n": [7, 8]}, "x"), ({"x": x}, "n")]:
        with pytest.raises(ValueError, match=f"have no column '{name}'"):
            model.response(rows)
    assert kg.formula("y ~ {x * factor}", DATA.assign(factor=n))["X"].shape == (len(DATA), 1)


def test_a_function_of_the_caller_is_not_taken_for_one_of_bambi():
    def p(y, x):
        return y - x

    np.testing.assert_array_equal(kg.formula("p(y, x) ~ 1", DATA).data[0].value, DATA.y - DATA.x)


def test_set_data_of_a_column():
    with pytest.raises(ValueError, match=r"x is a column .* model\.predict\(results, new\)"):
        MODEL.set_data(x=DATA["x"])
    with pytest.raises(ValueError, match="did you mean 'y'"):
        MODEL.set_data(yy=DATA["y"])


def test_new_rows_without_a_column():
    with pytest.raises(ValueError, match="have no column 't'"):
        MODEL.response({"x": [1.0], "g": ["a"]})
    with pytest.raises(ValueError, match="did you mean 'sigma'"):
        MODEL.parameter("sigm")


@pytest.mark.parametrize(
    ("text", "data", "settings", "message"),
    [
        ({"mu": "y ~ x", "sigma": "t"}, DATA, {}, r"list.*: \['y ~ x', 'sigma ~ t'\]$"),
        ("y ~ x", "rows.csv", {}, r"got the text.*a file first: pandas.read_csv\('rows.csv'\)"),
        ("y ~ x", DATA, {"offset": "t"}, r"in the formula: 'y ~ x \+ offset\(log\(e\)\)'"),
    ],
)
def test_arguments_of_another_kind(text, data, settings, message):
    with pytest.raises(TypeError, match=message):
        kg.formula(text, data, **settings)


def test_messages_name_the_variable_of_the_frame():
    trial = changed(x=(3, None))
    with pytest.raises(kg.DataError, match=r"out: trial.dropna\(subset=\['x'\]\)$"):
        kg.formula("y ~ x", trial)


def test_what_is_missing_for_a_prediction():
    rows = pd.DataFrame({"x": [1.0]})
    with pytest.raises(
        kg.DataError, match="the new data have no column 't', which the model needs"
    ):
        MODEL.response(rows)
    assert rows.attrs == {}
    with pytest.raises(
        TypeError, match=r"results are missing.*write model.predict\(results, rows\)$"
    ):
        MODEL.predict(rows)
    with pytest.raises(ValueError, match=r"got 'epred'.*; write kind='mean'$"):
        MODEL.predict(None, rows, kind="epred")
    for kind in ("linear", "linpred", "response_params"):
        with pytest.raises(ValueError, match=r"; .* mu=model\.parameter\('mu', new\)\) has mu$"):
            MODEL.predict(None, rows, kind=kind)
    with pytest.raises(TypeError, match=r"by position, got 3 values.*; write kind='mean'"):
        MODEL.predict(None, rows, "mean")
    rows = pd.DataFrame({"X": [1.0], "t": ["low"], "g": ["a"]})
    with pytest.raises(kg.DataError, match=r"rows\.rename\(columns={'X': 'x'}\)$"):
        MODEL.response(rows)


def test_a_power_of_one_column_is_that_column():
    for text in ("y ~ x + x**2", "y ~ x^2"):
        with pytest.warns(kg.KinetographWarning, match=r"is only x .*write I\(x\*\*2\)"):
            model = kg.formula(text, DATA)
        assert model.names == ("b_x", "Intercept", "sigma")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.formula("y ~ (x + t)**2 + I(x**2)", DATA)


def test_a_printed_model_counts_censored_rows():
    late = DATA.assign(y=DATA["y"].abs() + 0.1, event=np.arange(len(DATA)) < 3)
    text = f"response  y, right-censored in {len(DATA) - 3} of {len(DATA)} rows"
    assert text in repr(kg.formula("y | cens(1 - event) ~ x", late, family="weibull"))
    assert "censored" not in repr(MODEL)
