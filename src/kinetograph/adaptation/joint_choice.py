"""The choice of the coordinates of jointly normal unknowns during warm-up.

The unknowns of a block (`joint_normal`) are sampled in their own forms, or in coordinates that are
standard normal given information about the block. Coordinates are judged as the forms of
`centring_choice`: by D, the mean of log sd(y) + log sd(slope of y), which is 0 for independent
normal numbers. A block asks for information at the starting point, or, if it is large, when no
forms are good. The host computes it between two blocks of transitions: minus the second derivatives
of the log density at the starting point, or at the mean of the draws.
"""

from typing import Any, NamedTuple

import numpy as np

from ..kernels.moments import Moments
from .windows import EVERY, FIRST, added, blank, joined, log_spreads, where_chains

__all__ = ["LEAST", "MANY", "UNUSED", "WANTED", "JointChoice"]

# The first number of the information, if it is not in use.
UNUSED, WANTED = -1.0, -2.0
WORTH = 0.2  # D of the best forms from which information is asked for,
MANY, WORTH_OF_MANY = 64, 0.3  # and of more elements, whose map costs as much as many gradients
AGAIN = 0.3  # D given information from which it is asked for again
WORSE = 0.02  # D by which the written form must be better to be taken again
LEAST = FIRST + EVERY  # transitions of a warm-up that can judge the coordinates
ROWS = 4  # of the evidence: the free number x, its slope, the coordinate y, its slope


class JointMoments(NamedTuple):
    """Running moments of the evidence, (4, elements), and of the free state."""

    evidence: Moments
    free: Moments

    def add(self, evidence: Any, free: Any) -> "JointMoments":
        """The moments with one more transition."""
        return JointMoments(self.evidence.add(evidence), self.free.add(free))


class JointChoice(NamedTuple):
    """The moments in two windows, and what has been asked for."""

    window: JointMoments
    before: JointMoments
    centre: Any  # the free state at which the information is asked for
    tried: Any  # whether it has been asked for
    changed: Any  # the transition of the last change

    @classmethod
    def start(cls, size: int, free_size: int, dtype: Any) -> "JointChoice":
        """Empty windows."""
        evidence = Moments.start(np.empty((ROWS, size), dtype))
        none = JointMoments(evidence, Moments.start(np.empty(free_size, dtype)))
        centre = np.zeros(free_size, dtype)
        return cls(none, none, centre, np.zeros((), bool), np.int32(0))

    def add(self, evidence: Any, free: Any, done: Any) -> "JointChoice":
        """Add the evidence of a transition, and its free state."""
        return self._replace(window=added(self.window, done, evidence, free))

    def judged(
        self, information: Any, least: Any, transition: Any
    ) -> "tuple[JointChoice, Any, Any, Any]":
        """The choice of stacked chains, on the host.

        `least` is D of the best form of each element, or infinite. Returns the new state, the
        information, the scale of each element as written, and whether the written form is taken.
        """
        moments = JointMoments(*map(joined, self.before, self.window))
        written, used, scale = divergences(moments.evidence)
        in_use = information[..., 0, 0] >= 0
        best = _mean(np.minimum(used, least))
        written, used = _mean(written), _mean(used)
        back = in_use & (written < used - WORSE)
        worth = WORTH if scale.shape[-1] <= MANY else WORTH_OF_MANY
        first = ~in_use & ~self.tried & (best > worth)
        asks = ~back & (first | (in_use & (used > AGAIN)))
        information = np.array(information)
        information[..., 0, 0] = np.where(
            asks, WANTED, np.where(back, UNUSED, information[..., 0, 0])
        )
        # Draws in other coordinates tell nothing about those in use.
        choice = JointChoice(
            blank(self.window),
            where_chains(asks | back, blank(self.window), self.window),
            where_chains(asks, moments.free.mean, self.centre),
            self.tried | asks,
            np.where(asks | back, transition, self.changed).astype(np.int32),
        )
        return choice, information, scale, back


def divergences(moments: Moments) -> tuple[Any, Any, Any]:
    """D as written, D in use, and a scale as written."""
    spread = log_spreads(moments, slice(1, None, 2))
    x, x_slope, y, y_slope = (spread[..., i, :] for i in range(ROWS))
    return x + x_slope, y + y_slope, np.exp(0.5 * (x - x_slope))


def _mean(values: Any) -> Any:
    """The mean over the elements that have moved."""
    finite = np.isfinite(values)
    return np.sum(np.where(finite, values, 0.0), -1) / np.maximum(np.sum(finite, -1), 1)
