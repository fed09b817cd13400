"""The diagonal metric, estimated from draws and gradients.

The Fisher divergence between the posterior and a normal distribution with diagonal covariance is
smallest for

    variance_i = sqrt(Var(q_i) / Var(d log pi / d q_i)).

For a Gaussian this is exact from any two draws. Both variances are running variances over two
overlapping windows: the older window is in use, and the younger one replaces it when it has enough
draws.

Source: A. Seyboldt, E. Carlson, B. Carpenter, Preconditioning Hamiltonian Monte Carlo by minimising
the Fisher divergence, arXiv:2603.18845.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels.moments import Moments
from .windows import varies

__all__ = ["FisherMetric", "first_scale"]

# Estimates outside of this range are ignored, such as the one of a coordinate that has not moved.
SMALLEST, LARGEST = 1e-10, 1e10
PRIOR_DRAWS = 5.0  # the weight of the present scale, in draws


class FisherMetric(NamedTuple):
    """The window in use, and the window that will replace it."""

    current: Moments  # of two rows: the draw and the gradient
    next: Moments

    @classmethod
    def start(cls, size: int, dtype: Any) -> "FisherMetric":
        """Make two empty windows."""
        none = Moments.start(np.empty((2, size), dtype))
        return cls(none, none)

    def update(self, q: Any, gradient: Any, switch: Any) -> "FisherMetric":
        """Add a draw with its gradient.

        With `switch` the younger window replaces the older one afterwards.
        """
        sample = jnp.stack([q, gradient])
        current, following = self.current.add(sample), self.next.add(sample)
        blank = jax.tree.map(jnp.zeros_like, following)

        def chosen(switched: Moments, otherwise: Moments) -> Moments:
            return jax.tree.map(partial(jnp.where, switch), switched, otherwise)

        return FisherMetric(chosen(following, current), chosen(blank, following))

    def estimate(self, fallback: Any) -> Any:
        """The estimated sqrt(variance_i); `fallback` if there is no usable estimate."""
        var_q, var_gradient = self.current.squares
        scale = jnp.sqrt(jnp.sqrt(var_q / var_gradient))
        # With one draw both variances are 0 and the scale is NaN.
        usable = (scale > SMALLEST) & (scale < LARGEST)
        usable &= varies(self.current.count, self.current.mean[1], var_gradient)
        return jnp.where(usable, scale, fallback)

    def scale(self, before: Any) -> Any:
        """The estimate from n draws, shrunk towards the scale `before`.

        log scale = log before + n / (n + 5) (log estimate - log before)
        """
        count = self.current.count
        return before * (self.estimate(before) / before) ** (count / (count + PRIOR_DRAWS))


def first_scale(gradient: Any, curvature: Any = 0.0) -> Any:
    """A first estimate of the scales, from one point.

    A coordinate with a large gradient or a large curvature is taken to be narrow.
    """
    steepness = jnp.abs(gradient) + jnp.abs(curvature)
    return jnp.clip(1.0 / jnp.sqrt(steepness + 1e-20), 1e-3, 1e3)
