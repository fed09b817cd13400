"""Whole numbers that change by a constant in each trip.

Such a number is step * trip + start.

The analysis knows rows of `kg.range` and of constants, loop variables that start with a constant
and change by a constant, and sums, differences and constant multiples of these. Numbers of less
than 32 bits and large intermediate values are excluded, so that no value wraps around.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..node import Apply, Data, Inner, Node
from ..operations.elementwise import CAST, ELEMENTWISE
from ..operations.indexing import SLICE
from ..ranges import RANGE

if TYPE_CHECKING:
    from ..control.subgraph import Subgraph

__all__ = ["Affine", "affine", "counters", "trips_inside"]

_MOST = 2**29  # largest counter; the sum of two fits into 32 bits
_DEPTH = 12  # number of nested operations that are examined
_SUMS = {ELEMENTWISE["add"]: 1, ELEMENTWISE["subtract"]: -1}


class Affine(NamedTuple):
    """The line step * trip + start; trips are counted from 0."""

    step: int
    start: int

    def at(self, trip: int) -> int:
        """The value in a trip."""
        return self.step * trip + self.start

    def plus(self, other: "Affine", sign: int = 1) -> "Affine":
        return Affine(self.step + sign * other.step, self.start + sign * other.start)

    def times(self, factor: int) -> "Affine":
        return Affine(self.step * factor, self.start * factor)

    def within(self, low: int, high: int, trips: int) -> bool:
        """Whether the values of the first trips are in range.

        There is at least one trip; the range is low .. high.
        """
        ends = self.start, self.at(trips - 1)
        return low <= min(ends) and max(ends) <= high


def trips_inside(line: Affine, low: int, high: int) -> int:
    """The number of first trips in which a value is in range.

    `line` changes; the range is low .. high.
    """
    if not low <= line.start <= high:
        return 0
    room = high - line.start if line.step > 0 else line.start - low
    return room // abs(line.step) + 1


Lines = Mapping[Node, Affine]


def affine(node: Node, lines: Lines, trips: int, depth: int = _DEPTH) -> Affine | None:
    """The line that a whole number follows, or None.

    `lines` holds the lines of other nodes, and `trips` is the largest number of trips.
    """
    line = lines[node] if node in lines else _computed(node, lines, trips, depth)
    most = _MOST if node in lines else 2 * _MOST
    fits = line is not None and abs(line.start) + abs(line.step) * trips <= most
    return line if fits else None


def _computed(node: Node, lines: Lines, trips: int, depth: int) -> Affine | None:
    if node.shape or node.dtype.kind != "i" or node.dtype.itemsize < 4 or not depth:
        return None
    value = constant(node)
    if value is not None:
        return Affine(0, int(value))
    if isinstance(node, Inner) and node.role == "captured":  # by a branch
        return affine(node.outer, lines, trips, depth - 1)
    if not isinstance(node, Apply):
        return None
    if node.operation is CAST:
        return affine(node.parents[0], lines, trips, depth - 1)
    if node.operation not in (*_SUMS, ELEMENTWISE["multiply"], ELEMENTWISE["negative"]):
        return None
    parts = [affine(parent, lines, trips, depth - 1) for parent in node.parents]
    if any(part is None for part in parts):
        return None
    first, *rest = (part for part in parts if part is not None)
    if not rest:
        return first.times(-1)
    (second,) = rest
    if node.operation in _SUMS:
        return first.plus(second, _SUMS[node.operation])
    if first.step and second.step:
        return None
    return first.times(second.start) if not second.step else second.times(first.start)


def constant(node: Node) -> np.ndarray | None:
    """The values of whole numbers that are written in the program.

    None for other nodes.

    Data that are not literals can be given other values later.
    """
    while isinstance(node, Inner) and node.role == "captured":
        node = node.outer
    if node.dtype.kind != "i":
        return None
    if isinstance(node, Data):
        return node.value if node.literal else None
    if isinstance(node, Apply) and node.operation is RANGE:
        start, step, length = (node.attributes[name] for name in ("start", "step", "length"))
        return start + step * np.arange(length)  # type: ignore[no-any-return]
    if isinstance(node, Apply) and node.operation is SLICE:
        values = constant(node.parents[0])
        return None if values is None else values[node.attributes["template"]]
    return None


def counters(body: "Subgraph", carried: int) -> dict[Node, Affine]:
    """The known lines of the inputs of a loop's body."""
    lines: dict[Node, Affine] = {}
    for place, node in enumerate(body.inputs):
        if not isinstance(node, Inner) or node.shape or node.dtype.kind != "i":
            continue
        if node.role == "row":
            line = _progression(constant(node.outer))
        elif node.role == "loop variable" and place < carried:
            line = _counter(node, body.outputs[place])
        else:
            line = None
        if line is not None and node.dtype.itemsize >= 4:
            lines[node] = line
    return lines


def _progression(values: np.ndarray | None) -> Affine | None:
    if values is None or values.ndim != 1 or not values.size:
        return None
    steps = np.diff(values)
    if steps.size and (steps != steps[0]).any():
        return None
    return Affine(int(steps[0]) if steps.size else 0, int(values[0]))


def _counter(node: Inner, after: Node) -> Affine | None:
    first = constant(node.outer)
    same: Lines = {node: Affine(1, 0)}
    line = affine(after, same, _MOST)  # a multiple of the value before, plus a step
    if first is None or line is None or line.step != 1:
        return None
    return Affine(line.start, int(first))
