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

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import lax

from ..control.conditional import Cond
from ..control.control_node import Control, everything
from ..control.subgraph import Subgraph
from ..lower import Instead
from ..node import FORM, PART, Apply, Inner, Node
from ..operations.bounds import inside
from ..operations.indexing import (
    READ,
    READ_CHECKED,
    WRITE,
    WRITE_CHECKED,
    fixed_parts,
    known_indices,
    write,
)
from .affine import Affine, affine, counters, trips_inside

__all__ = ["Rowwise"]

_MOST_ROWS = 32  # largest number of carried rows of one array
_READS, _WRITES = (READ, READ_CHECKED), (WRITE, WRITE_CHECKED)


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


class _LoopRows(NamedTuple):
    """Rows of an array before the loop, as inputs of trips."""

    place: int
    axis: int
    line: Affine


class _Filled(NamedTuple):
    """An array that the loop fills."""

    own: _LoopRows  # the rows that it writes, as they were before the loop
    starts: bool  # whether these rows are inputs
    lags: int  # number of carried rows that were written last, the newest first
    type: jax.ShapeDtypeStruct  # of a row


class _Read(NamedTuple):
    """A read of a row.

    It is an input row or, with a lag, a row that an earlier trip wrote.
    """

    node: Node
    rows: _LoopRows
    lag: int
    part: tuple[Any, ...]


class Rowwise:
    """The plan by which a loop goes row by row.

    Where no array can be treated by rows, the plan leaves the loop as it is.

    Attributes
    ----------
    kept, filled
        The places of carried variables, and of variables that are filled row by row.
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
        self._filled: list[_Filled] = []
        self._reads: list[_Read] = []
        self._now: dict[Node, Instead] = {}
        self._known = counters(self._body, loop.carried)
        trips = self._bound(most) if self._known else None
        if trips:
            self._find(set(left), trips)
        self.trips = trips if self._filled or self._reads else None
        self.filled = [f.own.place for f in self._filled]
        self.kept = [i for i in range(loop.carried) if i not in self.filled]
        self.origins = [*self.kept, *(f.own.place for f in self._filled for _ in range(f.lags))]
        self.types = tuple(f.type for f in self._filled)
        coming = [f.own for f in self._filled if f.starts] + [
            r.rows for r in self._reads if not r.lag
        ]
        self._coming = list(dict.fromkeys(coming))

    # Planning
    def _moving(self, node: Node) -> _Moving | None:
        """The place of a read or write that moves by constant steps.

        None for other nodes.
        """
        if not isinstance(node, Apply) or node.operation not in (*_READS, *_WRITES):
            return None
        indices = list(known_indices(node))
        if len(indices) != 1:
            return None
        ((_, index, axis, size),) = indices
        line = affine(index, self._known, size)
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
        apart = {n for node in self._body.nodes for n in _apart(node)}
        for place in range(self._loop.carried, len(self._body.inputs)):
            inner = self._body.inputs[place]
            captured = isinstance(inner, Inner) and inner.role == "captured"
            if place in left or not captured or not inner.shape:
                continue
            for read in _Uses(self._body, inner).reads:
                at = self._moving(read)
                if at is None or read in apart:
                    continue
                size = inner.shape[at.axis]
                if at.line.within(-size, size - 1, trips):
                    rows = _LoopRows(place, at.axis, at.line)
                    self._reads.append(_Read(read, rows, 0, at.part))

    def _fill(self, place: int, trips: int) -> None:
        """Fill the array in one place row by row, if possible."""
        inner = self._body.inputs[place]
        if not inner.shape or any(inner in p.nodes for p in self._loop.subgraphs[:-1]):
            return
        uses = _Uses(self._body, inner)
        ends = [output in uses.versions for output in self._body.outputs]
        if not uses.only_rows or not uses.writes or not ends[place] or sum(ends) > 1:
            return
        writes = {node: self._moving(node) for node in uses.writes}
        moving = {(at.axis, at.line) if at else None for at in writes.values()}
        if None in moving or len(moving) > 1:
            return
        ((axis, line),) = filter(None, moving)
        size, own = inner.shape[axis], _LoopRows(place, axis, line)
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
                now[node] = Instead(partial(_read, part=at.part))
            elif not odd and 0 < lag <= _MOST_ROWS and _is_recent(at.line, line, size, trips):
                reads.append(_Read(node, own, lag, at.part))
            elif (odd or lag < 0) and at.line.within(0, size - 1, trips):
                reads.append(_Read(node, _LoopRows(place, axis, at.line), 0, at.part))
            else:
                return
        self._reads += reads
        self._now |= now
        for node, at in writes.items():
            assert at is not None
            self._now[node] = Instead(partial(_written, part=at.part))
        apart = {read.node for read in reads}
        users = [node for node in uses.users(inner) if node not in apart]
        anew = inner not in uses.chosen and len(users) == 1 and _sets_all(users[0], writes)
        lags = max((read.lag for read in reads), default=0)
        row = (*inner.shape[:axis], *inner.shape[axis + 1 :])
        kind = jax.ShapeDtypeStruct(row, inner.dtype)
        self._filled.append(_Filled(own, not anew, lags, kind))

    # Running
    def enter(self, tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The first carried values and the input rows."""
        carried = [tensors[i] for i in self.kept]
        for f in self._filled:
            array = tensors[f.own.place]
            carried += [_row_before(array, f, lag) for lag in range(1, f.lags + 1)]
        return carried, [_rows(tensors[rows.place], rows, self.trips) for rows in self._coming]

    def variables(self, carried: Sequence[Any]) -> list[Any]:
        """The carried values in the places of the loop's variables.

        None stands for filled arrays.
        """
        found = dict(zip(self.kept, carried, strict=False))
        return [found.get(place) for place in range(self._loop.carried)]

    def begin(
        self, carried: Sequence[Any], coming: Sequence[Any]
    ) -> tuple[list[Any], dict[Node, Instead]]:
        """The body's variables in a trip, and replacements of operations."""
        rows = dict(zip(self._coming, coming, strict=True))
        recent = self._recent(carried)
        variables = self.variables(carried)
        for f in self._filled:
            blank = jnp.zeros(f.type.shape, f.type.dtype)
            variables[f.own.place] = rows[f.own] if f.starts else blank
        instead = dict(self._now)
        for read in self._reads:
            row = recent[read.rows.place][read.lag - 1] if read.lag else rows[read.rows]
            instead[read.node] = Instead(partial(_read, part=read.part), row)
        return variables, instead

    def _recent(self, carried: Sequence[Any]) -> dict[int, list[Any]]:
        """The carried rows, by the place of their array."""
        left = iter(carried[len(self.kept) :])
        return {f.own.place: [next(left) for _ in range(f.lags)] for f in self._filled}

    def end(self, carried: Sequence[Any], after: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The values carried to the next trip, and the output rows.

        `after` holds the body's variables after a trip.
        """
        recent = self._recent(carried)
        on = [after[place] for place in self.kept]
        for f in self._filled:
            on += [after[f.own.place], *recent[f.own.place]][: f.lags]
        return on, [after[place] for place in self.filled]

    def leave(
        self, tensors: Sequence[Any], carried: Sequence[Any], rows: Sequence[Any], trips: Any
    ) -> list[Any]:
        """The loop's variables after the loop.

        `trips` is the number of trips that were made, or None for the largest number.
        """
        variables = self.variables(carried)
        for f, written in zip(self._filled, rows, strict=True):
            variables[f.own.place] = _with_rows(tensors[f.own.place], written, f.own, trips)
        return variables


class _Uses:
    """The uses of an array in a loop's body and its branches.

    Attributes
    ----------
    versions
        The array, and the arrays that writes and choices make of it.
    reads, writes
        The operations that read and write a part of the array by an index.
    chosen
        The versions that are inputs of branches.
    only_rows
        Whether the array has no other uses.
    """

    def __init__(self, body: Subgraph, array: Node) -> None:
        self.versions: set[Node] = {array}
        self.reads: list[Node] = []
        self.writes: list[Node] = []
        self.chosen: set[Node] = set()
        self.only_rows = True
        self._same: dict[Node, Node] = {}  # by another name of a version: the version
        self._users: dict[Node, list[Node]] = {}
        self._joined: dict[Node, set[int]] = {}  # the results of branches that are versions
        self._follow(body.nodes)

    def users(self, node: Node) -> list[Node]:
        """The operations on a version, under any of its names."""
        return self._users.get(node, [])

    def _name(self, node: Node, of: Node) -> None:
        self.versions.add(node)
        self._same[node] = self._same.get(of, of)

    def _follow(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if (
                isinstance(node, Apply)
                and node.operation is PART
                and node.parents[0] in self._joined
            ):
                if node.attributes["place"] in self._joined[node.parents[0]]:
                    self.versions.add(node)
                continue
            places = [i for i, parent in enumerate(node.parents) if parent in self.versions]
            if not places:
                continue
            if isinstance(node, Cond):
                self._branch(node, places)
                continue
            first = node.parents[0]
            operation = node.operation if isinstance(node, Apply) and places == [0] else None
            if operation is FORM:
                self._name(node, first)
                continue
            self._users.setdefault(self._same.get(first, first), []).append(node)
            if operation in _READS:
                self.reads.append(node)
            elif operation in _WRITES and node.dtype == first.dtype:
                self.writes.append(node)
                self.versions.add(node)
            else:
                self.only_rows = False

    def _branch(self, node: Cond, found: Sequence[int]) -> None:
        self.chosen |= {self._same.get(node.parents[i], node.parents[i]) for i in found}
        for subgraph, places in zip(node.subgraphs, node.places, strict=True):
            for inner, place in zip(subgraph.inputs, places, strict=True):
                if 1 + place in found:
                    self._name(inner, node.parents[1 + place])
            self._follow(subgraph.nodes)
        results = zip(*(subgraph.outputs for subgraph in node.subgraphs), strict=True)
        ends = [[output in self.versions for output in outputs] for outputs in results]
        self._joined[node] = {i for i, own in enumerate(ends) if all(own)}
        if any(any(own) and not all(own) for own in ends):
            self.only_rows = False


def _apart(node: Node) -> Iterator[Node]:
    """The nodes inside of a node, except nodes inside of branches."""
    if isinstance(node, Control):
        for subgraph in node.subgraphs:
            if isinstance(node, Cond):
                for inner in subgraph.nodes:
                    yield from _apart(inner)
            else:
                yield from everything(subgraph.nodes)


def _sets_all(node: Node, writes: Mapping[Node, _Moving | None]) -> bool:
    """Whether a write sets the whole row."""
    at = writes.get(node)
    return at is not None and node.attributes["how"] == "set" and _is_all(at.part)  # type: ignore[attr-defined]


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


def _is_all(part: Sequence[Any]) -> bool:
    return all(p is Ellipsis or p == slice(None) for p in part)


def _read(row: Any, *indices: Any, part: tuple[Any, ...], **_: Any) -> Any:
    return row[part] if part else row


def _written(row: Any, value: Any, *indices: Any, part: tuple[Any, ...], how: str, **_: Any) -> Any:
    if how == "set" and _is_all(part):
        return jnp.broadcast_to(value, jnp.shape(row))
    return write(row, value, template=part, how=how)


def _row_before(array: Any, f: _Filled, lag: int) -> Any:
    """The row before the loop that a lag reads first."""
    array = jnp.asarray(array)
    line, axis = f.own.line, f.own.axis
    number, size = line.at(-lag), array.shape[axis]
    if not -size <= number < size:  # not read by any operation
        return jnp.zeros(f.type.shape, f.type.dtype)
    return lax.index_in_dim(array, number % size, axis, keepdims=False)


def _rows(array: Any, rows: _LoopRows, trips: int | None) -> Any:
    """The input rows of all trips, along a first axis."""
    assert trips is not None
    line, array = rows.line, jnp.moveaxis(jnp.asarray(array), rows.axis, 0)
    # Some indices may be negative: the first ones or, with a negative step, the last ones.
    sign = (-array.shape[0], -1) if line.step > 0 else (0, array.shape[0] - 1)
    turn = min(trips_inside(line, *sign), trips)
    ends = ((0, turn), (turn, trips))
    parts = [_progression(array, line, first, end) for first, end in ends if first < end]
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _progression(array: Any, line: Affine, first: int, end: int) -> Any:
    ends = sorted(line.at(trip) % array.shape[0] for trip in (first, end - 1))
    found = lax.slice_in_dim(array, ends[0], ends[1] + 1, abs(line.step))
    return found if line.step > 0 else jnp.flip(found, 0)


def _with_rows(array: Any, rows: Any, filled: _LoopRows, trips: Any) -> Any:
    """The array after the loop, given the output rows."""
    array, line = jnp.moveaxis(jnp.asarray(array), filled.axis, 0), filled.line
    count = rows.shape[0]
    if trips is not None:
        before = _progression(array, line, 0, count)
        made = jnp.arange(count) < trips
        rows = jnp.where(made.reshape(-1, *(1,) * (rows.ndim - 1)), rows, before)
    rows = rows if line.step > 0 else jnp.flip(rows, 0)
    low, high = sorted((line.start, line.at(count - 1)))
    if abs(line.step) == 1 or count == 1:
        pieces = [array[:low], rows, array[high + 1 :]]
        pieces = [piece for piece in pieces if piece.shape[0]]
        array = pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces)
    else:
        array = array.at[low : high + 1 : abs(line.step)].set(rows)
    return jnp.moveaxis(array, 0, filled.axis)
