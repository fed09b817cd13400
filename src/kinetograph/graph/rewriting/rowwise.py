"""Loops that fill arrays row by row: rows come in and go out, and nobody carries the whole.

    x[t] = a * x[t - 1] + eps[t]      a row of eps comes in, the row x[t - 1] is carried, and the
                                      row x[t] goes out, to be put into x after the loop

An array is not carried if a trip writes into it only at an index that moves by a constant step
(see `affine`), and reads it only there and at constant distances. A row that one of the last trips
left is carried instead, and one that no trip has come to yet is a row of what the array was before
the loop. So is what the loop reads of other arrays at such an index. The derivative of a trip then
costs that of its rows, and not of the arrays.

It is done where it is sure: the indices are inside of the arrays in all trips, and nothing else
reads or writes what is not carried; branches may. It is done while lowering, when the whole graph
is known, and the graph stays as it is: in the body, and in branches there, the tensor of the array
is its row of the trip, and reads and writes are computed on rows.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import lax

from ..control.conditional import Cond
from ..control.control import Control, everything
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

_MOST_ROWS = 32  # that are carried of one array
_READS, _WRITES = (READ, READ_CHECKED), (WRITE, WRITE_CHECKED)


class _Loop(Protocol):
    subgraphs: tuple[Subgraph, ...]
    carried: int


class _Moving(NamedTuple):
    """Where a read or write looks in a trip: at a row along an axis, and at a part of the row."""

    axis: int
    line: Affine
    part: tuple[Any, ...]


class _Rows(NamedTuple):
    """Rows that come in: of the array that an input of the body is before the loop."""

    place: int
    axis: int
    line: Affine


class _Filled(NamedTuple):
    """An array that the loop fills."""

    own: _Rows  # those that it writes, as they were before
    starts: bool  # whether these come in
    lags: int  # how many rows that were written last are carried, the newest first
    type: jax.ShapeDtypeStruct  # of a row


class _Read(NamedTuple):
    """A read of a row that comes in or, with a lag, of one that an earlier trip wrote."""

    node: Node
    rows: _Rows
    lag: int
    part: tuple[Any, ...]


class Rowwise:
    """How a loop goes row by row; without anything to do so, as it is.

    Attributes
    ----------
    kept, filled
        The places of the variables that are carried as they are, and of the others.
    origins
        For each value that is carried, the place of the variable that it belongs to.
    types
        Of the rows that go out.
    trips
        The most trips that the loop can make, where rows come in or go out; else None.
    """

    def __init__(self, loop: _Loop, left: Collection[int] = (), most: int | None = None) -> None:
        """Of a loop that makes so many trips at most.

        The inputs in the places `left` stay as they are.
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

    # What can be done.
    def _moving(self, node: Node) -> _Moving | None:
        """Where a read or write looks, if that moves by a constant step."""
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
        """The most trips: after more, an index that is known to stay inside would not have."""
        found = [] if most is None else [most]
        for node in self._body.nodes:
            at = self._moving(node)
            if at is None:
                continue
            size = node.parents[0].shape[at.axis]
            ((_, index, _, _),) = known_indices(node)  # type: ignore[arg-type]
            if inside(index, -size, size - 1, node):
                found.append(trips_inside(at.line, -size, size - 1))
        return min(found, default=None)

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
                    rows = _Rows(place, at.axis, at.line)
                    self._reads.append(_Read(read, rows, 0, at.part))

    def _fill(self, place: int, trips: int) -> None:
        """Do not carry an array that the loop fills."""
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
        size, own = inner.shape[axis], _Rows(place, axis, line)
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
                reads.append(_Read(node, _Rows(place, axis, at.line), 0, at.part))
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

    # What is done.
    def enter(self, tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What is carried at first, and the rows that come in, given the inputs of the loop."""
        carried = [tensors[i] for i in self.kept]
        for f in self._filled:
            array = tensors[f.own.place]
            carried += [_row_before(array, f, lag) for lag in range(1, f.lags + 1)]
        return carried, [_rows(tensors[rows.place], rows, self.trips) for rows in self._coming]

    def variables(self, carried: Sequence[Any]) -> list[Any]:
        """What is carried, in the places of the loop's variables; None for arrays it fills."""
        found = dict(zip(self.kept, carried, strict=False))
        return [found.get(place) for place in range(self._loop.carried)]

    def begin(
        self, carried: Sequence[Any], coming: Sequence[Any]
    ) -> tuple[list[Any], dict[Node, Instead]]:
        """The body's variables in a trip, and how reads and writes are computed."""
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
        """The rows that are carried, by the place of their array."""
        left = iter(carried[len(self.kept) :])
        return {f.own.place: [next(left) for _ in range(f.lags)] for f in self._filled}

    def end(self, carried: Sequence[Any], after: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What is carried on, and the rows that go out, given the body's variables after a trip."""
        recent = self._recent(carried)
        on = [after[place] for place in self.kept]
        for f in self._filled:
            on += [after[f.own.place], *recent[f.own.place]][: f.lags]
        return on, [after[place] for place in self.filled]

    def leave(
        self, tensors: Sequence[Any], carried: Sequence[Any], rows: Sequence[Any], trips: Any
    ) -> list[Any]:
        """The loop's variables after it; `trips` is None where it has made all that it can make."""
        found = self.variables(carried)
        for f, own in zip(self._filled, rows, strict=True):
            found[f.own.place] = _with_rows(tensors[f.own.place], own, f.own, trips)
        return found


class _Uses:
    """What becomes of an array in the body of a loop, and in branches there.

    Attributes
    ----------
    versions
        The array, and what is made of it by writing and choosing.
    reads, writes
        The operations that read and write some of it, by an index.
    chosen
        The versions that go into branches.
    only_rows
        Whether nothing else is done with it.
    """

    def __init__(self, body: Subgraph, array: Node) -> None:
        self.versions: set[Node] = {array}
        self.reads: list[Node] = []
        self.writes: list[Node] = []
        self.chosen: set[Node] = set()
        self.only_rows = True
        self._same: dict[Node, Node] = {}  # another name of a version
        self._users: dict[Node, list[Node]] = {}
        self._joined: dict[Node, set[int]] = {}  # the results of branches that are versions
        self._follow(body.nodes)

    def users(self, node: Node) -> list[Node]:
        """The operations on a version, by whatever name."""
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
            found = [i for i, parent in enumerate(node.parents) if parent in self.versions]
            if not found:
                continue
            if isinstance(node, Cond):
                self._branch(node, found)
                continue
            first = node.parents[0]
            operation = node.operation if isinstance(node, Apply) and found == [0] else None
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
    """The nodes inside of a node, but for those of branches."""
    if isinstance(node, Control):
        for subgraph in node.subgraphs:
            if isinstance(node, Cond):
                for inner in subgraph.nodes:
                    yield from _apart(inner)
            else:
                yield from everything(subgraph.nodes)


def _sets_all(node: Node, writes: Mapping[Node, _Moving | None]) -> bool:
    """Whether it sets the whole row."""
    at = writes.get(node)
    return at is not None and node.attributes["how"] == "set" and _is_all(at.part)  # type: ignore[attr-defined]


def _is_recent(read: Affine, write: Affine, size: int, trips: int) -> bool:
    """Whether the row read is that written `lag` trips ago, or before the loop if there is none.

    In the first trips the index may be negative, and count from the end. The row read is not the
    one that this trip writes: `_fill` has compared them.
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
    """The row that the first trip takes for the one written so many trips before."""
    array = jnp.asarray(array)
    line, axis = f.own.line, f.own.axis
    number, size = line.at(-lag), array.shape[axis]
    if not -size <= number < size:  # nobody reads it
        return jnp.zeros(f.type.shape, f.type.dtype)
    return lax.index_in_dim(array, number % size, axis, keepdims=False)


def _rows(array: Any, rows: _Rows, trips: int | None) -> Any:
    """The rows of all trips, in a first axis."""
    assert trips is not None
    line, array = rows.line, jnp.moveaxis(jnp.asarray(array), rows.axis, 0)
    # Some may count from the end: the first ones or, going down, the last ones.
    sign = (-array.shape[0], -1) if line.step > 0 else (0, array.shape[0] - 1)
    turn = min(trips_inside(line, *sign), trips)
    ends = ((0, turn), (turn, trips))
    parts = [_progression(array, line, first, end) for first, end in ends if first < end]
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _progression(array: Any, line: Affine, first: int, end: int) -> Any:
    ends = sorted(line.at(trip) % array.shape[0] for trip in (first, end - 1))
    found = lax.slice_in_dim(array, ends[0], ends[1] + 1, abs(line.step))
    return found if line.step > 0 else jnp.flip(found, 0)


def _with_rows(array: Any, rows: Any, own: _Rows, trips: Any) -> Any:
    """The array after the loop, given the rows that went out in all trips that it can make."""
    array, line = jnp.moveaxis(jnp.asarray(array), own.axis, 0), own.line
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
    return jnp.moveaxis(array, 0, own.axis)
