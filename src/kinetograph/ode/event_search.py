"""Events of a solution: the search in each step, the value afterwards.

The solution inside of a step is a polynomial (see `dense_output`), so a step is searched for sign
changes after it has been taken. The first change is found to the last bit by bisection, which has
no derivative. A Newton step at the root t,

    t - G(t) / G'(t),    G(t) = g(t, y(t)),

has the first derivatives of the root by all inputs of G (implicit function theorem); further Newton
steps add the second and third derivatives; higher ones are NaN. The solution continues from the
root, with another value if the event changes it. Because the time of the event has derivatives, all
that is computed from it has the right derivatives, too.
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
from ..graph.operations.operands import as_node
from .crossings import Change, bracket, first_change, next_sides
from .dense_output import Path, value_inside
from .events import Event, Occurrences
from .limited_derivatives import limited
from .right_hand_side import Leaves, Right, named
from .unreached_times import mark_rows

__all__ = ["EventState", "Watch"]

ORDERS = 3  # the highest derivative of the time of an event
PARTS = 8  # parts of a step; changes are searched for between their ends
SAME_TIME = 2**8  # rounding errors of the time; an event may not follow itself within them
NOISE = 2**10  # rounding errors of a function in a step; values below them count as 0


class EventState(NamedTuple):
    """The state of all events, a loop variable of the integrator."""

    sides: Any  # the side of each g; see `crossings`
    settled: Any  # for each event, whether it has happened at the present time
    counts: Any  # the number of occurrences of each event
    latest: Any  # the time of the latest occurrence of each event
    occurrences: list[Array]  # for each event an array whose rows are a time and the value there
    ended: Any  # whether the solution has ended
    undefined: Any  # whether it has ended because its continuation is not defined


class EventSearch(NamedTuple):
    """The result of the search in a step."""

    has_change: Any  # whether a function changes its sign
    change: Change
    samples: Any  # the times of the samples
    noise: Any  # for each function, the size below which its values count as 0


class Watch:
    """The events of a solution, in the integrator's direction of time."""

    def __init__(self, events: Sequence[Event], right: Right) -> None:
        self.events, self.right = list(events), right
        self.directions = np.array([event.direction for event in events], float)
        self._eps = float(np.finfo(right.like[0].dtype).eps)
        self._gs = [converted(event.g) for event in events]

    def begin(self, t: Array, y: Leaves, slopes: Leaves) -> EventState:
        """The state at the start.

        The side of a function g that is 0 there is the sign of its derivative.
        """
        for event in self.events:
            self._changed(event, t, y)  # so that mistakes in `change` are reported here
        sides = sign(self._values(t, y))
        zero = sides == 0
        sides = where(zero, sign(self._rates(t, y, slopes)), sides)
        width = 1 + sum(leaf.size for leaf in y)
        occurrences = [Array(as_node(np.zeros((e.keep or 1, width), t.dtype))) for e in self.events]
        event_count, false = len(self.events), Array(as_node(np.bool_(False)))
        return EventState(
            stop_gradient(sides),
            zero,
            Array(as_node(np.zeros(event_count, np.int32))),
            Array(as_node(np.full(event_count, -np.inf, t.dtype))),
            occurrences,
            false,
            false,
        )

    def search(self, t: Array, until: Array, row: Array, events: EventState) -> EventSearch:
        """Search a step, given by its row, for a sign change."""
        t, until, row = stop_gradient(t), stop_gradient(until), stop_gradient(row)
        shares = np.arange(PARTS, dtype=t.dtype) / PARTS
        samples = concatenate([t + shares * (until - t), until.reshape(1)])
        values = self._values_inside(samples, row)
        signs = sign(values)
        # A jump before the step may have changed a sign; rounding has not.
        noise = NOISE * self._eps * abs(values).max(axis=0)
        first = where(events.settled | (abs(values[0]) <= noise), events.sides, signs[0])
        signs = concatenate([first.reshape(1, -1), signs[1:]])
        change = first_change(signs, events.sides, self.directions)
        return EventSearch(change.place >= 0, change, samples, noise)

    def pass_step(self, accepted: Array, search: EventSearch, events: EventState) -> EventState:
        """The state after a rejected step or one without a change."""
        sides = where(accepted, search.change.after, events.sides)
        return events._replace(sides=sides, settled=events.settled & ~accepted)

    def take_event(
        self, t: Array, row: Array, search: EventSearch, events: EventState
    ) -> tuple[Array, Leaves, Leaves, EventState]:
        """Go to the first change in a step.

        Returns its time, the value after it, the slopes there and the state of the events.
        """
        place, which, before, _ = search.change
        high = search.samples[place]
        low = where(place > 0, search.samples[maximum(place - 1, 0)], high)
        constant_row = stop_gradient(row)

        def changed(times: Array) -> Array:
            return (which & (sign(self._values_inside(times, constant_row)) != before)).any(axis=1)

        low, high = bracket(changed, low, high)
        at_low, at_high = self._values_inside(stack([low, high]), constant_row)
        chosen = argmax(which & (sign(at_high) != before))
        root = place > 0  # otherwise a jump at the start of the step has changed the sign
        branches = [
            partial(self._take_event, i, t, row, high, root) for i in range(len(self.events))
        ]
        results = switch(chosen, branches, strict=True) if len(branches) > 1 else branches[0]()
        time, old, new, ended = results
        at_time = at_high[chosen]
        is_repeated = time - events.latest[chosen] <= SAME_TIME * self._eps * abs(time)
        undefined = stop_gradient(is_repeated) | (at_time != at_time)
        time = where(undefined, stop_gradient(high), time)
        slopes = self.right(time, new)
        value_after, rate = self._values(time, new), self._rates(time, new, slopes)
        noise = search.noise + where(place > 0, 8 * maximum(abs(at_low), abs(at_high)), 0.0)
        side_after = where(abs(value_after) > noise, sign(value_after), sign(rate))
        is_chosen = (np.arange(len(self.events)) == chosen) & ~undefined
        is_known = abs(at_high) > search.noise
        sides = next_sides(where(is_known, sign(at_high), 0.0), before, self.directions)
        entry = concatenate([(self.right.sign * time).reshape(1), *(leaf.ravel() for leaf in old)])
        occurrences = []
        for i, rows in enumerate(events.occurrences):
            place_of_row = events.counts[i]
            is_stored = is_chosen[i] & (place_of_row < rows.shape[0])
            index = where(is_stored, place_of_row, 0)
            occurrences.append(rows.at[index].add(where(is_stored, entry.astype(rows.dtype), 0.0)))
        state = EventState(
            stop_gradient(where(is_chosen, side_after, sides)),
            is_chosen | (events.settled & (place == 0)),
            events.counts + is_chosen.astype(np.int32),
            where(is_chosen, stop_gradient(time), events.latest),
            occurrences,
            ended | undefined,
            undefined,
        )
        return time, new, slopes, state

    def occurrences(self, events: EventState, failed: Array, path: Path) -> list[Array]:
        """The number, the times and the values of each event's occurrences.

        The times of events that did not happen are infinite, or NaN if the solution has failed.
        """
        results = []
        for i, rows in enumerate(events.occurrences):
            count = events.counts[i]
            never = self.right.sign * np.full(rows.shape[0], np.inf, rows.dtype)
            times = where(np.arange(rows.shape[0]) < count, rows[:, 0], never)
            results.append(count)
            results += mark_rows([times], where(failed, count, np.int32(rows.shape[0])), path)
            leaves = vmap(self._leaves)(rows[:, 1:])
            results += mark_rows(leaves, count, path)
        return results

    def results(self, arrays: Sequence[Array]) -> list[Occurrences]:
        """The user's `Occurrences`, from the arrays of `occurrences`."""
        results, size = [], 2 + len(self.right.like)
        for i, event in enumerate(self.events):
            count, *rows = arrays[i * size : (i + 1) * size]
            times, *leaves = rows if event.keep else [leaf[0] for leaf in rows]
            results.append(Occurrences(count, times, self.right.structure.fill(leaves)))
        return results

    def _take_event(
        self, i: int, t: Array, row: Array, near: Array, root: Array
    ) -> tuple[Array, Leaves, Leaves, Array]:
        """The time of an event, and the values before and after it.

        The last result is whether the solution ends there.
        """
        event = self.events[i]
        now = stop_gradient(near) + 0
        constant_row = stop_gradient(row)
        rate = jvp(self._value(i, now, self._leaves(value_inside(now, constant_row))), now, 1.0)
        time, slope = now, where(root, stop_gradient(rate), 1.0)
        for _ in range(ORDERS):
            value = self._value(i, time, self._leaves(value_inside(time, row)))
            step = where(root, value, 0.0) / slope
            time = time - (step - stop_gradient(step))  # keeps the value from the bisection
        time = where(root, limited(time, ORDERS), t)
        old = self._leaves(value_inside(time, row))
        new = self._changed(event, time, old)
        return time, old, new, Array(as_node(np.bool_(event.terminal)))

    def _changed(self, event: Event, t: Array, y: Leaves) -> Leaves:
        """The value after an event."""
        if event.change is None:
            return y
        right = self.right
        like = (right.structure, right.paths, right.like)
        change = Right(event.change, *like, 1, "change", "the value after the event")
        return change.leaves(right.sign * t, y)

    def _values(self, t: Array, y: Leaves) -> Array:
        return stack([self._value(i, t, y) for i in range(len(self.events))])

    def _values_inside(self, times: Array, row: Array) -> Array:
        """The values of all functions g at times inside of a step."""
        flat = value_inside(times, row)
        return vmap(lambda time, y: self._values(time, self._leaves(y)))(times, flat)

    def _rates(self, t: Array, y: Leaves, slopes: Leaves) -> Array:
        """The derivatives by time of all functions g along the solution."""
        at, leaves = t + 0, [leaf + 0 for leaf in y]
        one = Array(as_node(np.ones((), t.dtype)))
        return stop_gradient(jvp(self._values(at, leaves), [at, *leaves], [one, *slopes]))

    def _value(self, i: int, t: Array, y: Leaves) -> Array:
        """The value of a function g, which must be one floating-point number."""
        right, event = self.right, self.events[i]
        result = self._gs[i](right.sign * t, right.structure.fill(y))
        name = named(event.g, f"g of events[{i}]")
        if result is None:
            raise ValueError(f"solve: {name} must have a return value")
        try:
            node = as_node(result, "solve")
        except KinetographError as error:
            raise type(error)(f"solve: the result of {name}: {error}") from None
        if node.dtype.kind != "f":
            raise TypeError(
                f"solve: {name} returns {node.dtype}; an event is where a floating-point number "
                "changes its sign: return y - c, for example, not y > c"
            )
        if node.shape:
            raise ShapeError(
                f"solve: {name} returns shape {node.shape}; an event is where one number changes "
                "its sign: write an event for each element"
            )
        return Array(node).astype(t.dtype)

    def _leaves(self, flat: Array) -> Leaves:
        """The leaves of a vector of all elements."""
        ends = np.cumsum([leaf.size for leaf in self.right.like])
        return [
            flat[int(end) - leaf.size : int(end)].reshape(leaf.shape).astype(leaf.dtype)
            for leaf, end in zip(self.right.like, ends, strict=True)
        ]
