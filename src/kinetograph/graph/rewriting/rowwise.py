"""Loops that fill arrays row by row, without carrying the whole arrays.

    x[t] = a * x[t - 1] + eps[t]      a row of eps is an input, the row x[t - 1] is carried, and the
                                      row x[t] is an output, put into x after the loop

An array is not carried if a trip writes into it only at an index that moves by a constant step (see
`affine`), and reads it only there and at constant distances. A row that one of the last trips wrote
is carried instead. A row that no trip has reached yet is read from the array as it was before the
loop. Rows that the loop reads from other arrays at such an index become inputs, too. The derivative
of a trip then costs as much as its rows, not as much as the arrays.

The change is made only where it is proved to be right: the indices lie inside of the arrays in all
trips, and no other operation, except those in branches, reads or writes the array. It is made while
lowering, when the whole graph is known, and leaves the graph as it is: in the body, and in its
branches, the tensor of the array is its row of the trip, and reads and writes act on rows.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from ..control.subgraph import Subgraph
from ..lower import Instead
from ..node import Apply, Inner, Node
from ..operations.bounds import inside
from ..operations.indexing import (
    READS,
    WRITES,
    fixed_parts,
    known_indices,
)
from .affine import Affine, affine, counters, trips_inside
from .array_uses import ArrayUses, outside_branches
from .row_tensors import (
    LoopRows,
    input_rows,
    is_all,
    read_row,
    row_before,
    with_rows,
    written_row,
)

__all__ = ["Rowwise"]

_MOST_ROWS = 32  # largest number of carried rows of one array


class _RowLoop(Protocol):
    subgraphs: tuple[Subgraph, ...]
    carried: int


class _Moving(NamedTuple):
    """The place of a read or write in a trip.

    It is a row along an axis, and a part of the row.
    """

    axis: int
    line: Affine
    part: tuple[Any, ...]


class _Filled(NamedTuple):
    """An array that the loop fills."""

    rows: LoopRows  # the rows that it writes, as they were before the loop
    starts: bool  # whether these rows are inputs
    lags: int  # number of carried rows that were written last, the newest first
    type: jax.ShapeDtypeStruct  # of a row


class _Read(NamedTuple):
    """A read of a row.

    It is an input row or, with a lag, a row that an earlier trip wrote.
    """

    node: Node
    rows: LoopRows
    lag: int
    part: tuple[Any, ...]


class Rowwise:
    """The plan by which a loop goes row by row.

    Where no array can be treated by rows, the plan leaves the loop as it is.

    Attributes
    ----------
    carried_places, filled_places
        The places of carried variables, and of variables that are filled row by row.
    arrays, inputs
        The arrays that are filled, and the rows that are inputs of the trips.
    origins
        For each carried value, the place of the variable that it belongs to.
    types
        The types of the output rows.
    trips
        The largest number of trips, where rows are inputs or outputs; else None.
    """

    def __init__(self, loop: _RowLoop, left: Collection[int] = (), most: int | None = None) -> None:
        """Plan a loop that makes at most `most` trips.

        The inputs in the places `left` are not changed.
        """
        self._loop = loop
        self._body = loop.subgraphs[-1]
        self.arrays: list[_Filled] = []
        self._reads: list[_Read] = []
        self._now: dict[Node, Instead] = {}
        self._counters = counters(self._body, loop.carried)
        trips = self._bound(most) if self._counters else None
        if trips:
            self._find(set(left), trips)
        self.trips = trips if self.arrays or self._reads else None
        self.filled_places = [f.rows.place for f in self.arrays]
        self.carried_places = [i for i in range(loop.carried) if i not in self.filled_places]
        self.origins = [
            *self.carried_places,
            *(f.rows.place for f in self.arrays for _ in range(f.lags)),
        ]
        self.types = tuple(f.type for f in self.arrays)
        coming = [f.rows for f in self.arrays if f.starts] + [
            r.rows for r in self._reads if not r.lag
        ]
        self.inputs = list(dict.fromkeys(coming))

    # Planning
    def _moving(self, node: Node) -> _Moving | None:
        """The place of a read or write that moves by constant steps.

        None for other nodes.
        """
        if not isinstance(node, Apply) or node.operation not in (*READS, *WRITES):
            return None
        indices = list(known_indices(node))
        if len(indices) != 1:
            return None
        ((_, index, axis, size),) = indices
        line = affine(index, self._counters, size)
        if line is None or not line.step:
            return None
        return _Moving(axis, line, fixed_parts(node))

    def _bound(self, most: int | None) -> int | None:
        """Upper bound on the number of trips.

        It is derived from an index that stays in range.
        """
        bounds = [] if most is None else [most]
        for node in self._body.nodes:
            at = self._moving(node)
            if at is None:
                continue
            size = node.parents[0].shape[at.axis]
            ((_, index, _, _),) = known_indices(node)  # type: ignore[arg-type]
            if inside(index, -size, size - 1, node):
                bounds.append(trips_inside(at.line, -size, size - 1))
        return min(bounds, default=None)

    def _find(self, left: set[int], trips: int) -> None:
        for place in range(self._loop.carried):
            if place not in left:
                self._fill(place, trips)
        apart = {n for node in self._body.nodes for n in outside_branches(node)}
        for place in range(self._loop.carried, len(self._body.inputs)):
            inner = self._body.inputs[place]
            captured = isinstance(inner, Inner) and inner.role == "captured"
            if place in left or not captured or not inner.shape:
                continue
            for read in ArrayUses(self._body, inner).reads:
                at = self._moving(read)
                if at is None or read in apart:
                    continue
                size = inner.shape[at.axis]
                if at.line.within(-size, size - 1, trips):
                    rows = LoopRows(place, at.axis, at.line)
                    self._reads.append(_Read(read, rows, 0, at.part))

    def _fill(self, place: int, trips: int) -> None:
        """Fill the array in one place row by row, if possible."""
        inner = self._body.inputs[place]
        if not inner.shape or any(inner in p.nodes for p in self._loop.subgraphs[:-1]):
            return
        uses = ArrayUses(self._body, inner)
        ends = [output in uses.versions for output in self._body.outputs]
        if not uses.only_rows or not uses.writes or not ends[place] or sum(ends) > 1:
            return
        writes = {node: self._moving(node) for node in uses.writes}
        moving = {(at.axis, at.line) if at else None for at in writes.values()}
        if None in moving or len(moving) > 1:
            return
        ((axis, line),) = filter(None, moving)
        size, rows = inner.shape[axis], LoopRows(place, axis, line)
        if not line.within(0, size - 1, trips):
            return
        now: dict[Node, Instead] = {}
        reads: list[_Read] = []
        for node in uses.reads:
            at = self._moving(node)
            if at is None or at.axis != axis or at.line.step != line.step:
                return
            lag, odd = divmod(line.start - at.line.start, line.step)
            if line in (at.line, at.line.plus(Affine(0, size))):
                now[node] = Instead(partial(read_row, part=at.part))
            elif not odd and 0 < lag <= _MOST_ROWS and _is_recent(at.line, line, size, trips):
                reads.append(_Read(node, rows, lag, at.part))
            elif (odd or lag < 0) and at.line.within(0, size - 1, trips):
                reads.append(_Read(node, LoopRows(place, axis, at.line), 0, at.part))
            else:
                return
        self._reads += reads
        self._now |= now
        for node, at in writes.items():
            assert at is not None
            self._now[node] = Instead(partial(written_row, part=at.part))
        apart = {read.node for read in reads}
        users = [node for node in uses.users(inner) if node not in apart]
        sets_all = len(users) == 1 and _sets_all(users[0], writes)
        lags = max((read.lag for read in reads), default=0)
        row = (*inner.shape[:axis], *inner.shape[axis + 1 :])
        kind = jax.ShapeDtypeStruct(row, inner.dtype)
        self.arrays.append(_Filled(rows, inner in uses.chosen or not sets_all, lags, kind))

    # Running
    def enter(self, tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The first carried values and the input rows."""
        carried = [tensors[i] for i in self.carried_places]
        for f in self.arrays:
            array = tensors[f.rows.place]
            carried += [row_before(array, f.rows, lag, f.type) for lag in range(1, f.lags + 1)]
        return carried, [input_rows(tensors[rows.place], rows, self.trips) for rows in self.inputs]

    def variables(self, carried: Sequence[Any]) -> list[Any]:
        """The carried values in the places of the loop's variables.

        None stands for filled arrays.
        """
        by_place = dict(zip(self.carried_places, carried, strict=False))
        return [by_place.get(place) for place in range(self._loop.carried)]

    def begin(
        self, carried: Sequence[Any], coming: Sequence[Any]
    ) -> tuple[list[Any], dict[Node, Instead]]:
        """The body's variables in a trip, and replacements of operations."""
        rows = dict(zip(self.inputs, coming, strict=True))
        recent = self._recent(carried)
        variables = self.variables(carried)
        for f in self.arrays:
            blank = jnp.zeros(f.type.shape, f.type.dtype)
            variables[f.rows.place] = rows[f.rows] if f.starts else blank
        instead = dict(self._now)
        for read in self._reads:
            row = recent[read.rows.place][read.lag - 1] if read.lag else rows[read.rows]
            instead[read.node] = Instead(partial(read_row, part=read.part), row)
        return variables, instead

    def _recent(self, carried: Sequence[Any]) -> dict[int, list[Any]]:
        """The carried rows, by the place of their array."""
        left = iter(carried[len(self.carried_places) :])
        return {f.rows.place: [next(left) for _ in range(f.lags)] for f in self.arrays}

    def end(self, carried: Sequence[Any], after: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The values carried to the next trip, and the output rows.

        `after` holds the body's variables after a trip.
        """
        recent = self._recent(carried)
        on = [after[place] for place in self.carried_places]
        for f in self.arrays:
            on += [after[f.rows.place], *recent[f.rows.place]][: f.lags]
        return on, [after[place] for place in self.filled_places]

    def leave(
        self, tensors: Sequence[Any], carried: Sequence[Any], rows: Sequence[Any], trips: Any
    ) -> list[Any]:
        """The loop's variables after the loop.

        `trips` is the number of trips that were made, or None for the largest number.
        """
        variables = self.variables(carried)
        for f, written in zip(self.arrays, rows, strict=True):
            variables[f.rows.place] = with_rows(tensors[f.rows.place], written, f.rows, trips)
        return variables


def _sets_all(node: Node, writes: Mapping[Node, _Moving | None]) -> bool:
    """Whether a write sets the whole row."""
    at = writes.get(node)
    return at is not None and node.attributes["how"] == "set" and is_all(at.part)  # type: ignore[attr-defined]


def _is_recent(read: Affine, write: Affine, size: int, trips: int) -> bool:
    """Whether the row read is the one written `lag` trips ago.

    Before the first trips it is a row of the array before the loop. There the index may be
    negative, and count from the end. The row that is read is not the one that this trip writes:
    `_fill` has compared the two.
    """
    if not read.within(-size, size - 1, trips):
        return False
    lag = (write.start - read.start) // write.step
    written: set[int] = set()
    for trip in range(min(lag, trips)):
        if read.at(trip) % size in written:
            return False
        written.add(write.at(trip))
    return True
