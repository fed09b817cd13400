"""Scalar targets in a block: columns of one array for each type.

A model of hundreds of scalar unknowns has as many targets. An array for each of them would take a
quarter of the time to compile the block, and each would be copied out on its own.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..graph.node import Node

__all__ = ["TargetPacking"]


class TargetPacking:
    """The arrays that hold the values of targets.

    Scalars of one type share an array, with the columns on its last axis; other targets have an
    array of their own.
    """

    def __init__(self, targets: Sequence[Node]) -> None:
        self._columns: dict[np.dtype, list[int]] = {}  # numbers of the scalars of each type
        self._apart: list[int] = []
        for number, target in enumerate(targets):
            if target.shape:
                self._apart.append(number)
            else:
                self._columns.setdefault(target.dtype, []).append(number)

    def pack(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The arrays of the targets' values at one point."""
        columns = [jnp.stack([values[i] for i in each]) for each in self._columns.values()]
        return (*columns, *(values[i] for i in self._apart))

    def unpack(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The values of each target; arrays may have more axes in front."""
        values: dict[int, Any] = {}
        for each, array in zip(self._columns.values(), arrays, strict=False):
            values |= {number: array[..., column] for column, number in enumerate(each)}
        values |= zip(self._apart, arrays[len(self._columns) :], strict=True)
        return tuple(values[number] for number in range(len(values)))
