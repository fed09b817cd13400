"""What warm-up does after each transition, and when.

    0 ... early        metric from draws and gradients, windows of 10 draws
    early ... late     the same with windows of 80 draws
    late ... end       metric fixed, step size only

The step size follows dual averaging throughout; sampling uses its average. Fractions and window
lengths are nutpie's (A. Seyboldt and others, arXiv:2603.18845, section 4).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..samplers.protocol import Info, Position, Sampler, Tuned
from .metric import FisherMetric, Window, scale_from_gradient
from .step_size import DualAveraging

__all__ = ["Adaptation", "Warmup"]

EARLY, LATE = 0.3, 0.85
EARLY_WINDOW, WINDOW = 10, 80


class Adaptation(NamedTuple):
    """The state of warm-up: a pytree, so that it can be saved with the rest of the chain."""

    tuned: Tuned
    step: DualAveraging
    metric: FisherMetric


@dataclass(frozen=True)
class Warmup:
    """Warm-up for a sampler; `length` is a value of the compiled program, not part of it."""

    sampler: Sampler

    def start(self, position: Position) -> Adaptation:
        """Before the first transition, with the starting point's gradient to go by."""
        dtype = position.q.dtype
        step_size = jnp.asarray(self.sampler.initial_step_size, dtype)
        ones = jnp.ones_like(position.q)
        scale = scale_from_gradient(position.gradient) if self.sampler.tunes_scale else ones
        return Adaptation(
            Tuned(step_size, scale.astype(dtype)),
            DualAveraging.start(step_size),
            FisherMetric.start(position.q.shape[0], dtype),
        )

    @staticmethod
    def blank(size: int, dtype: Any) -> Adaptation:
        """A state of the same structure that holds nothing, made without JAX."""
        zero, zeros = np.zeros((), dtype), np.zeros(size, dtype)
        window = Window(zero, np.zeros((2, size), dtype), np.zeros((2, size), dtype))
        return Adaptation(
            Tuned(zero, zeros), DualAveraging(*[zero] * 5), FisherMetric(window, window)
        )

    def update(
        self, state: Adaptation, done: Any, length: Any, position: Position, info: Info
    ) -> Adaptation:
        """After transition number `done` (from 0) of a warm-up of `length` transitions."""
        tuned, step, metric = state
        dtype = tuned.scale.dtype
        if self.sampler.target_acceptance is not None:
            acceptance = jnp.where(jnp.isfinite(info.acceptance), info.acceptance, 0.0)
            step = step.update(acceptance, self.sampler.target_acceptance)
            last = done + 1 >= length
            step_size = jnp.exp(jnp.where(last, step.log_average, step.log_step)).astype(dtype)
            tuned = tuned._replace(step_size=step_size)
        if self.sampler.tunes_scale:
            late = (LATE * length).astype(jnp.int32)

            def adapt(_: None) -> tuple[FisherMetric, Any]:
                window = jnp.where(done < EARLY * length, EARLY_WINDOW, WINDOW)
                switch = (metric.next.count + 1 >= window) & (late - done > window)
                new = metric.update(position.q, position.gradient, switch)
                return new, new.scale(tuned.scale).astype(dtype)

            metric, scale = lax.cond(
                (done < late) & ~info.diverging, adapt, lambda _: (metric, tuned.scale), None
            )
            tuned = tuned._replace(scale=scale)
        return Adaptation(tuned, step, metric)
