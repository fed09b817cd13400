"""Messages about terms that formulaic cannot compute."""

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..graph.errors import DataError
from ..graph.source import place_text
from .columns import is_text, levels_of, row_text
from .dates import date_kind, date_words
from .frames import numbers_text, rename_text

__all__ = ["encoding_fault", "outside_fault", "texts_reason"]

_OF_TEXTS = re.compile(r"\bstr\b|string|category|categorical|input types")
_SPLINES = ("bs", "cr", "cs", "cc")


def encoding_fault(
    reason: str, text: str, frame: pd.DataFrame, needed: Collection[str]
) -> DataError:
    """The error for terms that cannot be computed.

    `reason` is the text of formulaic, and `needed` has the names of the columns.
    """
    if "unexpected keyword argument 'by'" in reason:
        for call in _calls(text):
            other = next((each for each in call.keywords if each.arg == "by"), None)
            if other is not None and _name(call) in _SPLINES:
                return _by_fault(call, other)
    if "'xor'" in reason:  # ^ within I(...)
        reason = "^ is not the power within a call; write **, as in I(x**2)"
    if constant := re.search(r"name '(TRUE|FALSE|NULL|NA)' is not defined", reason):
        python = {"TRUE": "True", "FALSE": "False", "NULL": "None", "NA": "np.nan"}[constant[1]]
        reason = f"{constant[1]} of R is {python} in Python"
    if "tuple index" in reason and "Treatment" in text:
        reason = "Treatment has brackets: Treatment(), or Treatment('a') with the reference level"
    if "'df' or 'knots'" in reason and "cs(" in text:
        reason = (
            "cs(x, df=5) is a cubic spline here; effects that differ between the classes "
            "of a response (cs of brms) need family='categorical'"
        )
    if match := re.fullmatch(r"(.+) is not in list", reason):
        levels = {name: levels_of(frame[name]) for name in needed if name in frame}
        shown = (
            f"{name} are {', '.join(map(str, values[:12]))}" for name, values in levels.items()
        )
        reason = f"{match[1]} is not a level; the levels of {', of '.join(shown)}"
    if match := re.search(r"outside of the nominated levels.*: \{(.+)\}", reason):
        reason = f"levels= lacks {match[1]}, which the data have; add it, or leave these rows out"
        if "levels=" not in text.replace(" ", ""):
            reason = (
                f"{_of_levels(text)} has {match[1]}, a level that the model's data do not have; "
                f"leave these rows out{_of_edges(text)}"
            )
    if "object is not callable" in reason:
        hidden = next((name for call in _calls(text) if (name := _name(call)) in frame), None)
        if hidden is not None:
            renamed = rename_text(frame, hidden, f"my_{hidden}")
            reason = f"the column {hidden!r} hides the function {hidden}; rename it: {renamed}"
    advice = _of_dates(frame, needed)
    if not advice and (of_texts := texts_reason(reason, text, frame, needed)):
        reason, advice = of_texts, "; its levels have effects where it is a term of its own"
    return DataError(f"formula: {text!r} cannot be computed{place_text()}: {reason}{advice}")


def outside_fault(
    states: Mapping[str, Any],
    frame: pd.DataFrame,
    values_of: Callable[[str], np.ndarray],
) -> DataError | None:
    """The error for a row outside of a spline, or None.

    `states` has the bounds of the splines by their texts, and `values_of(text)` computes an
    expression.
    """
    for text, state in states.items():
        call = next(_calls(text), None)
        if call is None or _name(call) not in _SPLINES or not call.args:
            continue
        low, high = state.get("lower_bound"), state.get("upper_bound")
        if low is None or high is None:
            continue
        column = ast.unparse(call.args[0])
        values = values_of(column)
        outside = np.flatnonzero((values < low) | (values > high))
        if not len(outside):
            continue
        longer = ast.unparse(call)[:-1] + ", extrapolation='extend')"
        return DataError(
            f"formula: {column} is {values[outside[0]]:g} in {row_text(frame, int(outside[0]))}"
            f"{place_text()}, but {text} is defined from {low:g} to {high:g}; make the model with "
            f"{longer}, which continues its polynomials, or with s({column}), which is a straight "
            "line there"
        )
    return None


def _calls(text: str) -> Iterator[ast.Call]:
    """The calls in the text of a formula."""
    try:
        tree = ast.parse(text.replace("~", "-").strip(), mode="eval")
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node


def _of_levels(text: str) -> str:
    """The calls that make categories."""
    calls = [c for c in _calls(text) if _name(c) == "C" or _attribute(c) in ("cut", "qcut")]
    return " or ".join(dict.fromkeys(map(ast.unparse, calls))) or "a column"


def _of_edges(text: str) -> str:
    """Advice on the intervals of a column, which differ in new rows."""
    call = next((c for c in _calls(text) if _attribute(c) in ("cut", "qcut")), None)
    if call is None or (len(call.args) > 1 and isinstance(call.args[1], ast.List)):
        return ""
    return (
        f", or make a column of intervals: {ast.unparse(call)} has other ends in new rows, and "
        "pd.cut(x, edges) with given edges has the same"
    )


def _attribute(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else _name(call)


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _by_fault(call: ast.Call, by: ast.keyword) -> DataError:
    text, column = ast.unparse(call), by.value
    name = str(column.value) if isinstance(column, ast.Constant) else ast.unparse(column)
    call.keywords.remove(by)
    argument = ast.unparse(call.args[0]) if call.args else "x"
    return DataError(
        f"formula: {text} has by=, which {_name(call)} does not take{place_text()}; splines that "
        f"differ by {name} are {ast.unparse(call)}:{name}, or with a penalty "
        f"s({argument}, by={name})"
    )


def _of_dates(frame: pd.DataFrame, needed: Collection[str]) -> str:
    """Advice on a column of dates, or an empty text."""
    for name in needed:
        if name in frame and date_kind(frame[name]):
            return f"; {date_words(frame, name)}"
    return ""


def texts_reason(reason: str, text: str, frame: pd.DataFrame, needed: Collection[str]) -> str:
    """The fault and the way out of computing with texts."""
    if not _OF_TEXTS.search(reason):
        return ""
    calls = [call for call in _calls(text) if _name(call) != "C"]
    inside = {n.id for call in calls for n in ast.walk(call) if isinstance(n, ast.Name)}
    for name in needed:
        if name in inside and name in frame and is_text(frame[name]):
            return (
                f"{name!r} is a column of text, {frame[name].iloc[0]!r} in {row_text(frame, 0)}; "
                f"text that holds numbers is converted by {numbers_text(frame, name)}"
            )
    return ""
