"""The diagonal metric from draws and gradients.

The Fisher divergence between the posterior and a normal with diagonal covariance is least for

    variance_i = sqrt(Var(q_i) / Var(d log pi / d q_i)),

exact for a Gaussian from any two draws. Both variances are running ones over two overlapping
windows: the older one is in use, the younger takes its place when it has enough draws.

Source: A. Seyboldt, E. Carlson, B. Carpenter, Preconditioning Hamiltonian Monte Carlo by minimising
the Fisher divergence, arXiv:2603.18845.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels.moments import Moments

__all__ = ["FisherMetric", "first_scale"]

# Scales stay in this range whatever the draws: a coordinate that has not moved tells nothing.
SMALLEST, LARGEST = 1e-10, 1e10
PRIOR_DRAWS = 5.0  # as many as the scale in use is worth beside the draws of a window


class FisherMetric(NamedTuple):
    """Two windows: the one in use, and the one that will replace it."""

    current: Moments  # rows: draws, gradients
    next: Moments

    @classmethod
    def start(cls, size: int, dtype: Any) -> "FisherMetric":
        """No draws yet."""
        none = Moments.start(np.empty((2, size), dtype))
        return cls(none, none)

    def update(self, q: Any, gradient: Any, switch: Any) -> "FisherMetric":
        """Add a draw with its gradient; `switch`: change to the younger window afterwards."""
        sample = jnp.stack([q, gradient])
        current, following = self.current.add(sample), self.next.add(sample)
        blank = jax.tree.map(jnp.zeros_like, following)

        def chosen(switched: Moments, otherwise: Moments) -> Moments:
            return jax.tree.map(partial(jnp.where, switch), switched, otherwise)

        return FisherMetric(chosen(following, current), chosen(blank, following))

    def estimate(self, fallback: Any) -> Any:
        """sqrt(variance) of each coordinate; `fallback` where there is nothing to go by."""
        var_q, var_gradient = self.current.squares
        scale = jnp.sqrt(jnp.sqrt(var_q / var_gradient))
        # Of one draw the variances are 0, and this is NaN.
        usable = (scale > SMALLEST) & (scale < LARGEST)
        return jnp.where(usable, scale, fallback)

    def scale(self, before: Any) -> Any:
        """The estimate from a window of n draws, shrunk towards the scale that was `before`.

        log scale = log before + n / (n + 5) (log estimate - log before)
        """
        count = self.current.count
        return before * (self.estimate(before) / before) ** (count / (count + PRIOR_DRAWS))


def first_scale(gradient: Any, curvature: Any = 0.0) -> Any:
    """A first guess: a coordinate with a steep slope, or a large curvature, is narrow."""
    steepness = jnp.abs(gradient) + jnp.abs(curvature)
    return jnp.clip(1.0 / jnp.sqrt(steepness + 1e-20), 1e-3, 1e3)
