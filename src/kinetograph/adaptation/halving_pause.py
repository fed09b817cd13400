"""A pause of halvings, for chains that do not leave their start.

Far from the posterior every step changes the energy by more than the threshold of halvings, so that
each transition diverges and the chain stays. Whole steps lower the energy and are accepted. So
after some divergences in a row, steps are not halved for some transitions.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp

__all__ = ["HalvingPause"]

STUCK = 6  # divergences in a row
LENGTH = 50  # transitions of a pause


class HalvingPause(NamedTuple):
    """The state of the pause."""

    threshold: Any  # the threshold of the sampler
    stuck: Any  # divergences in a row
    left: Any  # transitions until the pause ends

    @classmethod
    def start(cls, threshold: Any) -> "HalvingPause":
        """The state before the first transition."""
        return cls(jnp.asarray(threshold), jnp.int32(0), jnp.int32(0))

    def update(self, diverging: Any, ends: Any) -> tuple["HalvingPause", Any]:
        """The state after a transition, and the threshold of the next one.

        If `ends` is true, the pause ends, and none begins.
        """
        stuck = jnp.where(diverging, self.stuck + 1, 0)
        begins = stuck >= STUCK
        left = jnp.where(begins, LENGTH, jnp.maximum(self.left - 1, 0))
        left = jnp.where(ends, 0, left)
        threshold = jnp.where(left > 0, jnp.inf, self.threshold).astype(self.threshold.dtype)
        return HalvingPause(self.threshold, jnp.where(begins, 0, stuck), left), threshold
