"""Columns whose effects the data cannot separate are named in a warning, others are not."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

ROWS = 120
TOWNS = dict(zip("pqrtwz", "AABBCC"))


def _frame():
    rng = np.random.default_rng(20261130)
    schools = rng.permutation(np.tile(list(TOWNS), ROWS // 6))
    data = pd.DataFrame({"school": schools, "town": [TOWNS[school] for school in schools]})
    return data.assign(
        y=rng.normal(size=ROWS),
        x1=100 * rng.normal(size=ROWS),
        x2=1e6 + rng.normal(size=ROWS),
        x3=lambda d: d["x1"] + d["x2"],
        twice=lambda d: 2 * d["x1"] + 1,
        u=rng.uniform(size=ROWS),
        p=99 * rng.uniform(size=ROWS),
        q=lambda d: (100 - d["p"]) * d["u"],
        r=lambda d: 100 - d["p"] - d["q"],
        year=rng.integers(1990, 2021, ROWS),
        month=rng.integers(0, 12, ROWS),
        g=np.tile(list("ab"), ROWS // 2),
        h=rng.permutation(np.tile(list("vwx"), ROWS // 3)),
    )


DATA = _frame()
WITHOUT = {cell: DATA[(DATA["g"] + DATA["h"]) != cell] for cell in ("av", "bx")}


def _warnings(terms, data=DATA):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        kg.formula(f"y ~ {terms}", data)
    return [str(each.message) for each in record]


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ("x1 + x2 + x3", "'x3' in .* combination of 'x1', 'x2': .* the terms 'x1', 'x2', 'x3' out"),
        ("0 + x1 + x2 + x3", "'x3' in .* is a linear combination of 'x1', 'x2': "),
        ("p + q + r", "'r' in .* is a linear combination of 'p', 'q', and a constant: "),
        ("(x1 + x2 + x3 | g)", "'x3' in .* is a linear combination of 'x1', 'x2': "),
        (
            "town + school",
            r"'school\[T.t\]' .* of 'town\[T.B\]', 'school\[T.r\]': .*; leave one of the terms "
            "'town', 'school' out$",
        ),
        ("x1 + twice + u", "'twice' in .* is a number times 'x1', plus a constant"),
        ("year + C(year)", r"of 'year', 'C\(year\)\[T.1991\]', .*, \.\.\., and a constant: "),
        ("x1 + bs(x1, df=5)", "is a linear combination of 'x1', "),
    ],
)
def test_dependent_columns_are_named_once(terms, message):
    (warning,) = _warnings(terms)
    assert re.search(rf"^formula: {message}" if message[0] == "'" else message, warning)
    if "combination" in warning:
        assert re.search(r"\(test_dependent_columns.py:\d+\)", warning)


def test_each_cause_has_one_warning():
    first, second = _warnings("x1 + x2 + x3 + town + school")
    assert first.startswith("formula: 'x3'")
    assert second.startswith("formula: 'school")


def test_interactions_with_an_empty_cell():
    (of_reference,) = _warnings("g * h", WITHOUT["av"])
    assert "'g[T.b]:h[T.x]' in 'g * h' is a linear combination of 'g[T.b]', " in of_reference
    assert of_reference.endswith("; leave 'g:h' out, or join levels")
    (of_zeros,) = _warnings("g * h", WITHOUT["bx"])
    assert "'g[T.b]:h[T.x]' in 'g * h' is 0 in all " in of_zeros
    (without_intercept,) = _warnings("0 + g:h", WITHOUT["bx"])
    assert "'g[b]:h[x]' in '0 + g:h' is 0 in all " in without_intercept


def test_empty_columns_of_a_term_have_one_warning():
    zeros, combination = _warnings("town / school")
    assert re.search(r"'town\[B\]:school\[T.q\]', .*, \.\.\. in .* are 0 in all 120 rows", zeros)
    assert "is a linear combination of" in combination


@pytest.mark.parametrize(
    "terms",
    [
        "x2 + I(x2**2)",
        "year + I(year**2) + I(year**3) + I(year**4)",
        " + ".join(f"I(u**{power})" for power in range(1, 10)),
        "poly(year, 5) + poly(x2, 3)",
        "bs(x1, df=6) + bs(year, df=5)",
        "cr(x1, df=6) + u",
        "cc(u, df=5) * g",
        "bs(x2, df=6) * g",
        " + ".join(f"np.sin({k} * month) + np.cos({k} * month)" for k in range(1, 5)),
        "g * h * town",
        "0 + g * h",
        "C(g, contr.sum) * C(h, contr.helmert)",
        "C(year)",
        "x1 * x2 * u",
        "0 + x1 + twice",
        "town:x1",
    ],
)
def test_no_false_alarm(terms):
    assert not _warnings(terms)


def test_a_column_that_is_constant_up_to_rounding():
    data = DATA.assign(k=np.where(DATA["g"] == "a", 0.3, 0.1 + 0.2))
    (warning,) = _warnings("k + x1", data)
    assert "'k' in 'k + x1' is 0.3 in all 120 rows: its effect cannot be separated" in warning


def test_many_rows():
    rng = np.random.default_rng(1)
    data = {"y": rng.normal(size=4_000), "k": rng.integers(0, 30, 4_000)}
    data["j"], data["rare"] = data["k"] // 10, np.arange(4_000) == 3_999
    assert not _warnings("C(k) + rare", data)
    (warning,) = _warnings("C(j) + C(k)", data)
    assert "one of the terms 'C(j)', 'C(k)' out" in warning
