"""Sign changes of functions: between samples first, then to the last bit.

The side of a function is the last sign that it had: 1 or -1, or 0 while no sign is known. A
function changes at a sample that is on the other side or is 0, if changes in that direction count.
A sample that is NaN counts as a change, too, so that an undefined function is reported and not
overlooked.
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
MOST_SECTIONS = 1024  # more halvings than there can be between any two numbers


class Change(NamedTuple):
    """The first sample at which a function changes its sign."""

    place: Any  # the index of the sample; -1 if no function changes
    which: Any  # for each function, whether it changes there
    before: Any  # the sides of all functions before that sample
    after: Any  # the sides of all functions after the last sample


def first_change(signs: Array, sides: Array, directions: np.ndarray) -> Change:
    """The first change in `signs`, an array of shape (samples, functions).

    `directions` holds the sign after the changes that count for each function, or 0 if both do.
    """
    return Change(*_first_change(signs, sides, directions))


def _changed(signs: Any, sides: Any, directions: Any) -> Any:
    """Whether each function changes at a sample."""
    either = (directions == 0) | (sides == -directions)
    return ((signs != sides) & (sides != 0) & either) | jnp.isnan(signs) | jnp.isnan(sides)


@lift
def next_sides(signs: Any, sides: Any, directions: Any) -> Any:
    """The sides after a sample.

    Functions that change at the sample keep the side that they had before.
    """
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
    """Two neighbouring times between which the change lies.

    `changed` says for each of a vector of times whether the change has happened. It has not at
    `low`, and has at `high`; so it is for the two times that are returned.
    """
    shares = np.arange(1, SECTIONS, dtype=low.dtype) / SECTIONS
    while _apart(low, high):
        set_loop_options(maximum_iterations=MOST_SECTIONS, grad="none", name="root")
        samples = low + shares * (high - low)
        low, high = _narrower(samples, changed(samples), low, high)
    return low, high


def _apart(low: Array, high: Array) -> Array:
    """Whether there is a floating-point number between the two."""
    middle = low + (high - low) / 2
    return (low < middle) & (middle < high)


@lift
def _narrower(samples: Any, changed: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The ends of the first section in which the change happens."""
    times = jnp.concatenate([low[None], samples, high[None]])
    behind = (changed | (samples >= high)) & (samples > low)
    first = jnp.argmax(jnp.append(behind, True))
    return times[first], times[first + 1]
