"""The diagonal metric from draws and gradients.

The Fisher divergence between the posterior and a normal with diagonal covariance is least for

    variance_i = sqrt(Var(q_i) / Var(d log pi / d q_i)),

exact for a Gaussian from any two draws. Both variances are running (Welford) over two overlapping
windows: the older one is in use, the younger takes its place when it has enough draws.

Source: A. Seyboldt, E. Carlson, B. Carpenter, Preconditioning Hamiltonian Monte Carlo by minimising
the Fisher divergence, arXiv:2603.18845.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp

__all__ = ["FisherMetric", "Window", "scale_from_gradient"]

# Scales stay in this range whatever the draws: a coordinate that has not moved tells nothing.
SMALLEST, LARGEST = 1e-10, 1e10


class Window(NamedTuple):
    """Running moments of draws and gradients."""

    count: Any
    mean: Any  # rows: draws, gradients
    squares: Any

    def add(self, sample: Any) -> "Window":
        count = self.count + 1.0
        delta = sample - self.mean
        mean = self.mean + delta / count
        return Window(count, mean, self.squares + delta * (sample - mean))


def _empty(size: int, dtype: Any) -> Window:
    zeros = jnp.zeros((2, size), dtype)
    return Window(jnp.zeros((), dtype), zeros, zeros)


class FisherMetric(NamedTuple):
    """Two windows: the one in use, and the one that will replace it."""

    current: Window
    next: Window

    @classmethod
    def start(cls, size: int, dtype: Any) -> "FisherMetric":
        """No draws yet."""
        return cls(_empty(size, dtype), _empty(size, dtype))

    def update(self, q: Any, gradient: Any, switch: Any) -> "FisherMetric":
        """Add a draw with its gradient; `switch`: change to the younger window afterwards."""
        sample = jnp.stack([q, gradient])
        current, following = self.current.add(sample), self.next.add(sample)
        blank = _empty(q.shape[0], q.dtype)
        chosen = Window(*(jnp.where(switch, b, a) for a, b in zip(current, following, strict=True)))
        fresh = Window(*(jnp.where(switch, b, a) for a, b in zip(following, blank, strict=True)))
        return FisherMetric(chosen, fresh)

    def scale(self, fallback: Any) -> Any:
        """sqrt(variance) of each coordinate; `fallback` where there is nothing to go by."""
        var_q, var_gradient = self.current.squares
        scale = jnp.sqrt(jnp.sqrt(var_q / var_gradient))
        # Of one draw the variances are 0, and this is NaN.
        usable = (scale > SMALLEST) & (scale < LARGEST)
        return jnp.where(usable, scale, fallback)


def scale_from_gradient(gradient: Any) -> Any:
    """A first guess from one gradient: a coordinate with a steep slope is narrow."""
    return jnp.clip(1.0 / jnp.sqrt(jnp.abs(gradient) + 1e-20), 1e-3, 1e3)
