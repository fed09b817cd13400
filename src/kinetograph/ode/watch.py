"""The events of a solution: looked for in each step, and what follows from them.

The solution inside of a step is a polynomial (see `dense_output`), and so a step is looked through
for changes when it has been made. The first one is found to the last bit by bisection, which has no
derivative; Newton's step at the root t,

    t - G(t) / G'(t),    G(t) = g(t, y(t)),

has that of the root by all that G is computed from (implicit function theorem), and two steps have
the second and third ones; those beyond are NaN. The solution goes on from there, with another value
if the event changes it: as its time has a derivative so has all that follows.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..autograph.operators.call import converted
from ..graph.array import Array
from ..graph.control.batch import vmap
from ..graph.control.branches import switch
from ..graph.derivatives import jvp
from ..graph.errors import KinetographError, ShapeError
from ..graph.functions.arranging import concatenate, stack
from ..graph.functions.mathematics import abs, maximum, sign, stop_gradient, where
from ..graph.functions.reductions import argmax
from ..graph.operations.elementwise import as_node
from .crossings import Change, bracket, first_change, next_sides
from .dense_output import Path, value_inside
from .events import Event, Occurrences
from .orders import limited
from .right import Leaves, Right, named
from .unreached import mark_rows

__all__ = ["Seen", "Watch"]

ORDERS = 3  # of derivatives that the time of an event has
PARTS = 8  # of a step, between which a change is looked for
AGAIN = 2**8  # roundings of the time within which nothing happens twice
NOISE = 2**10  # roundings, of what a function is in a step: what is smaller may be 0


class Seen(NamedTuple):
    """What has happened: it is carried from step to step."""

    sides: Any  # of each g; see `crossings`
    settled: Any  # of each, whether it has happened at the present time
    counts: Any
    latest: Any  # of each, when it happened last
    kept: list[Array]  # of each event rows of a time and the value there
    over: Any  # whether the solution has ended
    lost: Any  # whether it did as what follows cannot be told


class Look(NamedTuple):
    """What is seen of a step."""

    found: Any  # whether anything changes
    change: Change
    samples: Any  # the times
    noise: Any  # numbers as small may be 0


class Watch:
    """Events, of which all functions take the time and the leaves in the integrator's direction."""

    def __init__(self, events: Sequence[Event], right: Right) -> None:
        self.events, self.right = list(events), right
        self.directions = np.array([event.direction for event in events], float)
        self._eps = float(np.finfo(right.like[0].dtype).eps)
        self._gs = [converted(event.g) for event in events]

    def begin(self, t: Array, y: Leaves, slopes: Leaves) -> Seen:
        """What is known at the start: of what is 0 there, where it goes."""
        for event in self.events:
            self._changed(event, t, y)  # so that its mistakes show up here
        sides = sign(self._values(t, y))
        zero = sides == 0
        sides = where(zero, sign(self._rates(t, y, slopes)), sides)
        width = 1 + sum(leaf.size for leaf in y)
        kept = [Array(as_node(np.zeros((e.keep or 1, width), t.dtype))) for e in self.events]
        none, no = len(self.events), Array(as_node(np.bool_(False)))
        return Seen(
            stop_gradient(sides),
            zero,
            Array(as_node(np.zeros(none, np.int32))),
            Array(as_node(np.full(none, -np.inf, t.dtype))),
            kept,
            no,
            no,
        )

    def look(self, t: Array, until: Array, row: Array, seen: Seen) -> Look:
        """Look for a change in a step, of which the row is given."""
        t, until, row = stop_gradient(t), stop_gradient(until), stop_gradient(row)
        shares = np.arange(PARTS, dtype=t.dtype) / PARTS
        samples = concatenate([t + shares * (until - t), until.reshape(1)])
        values = self._values_inside(samples, row)
        signs = sign(values)
        # A jump before the step may have changed a sign; rounding has not.
        noise = NOISE * self._eps * abs(values).max(axis=0)
        first = where(seen.settled | (abs(values[0]) <= noise), seen.sides, signs[0])
        signs = concatenate([first.reshape(1, -1), signs[1:]])
        change = first_change(signs, seen.sides, self.directions)
        return Look(change.place >= 0, change, samples, noise)

    def passed(self, accepted: Array, look: Look, seen: Seen) -> Seen:
        """What is known behind a step without a change, or one that was refused."""
        sides = where(accepted, look.change.after, seen.sides)
        return seen._replace(sides=sides, settled=seen.settled & ~accepted)

    def happen(
        self, t: Array, row: Array, look: Look, seen: Seen
    ) -> tuple[Array, Leaves, Leaves, Seen]:
        """The first change of a step: its time, the value then, the slopes, what is known."""
        place, which, before, _ = look.change
        high = look.samples[place]
        low = where(place > 0, look.samples[maximum(place - 1, 0)], high)
        still = stop_gradient(row)

        def changed(times: Array) -> Array:
            return (which & (sign(self._values_inside(times, still)) != before)).any(axis=1)

        low, high = bracket(changed, low, high)
        at_low, at_high = self._values_inside(stack([low, high]), still)
        chosen = argmax(which & (sign(at_high) != before))
        root = place > 0  # or a jump has changed it
        branches = [partial(self._happen, i, t, row, high, root) for i in range(len(self.events))]
        results = switch(chosen, branches, strict=True) if len(branches) > 1 else branches[0]()
        time, old, new, over = results
        at_time = at_high[chosen]
        again = time - seen.latest[chosen] <= AGAIN * self._eps * abs(time)
        lost = stop_gradient(again) | (at_time != at_time)
        time = where(lost, stop_gradient(high), time)
        slopes = self.right(time, new)
        now, rate = self._values(time, new), self._rates(time, new, slopes)
        noise = look.noise + where(place > 0, 8 * maximum(abs(at_low), abs(at_high)), 0.0)
        own = where(abs(now) > noise, sign(now), sign(rate))
        mine = (np.arange(len(self.events)) == chosen) & ~lost
        known = abs(at_high) > look.noise
        sides = next_sides(where(known, sign(at_high), 0.0), before, self.directions)
        entry = concatenate([(self.right.sign * time).reshape(1), *(leaf.ravel() for leaf in old)])
        kept = []
        for i, rows in enumerate(seen.kept):
            place_of_row = seen.counts[i]
            wanted = mine[i] & (place_of_row < rows.shape[0])
            index = where(wanted, place_of_row, 0)
            kept.append(rows.at[index].add(where(wanted, entry.astype(rows.dtype), 0.0)))
        found = Seen(
            stop_gradient(where(mine, own, sides)),
            mine | (seen.settled & (place == 0)),
            seen.counts + mine.astype(np.int32),
            where(mine, stop_gradient(time), seen.latest),
            kept,
            over | lost,
            lost,
        )
        return time, new, slopes, found

    def occurrences(self, seen: Seen, failed: Array, path: Path) -> list[Array]:
        """Of each event how often it happened, when, and the leaves of the values.

        Times that did not come are infinite, and unknown if the solution has failed before.
        """
        results = []
        for i, rows in enumerate(seen.kept):
            count = seen.counts[i]
            never = self.right.sign * np.full(rows.shape[0], np.inf, rows.dtype)
            times = where(np.arange(rows.shape[0]) < count, rows[:, 0], never)
            results.append(count)
            results += mark_rows([times], where(failed, count, np.int32(rows.shape[0])), path)
            leaves = vmap(self._leaves)(rows[:, 1:])
            results += mark_rows(leaves, count, path)
        return results

    def results(self, told: Sequence[Array]) -> list[Occurrences]:
        """What `occurrences` gives, for the user."""
        results, size = [], 2 + len(self.right.like)
        for i, event in enumerate(self.events):
            count, *rows = told[i * size : (i + 1) * size]
            times, *leaves = rows if event.keep else [leaf[0] for leaf in rows]
            results.append(Occurrences(count, times, self.right.structure.fill(leaves)))
        return results

    def _happen(
        self, i: int, t: Array, row: Array, near: Array, root: Array
    ) -> tuple[Array, Leaves, Leaves, Array]:
        """An event: its time, the values before and behind it, whether the solution ends there."""
        event = self.events[i]
        now = stop_gradient(near) + 0
        still = stop_gradient(row)
        rate = jvp(self._value(i, now, self._leaves(value_inside(now, still))), now, 1.0)
        time, slope = now, where(root, stop_gradient(rate), 1.0)
        for _ in range(ORDERS):
            value = self._value(i, time, self._leaves(value_inside(time, row)))
            step = where(root, value, 0.0) / slope
            time = time - (step - stop_gradient(step))  # the value stays that of the bisection
        time = where(root, limited(time, ORDERS), t)
        old = self._leaves(value_inside(time, row))
        new = self._changed(event, time, old)
        return time, old, new, Array(as_node(np.bool_(event.terminal)))

    def _changed(self, event: Event, t: Array, y: Leaves) -> Leaves:
        """The value behind an event."""
        if event.change is None:
            return y
        right = self.right
        like = (right.structure, right.paths, right.like)
        change = Right(event.change, *like, 1, "change", "what follows it")
        return change.leaves(right.sign * t, y)

    def _values(self, t: Array, y: Leaves) -> Array:
        return stack([self._value(i, t, y) for i in range(len(self.events))])

    def _values_inside(self, times: Array, row: Array) -> Array:
        """All numbers at times inside of a step."""
        flat = value_inside(times, row)
        return vmap(lambda time, y: self._values(time, self._leaves(y)))(times, flat)

    def _rates(self, t: Array, y: Leaves, slopes: Leaves) -> Array:
        """How fast all numbers change along the solution."""
        at, leaves = t + 0, [leaf + 0 for leaf in y]
        one = Array(as_node(np.ones((), t.dtype)))
        return stop_gradient(jvp(self._values(at, leaves), [at, *leaves], [one, *slopes]))

    def _value(self, i: int, t: Array, y: Leaves) -> Array:
        """What g gives, checked."""
        right, event = self.right, self.events[i]
        result = self._gs[i](right.sign * t, right.structure.fill(y))
        name = named(event.g, f"g of events[{i}]")
        if result is None:
            raise ValueError(f"solve: {name} must have a return value")
        try:
            node = as_node(result, "solve")
        except KinetographError as error:
            raise type(error)(f"solve: what {name} returns: {error}") from None
        if node.dtype.kind != "f":
            raise TypeError(
                f"solve: {name} returns {node.dtype}; an event is where a number of floating point "
                "changes its sign: return y - c, say, not y > c"
            )
        if node.shape:
            raise ShapeError(
                f"solve: {name} returns shape {node.shape}; an event is where one number changes "
                "its sign: write an event for each of them"
            )
        return Array(node).astype(t.dtype)

    def _leaves(self, flat: Array) -> Leaves:
        ends = np.cumsum([leaf.size for leaf in self.right.like])
        return [
            flat[int(end) - leaf.size : int(end)].reshape(leaf.shape).astype(leaf.dtype)
            for leaf, end in zip(self.right.like, ends, strict=True)
        ]
