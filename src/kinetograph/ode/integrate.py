"""The loop of steps, in plain Python that `kg.autograph` converts.

Steps are as long as the error allows, independently of the output times: each step gives a row,
from which the solution inside of the step is computed (see `dense_output`). Derivatives treat the
chosen step sizes as constants. Only a step that ends at a stop changes its size with the time of
that stop (see `stops`).
"""

from typing import Any, NamedTuple

import numpy as np

from ..autograph.directives import set_loop_options
from ..autograph.lazily import convert_lazily
from ..graph.array import Array
from ..graph.functions.mathematics import abs, exp, log, maximum, minimum, stop_gradient, where
from ..graph.operations.operands import as_node
from .dense_output import Path, row_of, row_width, still_row, value_inside
from .event_search import EventState
from .right_hand_side import Leaves
from .step import Trial
from .stops import Stops
from .times import Times
from .unreached_times import Ending

__all__ = ["StepLimits", "integrate"]

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
NOW, BEFORE = 0.17, 0.04  # exponents of the last two steps' errors, for errors of order 5
SMALLEST, LARGEST = 1e-20, 1e30  # squared errors outside of these bounds are clipped
SHORTEST = 1e-12  # share of the interval; below it the smallest step shrinks no further with t
BESIDE = 8  # rounding errors between a stop and the times at which f is evaluated around it


class StepLimits(NamedTuple):
    """Bounds on the steps, and how the loop is differentiated."""

    steps: int  # the largest number of steps
    longest: Any  # the largest size of a step; None for no bound
    rows: bool  # whether the rows of all steps are kept
    grad: str  # the argument `grad` of `kg.while_loop`


@convert_lazily
def integrate(
    method: Trial,
    times: Times,
    stops: Stops,
    y: Leaves,
    slopes: Leaves,
    step: Any,
    limits: StepLimits,
    watch: Any = None,
    events: Any = None,
) -> tuple[Path, Ending, Any]:
    """Take the steps from the value and slopes at the first time.

    `watch` (a `Watch`) and its state `seen` are given if there are events. Returns the path, the
    reason for which the loop ended, and the state of the events.
    """
    eps = float(np.finfo(times.start.dtype).eps)
    tiny = 16 * eps
    now_exponent, before_exponent = NOW * (5 / method.order), BEFORE * (5 / method.order)
    t, end = times.start, times.end
    width = row_width(y) if limits.rows else sum(leaf.size for leaf in y)
    count = limits.steps if limits.rows else times.outputs.shape[0]
    written_values = Array(as_node(np.zeros((count, width), t.dtype)))
    rows_written = 0
    before: Any = 0.0  # the logarithm of the error of the last accepted step that no stop cut
    least_time = SHORTEST * abs(end - times.start)
    has_stops = stops.times is not None
    stops_passed: Any = 0
    stop: Any = np.inf
    if has_stops:
        stops_passed = (stops.times < t).sum()
        stop = stops.times[minimum(stops_passed, len(stops.times) - 1)]
    has_events = watch is not None
    while _continues(t, end, stop, step, tiny * maximum(abs(t), least_time), events):
        set_loop_options(
            maximum_iterations=limits.steps,
            grad=limits.grad,
            name="steps",
        )
        if times.fixed and stops.fixed and not has_events:
            t = stop_gradient(t)
        beside = stop_gradient(BESIDE * eps * maximum(abs(t), least_time))
        if has_stops and stop <= t:
            # A stop at the time of the previous stop, or at the start: the value moves on to it.
            later = stop - t
            y = [leaf + later * slope for leaf, slope in zip(y, slopes, strict=True)]
            t = t + later
            if stops.amounts is not None:
                y = [
                    leaf + amount[stops_passed]
                    for leaf, amount in zip(y, stops.amounts, strict=True)
                ]
            slopes = method.right(t + beside, y)
            row = still_row(t, y)
            before = 0.0
            stops_passed = stops_passed + 1
            stop = stops.times[minimum(stops_passed, len(stops.times) - 1)]
        else:
            best_size = stop_gradient(step)
            if limits.longest is not None:
                best_size = minimum(best_size, limits.longest)
            target = minimum(stop, end) if has_stops else end
            size = target - t
            reaches_target = best_size >= size
            size = where(reaches_target, size, best_size)
            until = t + size
            if has_stops:
                beside = stop_gradient(BESIDE * eps * maximum(abs(target), least_time))
                until = where(reaches_target & (target >= stop), target - beside, until)
            trial = method.step(t, y, slopes, size, until)
            row = row_of(t, size, y, trial.new, trial.bends)
            square = trial.square
            accepted = square <= 1
            square = where(square < LARGEST, square, LARGEST)  # also if it is NaN
            error = 0.5 * log(maximum(square, SMALLEST))
            factor = SAFETY * exp(
                -now_exponent * error + before_exponent * where(accepted, before, 0.0)
            )
            largest_factor = where(accepted, GROW, 1.0)
            step = stop_gradient(size) * minimum(maximum(factor, SHRINK), largest_factor)
            if has_stops:
                # A step that a stop cut short says little about how large the next one may be.
                step = where(accepted & reaches_target, maximum(step, best_size), step)
                error = where(reaches_target, before, error)
            arrival = where(reaches_target, target, t + size)
            search: Any = watch.search(t, arrival, row, events) if has_events else None
            if has_events and (accepted & search.has_change):
                t, y, slopes, events = watch.take_event(t, row, search, events)
                before = 0.0
            else:
                y = [where(accepted, a, b) for a, b in zip(trial.new, y, strict=True)]
                slopes = [where(accepted, a, b) for a, b in zip(trial.slopes, slopes, strict=True)]
                t = where(accepted, arrival, t)
                before = where(accepted, error, before)
                events = watch.pass_step(accepted, search, events) if has_events else None
        if limits.rows:
            # Added to zeros, not set: the derivative of an addition needs no stored values.
            written_values = written_values.at[rows_written].add(row)
            rows_written = rows_written + 1
        else:
            while rows_written < count and times.outputs[rows_written] < t:
                set_loop_options(maximum_iterations=count, grad="stack", name="outputs")
                written_values = written_values.at[rows_written].add(
                    value_inside(times.outputs[rows_written], row)
                )
                rows_written = rows_written + 1
    continues = _continues(t, end, stop, step, tiny * maximum(abs(t), least_time), events)
    arrived = t >= end if events is None else ((t >= end) | events.ended) & ~events.undefined
    return (
        Path(written_values, rows_written, t, y),
        Ending(~continues & ~arrived, continues),
        events,
    )


def _continues(
    t: Any, end: Any, stop: Any, step: Any, shortest: Any, events: EventState | None
) -> Any:
    """Whether the solution continues with a stop or a step.

    A step that is too small to change the time ends the loop, unless it reaches the end or a stop.
    """
    has_step = (step > shortest) | (step >= minimum(stop, end) - t)
    going = ((stop <= t) & (t <= end)) | ((t < end) & has_step)
    return going if events is None else going & ~events.ended
