"""The loop of steps: plain Python, which `kg.autograph` turns into a loop of the graph.

Steps are as long as the error allows, wherever the output times lie: of each there is a row from
which the solution inside of it follows (see `dense_output`). The step size is no function of the
parameters for derivatives: these are those of the chosen steps, taken as they are.
"""

from typing import Any, NamedTuple

import numpy as np

from ..autograph.directives import set_loop_options
from ..autograph.lazily import convert_lazily
from ..graph.array import Array
from ..graph.elementwise import as_node
from ..graph.functions import log, stop_gradient, where
from ..graph.mathematics import abs, exp, maximum, minimum
from .arguments import Times
from .dense_output import Path, row_of, row_width, value_inside
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
    rows: bool  # whether there is room for those of all steps
    on_limit: str
    grad: str
    inner: str  # the same of the loop over the outputs in a step


@convert_lazily
def integrate(
    method: Method, times: Times, y: Leaves, slopes: Leaves, step: Any, limits: Limits
) -> tuple[Path, Any]:
    """The steps, from the value and the slopes at the first time.

    And whether it got stuck: no further step can be made, and not for want of steps.
    """
    tiny = 16 * float(np.finfo(times.start.dtype).eps)
    t, end = times.start, times.end
    width = row_width(y) if limits.rows else sum(leaf.size for leaf in y)
    count = limits.steps if limits.rows else times.outputs.shape[0]
    kept = Array(as_node(np.zeros((count, width), t.dtype)))
    n = 0
    before: Any = 0.0  # the logarithm of the error of the last step that was taken whole
    least = SHORTEST * abs(end - times.start)
    # A step too small to change the time ends it, unless it is all that is left.
    while t < end and (step > tiny * maximum(abs(t), least) or step >= end - t):
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
        size = where(last, size, meant)
        made = method.step(t, y, slopes, size)
        row = row_of(t, size, y, made.new, made.bends)
        if limits.rows:
            # Added to zeros, not set: the derivative then has nothing to write.
            kept = kept.at[n].add(row)
            n = n + 1
        square = made.square
        accepted = square <= 1
        square = where(square < LARGEST, square, LARGEST)  # or it is NaN
        error = 0.5 * log(maximum(square, SMALLEST))
        factor = SAFETY * exp(-NOW * error + BEFORE * where(accepted, before, 0.0))
        most = where(accepted, GROW, 1.0)
        step = stop_gradient(size) * minimum(maximum(factor, SHRINK), most)
        y = [where(accepted, a, b) for a, b in zip(made.new, y, strict=True)]
        slopes = [where(accepted, a, b) for a, b in zip(made.slopes, slopes, strict=True)]
        t = where(accepted, where(last, end, t + size), t)
        before = where(accepted, error, before)
        if not limits.rows:
            while n < count and times.outputs[n] < t:
                set_loop_options(maximum_iterations=count, grad=limits.inner, name="outputs")
                kept = kept.at[n].add(value_inside(times.outputs[n], row))
                n = n + 1
    able = t <= end and (step > tiny * maximum(abs(t), least) or step >= end - t)
    return Path(kept, n, t, y), t < end and not able
