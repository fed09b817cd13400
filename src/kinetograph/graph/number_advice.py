"""Messages about values that are not numbers, such as texts and dates."""

import datetime
import os
from collections.abc import Iterator, KeysView, Mapping, Set, ValuesView
from typing import Any

import numpy as np

from .messages import index_text
from .value_texts import in_words

__all__ = ["LABELS", "advice_on", "conversion", "count_days", "not_numbers"]

LABELS = "for categories write g = kg.groups(values), which has g.codes and g.dim with the labels"


def not_numbers(value: Any, array: np.ndarray) -> str:
    """Describe values that are not numbers, with advice for the user."""
    kind = array.dtype.kind
    if isinstance(value, Mapping):
        keys = ", ".join(repr(key) for key in list(value)[:5])
        return f"a dictionary of {keys} is not an array; make an array of each of its values"
    texts = _columns_of_texts(value) if kind == "O" and array.ndim == 2 else []
    if texts:
        listed = ", ".join(texts[:5])
        return f"no numbers in {listed}; pass each column alone, and {LABELS}"
    if kind in "US" and not array.shape:
        return (
            f"the text {str(array)!r:.60} is not a number; pass the values themselves, and a name "
            "by name= (to read a file, use numpy.loadtxt or pandas.read_csv)"
        )
    if kind == "O" and not array.shape:
        return f"{in_words(value)} is not an array of numbers{advice_on(value)}"
    words = f"values of dtype {array.dtype} are not numbers"
    if isinstance(getattr(value, "name", None), str):  # a series
        words = f"values of the column {value.name}, of dtype {array.dtype}, are not numbers"
    if kind == "c":
        return f"{words} on the real line; pass real and imaginary parts as two arrays"
    if kind in "mM":
        return f"{words}; {count_days(value, kind)}"
    if kind in "USO" and array.size:
        not_number_places = [place for place, v in np.ndenumerate(array) if not _is_number(v)]
        if not not_number_places:
            actual = "text" if kind != "O" else "objects"
            return f"{words} but {actual}; convert them: {_as_numbers(value)}"
        first = array[not_number_places[0]]
        if isinstance(first, datetime.date):
            return f"{words} but dates; {_DAYS.format('numpy.asarray(dates, numpy.datetime64)')}"
        if len(not_number_places) < array.size:
            text = str(first) if kind != "O" else first
            return (
                f"{text!r:.60}{index_text(not_number_places[0])} is not a number, but other values "
                "are; if it marks a missing value, write numpy.nan in its place"
            )
    return f"{words}; {LABELS}"


def conversion(value: Any, array: np.ndarray) -> str:
    """Advice on texts or objects that are numbers, or an empty text."""
    if array.dtype.kind not in "USO" or not array.shape or not array.size:
        return ""
    if not all(map(_is_number, array.flat)):
        return ""
    return f"its values are numbers of another type: write {_as_numbers(value)}"


def _as_numbers(value: Any) -> str:
    """The conversion of values to numbers, as the user writes it."""
    if not hasattr(value, "astype"):
        return "numpy.asarray(values, float)"
    name = getattr(value, "name", None)
    return f"{f'df[{name!r}]' if isinstance(name, str) else 'values'}.astype(float)"


def count_days(value: Any, kind: str) -> str:
    """Advice on dates, and on durations of kind m."""
    times = "(dates - dates.min())" if kind == "M" else "durations"
    polars = hasattr(value, "to_physical")
    days = ".dt.total_days()" if polars else " / numpy.timedelta64(1, 'D')"
    return f"count days: {times}{days}"


def _columns_of_texts(table: Any) -> list[str]:
    """The columns of a data frame that are not numbers."""
    columns, dtypes = getattr(table, "columns", ()), getattr(table, "dtypes", ())
    kinds = {"b", "i", "u", "f"}
    return [
        str(name)
        for name, dtype in zip(columns, dtypes)
        if getattr(dtype, "kind", None) not in kinds
        and not getattr(dtype, "is_numeric", lambda: False)()
        and str(dtype) != "Boolean"
    ]


_DAYS = "count days of dates = {}: (dates - dates.min()) / numpy.timedelta64(1, 'D')"


def advice_on(value: Any) -> str:
    """Advice for an object that is not an array."""
    if isinstance(value, os.PathLike) or hasattr(value, "read"):
        return "; read the file first, for example with numpy.loadtxt or pandas.read_csv"
    if isinstance(value, Set) and not isinstance(value, KeysView):
        return ", because it has no order; write sorted(values)"
    if isinstance(value, (Iterator, KeysView, ValuesView)):
        return ", but an iterable; write list(values)"
    if hasattr(value, "collect") and hasattr(value, "collect_schema"):
        return "; collect it first: frame.collect()"
    if hasattr(value, "subtree"):
        return "; draws of one array are results['posterior']['name']"
    if hasattr(value, "target_names"):
        return "; an array of a model is model['name']"
    if callable(value):
        return "; call it, and pass the result"
    return ""


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
