"""What to say of values that arrays cannot hold, and of numbers that are written as text."""

import datetime
import os
from collections.abc import Iterator, KeysView, Mapping, Set, ValuesView
from typing import Any

import numpy as np

from .messages import index_text
from .text import in_words

__all__ = ["LABELS", "not_numbers"]

LABELS = (
    "encode categories as integers first: labels, values = numpy.unique(values, "
    "return_inverse=True)"
)


def not_numbers(value: Any, array: np.ndarray) -> str:
    """What values are that are no numbers, and what to do about it."""
    kind = array.dtype.kind
    if isinstance(value, Mapping):
        keys = ", ".join(repr(key) for key in list(value)[:5])
        return f"a dictionary of {keys} is no array; make an array of each of its values"
    columns: Any = getattr(value, "dtypes", None)  # of a data frame
    if getattr(columns, "shape", ()) and kind == "O":
        texts = [str(name) for name, dtype in columns.items() if dtype.kind not in "biuf"]
        listed = ", ".join(texts[:5])
        return f"no numbers in {listed}; take columns one by one, and {LABELS}"
    if kind in "US" and not array.shape:
        return (
            f"the text {str(array)!r:.60} is not a number; give the values themselves (those in a "
            "file are read first, as by numpy.loadtxt or pandas.read_csv)"
        )
    if kind == "O" and not array.shape:
        return f"{in_words(value)} is no array of numbers{_made_of(value)}"
    words = f"values of dtype {array.dtype} are not numbers"
    if kind == "c":
        return f"{words} on a line; give real and imaginary parts as two arrays"
    if kind in "mM":
        return f"{words}; count days: (dates - dates.min()) / numpy.timedelta64(1, 'D')"
    if kind in "USO" and array.size:
        others = [place for place, v in np.ndenumerate(array) if not _is_number(v)]
        if not others:
            what = "text" if kind != "O" else "objects"
            return f"{words} but {what}; write numpy.asarray(values, float)"
        first = array[others[0]]
        if isinstance(first, datetime.date):
            return f"{words} but dates; {_DAYS.format('numpy.asarray(dates, numpy.datetime64)')}"
        if len(others) < array.size:
            text = str(first) if kind != "O" else first
            return (
                f"{text!r:.60}{index_text(others[0])} is not a number, as others are; if it stands "
                "for a value that is missing, write numpy.nan in its place"
            )
    return f"{words}; {LABELS}"


_DAYS = "count days of dates = {}: (dates - dates.min()) / numpy.timedelta64(1, 'D')"


def _made_of(value: Any) -> str:
    """How numbers are had from what is not an array itself."""
    if isinstance(value, os.PathLike) or hasattr(value, "read"):
        return "; read the file first, as by numpy.loadtxt or pandas.read_csv"
    if isinstance(value, Set) and not isinstance(value, KeysView):
        return ", as it has no order; write sorted(values)"
    if isinstance(value, (Iterator, KeysView, ValuesView)):
        return ", but gives them one by one; write list(values)"
    if callable(value):
        return "; call it, and give what it returns"
    return ""


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
