"""What to say of values that arrays cannot hold, and of numbers that are written as text."""

from collections.abc import Mapping
from typing import Any

import numpy as np

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
    words = f"values of dtype {array.dtype} are not numbers"
    if kind == "c":
        return f"{words} on a line; give real and imaginary parts as two arrays"
    if kind in "mM":
        return f"{words}; count days: (dates - dates.min()) / numpy.timedelta64(1, 'D')"
    if kind in "US" and array.size and _are_numbers(array):
        return f"{words} but text; write numpy.asarray(values, float)"
    return f"{words}; {LABELS}"


def _are_numbers(texts: np.ndarray) -> bool:
    try:
        texts.astype(float)
    except ValueError:
        return False
    return True
