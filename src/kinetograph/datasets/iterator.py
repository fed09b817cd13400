"""`iter(dataset)` in converted code: a position stored in the graph."""

from typing import Any

import numpy as np

from ..autograph.iterables import Rows, register_iterable
from ..graph.array import Array
from ..graph.checks import run_time_check
from ..graph.control.branches import cond
from ..graph.control.state import Assigned, State, current_versions
from ..graph.control.structure import flatten
from ..graph.errors import StagingError, SymbolicTruthError
from ..graph.node import Data
from ..graph.operations.operands import as_node
from ..graph.source import place_text
from .readers import Scratch
from .steps import Numbers, Opened

__all__ = ["DatasetIterator"]

_MISSING = object()


class DatasetIterator:
    """The remaining elements of a dataset; made by `iter(dataset)` in converted code.

    The position is a variable of the program, like a state: loops and `next` advance it. In a
    branch it is advanced only if that branch is taken.
    """

    symbolic = True  # comprehensions do not accept it

    def __init__(self, length: int | None, opened: Opened, of: str) -> None:
        self._length, self._opened, self._text = length, opened, f"iterator over {of}"
        self._position = State(Scratch((), "position"))
        self._position.assign(0)

    def _known_position(self) -> int | None:
        """The position, or None while its value is not known."""
        version = current_versions().current(self._position.cell)
        if isinstance(version, Assigned) and isinstance(version.parents[0], Data):
            return int(version.parents[0].value)
        return None

    def rows(self) -> Rows:
        """The remaining elements, for a loop."""
        known_position = self._known_position()
        start: Any = Array(self._position.node) if known_position is None else known_position
        before = self._position.node
        opened, length = self._opened, self._length
        remaining = None if length is None else length - start

        def done(count: Any) -> None:
            if self._position.node is not before:
                raise StagingError(
                    f"the {self._text} is advanced in the body of a loop over itself"
                    f"{place_text()}; take all elements by next() in a `while` loop, or loop over "
                    "batches of the dataset"
                )
            self._position.assign(start + count)

        def at(i: Array) -> Any:
            return opened.pick(Numbers(start + i))

        rows, of = opened.rows, opened.of
        if known_position is None or rows is None or of is None:
            return Rows(remaining, at, done=done)
        leaves, _, structure = flatten(rows())
        xs = structure.fill(leaf[known_position:] if known_position else leaf for leaf in leaves)
        return Rows(remaining, at, xs, lambda row: of(row, ()), done=done)

    def __graph_next__(self, default: Any = _MISSING) -> Any:
        """The next element, for the built-in `next` in converted code."""
        known_position = self._known_position()
        position: Any = Array(self._position.node) if known_position is None else known_position
        text = f"next: the {self._text} has no elements left{place_text()}"
        if (
            known_position is not None
            and self._length is not None
            and known_position >= self._length
        ):
            if default is _MISSING:
                raise StopIteration(text)
            return default
        numbers = Numbers(
            Array(as_node(np.int64(known_position))) if known_position is not None else position
        )
        if known_position is not None or self._length is None:
            self._position.assign(position + 1)
            return self._opened.pick(numbers)
        inside = position < self._length
        if default is _MISSING:
            run_time_check(inside, StopIteration, text)
            self._position.assign(position + 1)
            return self._opened.pick(numbers)
        self._position.assign(position + inside)
        return cond(inside, lambda: self._opened.pick(numbers), lambda: default)

    def __iter__(self) -> "DatasetIterator":
        return self

    def __next__(self) -> Any:
        if self._known_position() is None:
            raise SymbolicTruthError(
                f"the position of the {self._text} is not known while the graph is made"
                f"{place_text()}; use it in converted code, with `for` or next()"
            )
        return self.__graph_next__()

    def __repr__(self) -> str:
        return f"<{self._text}>"


register_iterable(DatasetIterator, DatasetIterator.rows)
