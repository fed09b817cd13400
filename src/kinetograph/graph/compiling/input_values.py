"""Checks of the values that are passed to a compiled function."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..control.control_node import everything, origin
from ..errors import DataError, ShapeError, SymbolicError
from ..missing import refuse_masked
from ..node import Apply, Data, Node
from ..operations.indexing import trusted_indices
from ..source import place_text
from .packing import NUMBERS, fits

__all__ = ["checked", "index_bounds"]


def index_bounds(
    inputs: Sequence[Node], needed: Sequence[Node]
) -> list[tuple[int, int, int, Node]]:
    """The inputs whose values are indices, to check in every call.

    These are data that became inputs: their values were checked when the graph was built, but
    other values were not. A tuple has the input's number, the axis, its length and the array.
    """
    places: dict[Node, int] = {n: i for i, n in enumerate(inputs) if isinstance(n, Data)}
    bounds = []
    for node in everything(needed) if places else ():
        if isinstance(node, Apply):
            for index, axis, size in trusted_indices(node):
                if origin(index) in places:
                    bounds.append((places[origin(index)], axis, size, node.parents[0]))
    return bounds


def checked(node: Node, name: str, value: Any) -> Any:
    """Convert a value to an array of an input's type.

    A number of the right type is returned unchanged.

    Raises
    ------
    ShapeError, SymbolicError, DataError
        If the value has another shape or type, or contains an integer that is too large.
    """
    kind = type(value)
    if kind in NUMBERS and NUMBERS[kind] is node.dtype and not node.shape and fits(value):
        return value
    if kind is not np.ndarray:
        refuse_masked(value, f"input {name}")
    array = value if kind is np.ndarray else np.asarray(value)
    if array.shape != node.shape:
        raise ShapeError(
            f"input {name}: expected shape {node.shape}, got {array.shape}{place_text()}"
        )
    if array.dtype != node.dtype:
        large = array.dtype == object and all(type(v) is int for v in array.flat)
        if large and node.dtype.kind in "iu":
            raise DataError(
                f"input {name}: {array.flat[0]} does not fit into {node.dtype}{place_text()}"
            )
        if not np.can_cast(array.dtype, node.dtype, "same_kind"):
            raise SymbolicError(
                f"input {name}: expected {node.dtype}, got {array.dtype}{place_text()}"
            )
        given, array = array, array.astype(node.dtype)
        if array.dtype.kind in "iu" and (array != given).any():
            first_unequal = given[array != given].flat[0]
            raise DataError(
                f"input {name}: {first_unequal} does not fit into {node.dtype}{place_text()}"
            )
    return array
