"""Checks of the inputs and labels that estimators are given."""

from typing import Any

import numpy as np

from ..graph.errors import DataError, ShapeError

__all__ = ["check_numbers", "check_texts", "labels_of", "numbers_of"]


def check_texts(X: Any, doing: str) -> None:
    """Refuse columns of inputs with texts.

    Raises
    ------
    DataError
        With the column, and the row of its first text.
    """
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    array = np.asarray(X) if hasattr(X, "__array__") or isinstance(X, list) else np.zeros(0)
    if array.dtype.kind not in "OSU" or array.ndim != 2:
        return
    for column, values in enumerate(array.T):
        for row, value in enumerate(values):
            if isinstance(value, (str, bytes)) and not _is_number(value):
                which = repr(names[column]) if names else column
                raise DataError(
                    f"{doing}: inputs must be numbers, but column {which} has {str(value)!r:.60} "
                    f"in row {row}; encode its texts by sklearn.preprocessing.OneHotEncoder, in a "
                    "pipeline with sklearn.compose.make_column_transformer"
                )


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def labels_of(X: Any, y: Any, doing: str = "log_score") -> np.ndarray:
    """The labels, one for each row of inputs, also of one column."""
    labels = np.asarray(y)
    labels = labels[:, 0] if labels.shape == (len(X), 1) else labels
    if labels.shape != (len(X),):
        raise ShapeError(
            f"{doing}: expected {len(X)} labels, one for each row, got shape {labels.shape}"
        )
    return labels


def check_numbers(y: Any) -> None:
    """Refuse labels that are texts."""
    labels = np.asarray(y)
    texts = [label for label in labels.flat if isinstance(label, str)] if labels.size else []
    if labels.dtype.kind in "OSU" and texts:
        raise DataError(
            f"EnsembleRegressor: labels must be numbers, got {str(texts[0])!r}; for labels that "
            "are classes, write EnsembleClassifier"
        )


def numbers_of(X: Any, y: Any, doing: str) -> np.ndarray:
    """The labels as finite numbers, one for each row of inputs."""
    labels = labels_of(X, y, doing)
    try:
        numbers = labels.astype(float)
    except (TypeError, ValueError):
        raise DataError(f"{doing}: labels must be numbers, got {str(labels[0])!r}") from None
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise DataError(f"{doing}: the label of row {wrong[0]} is {numbers[wrong[0]]}")
    return numbers
