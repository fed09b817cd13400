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
    within: Any = ()  # by name, that of each step size of samplers within


Hypers = dict[str, Any]


@dataclass(frozen=True)
class Warmup:
    """Warm-up of the hyper-parameters named in `tune`: "step_size" and "scale".

    `within` names those of samplers within a sampler, as "inner.step_size".
    """

    tune: tuple[str, ...]
    within: tuple[str, ...] = ()

    @property
    def scales(self) -> tuple[str, ...]:
        """The scales that are tuned."""
        return tuple(name for name in (*self.tune, *self.within) if name.endswith("scale"))

    @property
    def changed(self) -> tuple[str, ...]:
        """The hyper-parameters that may change."""
        return (*TUNED, *self.within)

    def start(self, position: Position, hyper: Hypers, scale: Any) -> tuple[Adaptation, Hypers]:
        """Before the first transition, with a first guess of the scale."""
        dtype = position.q.dtype
        step = metric = None
        if self.scales:
            metric = FisherMetric.start(position.q.shape[-1], dtype)
        if "scale" in self.tune:
            hyper = hyper | {"scale": scale.astype(dtype)}
        if "step_size" in self.tune:
            step = DualAveraging.start(jnp.asarray(hyper["step_size"], dtype))
        within = {
            name: DualAveraging.start(jnp.asarray(hyper[name], dtype))
            for name in self.within
            if name not in self.scales
        }
        return Adaptation(step, metric, within), hyper

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
        step, metric, within = state
        dtype = position.q.dtype
        if "target_limit" in hyper:
            asked = info.diverging & (done >= phases.early)
            if step is not None:  # a divergence of a step that was too long says nothing
                asked = asked & (step.log_step < step.log_average + USUAL)
            hyper = hyper | {"target_acceptance": risen_target(hyper, asked)}
        if step is not None:
            acceptance = jnp.where(jnp.isfinite(info.acceptance), info.acceptance, 0.0)
            step, size = _stepped(step, acceptance, hyper["target_acceptance"], done, phases)
            hyper = hyper | {"step_size": size.astype(dtype)}
        for name, before in within.items():
            target = hyper[f"{name.rpartition('.')[0]}.target_acceptance"]
            after, size = _stepped(before, info.within[name], target, done, phases)
            within = within | {name: after}
            hyper = hyper | {name: size.astype(dtype)}
        if metric is not None:
            before, kept = metric, {name: hyper[name] for name in self.scales}

            def adapt(_: None) -> tuple[FisherMetric, Any]:
                window = jnp.where(done < phases.early, EARLY_WINDOW, WINDOW)
                switch = (before.next.count + 1 >= window) & (phases.late - done > window)
                new = before.update(position.q, position.gradient, switch)
                return new, {name: new.scale(x).astype(dtype) for name, x in kept.items()}

            due = (done < phases.late) & ~info.diverging
            if "directions" in hyper:
                due = due & (hyper["directions"].count == 0)
            metric, scales = lax.cond(due, adapt, lambda _: (before, kept), None)
            hyper = hyper | scales
        return Adaptation(step, metric, within), hyper


def _stepped(
    step: DualAveraging, acceptance: Any, target: Any, done: Any, phases: Phases
) -> tuple[DualAveraging, Any]:
    """The averaging after a transition, and the step size; NaN is the acceptance of no step."""
    settled = (done == phases.late) & (step.count >= ENOUGH)
    step = jax.tree.map(partial(jnp.where, settled), step.steady, step)
    made = ~jnp.isnan(acceptance)
    step = jax.tree.map(partial(jnp.where, made), step.update(acceptance, target), step)
    last = done + 1 >= phases.end
    return step, jnp.exp(jnp.where(last, step.log_average, step.log_step))
