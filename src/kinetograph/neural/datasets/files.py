"""CSV files with a header, read and written by pandas."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...graph.errors import DataError, MissingFileError
from ...graph.public import public
from ...graph.suggestions import absent

if TYPE_CHECKING:
    from .reading import LabelledData

__all__ = ["check_distinct", "read_frame", "write_csv"]


@public
def write_csv(path: str | os.PathLike[str], data: "LabelledData") -> None:
    """Write inputs and labels to a CSV file with a header.

    Numbers are written with the digits that give them back exactly, so equal data give equal bytes.

    Examples
    --------
    >>> import tempfile, kinetograph as kg
    >>> sets = kg.neural.datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sets.write_csv(folder + "/points.csv", sets.two_circles(10, seed=1))
    ...     print(sets.read(folder + "/points.csv").inputs)
    ('x1', 'x2')
    """
    if not Path(path).absolute().parent.is_dir():
        raise MissingFileError(f"write_csv: path: {absent(path)}")
    table = np.column_stack([data.x, data.y])
    frame = pd.DataFrame(table, columns=[*data.inputs, *data.labels])
    frame.to_csv(path, index=False, lineterminator="\n")


def _check_header(names: list[Any], path: Any) -> None:
    """Refuse a first line that does not name columns.

    Raises DataError, except for a repeated name: ValueError.
    """
    if all(_is_number(name) for name in names):
        columns = [f"x{i + 1}" for i in range(len(names) - 1)]
        raise DataError(
            f"read: {path} has no header: its first line has only numbers, "
            f"{','.join(map(str, names))!s:.60}; write the names of the columns above it, such as "
            f"{','.join([*columns, 'label'])!s:.60}"
        )
    unnamed = [i for i, name in enumerate(names, 1) if pd.isna(name)]
    if unnamed:
        way = "; remove commas at the ends of lines, or write a name"
        if unnamed[0] == 1:
            way = "; if it is the index of a frame, write frame.to_csv(path, index=False)"
        raise DataError(f"read: {path}: column {unnamed[0]} has no name in the header{way}")
    separators = [mark for mark in ";\t|" if len(names) == 1 and mark in names[0]]
    if separators:
        raise DataError(
            f"read: {path} has a header of one column, {names[0]!r:.60}, because its values are "
            f"separated by {separators[0]!r} and not by commas; write it with commas, for example "
            f"by pandas.read_csv(path, sep={separators[0]!r}).to_csv(path, index=False)"
        )
    check_distinct(names, f"{path}")


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return not pd.isna(text)


def check_distinct(names: Sequence[str], title: str) -> None:
    """Refuse names of columns that occur twice, by a ValueError."""
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ValueError(
            f"read: {title} has the column {twice[0]!r} {list(names).count(twice[0])} times; give "
            "each column its own name"
        )


def read_frame(path: str | os.PathLike[str]) -> pd.DataFrame:
    """The numbers of a CSV file; errors name file, line and column."""
    try:
        first = pd.read_csv(path, skipinitialspace=True, header=None, nrows=1, dtype=str)
        _check_header(first.iloc[0].tolist(), path)
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
            frame = pd.read_csv(path, skipinitialspace=True, index_col=False)
    except pd.errors.ParserWarning as error:
        raise DataError(
            f"read: {path} has rows with more values than the {first.shape[1]} names of its "
            "header; write a name for each column"
        ) from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"read: {path} is not a CSV file with a header: {error}") from error
    if not len(frame):
        raise DataError(f"read: {path} has no rows below its header")
    for name in frame.columns:
        numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(float)
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            value = frame[name].iloc[wrong[0]]
            got = "no value" if pd.isna(value) else repr(value)
            raise DataError(
                f"read: {path}, row {wrong[0] + 1} below the header, column {name}: expected a "
                f"number, got {got}"
            )
    return frame
