"""The choice of the coordinates of jointly normal vectors during warm-up.

A vector that is normal given other unknowns can be sampled as written, or in coordinates that are
standard normal if each element f_i were observed with normal noise of the precision h_i, as
r_i / h_i. Draws f and slopes g of the log likelihood give both numbers by a linear regression,

    g = r - h f,    h = -cov(f, g) / var(f),    r = mean(g) + h mean(f)

The coordinates in use are judged as the forms of `centring_choice`: by D, the mean of
log sd(y) + log sd(slope of y), which is 0 for independent normal numbers.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kernels.moments import Moments
from .windows import added, aligned, blank, fractions, joined, log_spreads, where_chains

__all__ = ["VectorChoice"]

POOLED = 10.0  # draws at which an element counts as much as the mean of its vector
WORTH = 0.05  # D from which other coordinates of few elements are tried
LEAST = 0.02  # the same for many elements, whose mean D is known more exactly
SPREAD = 0.4  # standard errors of an element's D in a window of 50 draws, about 2
WORSE = 0.02  # D by which the written form must be better to be taken again
ROWS = 6  # of the evidence: f, its slope g, the free number x, its slope, y, its slope


class VectorMoments(NamedTuple):
    """Running moments of the evidence, with the covariance of f and g."""

    each: Moments  # (6, elements)
    cross: Any  # (elements,)

    @classmethod
    def start(cls, size: int, dtype: Any) -> "VectorMoments":
        """The moments before the first transition."""
        return cls(Moments.start(np.empty((ROWS, size), dtype)), np.zeros(size, dtype))

    def add(self, evidence: Any) -> "VectorMoments":
        """The moments with one more transition."""
        each = self.each.add(evidence)
        change = (evidence[0] - self.each.mean[0]) * (evidence[1] - each.mean[1])
        return VectorMoments(each, self.cross + change)

    def joined(self, other: "VectorMoments") -> "VectorMoments":
        """The moments of the evidence of both, of stacked chains."""
        _, weight = fractions(self.each.count, other.each.count)
        f, g = ((other.each.mean - self.each.mean)[..., i, :] for i in (0, 1))
        cross = self.cross + other.cross + aligned(weight, f) * f * g
        return VectorMoments(joined(self.each, other.each), cross)

    def information(self, parts: Sequence[slice]) -> Any:
        """h and r of each element, (..., 2, elements), on the host."""
        f, g = (self.each.mean[..., i, :] for i in (0, 1))
        count, squares = np.asarray(self.each.count)[..., None], self.each.squares[..., 0, :]
        weight = count / (count + POOLED)
        slope = weight * self.cross + (1 - weight) * _mean(self.cross, parts)
        squares = weight * squares + (1 - weight) * _mean(squares, parts)
        with np.errstate(all="ignore"):
            h = np.maximum(-slope / squares, 0.0)
        h = np.where(np.isfinite(h) & np.isfinite(f) & np.isfinite(g), h, 0.0)
        return np.stack([h, np.where(h > 0, g + h * f, 0.0)], -2)

    def divergences(self, parts: Sequence[slice]) -> tuple[Any, Any, Any]:
        """D of both kinds of coordinates, and a scale, on the host.

        These are D as written, D in the coordinates in use, and the scale of each element as
        written.
        """
        spread = log_spreads(self.each, slice(3, None, 2))
        written, used = (_mean(spread[..., i, :] + spread[..., i + 1, :], parts) for i in (2, 4))
        return written, used, np.exp(0.5 * (spread[..., 2, :] - spread[..., 3, :]))


class VectorChoice(NamedTuple):
    """The moments in two windows, and what has been tried."""

    window: VectorMoments
    before: VectorMoments
    tried: Any  # whether the other coordinates of an element have been tried
    changed: Any  # the transition of the last change

    @classmethod
    def start(cls, size: int, dtype: Any) -> "VectorChoice":
        """Empty windows."""
        none = VectorMoments.start(size, dtype)
        return cls(none, none, np.zeros(size, bool), np.int32(0))

    def add(self, evidence: Any, done: Any) -> "VectorChoice":
        """Add the evidence of a transition."""
        return self._replace(window=added(self.window, done, evidence))

    def judged(
        self, information: Any, parts: Sequence[slice], transition: Any, alone: Any = True
    ) -> "tuple[VectorChoice, Any, Any, Any]":
        """The choice of stacked chains, on the host.

        `alone` tells whether an element has coordinates of its own. Returns the new state, the
        information of each element, its scale, and whether its coordinates have changed.
        """
        moments = self.before.joined(self.window)
        written, used, scale = moments.divergences(parts)
        in_use = information[..., 0, :] >= 0
        worth = _worth(parts)
        first = alone & ~self.tried & (written > worth)
        back = alone & in_use & (written < used - WORSE)
        takes_again = alone & in_use & ~back & (used > worth)
        takes, leaves = (x[..., None, :] for x in (first | takes_again, back))
        estimates = moments.information(parts).astype(information.dtype)
        new = np.where(takes, estimates, information)
        new = np.where(leaves, np.array([[-1.0], [0.0]], new.dtype), new)
        changes = first | back | takes_again
        any_change = np.any(changes, -1)
        # Draws in other coordinates tell nothing about those in use.
        state = VectorChoice(
            blank(self.window),
            where_chains(any_change, blank(self.window), self.window),
            self.tried | first,
            np.where(any_change, transition, self.changed).astype(np.int32),
        )
        return state, new, np.where(back, scale, 1.0), changes


def _worth(parts: Sequence[slice]) -> np.ndarray:
    """D from which other coordinates are tried, for each element."""
    sizes = np.array([part.stop - part.start for part in parts])
    return np.repeat(np.clip(SPREAD / np.sqrt(sizes), LEAST, WORTH), sizes)


def _mean(values: Any, parts: Sequence[slice]) -> Any:
    """The mean of each vector, for each of its elements.

    Infinite values do not count.
    """
    finite, means = np.isfinite(values), np.array(values)
    for part in parts:
        total = np.sum(np.where(finite[..., part], values[..., part], 0.0), -1, keepdims=True)
        means[..., part] = total / np.maximum(np.sum(finite[..., part], -1, keepdims=True), 1)
    return means
