"""Terms, links, priors and responses that are seldom meant, and the way out."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.formulas.cases import frame

import kinetograph as kg

DATA = frame().assign(
    kinds=lambda data: pd.Categorical(data["kind"], ["s", "p", "r", "q"]),
    two=lambda data: pd.Categorical(data["h"], ordered=True),
    interval="interval",
    late=lambda data: data["positive"] / 2,
    zero=lambda data: data["count"] * 0 + (data.index != 3),
)
DATA["a.b"] = DATA["x"]


OF_R = {
    "C(g, Treatment)": "Treatment()",
    "relevel(g, 'b')": "C(g, Treatment('b'))",
    "relevel(g, ref='b')": "C(g, Treatment('b'))",
    "cut(x, 3)": "pd.cut(x, edges)",
    "ifelse(x > 0, 1, 0)": "np.where(x > 0, 1, 0)",
    "where(x > 0, 1, 0)": "np.where(...)",
    "interaction(g, h)": "g:h",
    "pmin(x, 0)": "np.minimum(x, 0)",
    "rescale(x)": "scale(x)",
    "x % 2": "I(x % 2)",
}


@pytest.mark.parametrize("term", OF_R)
def test_functions_of_r_have_a_way_out_that_works(term):
    with pytest.raises((ValueError, kg.DataError), match=re.escape(f" {OF_R[term]}")) as error:
        kg.formula(f"y ~ {term}", DATA)
    assert error.match(r"\(test_strange_terms.py:\d+\)")
    way_out = OF_R[term].replace("...", "x > 0, 1, 0").replace("edges", "[-9, 0, 9]")
    way_out = f"C(g, {way_out})" if term.startswith("C(") else way_out
    assert kg.formula(f"y ~ {way_out}", DATA).names


@pytest.mark.parametrize("call", ["constrained", "truncated"])
def test_a_truncated_response(call):
    with pytest.raises(ValueError, match=r"write 'y \| trunc\(lb=\.\.\., ub=\.\.\.\) ~ \.\.\.'$"):
        kg.formula(f"{call}(y, 0, 9) ~ x", DATA)


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("y ~ (1 | gr(g, by=b))", {}, r"write the column alone, \(1 \| g\); .* by b are not ava"),
        ("y ~ (x | g)", {"prior": {"cor": 2}}, r"'cor': kg.lkj_correlation\(2, 2\)}$"),
        (
            "y ~ kind",
            {"prior": {"b_kind": kg.normal([0, 1], 1)}},
            r"'b_kind' has shape \(2,\), but b_kind has shape \(3,\), of T.q, T.r, T.s",
        ),
        ("y ~ mo(two)", {}, "has two levels, 'u' and 'v' .*: the effect is one step; write two al"),
        ("y ~ x", {"link": "logit"}, "the link 'logit' does not fit mu of the family gaussian"),
        ("y ~ log(z)", {}, r"is nan in row \d+, where z is -.*; the logarithm needs numbers above"),
        ("y ~ np.sqrt(z)", {}, r"where z is -.*; the square root needs numbers from 0 on$"),
        ("log(z) ~ x", {}, r"response 'log\(z\)' is nan in row \d+, where z is -.* above 0$"),
        ("y ~ offset(log(zero))", {}, r"is -inf in row 3, where zero is 0 .* above 0$"),
        ("scale(y) ~ x", {}, "scale is for terms: make a column, and write its name$"),
        ("y ~ C(g, contr.treatment(base='zz'))", {}, "'zz' is not a level; .* g are a, b, c, d$"),
        ("y ~ C(h, levels=['u', 'w'])", {}, "levels= lacks 'v', which the data have"),
        ("y ~ a.b", {}, r"with dots are not read: DATA.rename\(columns={'a.b': 'a_b'}\)$"),
        (
            "positive | cens(interval, late) ~ x",
            {},
            r"the upper end late is [\d.]+ in row 0, below the response positive, [\d.]+ ",
        ),
        ("y ~ x + y", {}, "the response y is among the terms of mu .*; leave the term out"),
        (["y ~ x", "sigma ~ y"], {}, "the response y is among the terms of sigma"),
    ],
)
def test_the_message_has_the_way_out(text, settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        kg.formula(text, DATA, **settings)


def test_functions_of_the_response_are_terms_as_before():
    assert kg.formula("np.log(positive) ~ positive", DATA).names


@pytest.mark.filterwarnings("error")
def test_an_infinite_number_is_refused_without_a_warning_of_numpy():
    data = DATA.assign(x=DATA["x"].where(DATA["x"] != DATA["x"][3], np.inf))
    with pytest.raises(kg.DataError, match="'x' is inf in row 3"):
        kg.formula("y ~ z + x", data)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_proposed_order_is_that_of_the_categories(library):
    data = DATA[["y", "kinds"]]
    if library == "polars":
        data = pl.DataFrame({"y": DATA["y"].to_numpy(), "kinds": [*DATA["kind"]]})
    with pytest.raises(kg.DataError) as error:
        kg.formula("y ~ mo(kinds)", data)
    names = {"data": data.copy() if library == "pandas" else data, "polars": pl}
    exec(re.search(r"write (data.*?), (?:if|with)", str(error.value))[1], names)
    model = kg.formula("y ~ mo(kinds)", names["data"])
    labels = [*model["simo_mo(kinds)"].node.coords["simo_mo(kinds)_level"]]
    assert labels == (["p", "r", "q"] if library == "pandas" else ["q", "r", "s"])


def test_labels_themselves_leave_groups_out():
    with pytest.raises(TypeError, match=r"got the text 'g' .*; write by=data\['g'\]"):
        kg.loo(kg.formula("y ~ x", DATA), None, by="g")
