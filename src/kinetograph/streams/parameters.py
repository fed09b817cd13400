"""What draws are given, checked: parameters, shapes and types."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.elementwise import as_node, astype
from ..graph.errors import ShapeError, SymbolicError
from ..graph.messages import describe
from ..graph.node import Data, Node
from ..graph.precision import float_dtype
from ..graph.source import place_text
from .samplers import Kind, Sampler

__all__ = ["checked_parameters", "float_type", "sized", "static_shape"]


def checked_parameters(
    which: str, sampler: Sampler, parameters: Mapping[str, Any], floating: np.dtype
) -> list[Node]:
    """The nodes of the parameters in the types the sampler takes; known values are checked."""
    given = {key: as_node(value, f"{which}: {key}") for key, value in parameters.items()}
    nodes = []
    for key, node in given.items():
        kind = sampler.parameters[key]
        if kind.whole and node.dtype.kind not in "iub":
            raise SymbolicError(
                f"{which}: {key} {describe(node)} must be whole numbers, got {node.dtype}"
                f"{place_text()}"
            )
        _check_known(which, key, node, kind, floating)
        nodes.append(node if kind.whole or node.dtype == floating else astype(node, floating))
    sampler.check_together(which, given)
    return nodes


def _check_known(which: str, key: str, node: Node, kind: Kind, floating: np.dtype) -> None:
    """Refuse known values that are impossible as they are, or in the precision of the draw."""
    if not isinstance(node, Data):
        return
    value, note = np.asarray(node.value), ""
    if np.all(kind.allows(value)) and not kind.whole:
        with np.errstate(over="ignore"):
            note, rounded = f" ({floating})", value.astype(floating)
        allowed = np.asarray(kind.allows(rounded))
    else:
        allowed = np.asarray(kind.allows(value))
    if not np.all(allowed):
        bad = value[~allowed].ravel()[0]
        raise ValueError(f"{which}: {key} must be {kind.text}, got {bad}{note}{place_text()}")


def float_type(dtype: Any, which: str) -> np.dtype:
    """The type in which real numbers are drawn."""
    if dtype is None:
        return float_dtype()
    try:
        floating = np.dtype(dtype)
    except TypeError:
        floating = None
    if floating not in (np.float64, np.float32):
        raise TypeError(f"{which}: dtype must be float64 or float32, got {dtype!r}{place_text()}")
    return floating


def sized(shape: Any, like: Any, which: str) -> tuple[int, ...] | None:
    """The shape that is asked for, by itself or by an array that has it."""
    if like is None:
        return static_shape(shape, which)
    if shape is not None and shape != ():
        raise TypeError(f"{which}: give like= or shape=, not both{place_text()}")
    return as_node(like, f"{which}: like").shape


def static_shape(shape: Any, which: str) -> tuple[int, ...] | None:
    """The shape as whole numbers that are known now."""
    if shape is None:
        return None
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for size in sizes:
        if isinstance(size, Array):
            raise SymbolicError(
                f"{which}: the shape contains {describe(size.node)}, which is known only at run "
                f"time{place_text()}; XLA needs fixed shapes: draw the largest number there can be "
                "and mask what is too much with kg.where"
            )
        if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, np.integer)):
            raise TypeError(
                f"{which}: shape must be a whole number or a tuple of them, got {shape!r}"
                f"{place_text()}"
            )
        if size < 0:
            raise ShapeError(f"{which}: shape {shape} has a negative length{place_text()}")
    return tuple(int(n) for n in sizes)
