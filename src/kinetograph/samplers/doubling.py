"""Slice sampling with intervals that double, and the test that makes it exact.

    doubling    an interval of width w around x, at a random place, doubles to a random side until
                both ends are outside of the slice, at most m times
    shrinkage   x' uniform on the interval; if it is not accepted it becomes the new end on its side
                of x, and another is drawn
    acceptance  x' in the slice is accepted if doubling from x' could have ended with the same
                interval: halving it towards x', no half that holds x' but not x may have both ends
                outside

Source   R. Neal, Slice sampling, Annals of Statistics 31 (2003) 705-767, figures 4, 5 and 6.
"""

from typing import Any

import numpy as np

from ..autograph.lazily import convert_lazily
from ..graph.functions.mathematics import log1p, where
from ..graph.ranges import range
from .points import Point

__all__ = ["TINY", "sweep"]

TINY = 2.0**-40  # of the width: an interval as short as this holds x alone
WIDER = 1.1  # widths: an interval that has been doubled, in spite of rounding


@convert_lazily
def sweep(sampler: Any, at: Point) -> Any:
    """Each coordinate once; the position, and how many evaluations and proposals it took.

    Places on the line through x along a coordinate are measured in widths, from x.
    """
    beta = sampler.inverse_temperature
    x, log_p, size = at.q, -beta * at.potential, at.q.shape[0]
    evaluations: Any = 0
    proposals: Any = 0
    for i in range(size):
        along = where(np.arange(size) == i, sampler.width, 0.0)
        level = log_p + log1p(-sampler.noise.uniform(name="slice"))
        interval, grown = _grown(sampler, x, along, level)
        evaluations = evaluations + grown
        left, right = interval[0], interval[1]
        offset, found, accepted = 0.0, log_p, False
        while not accepted and right - left > TINY:
            offset = left + (right - left) * sampler.noise.uniform(name="slice")
            found = -beta * sampler.potential(x + offset * along)
            proposals = proposals + 1
            accepted = found >= level
            if accepted:
                accepted, halved = _reachable(sampler, x, along, level, offset, interval)
                evaluations = evaluations + halved
            if not accepted:
                if offset < 0:
                    left = offset
                else:
                    right = offset
        if not accepted:  # an interval that closed around x
            offset, found = 0.0, log_p
        x = x + offset * along
        log_p = found
    return x, evaluations, proposals


@convert_lazily
def _grown(sampler: Any, x: Any, along: Any, level: Any) -> Any:
    """The ends of the interval and the log densities there, and how many were evaluated."""
    beta = sampler.inverse_temperature
    left = -sampler.noise.uniform(name="slice")
    right = left + 1
    at_left, at_right, count = level, level, 0
    # The first two trips look at the ends as they are: one place that evaluates.
    most = 2 + sampler.max_doublings
    while count < 2 or (count < most and (at_left > level or at_right > level)):
        to_left = sampler.noise.uniform(name="slice") < 0.5
        if count < 2:
            to_left = count < 1
        elif to_left:
            left = left - (right - left)
        else:
            right = right + (right - left)
        found = -beta * sampler.potential(x + where(to_left, left, right) * along)
        if to_left:
            at_left = found
        else:
            at_right = found
        count = count + 1
    return (left, right, at_left, at_right), count


@convert_lazily
def _reachable(sampler: Any, x: Any, along: Any, level: Any, offset: Any, interval: Any) -> Any:
    """Whether doubling from x' could have ended here, and how many evaluations it took to see."""
    left, right, at_left, at_right = interval
    beta, apart, possible, count = sampler.inverse_temperature, False, True, 0
    while possible and right - left > WIDER:
        middle = (left + right) / 2
        found = -beta * sampler.potential(x + middle * along)
        apart = apart or (middle > 0) == (offset >= middle)  # x and x' are in different halves
        if offset < middle:
            right, at_right = middle, found
        else:
            left, at_left = middle, found
        possible = not (apart and at_left <= level and at_right <= level)
        count = count + 1
    return possible, count
