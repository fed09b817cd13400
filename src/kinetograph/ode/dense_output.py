"""The solution inside of steps, at any times.

A step is stored as a row of numbers: its start t, its size h, and for all leaves together the
values at the two ends of the step and the bends in between (see `tableaus`). If there are many
output times, the rows of all steps are kept in the order of the trips of the loop, and the values
at all times are computed at once. A rejected step comes before the next attempt, which has the same
start; so the search for the last row at or before a time finds the accepted one. If there are few
output times, or no room for the rows, the values are written as each step passes the times.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.array import Array
from ..graph.functions.arranging import concatenate
from ..graph.functions.mathematics import where
from ..graph.lift import lift
from .right_hand_side import Leaves

__all__ = ["Path", "row_of", "row_width", "still_row", "value_inside", "values_at"]

BENDS = 3


class Path(NamedTuple):
    """The solution from its start to the last time that was reached."""

    values: Array  # the rows of the steps, or the values at the output times
    count: Any  # the number of rows or values that were written
    t: Array  # the last time
    y: Leaves  # the value at that time


def row_width(leaves: Leaves) -> int:
    """The number of elements of a row."""
    return 2 + (2 + BENDS) * sum(leaf.size for leaf in leaves)


def row_of(t: Array, size: Array, y: Leaves, new: Leaves, bends: tuple[Leaves, ...]) -> Array:
    """The row of a step, with zeros for missing bends."""
    missing = ([leaf * 0 for leaf in y],) * (BENDS - len(bends))
    parts = [part for leaves in (y, new, *bends, *missing) for part in leaves]
    return concatenate([part.ravel().astype(t.dtype) for part in (t, size, *parts)])


def still_row(t: Array, y: Leaves) -> Array:
    """The row of a step of size 0 at a time."""
    return row_of(t, t * 0, y, y, ())


def values_at(ts: Array, path: Path, rows: bool) -> Leaves:
    """The values at times.

    Times outside of the path have the value at its start or at its end.
    """
    flat = _all_values(ts, path.values, path.count) if rows else path.values
    ends = np.cumsum([leaf.size for leaf in path.y])
    before = (ts < path.t).reshape(-1, 1)
    results = []
    for leaf, end in zip(path.y, ends, strict=True):
        values = where(before, flat[:, end - leaf.size : end], leaf.ravel())
        results.append(values.reshape(ts.shape[0], *leaf.shape).astype(leaf.dtype))
    return results


@lift
def value_inside(t: Any, row: Any) -> Any:
    """The values at one or several times inside of a step."""
    share = _share(t, row[0], row[1])[..., None]
    start, end, *bends = row[2:].reshape(2 + BENDS, -1)
    # Term by term: XLA makes a separate call of a product of small matrices.
    bend = bends[-1]
    for coefficient in reversed(bends[:-1]):
        bend = bend * share + coefficient
    return (1 - share) * start + share * end + share * (1 - share) * bend


@lift
def _all_values(ts: Any, rows: Any, count: Any) -> Any:
    starts = jax.lax.stop_gradient(rows[:, 0])
    starts = jnp.where(jnp.arange(len(starts)) < count, starts, jnp.inf)
    index = jnp.searchsorted(starts, jax.lax.stop_gradient(ts), side="right") - 1
    index = jnp.maximum(index, 0)
    # Times and values are gathered separately: otherwise XLA copies the gathered rows several
    # times.
    t, size = rows[:, :2].T.at[:, index].get(mode="promise_in_bounds")
    parts = rows[:, 2:].reshape(len(rows), 2 + BENDS, -1).at[index].get(mode="promise_in_bounds")
    return _inside(ts, t, size, parts)


def _inside(ts: Any, t: Any, size: Any, parts: Any) -> Any:
    """The values at times, each inside of a different step."""
    share = _share(ts, t, size)
    bend = share * (1 - share)
    weights = jnp.stack([1 - share, share, *(bend * share**i for i in range(BENDS))], -1)
    return jnp.einsum("...j,...jk->...k", weights, parts, precision="highest")


def _share(ts: Any, t: Any, size: Any) -> Any:
    """The fraction of a step that lies before a time."""
    return jnp.where(size > 0, (ts - t) / jnp.where(size > 0, size, 1), 0)
