"""Loops that fill arrays row by row: rows come in and go out, and nobody carries the whole.

    x[t] = a * x[t - 1] + eps[t]      a row of eps comes in, the row x[t - 1] is carried, and the
                                      row x[t] goes out, to be put into x after the loop

An array is not carried if a trip writes into it only at an index that moves by a constant step
(see `affine`), and reads it only there and at constant distances. A row that one of the last trips
wrote is carried instead, and one that no trip has written yet is a row of what the array was before
the loop. So is what the loop reads of other arrays at such an index. The derivative of a trip then
costs that of its rows, and not of the arrays.

It is done where it is sure: the indices are inside of the arrays in all trips, and nothing else
reads or writes what is not carried. It is done while lowering, when the whole graph is known; the
graph stays as it is, and in the body a row stands for the array.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bounds import inside
from ..indexing import READ, READ_CHECKED, WRITE, WRITE_CHECKED, fixed_parts, known_indices, write
from ..node import Apply, Inner, Node
from .affine import Affine, affine, counters, trips_inside
from .subgraph import Subgraph

__all__ = ["Rowwise", "Trip"]

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


class _Source(NamedTuple):
    """Rows that come in: of the array that an input of the body is before the loop."""

    place: int
    axis: int
    line: Affine


class _Filled(NamedTuple):
    """An array that the loop fills."""

    place: int
    axis: int
    line: Affine
    last: Node  # what a trip makes of it
    rows: int  # that are carried, the newest first
    row: jax.ShapeDtypeStruct


class _Recent(NamedTuple):
    """A read of a row that an earlier trip wrote."""

    node: Apply
    place: int
    lag: int
    part: tuple[Any, ...]


class _Coming(NamedTuple):
    """A read of a row that comes in."""

    node: Apply
    source: _Source
    part: tuple[Any, ...]


class Trip(NamedTuple):
    """What a trip gives: what is carried on, and what goes out."""

    carried: list[Any]
    written: list[Any]
    others: list[Any]


class Rowwise:
    """How a loop goes row by row; with nothing to do so, as it is.

    Attributes
    ----------
    body
        The body, of what is carried, the rows and the other inputs.
    lowered
        How its operations on rows are computed.
    kept, filled
        The places of the variables that are carried as they are, and of the others.
    origins
        For each value that is carried, the place of the variable that it belongs to.
    trips
        The most trips that the loop can make, where rows come in or go out; else None.
    """

    def __init__(self, loop: _Loop, left: Collection[int] = (), most: int | None = None) -> None:
        """Of a loop that makes so many trips at most.

        The inputs in the places `left` stay as they are.
        """
        self._loop = loop
        self._whole = loop.subgraphs[-1]
        self.lowered: dict[Node, Callable[..., Any]] = {}
        self._filled: list[_Filled] = []
        self._recent: list[_Recent] = []
        self._coming: list[_Coming] = []
        self._own: list[_Source] = []  # rows of filled arrays that a trip starts from
        self._known = counters(self._whole, loop.carried)
        self.trips = self._bound(most) if self._known else None
        if self.trips:
            self._find(set(left))
        if not self._filled and not self._coming:
            self.trips = None
        self._join()

    # What can be done.
    def _moving(self, node: Node) -> _Moving | None:
        assert isinstance(node, Apply)
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
        for node in self._whole.nodes:
            if isinstance(node, Apply) and node.operation in (*_READS, *_WRITES):
                at = self._moving(node)
                if at is None:
                    continue
                size = node.parents[0].shape[at.axis]
                ((_, index, _, _),) = known_indices(node)
                if inside(index, -size, size - 1, node):
                    found.append(trips_inside(at.line, -size, size - 1))
        return min(found, default=None)

    def _find(self, left: set[int]) -> None:
        self._users: dict[Node, list[tuple[Node, int]]] = {}
        for node in self._whole.nodes:
            for place, parent in enumerate(node.parents):
                self._users.setdefault(parent, []).append((node, place))
        for place in range(self._loop.carried):
            if place not in left:
                self._fill(place)
        for place in range(self._loop.carried, len(self._whole.inputs)):
            if place not in left:
                self._read_rows(place)

    def _fill(self, place: int) -> None:
        """Do not carry an array that the loop fills."""
        whole, trips = self._whole, self.trips
        assert trips is not None
        inner, last = whole.inputs[place], whole.outputs[place]
        chain: list[Apply] = []
        node = last
        while isinstance(node, Apply) and node.operation in _WRITES:
            chain.append(node)
            node = node.parents[0]
        if node is not inner or not chain or any(n.dtype != inner.dtype for n in chain):
            return
        versions = {inner, *chain}
        predicates = self._loop.subgraphs[:-1]
        if any(inner in p.nodes for p in predicates):
            return
        if sum(output in versions for output in whole.outputs) > 1:
            return
        writes = {node: self._moving(node) for node in chain}
        places = {(at.axis, at.line) if at else None for at in writes.values()}
        if None in places or len(places) > 1:
            return
        ((axis, line),) = filter(None, places)
        size = inner.shape[axis]
        if not line.within(0, size - 1, trips):
            return
        recent, coming, now = [], [], {}
        for version in versions:
            for user, argument in self._users.get(version, ()):
                if user in writes and argument == 0:
                    continue
                at = self._moving(user) if _reads(user, argument) else None
                if at is None or at.axis != axis or at.line.step != line.step:
                    return
                assert isinstance(user, Apply)
                lag, odd = divmod(line.start - at.line.start, line.step)
                if at.line == line:
                    now[user] = at.part
                elif not odd and 0 < lag <= _MOST_ROWS and _is_recent(at.line, line, size, trips):
                    recent.append(_Recent(user, place, lag, at.part))
                elif (odd or lag < 0) and at.line.within(0, size - 1, trips):
                    coming.append(_Coming(user, _Source(place, axis, at.line), at.part))
                else:
                    return
        self._recent += recent
        self._coming += coming
        first, at_first = chain[-1], writes[chain[-1]]
        assert at_first is not None
        replaced = first.attributes["how"] == "set" and _takes_all(at_first.part)
        if not replaced or any(user.parents[0] is inner for user in now):
            self._own.append(_Source(place, axis, line))
        self.lowered |= {user: partial(_read_now, part=part) for user, part in now.items()}
        self.lowered |= {
            node: partial(_write_now, part=at.part) for node, at in writes.items() if at
        }
        rows = max((read.lag for read in recent), default=0)
        row = jax.ShapeDtypeStruct((*inner.shape[:axis], *inner.shape[axis + 1 :]), inner.dtype)
        self._filled.append(_Filled(place, axis, line, last, rows, row))

    def _read_rows(self, place: int) -> None:
        """Have rows of an array from outside come in where the loop reads them by number."""
        inner = self._whole.inputs[place]
        if not isinstance(inner, Inner) or inner.role != "captured" or not inner.shape:
            return
        assert self.trips is not None
        for user, argument in self._users.get(inner, ()):
            at = self._moving(user) if _reads(user, argument) else None
            if at is None:
                continue
            size = inner.shape[at.axis]
            if at.line.within(-size, size - 1, self.trips):
                assert isinstance(user, Apply)
                self._coming.append(_Coming(user, _Source(place, at.axis, at.line), at.part))

    def _join(self) -> None:
        """The body, of what is left to be carried, and of rows."""
        whole, carried = self._whole, self._loop.carried
        self.filled = [f.place for f in self._filled]
        self.kept = [i for i in range(carried) if i not in self.filled]
        self.origins = [*self.kept, *(f.place for f in self._filled for _ in range(f.rows))]
        self._sources = list(dict.fromkeys([*self._own, *(c.source for c in self._coming)]))
        # Results by place in the whole body's outputs.
        self._outputs = [*self.kept, *self.filled]
        self._outputs += range(carried, len(whole.outputs))
        if self.trips is None:
            self.body = whole
            return
        cut = [r.node for r in self._recent] + [c.node for c in self._coming]
        inputs = [whole.inputs[i] for i in (*self.kept, *self.filled)]
        self.body = Subgraph(
            (*inputs, *cut, *whole.inputs[carried:]), [whole.outputs[i] for i in self._outputs]
        )

    @property
    def types(self) -> tuple[jax.ShapeDtypeStruct, ...]:
        """Of the rows that go out."""
        return tuple(f.row for f in self._filled)

    # What is done.
    def places(self, live: Collection[int]) -> frozenset[int]:
        """Where the body's outputs that take part stand, given those of the loop's own body."""
        return frozenset(i for i, place in enumerate(self._outputs) if place in live)

    @property
    def belongs(self) -> list[int]:
        """For each output of the body the place among those of the loop's own body."""
        return self._outputs

    def enter(self, tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What is carried at first, and the rows that come in, given the inputs of the loop."""
        carried = [tensors[i] for i in self.kept]
        for f in self._filled:
            carried += [_row_before(tensors[f.place], f, lag) for lag in range(1, f.rows + 1)]
        rows = [_rows(tensors[s.place], s, self.trips) for s in self._sources]
        return carried, rows

    def inputs(self, carried: Sequence[Any], row: Sequence[Any], others: Sequence[Any]) -> list:
        """The inputs of the body in a trip; `others` are those that are not carried."""
        if self.trips is None:
            return [*carried, *others]
        rows = dict(zip(self._sources, row, strict=True))
        recent = self._split(carried[len(self.kept) :])
        found = list(carried[: len(self.kept)])
        for f in self._filled:
            own = rows.get(_Source(f.place, f.axis, f.line))
            found.append(np.zeros(f.row.shape, f.row.dtype) if own is None else own)
        found += [_part(recent[r.place][r.lag - 1], r.part) for r in self._recent]
        found += [_part(rows[c.source], c.part) for c in self._coming]
        return [*found, *others]

    def _split(self, rows: Sequence[Any]) -> dict[int, list[Any]]:
        """The carried rows by the place of their array."""
        found, left = {}, iter(rows)
        for f in self._filled:
            found[f.place] = [next(left) for _ in range(f.rows)]
        return found

    def trip(self, carried: Sequence[Any], outputs: Sequence[Any]) -> Trip:
        """What a trip gives, by the outputs of the body."""
        kept, ends = len(self.kept), len(self.kept) + len(self._filled)
        written = list(outputs[kept:ends])
        recent = self._split(carried[kept:])
        on = list(outputs[:kept])
        for f, row in zip(self._filled, written, strict=True):
            on += [row, *recent[f.place]][: f.rows]
        return Trip(on, written, list(outputs[ends:]))

    def variables(self, carried: Sequence[Any]) -> list[Any]:
        """What is carried, in the places of the loop's variables; None for the others."""
        found = dict(zip(self.kept, carried, strict=False))
        return [found.get(place) for place in range(self._loop.carried)]

    def leave(
        self, tensors: Sequence[Any], carried: Sequence[Any], written: Sequence[Any], trips: Any
    ) -> list[Any]:
        """The loop's variables after it; `trips` is None where all rows were written."""
        found = dict(zip(self.kept, carried, strict=False))
        for f, rows in zip(self._filled, written, strict=True):
            found[f.place] = _filled_with(tensors[f.place], rows, f, trips)
        return [found[place] for place in range(self._loop.carried)]


def _reads(node: Node, argument: int) -> bool:
    return isinstance(node, Apply) and node.operation in _READS and argument == 0


def _is_recent(read: Affine, write: Affine, size: int, trips: int) -> bool:
    """Whether the row read is that written `lag` trips ago, or before the loop if there is none.

    In the first trips the index may be negative, and count from the end.
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


def _takes_all(part: Sequence[Any]) -> bool:
    return all(p is Ellipsis or p == slice(None) for p in part)


def _part(row: Any, part: tuple[Any, ...]) -> Any:
    return row[part] if part else row


def _read_now(row: Any, *indices: Any, part: tuple[Any, ...], **_: Any) -> Any:
    return _part(jnp.asarray(row), part)


def _write_now(
    row: Any, value: Any, *indices: Any, part: tuple[Any, ...], how: str, **_: Any
) -> Any:
    if how == "set" and _takes_all(part):
        return jnp.broadcast_to(value, jnp.shape(row))
    return write(row, value, template=part, how=how)


def _row_before(array: Any, f: _Filled, lag: int) -> Any:
    """The row that the first trip takes for the one written so many trips before."""
    array = jnp.asarray(array)
    number, size = f.line.at(-lag), array.shape[f.axis]
    if not -size <= number < size:  # nobody reads it
        return jnp.zeros(f.row.shape, f.row.dtype)
    return lax.index_in_dim(array, number % size, f.axis, keepdims=False)


def _rows(array: Any, source: _Source, trips: int | None) -> Any:
    """The rows of all trips, in a first axis."""
    assert trips is not None
    line, array = source.line, jnp.moveaxis(jnp.asarray(array), source.axis, 0)
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


def _filled_with(array: Any, rows: Any, f: _Filled, trips: Any) -> Any:
    """The array after the loop, given the rows that went out in all trips that it can make."""
    array, line = jnp.moveaxis(jnp.asarray(array), f.axis, 0), f.line
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
    return jnp.moveaxis(array, 0, f.axis)
