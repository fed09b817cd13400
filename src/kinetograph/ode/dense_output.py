"""The solution between the ends of steps: what is kept of each step, and its values at any times.

A step is a row of numbers: its start t and its size h, and of all leaves together the values at its
two ends and the bends in between (see `tableaus`). For many output times the rows of all steps are
kept, in the order of the trips of the loop, one that was refused before another of the same start,
and all times are looked up at once. For few of them, or where there is no room for the rows, the
values are written as each step passes them.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.array import Array
from ..graph.functions.arranging import concatenate
from ..graph.functions.mathematics import where
from ..graph.lift import lift
from .right import Leaves

__all__ = ["Path", "row_of", "row_width", "still_row", "value_inside", "values_at"]

BENDS = 3


class Path(NamedTuple):
    """The solution from its start to where it ended."""

    kept: Array  # the rows of the steps, or the values at the output times
    count: Any  # how many there are
    t: Array  # the end
    y: Leaves  # the value there


def row_width(leaves: Leaves) -> int:
    """How many numbers a row has."""
    return 2 + (2 + BENDS) * sum(leaf.size for leaf in leaves)


def row_of(t: Array, size: Array, y: Leaves, new: Leaves, bends: tuple[Leaves, ...]) -> Array:
    """The row of a step."""
    parts = [part for leaves in (y, new, *bends) for part in leaves]
    return concatenate([part.ravel().astype(t.dtype) for part in (t, size, *parts)])


def still_row(t: Array, y: Leaves) -> Array:
    """The row of a time at which the solution stands."""
    none = [leaf * 0 for leaf in y]
    return row_of(t, t * 0, y, y, (none,) * BENDS)


def values_at(ts: Array, path: Path, rows: bool) -> Leaves:
    """The values at times; the first or the last one beyond."""
    flat = _all_values(ts, path.kept, path.count) if rows else path.kept
    ends = np.cumsum([leaf.size for leaf in path.y])
    before = (ts < path.t).reshape(-1, 1)
    results = []
    for leaf, end in zip(path.y, ends, strict=True):
        values = where(before, flat[:, end - leaf.size : end], leaf.ravel())
        results.append(values.reshape(ts.shape[0], *leaf.shape).astype(leaf.dtype))
    return results


@lift
def value_inside(t: Any, row: Any) -> Any:
    """The value at a time inside of a step, or those at several ones."""
    share = _share(t, row[0], row[1])[..., None]
    start, end, *bends = row[2:].reshape(2 + BENDS, -1)
    # Term by term: a product of small matrices would be a call of its own.
    bend = bends[-1]
    for other in reversed(bends[:-1]):
        bend = bend * share + other
    return (1 - share) * start + share * end + share * (1 - share) * bend


@lift
def _all_values(ts: Any, rows: Any, count: Any) -> Any:
    starts = jax.lax.stop_gradient(rows[:, 0])
    starts = jnp.where(jnp.arange(len(starts)) < count, starts, jnp.inf)
    place = jnp.searchsorted(starts, jax.lax.stop_gradient(ts), side="right") - 1
    place = jnp.maximum(place, 0)
    # Times and values apart: XLA copies what it finds of short rows several times otherwise.
    t, size = rows[:, :2].T.at[:, place].get(mode="promise_in_bounds")
    parts = rows[:, 2:].reshape(len(rows), 2 + BENDS, -1).at[place].get(mode="promise_in_bounds")
    return _inside(ts, t, size, parts)


def _inside(ts: Any, t: Any, size: Any, parts: Any) -> Any:
    share = _share(ts, t, size)
    bend = share * (1 - share)
    weights = jnp.stack([1 - share, share, *(bend * share**i for i in range(BENDS))], -1)
    return jnp.einsum("...j,...jk->...k", weights, parts, precision="highest")


def _share(ts: Any, t: Any, size: Any) -> Any:
    """How far times are on the way from the start of a step to its end."""
    return jnp.where(size > 0, (ts - t) / jnp.where(size > 0, size, 1), 0)
