"""Labels and names of values from pandas, polars and xarray.

The objects are recognised by their attributes, so that no library is imported to recognise them.
"""

from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Axis",
    "column_index",
    "is_index",
    "is_table",
    "labelled_axes",
    "labels_on",
    "name_of",
    "plain_labels",
    "row_index",
    "usable_name",
]


class Axis(NamedTuple):
    """The name and the labels of an axis; None if missing."""

    name: str | None
    labels: np.ndarray | None


def labelled_axes(value: Any) -> tuple[Axis, ...]:
    """The axes of a labelled value; empty for values without labels.

    A polars frame has labels of columns; the rows of polars have no labels.
    """
    dims, coords = getattr(value, "dims", None), getattr(value, "coords", None)
    if dims is not None and coords is not None and not isinstance(dims, dict):  # xarray
        return tuple(Axis(str(d), plain_labels(coords[d]) if d in coords else None) for d in dims)
    axes = getattr(value, "axes", None)
    if getattr(value, "index", None) is not None and isinstance(axes, list):  # pandas
        return tuple(Axis(_text(getattr(a, "name", None)), plain_labels(a)) for a in axes)
    columns = getattr(value, "columns", None)
    if isinstance(columns, list) and hasattr(value, "schema"):  # polars
        return Axis(None, None), Axis(None, plain_labels(columns))
    return ()


def labels_on(value: Any, names: tuple[str | None, ...]) -> dict[str, Axis]:
    """The labelled axes of a value by the names of dimensions.

    The last axis of the value has the last name.
    """
    axes = labelled_axes(value)
    pairs = zip(names[len(names) - len(axes) :], axes) if len(axes) <= len(names) else ()
    return {n: axis for n, axis in pairs if n is not None and axis.labels is not None}


def name_of(value: Any) -> str | None:
    """The usable name of a series or a DataArray."""
    name = getattr(value, "name", None)
    is_array = hasattr(value, "dtype") and hasattr(value, "__array__")
    return name if is_array and isinstance(name, str) and usable_name(name) else None


def row_index(value: Any) -> Any:
    """The index of a pandas object, else None."""
    index = getattr(value, "index", None)
    return index if index is not None and is_index(index) else None


def column_index(value: Any) -> Any:
    """Columns of a frame as an index of pandas, else None."""
    columns = getattr(value, "columns", None)
    if type(value).__module__.partition(".")[0] == "polars" and columns:
        import pandas as pd  # not before a table has labels: the import takes long

        return pd.Index(columns)
    return columns if columns is not None and is_index(columns) else None


def usable_name(name: str) -> bool:
    """Whether results and files can hold an array of this name."""
    return name.isprintable() and name == name.strip() and "/" not in name and name.strip(".") != ""


def plain_labels(labels: Any) -> np.ndarray:
    """Return labels as an array of numbers, texts or dates.

    Labels of several levels become one text, `"Oslo, 2001"`. Times of a zone become UTC. Other
    objects, such as intervals and periods, become texts.
    """
    if getattr(labels, "nlevels", 1) > 1:
        return np.array([", ".join(map(str, label)) for label in labels], str)
    if getattr(labels, "tz", None) is not None:
        labels = labels.tz_convert(None)
    array = np.asarray(labels)
    return array if array.dtype.kind in "biufSUMm" else array.astype(str)


def is_table(value: Any) -> bool:
    """Whether a value is a series or a data frame."""
    return not hasattr(value, "dims") and (bool(labelled_axes(value)) or name_of(value) is not None)


def is_index(value: Any) -> bool:
    """Whether a value is an index of pandas."""
    return hasattr(value, "nlevels") and hasattr(value, "get_indexer")


def _text(name: Any) -> str | None:
    return name if isinstance(name, str) and name else None
