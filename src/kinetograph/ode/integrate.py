"""The loop of steps: plain Python, which `kg.autograph` turns into a loop of the graph.

Steps are as long as the error allows, wherever the output times lie: of each there is a row from
which the solution inside of it follows (see `dense_output`). The step size is no function of the
parameters for derivatives: these are those of the chosen steps, taken as they are. Only a step that
ends at a stop moves with it (see `stops`).
"""

from typing import Any, NamedTuple

import numpy as np

from ..autograph.directives import set_loop_options
from ..autograph.lazily import convert_lazily
from ..graph.array import Array
from ..graph.functions.mathematics import abs, exp, log, maximum, minimum, stop_gradient, where
from ..graph.operations.elementwise import as_node
from .dense_output import Path, row_of, row_width, still_row, value_inside
from .right import Leaves
from .step import Trial
from .stops import Stops
from .times import Times
from .unreached import Ending
from .watch import Seen

__all__ = ["Limits", "integrate"]

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
NOW, BEFORE = 0.17, 0.04  # exponents of the errors of this step and of the one before
SMALLEST, LARGEST = 1e-20, 1e30  # squared errors that are told apart
SHORTEST = 1e-12  # of the interval: near time 0 steps are no smaller than at this time
BESIDE = 8  # roundings: as far from a stop f is taken on its sides


class Limits(NamedTuple):
    """How many steps there may be, what happens then, and how the loop is differentiated."""

    steps: int
    longest: Any  # the size of a step; None for any
    rows: bool  # whether there is room for those of all steps
    grad: str


@convert_lazily
def integrate(
    method: Trial,
    times: Times,
    stops: Stops,
    y: Leaves,
    slopes: Leaves,
    step: Any,
    limits: Limits,
    watch: Any = None,
    seen: Any = None,
) -> tuple[Path, Ending, Any]:
    """The steps, from the value and the slopes at the first time; a `Watch` is for events."""
    eps = float(np.finfo(times.start.dtype).eps)
    tiny = 16 * eps
    t, end = times.start, times.end
    width = row_width(y) if limits.rows else sum(leaf.size for leaf in y)
    count = limits.steps if limits.rows else times.outputs.shape[0]
    kept = Array(as_node(np.zeros((count, width), t.dtype)))
    n = 0
    before: Any = 0.0  # the logarithm of the error of the last step that was taken whole
    least = SHORTEST * abs(end - times.start)
    stopping = stops.times is not None
    passed: Any = 0  # stops
    stop: Any = np.inf
    if stopping:
        passed = (stops.times < t).sum()
        stop = stops.times[minimum(passed, len(stops.times) - 1)]
    watching = watch is not None
    while _goes_on(t, end, stop, step, tiny * maximum(abs(t), least), seen):
        set_loop_options(
            maximum_iterations=limits.steps,
            grad=limits.grad,
            name="steps",
        )
        if times.fixed and stops.fixed and not watching:
            t = stop_gradient(t)
        beside = stop_gradient(BESIDE * eps * maximum(abs(t), least))
        if stopping and stop <= t:
            # Of two stops at a time, or one at the start, each moves what it follows.
            later = stop - t
            y = [leaf + later * slope for leaf, slope in zip(y, slopes, strict=True)]
            t = t + later
            if stops.amounts is not None:
                y = [leaf + amount[passed] for leaf, amount in zip(y, stops.amounts, strict=True)]
            slopes = method.right(t + beside, y)
            row = still_row(t, y)
            before = 0.0
            passed = passed + 1
            stop = stops.times[minimum(passed, len(stops.times) - 1)]
        else:
            meant = stop_gradient(step)
            if limits.longest is not None:
                meant = minimum(meant, limits.longest)
            target = minimum(stop, end) if stopping else end
            size = target - t
            last = meant >= size
            size = where(last, size, meant)
            until = t + size
            if stopping:
                beside = stop_gradient(BESIDE * eps * maximum(abs(target), least))
                until = where(last & (target >= stop), target - beside, until)
            made = method.step(t, y, slopes, size, until)
            row = row_of(t, size, y, made.new, made.bends)
            square = made.square
            accepted = square <= 1
            square = where(square < LARGEST, square, LARGEST)  # or it is NaN
            error = 0.5 * log(maximum(square, SMALLEST))
            factor = SAFETY * exp(-NOW * error + BEFORE * where(accepted, before, 0.0))
            most = where(accepted, GROW, 1.0)
            step = stop_gradient(size) * minimum(maximum(factor, SHRINK), most)
            if stopping:
                # A step that was cut says little about how large it might have been.
                step = where(accepted & last, maximum(step, meant), step)
                error = where(last, before, error)
            behind = where(last, target, t + size)
            look: Any = watch.look(t, behind, row, seen) if watching else None
            if watching and (accepted & look.found):
                t, y, slopes, seen = watch.happen(t, row, look, seen)
                before = 0.0
            else:
                y = [where(accepted, a, b) for a, b in zip(made.new, y, strict=True)]
                slopes = [where(accepted, a, b) for a, b in zip(made.slopes, slopes, strict=True)]
                t = where(accepted, behind, t)
                before = where(accepted, error, before)
                seen = watch.passed(accepted, look, seen) if watching else None
        if limits.rows:
            # Added to zeros, not set: the derivative then has nothing to write.
            kept = kept.at[n].add(row)
            n = n + 1
        else:
            while n < count and times.outputs[n] < t:
                set_loop_options(maximum_iterations=count, grad="stack", name="outputs")
                kept = kept.at[n].add(value_inside(times.outputs[n], row))
                n = n + 1
    going = _goes_on(t, end, stop, step, tiny * maximum(abs(t), least), seen)
    arrived = t >= end if seen is None else ((t >= end) | seen.over) & ~seen.lost
    return Path(kept, n, t, y), Ending(~going & ~arrived, going), seen


def _goes_on(t: Any, end: Any, stop: Any, step: Any, shortest: Any, seen: Seen | None) -> Any:
    """Whether there is a stop to go over, or a step to make, and no event has ended it.

    A step too small to change the time ends it, unless it is all that is left.
    """
    makes = (step > shortest) | (step >= minimum(stop, end) - t)
    going = ((stop <= t) & (t <= end)) | ((t < end) & makes)
    return going if seen is None else going & ~seen.over
