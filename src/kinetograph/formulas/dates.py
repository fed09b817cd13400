"""Columns of dates, which formulas take as labels only.

The numbers behind dates depend on the unit of the column's type, which new rows may not share.
"""

import ast
from collections.abc import Iterable
from typing import Any

import pandas as pd
from formulaic.transforms import TRANSFORMS

from ..graph.errors import DataError
from ..graph.source import place_text
from .frames import days_text

__all__ = ["check_no_dates", "date_kind", "date_words", "used_as_numbers"]

_KINDS = {
    **dict.fromkeys(("date", "datetime", "datetime64"), "dates"),
    "period": "periods",
    **dict.fromkeys(("timedelta", "timedelta64"), "durations"),
    "time": "times of the day",
}


def date_kind(column: Any) -> str:
    """The word for the dates in a column, or an empty text."""
    if isinstance(getattr(column, "dtype", None), pd.CategoricalDtype):
        return ""
    return _KINDS.get(pd.api.types.infer_dtype(column, skipna=True), "")


def date_words(frame: pd.DataFrame, name: str) -> str:
    """The words that a column has dates, and code that makes numbers."""
    return f"{name!r} has {(kind := date_kind(frame[name]))}: {days_text(frame, name, kind)}"


def check_no_dates(frame: pd.DataFrame, names: Iterable[str], title: str, levels: str = "") -> None:
    """Raise DataError if one of the columns has dates.

    `levels` is advice on a level for each date, with `{0}` for the column.
    """
    for name in names:
        if name in frame and not isinstance(frame[name], pd.DataFrame) and date_kind(frame[name]):
            of = "" if repr(name) in title else f"{title}: "
            advice = f"; {levels.format(name)}" if levels else ""
            raise DataError(f"formula: {of}{date_words(frame, name)}{place_text()}{advice}")


def used_as_numbers(factors: Iterable[str]) -> set[str]:
    """The columns that factors of a formula take as numbers.

    They stand alone, or are arguments of a function of formulaic other than C.
    """
    names: set[str] = set()
    for text in factors:
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError:  # a quoted name of a column
            names.add(text)
            continue
        parts: list[ast.expr] = [tree]
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            parts = tree.args if tree.func.id in {*TRANSFORMS} - {"C", "hashed"} else []
        names |= {part.id for part in parts if isinstance(part, ast.Name)}
    return names
