"""The loop of steps: plain Python, which `kg.autograph` turns into a loop of the graph.

A step that would go past the next time asked for is cut to land on it, and the step size that was
meant goes on behind. (Loops inside a loop over the times would each need a buffer for the longest
of them.) The step size is no function of the parameters for derivatives: these are those of the
chosen steps, taken as they are.
"""

from typing import Any, NamedTuple

import numpy as np

from ..autograph.directives import set_loop_options
from ..autograph.lazily import convert_lazily
from ..graph.array import Array
from ..graph.elementwise import as_node
from ..graph.functions import log, stop_gradient
from ..graph.mathematics import abs, exp, maximum, minimum
from .arguments import Times
from .right import Leaves
from .step import Method

__all__ = ["Limits", "integrate"]

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
NOW, BEFORE = 0.17, 0.04  # exponents of the errors of this step and of the one before
SMALLEST, LARGEST = 1e-20, 1e30  # squared errors that are told apart
SHORTEST = 1e-12  # of the interval: near time 0 steps are no smaller than at this time


class Limits(NamedTuple):
    """How many steps there may be, what happens then, and how the loop is differentiated."""

    steps: int
    on_limit: str
    grad: str


@convert_lazily
def integrate(
    method: Method, times: Times, y: Leaves, slopes: Leaves, step: Any, limits: Limits
) -> tuple[Leaves, Any, Any]:
    """The values at all times, from the value and the slopes at the first; NaN if not reached.

    And how many times were reached, and whether it got stuck: no further step can be made, and not
    for want of steps.
    """
    count = times.ends.shape[0]
    tiny = 16 * float(np.finfo(times.start.dtype).eps)
    results = [Array(as_node(np.full((count, *leaf.shape), np.nan, leaf.dtype))) for leaf in y]
    if times.first > 0:
        results = [result.at[0].set(leaf) for result, leaf in zip(results, y, strict=True)]
    i = times.first
    t, end = times.start, times.ends[min(i, count - 1)]
    before: Any = 0.0  # the logarithm of the error of the last step that was taken whole
    least = SHORTEST * abs(times.ends[-1] - times.start)
    # A step too small to change the time ends it, unless it is all that is left.
    while i < count and t <= end and (step > tiny * maximum(abs(t), least) or step >= end - t):
        set_loop_options(
            maximum_iterations=limits.steps,
            on_limit=limits.on_limit,
            grad=limits.grad,
            name="steps",
        )
        if times.fixed:
            t = stop_gradient(t)
        meant = stop_gradient(step)
        size = end - t
        last = meant >= size
        if not last:
            size = meant
        new, new_slopes, square = method.step(t, y, slopes, size)
        accepted = square <= 1
        if not square < LARGEST:  # or it is NaN
            square = LARGEST
        error = 0.5 * log(maximum(square, SMALLEST))
        most, known = GROW, before
        if not accepted:
            most, known = 1.0, 0.0
        factor = SAFETY * exp(-NOW * error + BEFORE * known)
        step = stop_gradient(size) * minimum(maximum(factor, SHRINK), most)
        if accepted:
            y, slopes = new, new_slopes
            if last:
                # A step that was cut says little about how large it might have been.
                step = maximum(step, meant)
                results = [r.at[i].set(leaf) for r, leaf in zip(results, y, strict=True)]
                t = end
                i = i + 1
                end = times.ends[minimum(i, count - 1)]
            else:
                before = error
                t = t + size
    able = t <= end and (step > tiny * maximum(abs(t), least) or step >= end - t)
    return results, i, i < count and not able
