"""Where numbers change their sign: first between samples, then to the last bit.

The sign that a number has had is its side: 1 or -1, or 0 while it is not known. It changes where a
sample is on the other side, or is 0, if it may change in that direction. A sample that is not a
number is taken for a change, too, so that what is not known does not go unseen.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..autograph.directives import set_loop_options
from ..autograph.lazily import convert_lazily
from ..graph.array import Array
from ..graph.lift import lift

__all__ = ["Change", "bracket", "first_change", "next_sides"]

SECTIONS = 16
MOST_SECTIONS = 1024  # more than there can be between any two numbers


class Change(NamedTuple):
    """The first of some samples at which there is a change."""

    place: Any  # the number of the sample; -1 if there is none
    which: Any  # of all numbers, those that change there
    before: Any  # the sides of all before
    after: Any  # those behind the last sample


def first_change(signs: Array, sides: Array, directions: np.ndarray) -> Change:
    """The first change in signs of shape (samples, numbers); direction 0 is either."""
    return Change(*_first_change(signs, sides, directions))


def _changed(signs: Any, sides: Any, directions: Any) -> Any:
    """Those that change."""
    either = (directions == 0) | (sides == -directions)
    return ((signs != sides) & (sides != 0) & either) | jnp.isnan(signs) | jnp.isnan(sides)


@lift
def next_sides(signs: Any, sides: Any, directions: Any) -> Any:
    """The sides behind a sample, but of those that change there the ones before."""
    stays = (signs == 0) | _changed(signs, sides, directions)
    return jnp.where(stays, sides, signs)


@lift
def _first_change(signs: Any, sides: Any, directions: Any) -> Any:
    changes, befores = [], []
    for row in signs:
        befores.append(sides)
        changes.append(_changed(row, sides, directions))
        sides = jnp.where(row == 0, sides, row)
    change = jnp.stack(changes)
    rows = change.any(axis=1)
    first = jnp.argmax(rows)
    place = jnp.where(rows.any(), first, -1).astype(np.int32)
    return place, change[first], jnp.stack(befores)[first], sides


@convert_lazily
def bracket(changed: Any, low: Array, high: Array) -> tuple[Array, Array]:
    """Two neighbouring times, of which the second only has changed, as `high` has.

    `changed` tells it of a vector of times.
    """
    shares = np.arange(1, SECTIONS, dtype=low.dtype) / SECTIONS
    while _apart(low, high):
        set_loop_options(maximum_iterations=MOST_SECTIONS, grad="none", name="root")
        samples = low + shares * (high - low)
        low, high = _narrower(samples, changed(samples), low, high)
    return low, high


def _apart(low: Array, high: Array) -> Array:
    middle = low + (high - low) / 2
    return (low < middle) & (middle < high)


@lift
def _narrower(samples: Any, changed: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The section with the first change."""
    times = jnp.concatenate([low[None], samples, high[None]])
    behind = (changed | (samples >= high)) & (samples > low)
    first = jnp.argmax(jnp.append(behind, True))
    return times[first], times[first + 1]
