"""Inputs and labels from arrays, frames, files, and parts of these."""

import datetime
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...graph.errors import DataError, ShapeError
from ...graph.memory_maps import holds_in_parts, kept_in_its_file
from ...graph.public import public
from ...graph.suggestions import did_you_mean
from ..rows import check_array
from .files import check_distinct, read_frame

__all__ = ["LabelledData", "are_paths", "read"]


@public
class LabelledData(NamedTuple):
    """Inputs and labels, with one row for each datum.

    Attributes
    ----------
    x
        Inputs, (rows, inputs) or with further axes.
    y
        Labels, (rows, labels).
    inputs, labels
        The names of the columns.
    """

    x: np.ndarray
    y: np.ndarray
    inputs: tuple[str, ...]
    labels: tuple[str, ...]

    def split(self, test: float = 0.2, seed: int = 0) -> "tuple[LabelledData, LabelledData]":
        """Random rows for training, and the other rows for tests.

        `test` is the fraction of rows for tests.

        Raises
        ------
        ValueError
            If the fraction is not between 0 and 1, or leaves no rows for training or for tests.
        """
        test_count = round(test * len(self.x)) if 0 <= test < 1 else len(self.x)
        if test_count == len(self.x):
            raise ValueError(f"split: test must be a fraction below 1, got {test!r}")
        if test > 0 and not test_count:
            raise ValueError(
                f"split: test={test!r} of {len(self.x)} rows leaves no row for tests; give "
                f"{1 / len(self.x):.2g} or more, or 0"
            )
        order = np.random.default_rng(seed).permutation(len(self.x))
        test_rows, rows = np.split(order, [test_count])
        return tuple(self._replace(x=self.x[r], y=self.y[r]) for r in (rows, test_rows))  # type: ignore[return-value]


@public
def read(
    data: Any,
    *,
    labels: str | int | Sequence[str] | None = None,
    reader: Callable[[Any], Any] | None = None,
) -> LabelledData:
    """Read inputs and labels from arrays, frames, files or parts.

    Parameters
    ----------
    data
        A pair (inputs, labels) of arrays or frames; a frame of pandas; the path of a CSV file with
        a header; a list of paths; or an iterator of parts, each one of these. All rows are kept in
        memory.
    labels
        Of frames and files: the names of the columns with labels, or the number of last columns. By
        default the columns whose names begin with `label`, or else the last column. A number that
        would make such a column an input is an error.
    reader
        A function of a path that returns one of the above, for files that are not CSV files.

    Returns
    -------
    LabelledData

    Raises
    ------
    DataError
        If the data have no rows, or a value is missing, infinite or not a number. The message names
        file, row and column.
    ShapeError
        If the numbers of rows of inputs and labels differ, or parts have different columns.
    ValueError
        If the name of a column is unknown or occurs twice, or the number of labels does not fit.
    TypeError
        If data are of another type.

    Examples
    --------
    >>> import numpy as np, pandas as pd, kinetograph as kg
    >>> frame = pd.DataFrame({"width": [1.0, 2.0], "height": [3.0, 4.0], "area": [3.0, 8.0]})
    >>> data = kg.neural.datasets.read(frame, labels="area")
    >>> data.inputs, data.y.tolist()
    (('width', 'height'), [[3.0], [8.0]])
    """
    if isinstance(data, LabelledData):
        return data
    if _is_path(data):
        part = read_frame(data) if reader is None else reader(data)
        return _of_frame(part, labels, f"{data}") if reader is None else read(part, labels=labels)
    if isinstance(data, pd.DataFrame):
        return _of_frame(data, labels, "the frame")
    paths = are_paths(data)
    if isinstance(data, Iterator) or paths:
        parts = list(data) if paths else data
        titles = [f"{path}" for path in parts] if paths else []
        return _joined([read(part, labels=labels, reader=reader) for part in parts], titles)
    if isinstance(data, (list, tuple)) and len(data) == 2:
        return _of_pair(*data)
    raise TypeError(
        "read: expected (inputs, labels), a frame, paths of files or an iterator of parts, got "
        f"{type(data).__name__}"
    )


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def are_paths(data: Any) -> bool:
    """Whether data are one path or a list of paths."""
    return _is_path(data) or (isinstance(data, (list, tuple)) and all(map(_is_path, data)))


def _of_pair(inputs: Any, labels: Any) -> LabelledData:
    names = [list(map(str, v.columns)) if hasattr(v, "columns") else None for v in (inputs, labels)]
    for columns, title in zip(names, ("the frame of inputs", "the frame of labels"), strict=True):
        check_distinct(columns or (), title)
    x, y = _numbers(inputs, "inputs", names[0]), _numbers(labels, "labels", names[1])
    if len(x) != len(y):
        raise ShapeError(
            f"read: inputs have {len(x)} rows and labels have {len(y)}; give one label for each row"
        )
    x, y = (v[:, None] if v.ndim == 1 else v for v in (x, y))
    inputs_names = names[0] or [f"x{i + 1}" for i in range(x.shape[1])]
    several = range(y.shape[1])
    label_names = names[1] or (["label"] if len(several) == 1 else [f"label{i}" for i in several])
    return LabelledData(x, y, tuple(inputs_names), tuple(label_names))


def _numbers(values: Any, title: str, names: Sequence[str] | None) -> np.ndarray:
    """An array of finite numbers."""
    check_array(values, f"read: {title}")
    in_file = kept_in_its_file(values)
    array = values if in_file else np.asarray(values)
    if array.ndim == 0:
        raise DataError(f"read: expected an array of {title}, got {values!r:.60}")
    if not array.size:
        part = "columns" if array.ndim > 1 and len(array) else "rows"
        raise DataError(f"read: {title} have no {part}")
    if array.dtype.kind in "mM":  # as numbers they would have a hidden unit
        array = pd.DataFrame(array.reshape(len(array), -1)).astype(object).to_numpy()
    if array.dtype.kind not in "biuf":
        try:
            array = array.astype(float)
        except (TypeError, ValueError) as error:
            row, number, value = _first_text(array)
            place = f", column {names[number]}" if names else ""
            if value is None or value is pd.NA or value is pd.NaT:
                raise DataError(
                    f"read: {title}: row {row}{place} is missing; remove or fill such rows"
                ) from error
            way = "encode texts as numbers, for example with pandas.get_dummies or pandas.factorize"
            if isinstance(value, (datetime.date, datetime.timedelta)):
                way = "write times as numbers, for example (t - t.iloc[0]).dt.total_seconds()"
            raise DataError(
                f"read: {title} must be numbers, but row {row}{place} has {value!r:.60}; {way}"
            ) from error
    if array.dtype.kind == "f" and not holds_in_parts(np.isfinite, array):
        row, *column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = f", column {names[column[0]] if names else column[0]}" if column else ""
        value = array[(row, *column)]
        raise DataError(f"read: {title}: row {row}{place} is {value}; remove or fill such rows")
    return array if array.dtype.kind == "f" else array.astype(float)


def _first_text(array: np.ndarray) -> tuple[int, int, Any]:
    """Row, column and value of the first element that is not numeric."""
    for row, values in enumerate(array):
        for column, value in enumerate(np.ravel(np.asarray(values, object))):
            try:
                float(value)
            except (TypeError, ValueError):
                return row, column, value.item() if isinstance(value, np.generic) else value
    return 0, 0, array[0]


def _of_frame(frame: pd.DataFrame, labels: Any, title: str) -> LabelledData:
    names = [str(name) for name in frame.columns]
    check_distinct(names, title)
    if isinstance(labels, int) and not isinstance(labels, bool):
        chosen_names = names[len(names) - labels :] if 0 < labels < len(names) else []
    elif labels is None:
        chosen_names = [name for name in names if name.startswith("label")] or names[-1:]
    else:
        chosen_names = [labels] if isinstance(labels, str) else list(labels)
    for name in chosen_names:
        if name not in names:
            raise ValueError(
                f"read: {title} has no column {name!r}{did_you_mean(name, names)}; it has "
                f"{', '.join(names)}"
            )
    inputs = [name for name in names if name not in chosen_names]
    if not inputs or not chosen_names:
        raise ValueError(
            f"read: {title} needs columns of inputs and of labels, got columns {', '.join(names)} "
            f"and labels={labels!r}"
        )
    left = [name for name in inputs if name.startswith("label")]
    if left and isinstance(labels, int):
        raise ValueError(
            f"read: {title}: with {labels} as the number of labels, {', '.join(chosen_names)} "
            f"would be labels and {', '.join(left)} an input; columns whose names begin with "
            "`label` are the labels if no number is given: leave it out, or rename these columns"
        )
    frame = frame.set_axis(names, axis=1)
    parts = (frame[inputs], frame[chosen_names])
    return _of_pair(*parts)


def _joined(parts: Sequence[LabelledData], titles: Sequence[str]) -> LabelledData:
    if not parts:
        raise DataError("read: expected at least one part, got none")
    first = parts[0]
    for number, part in enumerate(parts[1:], 1):
        if (part.inputs, part.labels) != (first.inputs, first.labels):
            here, there = (
                (titles[number], titles[0]) if titles else (f"part {number}", "the first part")
            )
            raise ShapeError(
                f"read: {here} has columns {', '.join(part.inputs + part.labels)}, {there} "
                f"has {', '.join(first.inputs + first.labels)}"
            )
    return first._replace(
        x=np.concatenate([part.x for part in parts]), y=np.concatenate([part.y for part in parts])
    )
