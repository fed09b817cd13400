"""Slice sampling with doubled intervals, and the test that makes it exact.

    doubling    an interval of width w, placed at random around x, doubles to a random side until
                both ends are outside of the slice, at most m times
    shrinkage   x' is uniform on the interval; if it is not accepted it becomes the new end on its
                side of x, and another x' is drawn
    acceptance  x' in the slice is accepted if doubling from x' could have ended with the same
                interval: when the interval is halved towards x', no half that contains x' but not x
                may have both ends outside of the slice

Source   R. Neal, Slice sampling, Annals of Statistics 31 (2003) 705-767, figures 4, 5 and 6.
"""

from typing import Any

import numpy as np

from ..autograph.lazily import convert_lazily
from ..graph.functions.mathematics import log1p, where
from ..graph.ranges import range
from .points import Point

__all__ = ["TINY", "sweep"]

TINY = 2.0**-40  # in widths: an interval as short as this contains x alone
WIDER = 1.1  # in widths: a longer interval has been doubled; the excess allows for rounding


@convert_lazily
def sweep(sampler: Any, at: Point) -> Any:
    """Update each coordinate once.

    Returns the position and the numbers of evaluations and of proposals. Places on the line through
    x along a coordinate are measured from x, in widths.
    """
    beta = sampler.inverse_temperature
    x, log_p, size = at.q, -beta * at.potential, at.q.shape[0]
    evaluations: Any = 0
    proposals: Any = 0
    for i in range(size):
        along = where(np.arange(size) == i, sampler.width, 0.0)
        level = log_p + log1p(-sampler.noise.uniform(name="slice"))
        interval, steps_out = _grown(sampler, x, along, level)
        evaluations = evaluations + steps_out
        left, right = interval[0], interval[1]
        offset, log_p_new, accepted = 0.0, log_p, False
        while not accepted and right - left > TINY:
            offset = left + (right - left) * sampler.noise.uniform(name="slice")
            log_p_new = -beta * sampler.potential(x + offset * along)
            proposals = proposals + 1
            accepted = log_p_new >= level
            if accepted:
                accepted, halvings = _reachable(sampler, x, along, level, offset, interval)
                evaluations = evaluations + halvings
            if not accepted:
                if offset < 0:
                    left = offset
                else:
                    right = offset
        if not accepted:  # the interval has closed around x
            offset, log_p_new = 0.0, log_p
        x = x + offset * along
        log_p = log_p_new
    return x, evaluations, proposals


@convert_lazily
def _grown(sampler: Any, x: Any, along: Any, level: Any) -> Any:
    """Double the interval; its ends, their log densities, and the evaluations."""
    beta = sampler.inverse_temperature
    left = -sampler.noise.uniform(name="slice")
    right = left + 1
    at_left, at_right, count = level, level, 0
    # The first two trips evaluate the initial ends, so that the program contains the model once.
    limit = 2 + sampler.max_doublings
    while count < 2 or (count < limit and (at_left > level or at_right > level)):
        to_left = sampler.noise.uniform(name="slice") < 0.5
        if count < 2:
            to_left = count < 1
        elif to_left:
            left = left - (right - left)
        else:
            right = right + (right - left)
        log_p = -beta * sampler.potential(x + where(to_left, left, right) * along)
        if to_left:
            at_left = log_p
        else:
            at_right = log_p
        count = count + 1
    return (left, right, at_left, at_right), count


@convert_lazily
def _reachable(sampler: Any, x: Any, along: Any, level: Any, offset: Any, interval: Any) -> Any:
    """Whether doubling from x' could give this interval; also the evaluations."""
    left, right, at_left, at_right = interval
    beta, apart, possible, count = sampler.inverse_temperature, False, True, 0
    while possible and right - left > WIDER:
        middle = (left + right) / 2
        log_p = -beta * sampler.potential(x + middle * along)
        apart = apart or (middle > 0) == (offset >= middle)  # x and x' are in different halves
        if offset < middle:
            right, at_right = middle, log_p
        else:
            left, at_left = middle, log_p
        possible = not (apart and at_left <= level and at_right <= level)
        count = count + 1
    return possible, count
