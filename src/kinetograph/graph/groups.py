"""`kg.groups`: the codes of groups, and the dimension with their labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .array import Array
from .dims import Dim, dim
from .errors import DataError, KinetographWarning
from .missing import missing_mask
from .node import Data
from .public import public
from .source import place_text, variable_name, warn_user
from .suggestions import did_you_mean
from .tables import labelled_axes, name_of, plain_labels, row_index
from .value_texts import check_name, in_words

__all__ = ["Groups", "groups", "missing_codes_text"]

_SHOWN = 6  # levels in a message


@public
@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of rows; made by `kg.groups`.

    Attributes
    ----------
    dim
        The dimension of the groups, with their labels.
    codes
        The number of the group of each row: an array of integers, data called `<name>_codes`.
    """

    dim: Dim
    codes: Array

    def encode(self, values: Any) -> np.ndarray:
        """The codes of further values, such as the groups of new rows.

        Raises
        ------
        DataError
            If a value is missing, or not one of the levels (the message gives the row).

        Examples
        --------
        >>> import kinetograph as kg
        >>> county = kg.groups(["Oslo", "Bonn", "Oslo"], "county")
        >>> county.encode(["Bonn", "Bonn"])
        array([0, 0])
        """
        if isinstance(values, str):
            raise DataError(
                f"encode: takes a column, got the text {values!r}{place_text()}; write "
                f"encode([{values!r}])"
            )
        return _codes(values, _column(values, self.dim.name), self.dim.labels, self.dim.name)

    def __repr__(self) -> str:
        return f"<groups of {self.codes.shape[0]} rows, {self.dim!r}>"


@public
def groups(values: Any, name: str | None = None, *, levels: Any = None) -> Groups:
    """Make the codes and the labels of groups from a column.

    Codes and labels are made together, so that effects have the right labels in results.

    Parameters
    ----------
    values
        A column of texts, numbers, dates or categories: a list, an array, or a series of pandas or
        polars.
    name
        The name of the dimension; by default the name of the series, else the variable.
    levels
        The labels in their order, or a dimension made by `kg.dim`. By default the categories of a
        pandas categorical or a polars Enum, else the sorted different values.

    Returns
    -------
    Groups
        With `dim`, `codes` and `encode` for new rows.

    Raises
    ------
    DataError
        If the values are not one column, a value is missing, or a value is not one of `levels` (the
        message gives the row).

    Warns
    -----
    KinetographWarning
        If all rows have the same level, or integers without `levels` are the codes of
        `pandas.factorize`, which marks missing values by -1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> county = kg.groups(["Oslo", "Bonn", "Oslo"], "county")
    >>> county.dim
    <dim county, 2 labels: Bonn, Oslo>
    >>> effect = kg.normal(0, 1, dims=county.dim)
    >>> mean = effect[county.codes]  # the effect of each row's county
    """
    check_name("groups", name, _way_of_name(values, name))
    name = name or name_of(values) or _variable(values) or "group"
    column = _column(values, name)
    if isinstance(levels, Dim):
        dimension = Dim(name, levels.size, levels.labels)
    else:
        dimension = dim(name, _levels(values, column) if levels is None else levels)
    if levels is None and (text := missing_codes_text(name, values, column)):
        warn_user(f"groups: {text} give levels=[-1, 0, ...]", KinetographWarning)
    codes = _codes(values, column, dimension.labels, name)
    if len(codes) and (codes == codes[0]).all():
        warn_user(
            f"groups: all rows of {name} have the level {str(dimension.labels[codes[0]])!r}: an "
            "effect of one level cannot be separated from the mean of all rows",
            KinetographWarning,
        )
    axis = next(iter(labelled_axes(values)), None)
    rows = None if axis is None or axis.name == name else axis.name
    coords = {name: dimension.labels}  # of the axis that the codes index
    coords |= {rows: axis.labels} if rows and axis and axis.labels is not None else {}
    codes.setflags(write=False)
    row_codes = Data(codes, f"{name}_codes", (rows,) if rows else None, coords=coords)
    row_codes.rows = row_index(values)
    return Groups(dimension, Array(row_codes))


def missing_codes_text(name: str, values: Any, column: np.ndarray) -> str:
    """A text about codes that mark missing values by -1.

    The text is empty for categories, and unless -1 is the only negative number and the other
    numbers are 0, 1, ... without a gap.
    """
    is_code = column.dtype.kind == "i" and not hasattr(getattr(values, "dtype", None), "categories")
    present = np.unique(column) if is_code else np.zeros(0)
    if len(present) < 3 or not np.array_equal(present, np.arange(-1, len(present) - 1)):
        return ""
    return (
        f"{name} is -1 in {_rows(values, column == -1)}, and a code from 0 to {present[-1]} in the "
        f"other rows{place_text()}: pandas marks missing values by -1, and here these rows are a "
        "group of their own. Drop these rows, or make them missing; if -1 is a group,"
    )


def _way_of_name(values: Any, name: Any) -> str:
    """Advice on a name that is not a text."""
    if isinstance(values, str):
        return f"; write kg.groups(values, {values!r})"
    if np.ndim(name):
        return "; for groups by two columns join them: frame['a'] + ', ' + frame['b']"
    return ""


def _variable(values: Any) -> str | None:
    name = None if isinstance(values, (str, int, float)) else variable_name(values)
    return name if name and name.isidentifier() and not name.startswith("_") else None


def _column(values: Any, name: str) -> np.ndarray:
    """The values as one column of numbers, texts or dates."""
    if isinstance(values, Array):
        if not isinstance(values.node, Data):
            raise DataError(f"groups: {name} is {in_words(values)}, not known values{place_text()}")
        values = values.node.value
    try:
        column = np.asarray(values)
    except ValueError:
        column = np.asarray(None)
    if column.ndim != 1:
        raise DataError(
            f"groups: {name} must be one column, got {in_words(values)}{place_text()}; for a frame "
            'give the column, as in kg.groups(frame["county"]); for groups by two columns join '
            'them: frame["a"] + ", " + frame["b"]'
        )
    missing = missing_mask(values, column)
    if missing.any():
        raise DataError(
            f"groups: {name} is missing in {_rows(values, missing)}{place_text()}; drop these "
            'rows, or make a level of them, as in values.fillna("unknown")'
        )
    kinds = {type(value).__name__ for value in column} if column.dtype.kind == "O" else set()
    if len(kinds) > 1:
        listed = ", ".join(sorted(kinds))
        raise DataError(
            f"groups: {name} has values of several kinds, {listed}{place_text()}; "
            "make them texts first, as in values.astype(str)"
        )
    return plain_labels(column)


def _levels(values: Any, column: np.ndarray) -> np.ndarray:
    """The categories of a categorical column, else the sorted different values."""
    dtype: Any = getattr(values, "dtype", None)
    # The categories of a Categorical of polars belong to all columns, and have no order.
    categories = type(dtype).__name__ in ("CategoricalDtype", "Enum")
    return plain_labels(dtype.categories) if categories else np.unique(column)


def _codes(values: Any, column: np.ndarray, labels: np.ndarray, name: str) -> np.ndarray:
    """The place of each value among the labels."""
    places = {label: place for place, label in enumerate(_hashable(labels))}
    codes = np.array([places.get(key, -1) for key in _hashable(column)], np.int64)
    if (codes < 0).any():
        listed = [str(label) for label in labels]
        few = ", ".join(listed[:_SHOWN]) + (", ..." if len(listed) > _SHOWN else "")
        unseen = str(column[codes < 0][0])
        raise DataError(
            f"groups: {name} has no level {unseen!r}, which is in {_rows(values, codes < 0)}"
            f"{place_text()}; its levels are {few}; the effect of a new group is a new unknown, as "
            f"in kg.predict(model, results, new=kg.normal(mean, sd)){did_you_mean(unseen, listed)}"
        )
    return codes


def _hashable(labels: np.ndarray) -> list[Any]:
    """The labels as Python's objects; dates by their microseconds."""
    dates = labels.dtype.kind == "M"
    return (labels.astype("M8[us]") if dates else labels).tolist()  # type: ignore[no-any-return]


def _rows(values: Any, chosen: np.ndarray) -> str:
    """The first chosen row with its label, and how many more."""
    first, count = int(np.argmax(chosen)), int(chosen.sum()) - 1
    axis = next(iter(labelled_axes(values)), None)
    label = "" if axis is None or axis.labels is None else str(axis.labels[first])
    index = f" (index {label})" if label and label != str(first) else ""
    return f"row {first}{index}" + (f" and {count} more row{'s' * (count > 1)}" if count else "")
