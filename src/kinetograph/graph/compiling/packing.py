"""Numbers travel together: those of a type enter a compiled program, and leave it, as one array.

Each array that is handed over or read costs microseconds.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..node import Node
from ..precision import FLOAT64

__all__ = ["NUMBERS", "Packing", "fits"]

# Types whose values are packed as they are, where the type of the array is this one.
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
    """Whether a number is no whole number of more than 64 bits."""
    return type(number) is not int or -(2**63) <= number < 2**63


class Packing:
    """How the values of some nodes travel: their numbers by type, then their arrays.

    With them travel, as float64, so many numbers `beside`.
    """

    def __init__(self, nodes: Sequence[Node], beside: int = 0) -> None:
        numbers: dict[np.dtype, list[int]] = {FLOAT64: []} if beside else {}
        for place, node in enumerate(nodes):
            if not node.shape:
                numbers.setdefault(node.dtype, []).append(place)
        self._numbers = tuple(numbers.items())
        self._arrays = tuple(place for place, node in enumerate(nodes) if node.shape)
        self._beside = beside
        self._all_alike = len(numbers) == 1 and not self._arrays
        # Of each node, which of the packed arrays has its value, and where; None for all of it.
        found: dict[int, tuple[int, int | None]] = {}
        for group, places in enumerate(numbers.values()):
            found.update((place, (group, i)) for i, place in enumerate(places))
        for number, place in enumerate(self._arrays, start=len(numbers)):
            found[place] = number, None
        self._places = tuple(found[place] for place in range(len(nodes)))

    def pack(self, values: Sequence[Any]) -> list[Any]:
        """Python's numbers and NumPy's arrays, for a program."""
        if self._all_alike:  # the usual case, and faster so
            return [np.array(values, self._numbers[0][0])]
        packed: list[Any] = [
            np.array([values[i] for i in places], dtype) for dtype, places in self._numbers
        ]
        packed += [values[i] for i in self._arrays]
        return packed

    def unpack(self, packed: Sequence[Any]) -> tuple[list[np.ndarray], list[float]]:
        """What a program gave, as NumPy's arrays; and the numbers beside."""
        arrays = list(map(np.asarray, packed))
        beside = arrays[0][-self._beside :].tolist() if self._beside else []
        found = [arrays[k] if i is None else arrays[k][i, ...] for k, i in self._places]
        return found, beside

    def pack_tensors(self, tensors: Sequence[Any], beside: Sequence[Any]) -> list[Any]:
        """What a program is to give."""
        packed: list[Any] = []
        for dtype, places in self._numbers:
            numbers = [tensors[i] for i in places] + ([] if packed else [*beside])
            packed.append(jnp.stack([jnp.asarray(n).astype(dtype) for n in numbers]))
        packed += [tensors[i] for i in self._arrays]
        return packed

    def unpack_tensors(self, packed: Sequence[Any]) -> list[Any]:
        """What a program was given."""
        return [
            packed[k] if i is None else lax.index_in_dim(packed[k], i, keepdims=False)
            for k, i in self._places
        ]
