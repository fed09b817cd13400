"""Checked shapes and types of draws."""

from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.errors import ShapeError, SymbolicError
from ..graph.messages import describe
from ..graph.operations.operands import as_node
from ..graph.precision import float_dtype
from ..graph.source import place_text
from ..graph.value_texts import shown

__all__ = ["float_type", "sized", "static_shape"]


def float_type(dtype: Any, doing: str) -> np.dtype:
    """The type of real numbers in a draw."""
    if dtype is None:
        return float_dtype()
    try:
        floating = np.dtype(dtype)
    except (TypeError, ValueError):
        floating = None
    if floating not in (np.float64, np.float32):
        raise TypeError(f"{doing}: dtype must be float64 or float32, got {dtype!r}{place_text()}")
    return floating


def sized(shape: Any, like: Any, doing: str) -> tuple[int, ...] | None:
    """The shape given by `shape`, or by the array `like`."""
    if like is None:
        return static_shape(shape, doing)
    if shape is not None and shape != ():
        raise TypeError(f"{doing}: give like= or shape=, not both{place_text()}")
    if _is_shape(like):
        raise TypeError(
            f"{doing}: like= takes an array whose shape the numbers have, got {like!r}"
            f"{place_text()}; write shape={like!r}"
        )
    return as_node(like, f"{doing}: like").shape


def _is_shape(value: Any) -> bool:
    """Whether a value is a shape in place of an array."""
    sizes = value if isinstance(value, tuple) else (value,)
    return all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in sizes)


def static_shape(shape: Any, doing: str) -> tuple[int, ...] | None:
    """The shape as a tuple of known whole numbers."""
    if shape is None:
        return None
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for size in sizes:
        if isinstance(size, Array):
            raise SymbolicError(
                f"{doing}: the shape contains {describe(size.node)}, which is known only at run "
                f"time{place_text()}; XLA needs fixed shapes: draw the largest possible number "
                "and mask the rest with kg.where"
            )
        if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, np.integer)):
            raise TypeError(
                f"{doing}: shape must be a whole number or a tuple of them, got {shown(shape)}"
                f"{place_text()}"
            )
        if size < 0:
            raise ShapeError(f"{doing}: shape {shape} has a negative length{place_text()}")
    return tuple(int(n) for n in sizes)
