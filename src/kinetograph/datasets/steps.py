"""The steps of a dataset; each reads from the step before it.

A step is read by element number: it translates the requested places into places of the step before,
down to the rows of arrays. Places may be arrays, so that a whole batch is gathered at once. One
loop may pass over a step several times (`repeat`), and a shuffled step has a new order in every
pass, so each place is given together with the number of its pass.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..graph.control.structure import Structure, flatten
from ..streams.streams import Stream

__all__ = [
    "BatchedElements",
    "Counted",
    "Cut",
    "Enumerate",
    "Map",
    "Numbers",
    "Opened",
    "Order",
    "Reach",
    "Repeat",
    "Shuffle",
    "ArrayRows",
    "PipelineStep",
    "Way",
    "Zip",
]


class Reach(NamedTuple):
    """The part of a step that one loop reads."""

    needed: int | None  # greatest number of elements of a pass; None: no end
    passes: int | None = 1  # number of passes; None: no end
    at_once: int = 1  # greatest number of passes whose elements are read together
    block: int | None = 1  # neighbours that are read together; None: elements anywhere in a pass
    aligned: bool = True  # whether each block starts at a multiple of its size


class Numbers(NamedTuple):
    """The numbers of elements that are read together."""

    places: Any  # within the pass
    passes: Any = 0  # the number of the pass of each place
    first: Any = 0  # a lower bound of the pass numbers


class Opened(NamedTuple):
    """A step opened for one loop."""

    pick: Callable[[Numbers], Any]
    rows: Callable[[], Any] | None = None  # arrays with one row for each element, for a single pass
    of: Callable[[Any, tuple[int, ...]], Any] | None = None  # elements from rows, given their shape


class Order(NamedTuple):
    """The random order of the places in each pass."""

    at: Callable[[Numbers], Any]
    whole: Any = None  # the order, if there is a single pass


class Way(Protocol):
    """A reader of steps: in a graph, or in plain Python."""

    def leaf(self, array: Any) -> Any:
        """An array that can be indexed."""

    def numbers(self, start: int, step: int, length: int) -> Any:
        """Evenly spaced numbers."""

    def over(self, step: "Map", value: Any, shape: tuple[int, ...]) -> Any:
        """Apply a step's function to all elements along the first axes."""

    def order(self, step: "Shuffle", reach: Reach) -> Order:
        """The orders of a shuffled step in one loop."""
        ...


class PipelineStep(Protocol):
    """A step of a dataset."""

    @property
    def length(self) -> int | None:
        """The number of elements; None for no end."""

    def open(self, way: Way, reach: Reach) -> Opened:
        """Open the step for one loop."""
        ...


def _each(function: Callable[[Any], Any], rows: Callable[[], Any] | None) -> Any:
    """Rows with `function` applied to each of their arrays."""
    if rows is None:
        return None

    def changed() -> Any:
        leaves, _, structure = flatten(rows())
        return structure.fill(map(function, leaves))

    return changed


@dataclass(frozen=True)
class ArrayRows:
    """The rows of arrays."""

    arrays: list[Any]
    structure: Structure
    length: int

    def open(self, way: Way, reach: Reach) -> Opened:
        """Read the rows of the arrays."""
        arrays = [way.leaf(array) for array in self.arrays]

        def pick(numbers: Numbers) -> Any:
            return self.structure.fill(array[numbers.places] for array in arrays)

        return Opened(pick, lambda: self.structure.fill(arrays), lambda rows, shape: rows)


@dataclass(frozen=True)
class Counted:
    """Evenly spaced numbers."""

    start: int
    step: int
    length: int

    def open(self, way: Way, reach: Reach) -> Opened:
        """Compute numbers from their places."""
        return Opened(
            lambda numbers: numbers.places * self.step + self.start,
            lambda: way.numbers(self.start, self.step, self.length),
            lambda rows, shape: rows,
        )


@dataclass(eq=False)
class Shuffle:
    """The elements in random order."""

    before: PipelineStep
    length: int
    stream: Stream
    read: int = 0  # number of loops in plain Python so far

    def open(self, way: Way, reach: Reach) -> Opened:
        """Read places in random order; for a single pass, rows are places."""
        inner = self.before.open(way, reach._replace(needed=self.length, block=None))
        order = way.order(self, reach)

        def pick(numbers: Numbers) -> Any:
            return inner.pick(numbers._replace(places=order.at(numbers)))

        if order.whole is None:
            return Opened(pick)
        return Opened(pick, lambda: order.whole, lambda rows, shape: inner.pick(Numbers(rows)))


@dataclass(frozen=True)
class BatchedElements:
    """Batches of neighbouring elements."""

    before: PipelineStep
    size: int
    length: int | None

    def open(self, way: Way, reach: Reach) -> Opened:
        """Read elements with an additional first axis."""
        size, count = self.size, self.length
        needed = None if reach.needed is None else reach.needed * size
        block = None if reach.block is None else reach.block * size
        inner = self.before.open(way, reach._replace(needed=needed, block=block))

        def pick(numbers: Numbers) -> Any:
            places = numbers.places[..., None] * size + np.arange(size)
            passes = numbers.passes[..., None] if np.shape(numbers.passes) else numbers.passes
            return inner.pick(numbers._replace(places=places, passes=passes))

        def cut(array: Any) -> Any:
            assert count is not None
            return array[: count * size].reshape(count, size, *array.shape[1:])

        of = inner.of
        if of is None:
            return Opened(pick)
        return Opened(pick, _each(cut, inner.rows), lambda rows, shape: of(rows, (*shape, size)))


@dataclass(frozen=True)
class Repeat:
    """The elements several times; without end if `count` is None."""

    before: PipelineStep
    count: int | None
    length: int | None

    def open(self, way: Way, reach: Reach) -> Opened:
        """Read places beyond the end of a pass from the next pass."""
        length = self.before.length
        assert length
        count = self.count
        if reach.needed is not None:
            needed = -(-reach.needed // length)
            count = needed if count is None else min(count, needed)
        # Neighbours in one pass come from a few consecutive passes of the step before.
        near = reach.block is not None and reach.at_once == 1
        at_once = count if count is not None else reach.at_once
        if near:
            assert reach.block is not None
            within = length % reach.block == 0 and (reach.aligned or reach.block == 1)
            few = 1 if within else (reach.block - 1) // length + 2
            at_once = few if count is None else min(few, count)
        elif count is not None:
            at_once = count * reach.at_once
        passes = None if count is None or reach.passes is None else count * reach.passes
        block = None if reach.block is None else min(reach.block, length)
        aligned = reach.aligned and block is not None and length % block == 0
        inner = self.before.open(way, Reach(length, passes, at_once, block, aligned))

        def pick(numbers: Numbers) -> Any:
            turn = numbers.places // length
            base, start = (
                (n * count if count is not None else n) for n in (numbers.passes, numbers.first)
            )
            if near:
                start = start + (turn.reshape(-1)[0] if turn.shape else turn)
            return inner.pick(Numbers(numbers.places % length, base + turn, start))

        return Opened(pick)


@dataclass(frozen=True)
class Cut:
    """The `length` elements from `start`."""

    before: PipelineStep
    start: int
    length: int | None

    def open(self, way: Way, reach: Reach) -> Opened:
        """Read places shifted by `start`."""
        needed = None if reach.needed is None else reach.needed + self.start
        aligned = reach.aligned and not self.start
        inner = self.before.open(way, reach._replace(needed=needed, aligned=aligned))
        end = None if self.length is None else self.start + self.length

        def pick(numbers: Numbers) -> Any:
            return inner.pick(numbers._replace(places=numbers.places + self.start))

        return Opened(pick, _each(lambda array: array[self.start : end], inner.rows), inner.of)


@dataclass(frozen=True)
class Map:
    """A function applied to each element."""

    before: PipelineStep
    function: Callable[[Any], Any]
    length: int | None

    def open(self, way: Way, reach: Reach) -> Opened:
        """Apply the function when elements are read."""
        inner = self.before.open(way, reach)

        def pick(numbers: Numbers) -> Any:
            return way.over(self, inner.pick(numbers), numbers.places.shape)

        of = inner.of
        if of is None:
            return Opened(pick)
        return Opened(pick, inner.rows, lambda rows, shape: way.over(self, of(rows, shape), shape))


@dataclass(frozen=True)
class Enumerate:
    """Pairs of a number and an element."""

    before: PipelineStep
    start: int
    length: int | None

    def open(self, way: Way, reach: Reach) -> Opened:
        """Read pairs of a number and an element."""
        length = self.length
        inner = self.before.open(way, reach)

        def pick(numbers: Numbers) -> Any:
            return numbers.places + self.start, inner.pick(numbers)

        rows, of = inner.rows, inner.of
        if rows is None or of is None or length is None:
            return Opened(pick)
        return Opened(
            pick,
            lambda: (way.numbers(self.start, 1, length), rows()),
            lambda pair, shape: (pair[0], of(pair[1], shape)),
        )


@dataclass(frozen=True)
class Zip:
    """Tuples of the elements of several datasets, as long as the shortest."""

    parts: tuple[PipelineStep, ...]
    length: int | None

    def open(self, way: Way, reach: Reach) -> Opened:
        """Read tuples of elements."""
        opened = [part.open(way, reach) for part in self.parts]

        def pick(numbers: Numbers) -> Any:
            return tuple(part.pick(numbers) for part in opened)

        def of(rows: Any, shape: tuple[int, ...]) -> Any:
            pairs = zip(opened, rows, strict=True)
            return tuple(part.of(row, shape) for part, row in pairs if part.of is not None)

        cuts = [_each(lambda array: array[: self.length], part.rows) for part in opened]
        if self.length is None or None in cuts:
            return Opened(pick)
        return Opened(pick, lambda: tuple(cut() for cut in cuts), of)
