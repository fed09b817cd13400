"""Checked arguments of `choice` and `permutation`: rows, counts, probabilities."""

from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.messages import describe
from ..graph.node import Data, Node
from ..graph.operations.elementwise import where
from ..graph.operations.operands import as_node
from ..graph.source import place_text
from ..graph.value_texts import shown

__all__ = ["check_count", "check_weights", "marked", "population", "rows_at"]


def population(x: Any, doing: str) -> tuple[int, Node | None]:
    """The number of rows, and the array that has them.

    The array is None if the rows are the numbers 0 .. x - 1.

    Raises
    ------
    ValueError
        If `x` is negative, or a single number that is not whole.
    ShapeError
        If `x` is a single number known only at run time.
    """
    node = as_node(x, f"{doing}: x")
    if node.shape:
        return node.shape[0], node
    if not isinstance(node, Data):
        raise ShapeError(
            f"{doing}: x {describe(node)} is a single number known only at run time{place_text()}; "
            "give a Python number, or an array with rows"
        )
    if node.dtype.kind not in "iu" or node.value < 0:
        raise ValueError(
            f"{doing}: x must be a whole number, not negative, or an array with rows, got "
            f"{shown(x)}{place_text()}"
        )
    return int(node.value), None


def check_count(count: int, rows: int, replace: bool) -> None:
    """Raise ValueError if more rows are drawn than exist."""
    if count and not rows:
        raise ValueError(f"choice: x is empty: nothing can be drawn from it{place_text()}")
    if not replace and count > rows:
        raise ValueError(
            f"choice: {count} of {rows} without replacement is not possible{place_text()}"
        )


def check_weights(p: Any, rows: int, count: int, replace: bool) -> Node:
    """The node of the probabilities, with known values checked.

    Raises
    ------
    ShapeError
        If there is not one probability for each row.
    ValueError
        If a probability is negative or not finite, if the sum is not 1, or if fewer are positive
        than rows are drawn without replacement.
    """
    node = as_node(p, "choice: p")
    if node.shape != (rows,):
        raise ShapeError(
            f"choice: p must be one probability for each of {rows}, got {describe(node)} of shape "
            f"{node.shape}{place_text()}"
        )
    if not isinstance(node, Data):
        return node
    value = np.asarray(node.value, np.float64)
    wrong = ~(np.isfinite(value) & (value >= 0))
    if wrong.any():
        raise ValueError(
            f"choice: p must be non-negative and finite, got {value[wrong][0]}{place_text()}"
        )
    total = value.sum()
    if rows and abs(total - 1) > _tolerance(node):
        raise ValueError(
            f"choice: p must sum to 1, got a sum of {total:.10g}{place_text()}; divide it by its "
            "sum"
        )
    positive = np.count_nonzero(value)
    if not replace and positive < count:
        raise ValueError(
            f"choice: {count} without replacement is not possible: only {positive} of p are "
            f"positive{place_text()}"
        )
    return node


def marked(places: Array, p: Node) -> Array:
    """The indices, with -1 where probabilities known at run time are invalid.

    They are invalid if they do not sum to 1, or if too few are positive.
    """
    if isinstance(p, Data):
        return places
    weights = Array(p)
    right = abs(weights.sum() - 1.0) <= _tolerance(p)
    return Array(where(right & (weights[places] > 0), places, -1))


def rows_at(x: Node, places: Array, p: Node | None) -> Array:
    """The rows at the indices; the index -1 gives NaN.

    Whole numbers have no NaN: the row is -1, or the largest unsigned number. For booleans it is
    false. Only probabilities known at run time give the index -1.
    """
    if p is None or isinstance(p, Data):
        return Array(x)[places]
    taken = Array(x)[places]
    there = (places >= 0).reshape((*places.shape, *[1] * (len(x.shape) - 1)))
    missing: Any = {"f": np.nan, "b": False, "u": np.iinfo(np.uint64).max}.get(x.dtype.kind, -1)
    return Array(where(there, taken, np.asarray(missing).astype(x.dtype)))


def _tolerance(p: Node) -> float:
    """The tolerance of the sum of probabilities in this precision."""
    dtype = p.dtype if p.dtype.kind == "f" else np.dtype(np.float64)
    return float(np.sqrt(np.finfo(dtype).eps))
