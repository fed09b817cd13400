"""Dual averaging of the step size.

    x_{t+1} = mu - sqrt(t) / (gamma (t + t_0)) sum_{i <= t} (target - a_i),  h = exp(x)
    xbar_{t+1} = t^-kappa x_{t+1} + (1 - t^-kappa) xbar_t

While x fluctuates widely the mean acceptance is below the acceptance at the mean of x, so the mean
becomes too small. The last phase therefore starts again at xbar, with small changes as after many
updates.

Source: M. Hoffman, A. Gelman, JMLR 15 (2014), section 3.2; constants as there.
"""

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

__all__ = ["DualAveraging", "risen_target"]

GAMMA, T_0, KAPPA = 0.05, 10.0, 0.75
MANY = 2500.0  # the number of updates that the last phase pretends to have had
RISE = 0.8  # a rise multiplies the distance of the target to 1 by this factor


class DualAveraging(NamedTuple):
    """The state of dual averaging."""

    mu: Any  # the centre of the iterates
    error: Any  # the running mean of target - acceptance
    log_average: Any  # xbar
    log_step: Any  # x
    count: Any  # the number of updates
    averaged: Any  # the number of updates in the average

    @classmethod
    def start(cls, step_size: Any, towards: float = 10.0) -> "DualAveraging":
        """Start at a step size.

        The iterates tend to `towards` times this step size, by default ten times as in the paper.
        """
        on_host = isinstance(step_size, (np.ndarray, np.generic))  # NumPy compiles nothing
        log_step = np.log(step_size) if on_host else jnp.log(step_size)
        zero = 0.0 * log_step
        return cls(log_step + math.log(towards), zero, log_step, log_step, zero, zero)

    @property
    def steady(self) -> "DualAveraging":
        """Start again at the average, with a new average and small changes."""
        log_step, zero = self.log_average, jnp.zeros_like(self.count)
        return DualAveraging(log_step, zero, log_step, log_step, zero + MANY, zero)

    def update(self, acceptance: Any, target: float) -> "DualAveraging":
        """Update the step size by the acceptance of a transition."""
        count, averaged = self.count + 1.0, self.averaged + 1.0
        weight = 1.0 / (count + T_0)
        error = (1.0 - weight) * self.error + weight * (target - acceptance)
        log_step = self.mu - jnp.sqrt(count) / GAMMA * error
        fraction = averaged**-KAPPA
        log_average = fraction * log_step + (1.0 - fraction) * self.log_average
        return DualAveraging(self.mu, error, log_average, log_step, count, averaged)


def risen_target(hyper: dict[str, Any], rises: Any) -> Any:
    """The target acceptance, raised where `rises`, up to its limit.

    A divergence asks for a rise, because a higher target gives smaller steps.
    """
    target, limit = hyper["target_acceptance"], hyper["target_limit"]
    risen = jnp.minimum(limit, 1.0 - RISE * (1.0 - target))
    return jnp.where(rises & (target < limit), risen, target).astype(jnp.asarray(target).dtype)
