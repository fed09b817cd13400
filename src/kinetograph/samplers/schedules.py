"""Schedules: hyper-parameters that are functions of the step's number."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograph.convert import convert
from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.messages import describe
from ..graph.operations.elementwise import astype
from ..graph.operations.operands import as_node
from ..graph.source import written_at
from .hyper import Hyper

__all__ = ["scheduled"]


def scheduled(
    schedule: Callable[[Array], Any], iteration: Array, size: int, dtype: np.dtype, declared: Hyper
) -> Array:
    """The value of a schedule at a step.

    `size` is the number of elements of the free state.

    Raises
    ------
    TypeError, ShapeError
        If it is neither one number nor an array of numbers in the shape of the free state.
    """
    title = f"{declared.owner}: {declared.name}, as a function of the step's number"
    title += written_at(schedule)
    try:
        inspect.signature(schedule).bind(iteration)
    except TypeError as error:
        raise TypeError(f"{title}, must take that number and nothing else: {error}") from None
    except ValueError:  # Python does not know the function's arguments
        pass
    value = convert(schedule)(iteration)
    if isinstance(value, (list, tuple, dict)) or value is None:
        raise TypeError(
            f"{title}, must give a number or an array, got {type(value).__name__}; kg.stack makes "
            "an array of numbers"
        )
    node = as_node(value, title)
    if node.dtype.kind not in ("iu" if declared.whole else "iuf"):
        kind = "whole numbers" if declared.whole else "numbers"
        raise TypeError(f"{title}, must give {kind}, got {describe(node)} of {node.dtype}")
    declared.check_shape(title, node.shape)
    if node.shape not in ((), (size,)):
        raise ShapeError(
            f"{title}, has shape {node.shape}; one number, or one for each of the {size} free "
            f"coordinates, ({size},), is expected"
        )
    expected = np.dtype(np.int64) if declared.whole else dtype
    return Array(node if node.dtype == expected else astype(node, expected))
