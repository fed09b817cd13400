"""Packing of numbers: one array for all numbers of a type.

Each array that enters or leaves a compiled program costs microseconds. So the numbers of a type are
packed into one array.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..node import Node
from ..precision import FLOAT64

__all__ = ["NUMBERS", "Packing", "fits"]

# Types of Python and NumPy numbers that are packed without conversion, and the arrays' dtypes.
_INT, _BOOL = np.dtype(np.int64), np.dtype(bool)
NUMBERS: dict[type, np.dtype] = {
    float: FLOAT64,
    int: _INT,
    bool: _BOOL,
    np.float64: FLOAT64,
    np.int64: _INT,
    np.bool_: _BOOL,
}


def fits(number: bool | int | float) -> bool:
    """Whether a number fits 64 bits, which an int may not."""
    return type(number) is not int or -(2**63) <= number < 2**63


class Packing:
    """The layout of nodes' values: packed numbers by type, then the arrays.

    `extra_count` additional float64 numbers are packed with them. Packed numbers are on the last
    axis, so that arrays may have axes of draws and chains before it.
    """

    def __init__(self, nodes: Sequence[Node], extra_count: int = 0) -> None:
        numbers: dict[np.dtype, list[int]] = {FLOAT64: []} if extra_count else {}
        for place, node in enumerate(nodes):
            if not node.shape:
                numbers.setdefault(node.dtype, []).append(place)
        self._numbers = tuple(numbers.items())
        self._arrays = tuple(place for place, node in enumerate(nodes) if node.shape)
        self._extras = extra_count
        self._one_dtype = len(numbers) == 1 and not self._arrays
        # For each node: the number of the packed array with its value, and the index in this array
        # (None for the whole array).
        slots: dict[int, tuple[int, int | None]] = {}
        for group, places in enumerate(numbers.values()):
            slots.update((place, (group, i)) for i, place in enumerate(places))
        for number, place in enumerate(self._arrays, start=len(numbers)):
            slots[place] = number, None
        self._places = tuple(slots[place] for place in range(len(nodes)))

    def pack(self, values: Sequence[Any]) -> list[Any]:
        """Pack numbers and NumPy arrays for a program."""
        if self._one_dtype:  # the usual case, made fast
            return [np.array(values, self._numbers[0][0])]
        packed: list[Any] = [
            np.array([values[i] for i in places], dtype) for dtype, places in self._numbers
        ]
        packed += [values[i] for i in self._arrays]
        return packed

    def unpack(self, packed: Sequence[Any]) -> tuple[list[np.ndarray], list[float]]:
        """Unpack a program's results to NumPy arrays and the extra numbers."""
        arrays = list(map(np.asarray, packed))
        extras = arrays[0][-self._extras :].tolist() if self._extras else []
        values = [arrays[k] if i is None else arrays[k][..., i] for k, i in self._places]
        return values, extras

    def pack_tensors(self, tensors: Sequence[Any], extras: Sequence[Any]) -> list[Any]:
        """Pack tensors and the extra numbers inside a program."""
        packed: list[Any] = []
        for dtype, places in self._numbers:
            numbers = [tensors[i] for i in places] + ([] if packed else [*extras])
            packed.append(jnp.stack([jnp.asarray(n).astype(dtype) for n in numbers]))
        packed += [tensors[i] for i in self._arrays]
        return packed

    def unpack_tensors(self, packed: Sequence[Any]) -> list[Any]:
        """Unpack a program's arguments to tensors inside the program."""
        return [
            packed[k] if i is None else lax.index_in_dim(packed[k], i, -1, keepdims=False)
            for k, i in self._places
        ]
