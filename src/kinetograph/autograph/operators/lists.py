"""`kg.autograph.List`: a list of fixed capacity for staged loops."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.checks import run_time_check
from ...graph.functions.arranging import stack
from ...graph.operations.operands import as_node
from ...graph.precision import float_dtype
from ...graph.public import public
from ...graph.source import place_text
from ..iterables import Rows, register_iterable

__all__ = ["List", "typed_list"]


@public
@dataclass(eq=False)
class List:
    """A list of fixed capacity, whose elements have one shape and type.

    Attributes
    ----------
    buffer
        An array with room for the elements along its first axis; unused places are zero.
    count
        The number of elements: an integer array.
    """

    buffer: Any
    count: Any

    @property
    def capacity(self) -> int:
        """The largest number of elements."""
        return int(self.buffer.shape[0])

    def append(self, value: Any) -> None:
        """Add an element at the end.

        A compiled function raises OverflowError if the list is full.
        """
        run_time_check(
            self.count < self.capacity,
            OverflowError,
            f"list is full{place_text()}: it has a capacity of {self.capacity}",
        )
        self.buffer = self.buffer.at[self.count].set(value)
        self.count = self.count + 1

    def extend(self, values: Any) -> None:
        """Add elements at the end."""
        for value in values:
            self.append(value)

    def pop(self) -> Array:
        """Remove the last element and return it.

        A compiled function raises IndexError if the list is empty.
        """
        run_time_check(self.count > 0, IndexError, f"pop from empty list{place_text()}")
        self.count = self.count - 1
        return self.buffer[self.count]

    def clear(self) -> None:
        """Remove all elements."""
        self.count = self.count * 0

    def _place(self, index: Any) -> Any:
        place = index + self.count if isinstance(index, int) and index < 0 else index
        inside = (place >= 0) & (place < self.count)
        run_time_check(inside, IndexError, f"list index out of range{place_text()}")
        return place

    def __getitem__(self, index: Any) -> Array:
        return self.buffer[self._place(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.buffer = self.buffer.at[self._place(index)].set(value)

    def __len__(self) -> int:
        raise TypeError(
            "the number of elements of this list is not known while the graph is built; in "
            "converted code len(...) gives it as an array; in other code write `.count`"
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            "the number of elements is not known while the graph is built; loop over the list in "
            "converted code"
        )


def _rows(values: List) -> Rows:
    return Rows(values.count, lambda i: values.buffer[i])


register_iterable(List, _rows)


def typed_list(
    values: Any, dtype: Any = None, shape: Any = (), capacity: int | None = None
) -> List:
    """Convert a Python list to a list of fixed capacity.

    See `set_element_type`.
    """
    if not isinstance(values, list):
        raise TypeError(
            f"set_element_type{place_text()}: expected a list, got {type(values).__name__}"
        )
    if capacity is None or isinstance(capacity, bool) or int(capacity) < len(values):
        raise ValueError(
            f"set_element_type{place_text()}: capacity is {capacity}; give the largest number of "
            f"elements the list may have{f', at least {len(values)}' if values else ''}"
        )
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    kind = float_dtype() if dtype is None else np.dtype(dtype)
    buffer = Array(as_node(np.zeros((int(capacity), *sizes), kind)))
    if values:
        buffer = buffer.at[: len(values)].set(stack(values).astype(kind))
    return List(buffer, Array(as_node(np.int64(len(values)))))
