"""What warm-up does after each transition, and when.

    0 ... early        metric from draws and gradients, windows of 10 draws
    early ... late     the same with windows of 80 draws
    late ... end       metric fixed, step size only

The step size follows dual averaging throughout; sampling uses its average. Fractions and window
lengths are nutpie's (A. Seyboldt and others, arXiv:2603.18845, section 4). Where the metric has
directions, they and the scale are the host's, who sets them between blocks.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels.contract import Info
from ..kernels.target import Position
from .metric import FisherMetric
from .step_size import DualAveraging, risen_target

__all__ = ["NEVER", "TUNED", "Adaptation", "Phases", "Warmup"]

TUNED = ("target_acceptance", "step_size", "scale")  # hyper-parameters that may change

EARLY, LATE = 0.3, 0.85
EARLY_WINDOW, WINDOW = 10, 80
NEVER = np.int32(2**31 - 1)
ENOUGH = 20  # updates of the step size, for small ones to follow
USUAL = 0.5  # of the logarithm of a step size, above its average


class Phases(NamedTuple):
    """Up to which transition what is done; the host sets them."""

    early: Any  # short windows
    late: Any  # changes of the metric
    end: Any  # warm-up
    stop: Any  # the blocks before the host looks;
    glance: Any = NEVER  # and from where on they end earlier,
    worth: Any = NEVER  # when so many gradients have been evaluated in all

    @classmethod
    def of(cls, length: int, stop: int) -> "Phases":
        """Those of a warm-up of so many transitions."""
        numbers = (math.ceil(EARLY * length), int(LATE * length), length, stop)
        return cls(*map(np.int32, numbers))


class Adaptation(NamedTuple):
    """The state of warm-up, with None for what is not tuned."""

    step: DualAveraging | None
    metric: FisherMetric | None


Hypers = dict[str, Any]


@dataclass(frozen=True)
class Warmup:
    """Warm-up of the hyper-parameters named in `tune`: "step_size" and "scale"."""

    tune: tuple[str, ...]

    def start(self, position: Position, hyper: Hypers, scale: Any) -> tuple[Adaptation, Hypers]:
        """Before the first transition, with a first guess of the scale."""
        dtype = position.q.dtype
        step = metric = None
        if "scale" in self.tune:
            metric = FisherMetric.start(position.q.shape[-1], dtype)
            hyper = hyper | {"scale": scale.astype(dtype)}
        if "step_size" in self.tune:
            step = DualAveraging.start(jnp.asarray(hyper["step_size"], dtype))
        return Adaptation(step, metric), hyper

    def update(
        self,
        state: Adaptation,
        hyper: Hypers,
        done: Any,
        phases: Phases,
        position: Position,
        info: Info,
    ) -> tuple[Adaptation, Hypers]:
        """After transition number `done` (from 0)."""
        step, metric = state
        dtype = position.q.dtype
        if "target_limit" in hyper:
            asked = info.diverging & (done >= phases.early)
            if step is not None:  # a divergence of a step that was too long says nothing
                asked = asked & (step.log_step < step.log_average + USUAL)
            hyper = hyper | {"target_acceptance": risen_target(hyper, asked)}
        if step is not None:
            settled = (done == phases.late) & (step.count >= ENOUGH)
            step = jax.tree.map(partial(jnp.where, settled), step.steady, step)
            acceptance = jnp.where(jnp.isfinite(info.acceptance), info.acceptance, 0.0)
            step = step.update(acceptance, hyper["target_acceptance"])
            last = done + 1 >= phases.end
            step_size = jnp.exp(jnp.where(last, step.log_average, step.log_step)).astype(dtype)
            hyper = hyper | {"step_size": step_size}
        if metric is not None:
            before, kept = metric, hyper["scale"]

            def adapt(_: None) -> tuple[FisherMetric, Any]:
                window = jnp.where(done < phases.early, EARLY_WINDOW, WINDOW)
                switch = (before.next.count + 1 >= window) & (phases.late - done > window)
                new = before.update(position.q, position.gradient, switch)
                return new, new.scale(kept).astype(dtype)

            due = (done < phases.late) & ~info.diverging
            if "directions" in hyper:
                due = due & (hyper["directions"].count == 0)
            metric, scale = lax.cond(due, adapt, lambda _: (before, kept), None)
            hyper = hyper | {"scale": scale}
        return Adaptation(step, metric), hyper
