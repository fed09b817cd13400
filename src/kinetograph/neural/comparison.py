"""Comparison of records with tolerances: files or frames of two runs."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ..graph.errors import DataError, MissingFileError
from ..graph.public import public
from ..graph.suggestions import absent, did_you_mean

__all__ = ["RecordComparison", "compare_records"]

TIMES = ("time_per_nth_step",)  # columns that differ from run to run


@public
@dataclass(frozen=True)
class RecordComparison:
    """The differences of two records, column by column.

    Attributes
    ----------
    table
        With a row for each column that was compared: column, difference (the largest one), row (of
        this difference), first and second (the values there), threshold, and equal.
    """

    table: pd.DataFrame

    @property
    def equal(self) -> bool:
        """Whether all differences are within their thresholds."""
        return bool(self.table["equal"].all())

    def __str__(self) -> str:
        return str(self.table.to_string(index=False))


@public
def compare_records(
    first: Any,
    second: Any,
    *,
    drop: Sequence[str] = TIMES,
    ignore_sign: Sequence[str] = (),
    threshold: float = 1e-6,
    thresholds: Mapping[str, float] | None = None,
    relative: bool = False,
) -> RecordComparison:
    """Compare two records, such as run or trajectory files, with tolerances.

        absolute   |a - b| <= threshold
        relative   |a - b| <= threshold max(|a|, |b|)

    Two missing values are equal.

    Parameters
    ----------
    first, second
        CSV files, zarr folders, or frames of pandas, with the same columns and numbers of rows.
    drop
        Columns that are not compared.
    ignore_sign
        Columns whose absolute values are compared, such as components of eigenvectors.
    threshold
        The largest difference that is allowed.
    thresholds
        Other values for single columns.
    relative
        Whether thresholds are relative.

    Returns
    -------
    RecordComparison

    Raises
    ------
    DataError
        If the columns or the numbers of rows differ, or a value is not a number.
    ValueError
        If the name of a column is unknown, or a threshold is negative.

    Examples
    --------
    >>> import pandas as pd, kinetograph as kg
    >>> first = pd.DataFrame({"step": [1, 2], "loss": [0.5, 0.25], "c0": [1.0, -2.0]})
    >>> second = pd.DataFrame({"step": [1, 2], "loss": [0.5, 0.26], "c0": [-1.0, 2.0]})
    >>> found = kg.neural.compare_records(
    ...     first, second, ignore_sign=["c0"], thresholds={"loss": 0.1}, relative=True)
    >>> found.equal, found.table["difference"].round(3).tolist()
    (True, [0.0, 0.038, 0.0])
    """
    frames = [_frame(records) for records in (first, second)]
    limits = dict(thresholds or {})
    every = {**dict.fromkeys(frames[0]), **dict.fromkeys(frames[1])}
    for name in (*ignore_sign, *limits, *(n for n in drop if n not in TIMES)):
        if name not in every:
            names = list(map(str, every))
            raise ValueError(
                f"compare_records: unknown column {name!r}{did_you_mean(name, names)}; the "
                f"columns are {', '.join(names)}"
            )
    for name, limit in {"threshold": threshold, **limits}.items():
        if not limit >= 0:
            raise ValueError(f"compare_records: {name}: expected 0 or more, got {limit!r}")
    one, other = (frame.drop(columns=list(drop), errors="ignore") for frame in frames)
    missing = [name for name in one.columns.symmetric_difference(other.columns)]
    if missing:
        which = "second" if missing[0] in one else "first"
        raise DataError(
            f"compare_records: the {which} records have no column {missing[0]!r}; leave columns "
            f"out with drop={missing!r:.80}"
        )
    if len(one) != len(other):
        raise DataError(
            f"compare_records: the first records have {len(one)} rows, the second {len(other)}"
        )
    rows = [
        _column(str(n), one[n], other[n], n in ignore_sign, limits.get(n, threshold), relative)
        for n in one
    ]
    names = ["column", "difference", "row", "first", "second", "threshold", "equal"]
    return RecordComparison(pd.DataFrame(rows, columns=names))


def _frame(records: Any) -> pd.DataFrame:
    """The frame of a file or a frame."""
    if isinstance(records, pd.DataFrame):
        return records
    if not isinstance(records, (str, os.PathLike)):
        raise TypeError(
            f"compare_records: expected files or frames, got {type(records).__name__}; records of "
            "a run have the frames run_info, trajectory and averages"
        )
    path = os.fspath(records)
    if not os.path.exists(path):
        raise MissingFileError(f"compare_records: {absent(path)}")
    if path.endswith(".zarr"):
        return pd.DataFrame(xr.open_zarr(path, consolidated=False).to_dataframe())
    try:
        return pd.read_csv(path, skipinitialspace=True)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(
            f"compare_records: {path} is not a CSV file with a header: {error}"
        ) from error


def _column(
    name: str, one: pd.Series, other: pd.Series, unsigned: bool, limit: float, relative: bool
) -> tuple[Any, ...]:
    """The row of a column in the table."""
    try:
        a, b = (np.asarray(column, float) for column in (one, other))
    except (TypeError, ValueError) as error:
        raise DataError(f"compare_records: column {name}: expected numbers: {error}") from error
    if unsigned:
        a, b = np.abs(a), np.abs(b)
    if not len(a):
        return name, 0.0, -1, np.nan, np.nan, limit, True
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = np.abs(a - b)
        if relative:
            difference = difference / np.maximum(np.abs(a), np.abs(b))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    difference = np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))
    row = int(np.argmax(difference))
    largest = float(difference[row])
    return name, largest, row, float(one.iloc[row]), float(other.iloc[row]), limit, largest <= limit
