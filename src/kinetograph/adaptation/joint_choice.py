"""The choice of the coordinates of jointly normal unknowns during warm-up.

The unknowns of a block (`joint_normal`) are sampled in their own forms, or in coordinates that are
standard normal given information about the block. Coordinates are judged as the forms of
`centring_choice`: by D, the mean of log sd(y) + log sd(slope of y), which is 0 for independent
normal numbers. A block asks for information at the starting point, or, if it is large, when no
forms are good. The host computes it between two blocks of transitions: minus the second derivatives
of the log density at the starting point, or at the mean of the draws.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels.moments import Moments
from .centring_choice import EVERY, FIRST, SKIPPED

__all__ = ["LEAST", "MANY", "UNUSED", "WANTED", "JointChoice"]

# The first number of the information, if it is not in use.
UNUSED, WANTED = -1.0, -2.0
WORTH = 0.2  # D of the best forms from which information is asked for,
MANY, WORTH_OF_MANY = 64, 0.3  # and of more elements, whose map costs as much as many gradients
AGAIN = 0.3  # D given information from which it is asked for again
WORSE = 0.02  # D by which the written form must be better to be taken again
LEAST = SKIPPED + FIRST + EVERY  # transitions of a warm-up that can judge the coordinates
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

    current: JointMoments
    next: JointMoments
    centre: Any  # the free state at which the information is asked for
    tried: Any  # whether it has been asked for
    changed: Any  # the transition of the last change

    @classmethod
    def start(cls, size: int, free_size: int, dtype: Any) -> "JointChoice":
        """Empty windows."""
        evidence = Moments.start(np.empty((ROWS, size), dtype))
        none = JointMoments(evidence, Moments.start(np.empty(free_size, dtype)))
        centre = np.zeros(free_size, dtype)
        return cls(none, none, centre, np.zeros((), bool), jnp.int32(0))

    def update(
        self, evidence: Any, free: Any, information: Any, least: Any, done: Any, late: Any
    ) -> "tuple[JointChoice, Any, Any, Any]":
        """Add the evidence of a transition, and its free state.

        `least` is D of the best form of each element, or infinite. Returns the new state, the
        information, the scale of each element as written, and whether the written form is taken.
        """
        skip = done < SKIPPED
        current, following = (
            jax.tree.map(partial(jnp.where, skip), old, old.add(evidence, free))
            for old in (self.current, self.next)
        )
        count = done + 1 - SKIPPED
        due = (count >= FIRST) & (count % EVERY == 0) & (late - done > EVERY)
        written, used, scale = divergences(current.evidence)
        in_use = information[0, 0] >= 0
        best = _mean(jnp.minimum(used, least))
        written, used = _mean(written), _mean(used)
        back = due & in_use & (written < used - WORSE)
        worth = WORTH if evidence.shape[-1] <= MANY else WORTH_OF_MANY
        first = ~in_use & ~self.tried & (best > worth)
        asks = due & ~back & (first | (in_use & (used > AGAIN)))
        state = jnp.where(asks, WANTED, jnp.where(back, UNUSED, information[0, 0]))
        information = _with_first(information, state)
        empty = jax.tree.map(jnp.zeros_like, following)
        centre = jnp.where(asks, current.free.mean, self.centre)
        current = jax.tree.map(partial(jnp.where, due), following, current)
        following = jax.tree.map(partial(jnp.where, due), empty, following)
        # Draws in other coordinates tell nothing about those in use.
        current = jax.tree.map(partial(jnp.where, asks | back), empty, current)
        changed = jnp.where(asks | back, done + 1, self.changed)
        choice = JointChoice(current, following, centre, self.tried | asks, changed)
        return choice, information, scale, back


def divergences(moments: Moments) -> tuple[Any, Any, Any]:
    """D as written, D in use, and a scale as written."""
    spread = 0.5 * jnp.log(moments.squares / jnp.maximum(moments.count - 1, 1))
    return spread[0] + spread[1], spread[2] + spread[3], jnp.exp(0.5 * (spread[0] - spread[1]))


def _mean(values: Any) -> Any:
    """The mean over the elements that have moved."""
    finite = jnp.isfinite(values)
    return jnp.sum(jnp.where(finite, values, 0.0)) / jnp.maximum(jnp.sum(finite), 1)


def _with_first(information: Any, value: Any) -> Any:
    first = np.zeros(information.shape, bool)
    first[0, 0] = True
    return jnp.where(first, value, information)
