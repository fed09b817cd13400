"""Dual averaging of the step size.

    x_{t+1} = mu - sqrt(t) / (gamma (t + t_0)) sum_{i <= t} (target - a_i),  h = exp(x)
    xbar_{t+1} = t^-kappa x_{t+1} + (1 - t^-kappa) xbar_t

While x fluctuates widely the mean acceptance is below that at the mean of x, which so ends too
small. For the last phase it begins anew at xbar with a gain as after many updates.

Source: M. Hoffman, A. Gelman, JMLR 15 (2014), section 3.2; constants as there.
"""

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

__all__ = ["DualAveraging", "risen_target"]

GAMMA, T_0, KAPPA = 0.05, 10.0, 0.75
MANY = 2500.0  # updates
RISE = 0.8  # what is left of the distance of a target to 1


class DualAveraging(NamedTuple):
    """The state: centre, running error, averaged logarithm, and number of updates."""

    mu: Any
    error: Any
    log_average: Any
    log_step: Any
    count: Any
    averaged: Any  # as `count`, but for the average

    @classmethod
    def start(cls, step_size: Any, towards: float = 10.0) -> "DualAveraging":
        """Begin at a step size; the iterates are drawn towards ten times it, as in the paper."""
        on_host = isinstance(step_size, (np.ndarray, np.generic))  # where nothing is compiled
        log_step = np.log(step_size) if on_host else jnp.log(step_size)
        zero = 0.0 * log_step
        return cls(log_step + math.log(towards), zero, log_step, log_step, zero, zero)

    @property
    def steady(self) -> "DualAveraging":
        """Anew at the average, which is formed anew, with small changes."""
        log_step, zero = self.log_average, jnp.zeros_like(self.count)
        return DualAveraging(log_step, zero, log_step, log_step, zero + MANY, zero)

    def update(self, acceptance: Any, target: float) -> "DualAveraging":
        """One step towards the target."""
        count, averaged = self.count + 1.0, self.averaged + 1.0
        weight = 1.0 / (count + T_0)
        error = (1.0 - weight) * self.error + weight * (target - acceptance)
        log_step = self.mu - jnp.sqrt(count) / GAMMA * error
        fraction = averaged**-KAPPA
        log_average = fraction * log_step + (1.0 - fraction) * self.log_average
        return DualAveraging(self.mu, error, log_average, log_step, count, averaged)


def risen_target(hyper: dict[str, Any], asked: Any) -> Any:
    """The target of acceptance where a divergence has `asked` for smaller steps, or not."""
    target, limit = hyper["target_acceptance"], hyper["target_limit"]
    risen = jnp.minimum(limit, 1.0 - RISE * (1.0 - target))
    return jnp.where(asked & (target < limit), risen, target).astype(jnp.asarray(target).dtype)
