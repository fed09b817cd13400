"""Tensors of the rows that a loop reads and writes; see `rowwise`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ..operations.indexing import write
from .affine import Affine, trips_inside

__all__ = ["LoopRows", "input_rows", "is_all", "read_row", "row_before", "with_rows", "written_row"]


class LoopRows(NamedTuple):
    """Rows of an array before the loop, as inputs of trips."""

    place: int
    axis: int
    line: Affine


def is_all(part: Sequence[Any]) -> bool:
    """Whether a part of a row is the whole row."""
    return all(p is Ellipsis or p == slice(None) for p in part)


def read_row(row: Any, *indices: Any, part: tuple[Any, ...], **_: Any) -> Any:
    """A part of a row, for a read of the array."""
    return row[part] if part else row


def written_row(
    row: Any, value: Any, *indices: Any, part: tuple[Any, ...], how: str, **_: Any
) -> Any:
    """A row with a written part, for a write into the array."""
    if how == "set" and is_all(part):
        return jnp.broadcast_to(value, jnp.shape(row))
    return write(row, value, template=part, how=how)


def row_before(array: Any, rows: LoopRows, lag: int, kind: jax.ShapeDtypeStruct) -> Any:
    """The row before the loop that a lag reads first."""
    array = jnp.asarray(array)
    number, size = rows.line.at(-lag), array.shape[rows.axis]
    if not -size <= number < size:  # not read by any operation
        return jnp.zeros(kind.shape, kind.dtype)
    return lax.index_in_dim(array, number % size, rows.axis, keepdims=False)


def input_rows(array: Any, rows: LoopRows, trips: int | None) -> Any:
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
    rows = lax.slice_in_dim(array, ends[0], ends[1] + 1, abs(line.step))
    return rows if line.step > 0 else jnp.flip(rows, 0)


def with_rows(array: Any, rows: Any, filled: LoopRows, trips: Any) -> Any:
    """The array after the loop, given the output rows."""
    array, line = jnp.moveaxis(jnp.asarray(array), filled.axis, 0), filled.line
    count = rows.shape[0]
    if trips is not None:
        before = _progression(array, line, 0, count)
        is_written = jnp.arange(count) < trips
        rows = jnp.where(is_written.reshape(-1, *(1,) * (rows.ndim - 1)), rows, before)
    rows = rows if line.step > 0 else jnp.flip(rows, 0)
    low, high = sorted((line.start, line.at(count - 1)))
    if abs(line.step) == 1 or count == 1:
        pieces = [array[:low], rows, array[high + 1 :]]
        pieces = [piece for piece in pieces if piece.shape[0]]
        array = pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces)
    else:
        array = array.at[low : high + 1 : abs(line.step)].set(rows)
    return jnp.moveaxis(array, 0, filled.axis)
