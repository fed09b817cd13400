"""Rows of inputs for predictions, with the columns of the data."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.errors import DataError, ShapeError

__all__ = ["check_array", "check_columns", "column_names", "input_rows"]


def input_rows(
    X: Any, shape: tuple[int, ...], columns: Sequence[str], kind: str, doing: str
) -> np.ndarray:
    """Rows of inputs, each of some shape, as an array.

    Raises
    ------
    DataError
        If a number is missing or not finite, or the columns are not the columns of the data.
    ShapeError
        If rows have another shape.
    """
    check_array(X, f"{doing}: inputs")
    names = column_names(X)
    check_columns(names, columns, doing)
    try:
        x = np.asarray(X)
        if x.dtype.kind in "mM":  # as numbers they would have a hidden unit
            raise TypeError(f"got times, {x.dtype}")
        x = x.astype(kind)
    except (TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{doing}: inputs must be rows of numbers: {reason}") from error
    x = x[:, None] if x.ndim == 1 and shape == (1,) else x
    if x.shape[1:] != shape or not len(x):
        raise ShapeError(
            f"{doing}: expected rows of inputs, each of shape {shape}, got shape {x.shape}"
        )
    wrong = np.argwhere(~np.isfinite(x))
    if len(wrong):
        row, *column = (int(i) for i in wrong[0])
        place = "".join(f", column {columns[i]}" for i in column) if len(column) == 1 else ""
        raise DataError(f"{doing}: inputs: row {row}{place} is {x[(row, *column)]}")
    return x


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of a frame's columns; None if they are not texts."""
    names = tuple(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def check_columns(names: Sequence[str] | None, columns: Sequence[str], doing: str) -> None:
    """Refuse names of columns that are not the names of the data.

    Names that the data did not have, such as x1, are not compared.

    Raises
    ------
    DataError
        With the names.
    """
    if names is None or tuple(names) == tuple(columns):
        return
    expected = f"expected the columns {', '.join(columns)} of the data"
    if sorted(names) == sorted(columns):
        raise DataError(
            f"{doing}: the columns are in another order: {expected}, got {', '.join(names)}; write "
            f"frame[{list(columns)}]"
        )
    numbers = range(len(columns))
    unnamed = ([f"x{i + 1}" for i in numbers], [str(i) for i in numbers])
    if len(names) == len(columns) and list(columns) in unnamed:
        return
    missing = [name for name in columns if name not in names]
    surplus = [name for name in names if name not in columns]
    texts = [f"{', '.join(missing)} missing"] * bool(missing)
    texts += [f"{', '.join(surplus)} unknown"] * bool(surplus)
    raise DataError(f"{doing}: the columns differ, {' and '.join(texts)}: {expected}")


def check_array(values: Any, doing: str) -> None:
    """Refuse a sparse matrix, and complex numbers."""
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise DataError(
            f"{doing} are a sparse matrix, a {type(values).__name__}, and must be an array; write "
            "matrix.toarray()"
        )
    if np.iscomplexobj(values):
        raise DataError(
            f"{doing} are complex numbers, and must be real; write the real and the imaginary "
            "parts as columns, for example np.column_stack([z.real, z.imag])"
        )
