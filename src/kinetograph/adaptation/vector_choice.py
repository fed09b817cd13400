"""The choice of the coordinates of jointly normal vectors during warm-up.

A vector that is normal given other unknowns can be sampled as written, or in coordinates that are
standard normal if each element f_i were observed with normal noise of the precision h_i, as
r_i / h_i. Draws f and slopes g of the log likelihood give both numbers by a linear regression,

    g = r - h f,    h = -cov(f, g) / var(f),    r = mean(g) + h mean(f)

The coordinates in use are judged as the forms of `centring_choice`: by D, the mean of
log sd(y) + log sd(slope of y), which is 0 for independent normal numbers.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels.moments import Moments
from .centring_choice import EVERY, FIRST, SKIPPED

__all__ = ["VectorChoice"]

POOLED = 10.0  # draws at which an element counts as much as the mean of its vector
WORTH = 0.05  # D from which other coordinates are tried
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

    def information(self, parts: Sequence[slice]) -> Any:
        """h and r of each element, (2, elements)."""
        f, g = self.each.mean[:2]
        weight = self.each.count / (self.each.count + POOLED)
        slope = weight * self.cross + (1 - weight) * _mean(self.cross, parts)
        squares = weight * self.each.squares[0] + (1 - weight) * _mean(self.each.squares[0], parts)
        h = jnp.maximum(-slope / squares, 0.0)
        h = jnp.where(jnp.isfinite(h) & jnp.isfinite(f) & jnp.isfinite(g), h, 0.0)
        return jnp.stack([h, jnp.where(h > 0, g + h * f, 0.0)])

    def divergences(self, parts: Sequence[slice]) -> tuple[Any, Any, Any]:
        """D of both kinds of coordinates, and a scale.

        These are D as written, D in the coordinates in use, and the scale of each element as
        written.
        """
        spread = 0.5 * jnp.log(self.each.squares / jnp.maximum(self.each.count - 1, 1))
        written, used = (_mean(spread[i] + spread[i + 1], parts) for i in (2, 4))
        return written, used, jnp.exp(0.5 * (spread[2] - spread[3]))


class VectorChoice(NamedTuple):
    """The moments in two windows, and what has been tried."""

    current: VectorMoments
    next: VectorMoments
    tried: Any  # whether the other coordinates of an element have been tried
    changed: Any  # the transition of the last change

    @classmethod
    def start(cls, size: int, dtype: Any) -> "VectorChoice":
        """Empty windows."""
        none = VectorMoments.start(size, dtype)
        return cls(none, none, np.zeros(size, bool), jnp.int32(0))

    def update(
        self,
        evidence: Any,
        information: Any,
        parts: Sequence[slice],
        done: Any,
        late: Any,
        alone: Any = True,
    ) -> "tuple[VectorChoice, Any, Any, Any]":
        """Add the evidence of a transition.

        `alone` tells whether an element has coordinates of its own. Returns the new state, the
        information of each element, its scale, and whether its coordinates have changed.
        """
        skip = done < SKIPPED
        current, following = (
            jax.tree.map(lambda new, old: jnp.where(skip, old, new), old.add(evidence), old)
            for old in (self.current, self.next)
        )
        count = done + 1 - SKIPPED
        due = (count >= FIRST) & (count % EVERY == 0) & (late - done > EVERY)
        written, used, scale = current.divergences(parts)
        in_use = information[0] >= 0
        first = alone & ~self.tried & (written > WORTH)
        back = alone & in_use & (written < used - WORSE)
        again = alone & in_use & ~back & (used > WORTH)
        found = current.information(parts)
        new = jnp.where(first | again, found, information)
        new = jnp.where(back, jnp.asarray([[-1.0], [0.0]], new.dtype), new)
        changes = due & (first | back | again)
        any_change = jnp.any(changes)
        blank = jax.tree.map(jnp.zeros_like, following)
        current = jax.tree.map(partial(jnp.where, due), following, current)
        following = jax.tree.map(partial(jnp.where, due), blank, following)
        # Draws in other coordinates tell nothing about those in use.
        current = jax.tree.map(partial(jnp.where, any_change), blank, current)
        state = VectorChoice(
            current,
            following,
            self.tried | (due & first),
            jnp.where(any_change, done + 1, self.changed),
        )
        return state, jnp.where(due, new, information), jnp.where(back, scale, 1.0), changes


def _mean(values: Any, parts: Sequence[slice]) -> Any:
    """The mean of each vector, for each of its elements.

    Infinite values do not count.
    """
    finite = jnp.isfinite(values)
    means = []
    for part in parts:
        total = jnp.sum(jnp.where(finite[part], values[part], 0.0))
        mean = total / jnp.maximum(jnp.sum(finite[part]), 1)
        means.append(jnp.broadcast_to(mean, (part.stop - part.start,)))
    return jnp.concatenate(means)
