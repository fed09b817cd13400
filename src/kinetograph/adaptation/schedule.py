"""The schedule of warm-up: the updates after each transition.

    0 ... early        metric from draws and gradients, windows of 10 draws
    early ... late     the same with windows of 80 draws
    late ... end       metric fixed, step size only

The step size follows dual averaging throughout; sampling uses its average. Fractions and window
lengths equal the values of nutpie (A. Seyboldt et al., arXiv:2603.18845, section 4). Between blocks
the host sets the directions of the metric, and the forms of unknowns.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels.contract import Info
from ..models.bound_density import Position
from .centring_choice import CentringChoice
from .halving_pause import HalvingPause
from .joint_choice import JointChoice
from .metric import FisherMetric
from .step_size import DualAveraging, risen_target
from .vector_choice import VectorChoice

__all__ = ["NEVER", "TUNED", "Adaptation", "Phases", "Warmup"]

TUNED = ("target_acceptance", "step_size", "scale")  # hyper-parameters that warm-up may change

HALVINGS = "halving_threshold"

EARLY, LATE = 0.3, 0.85
EARLY_WINDOW, WINDOW = 10, 80
NEVER = np.int32(2**31 - 1)
ENOUGH = 20  # updates of the step size after which the last phase begins with smaller changes
USUAL = 0.5  # a usual excess of the logarithm of the step size over its average


class Phases(NamedTuple):
    """The ends of the phases of warm-up, set by the host."""

    early: Any  # the end of the short windows
    late: Any  # the end of changes of the metric
    end: Any  # the end of warm-up
    stop: Any  # the end of the present block, where the host takes over
    glance: Any = NEVER  # from this transition on a block may end earlier,
    worth: Any = NEVER  # when this number of gradients has been evaluated in all

    @classmethod
    def of(cls, length: int, stop: int) -> "Phases":
        """The phases of a warm-up of `length` transitions."""
        numbers = (math.ceil(EARLY * length), int(LATE * length), length, stop)
        return cls(*map(np.int32, numbers))


class Adaptation(NamedTuple):
    """The state of warm-up; None for parts that are not tuned."""

    step: DualAveraging | None
    metric: FisherMetric | None
    within: Any = ()  # by name, the averaging of each step size of inner samplers
    centring: CentringChoice | None = None
    vectors: VectorChoice | None = None
    joint: JointChoice | None = None
    pause: HalvingPause | None = None

    @property
    def formed(self) -> int | None:
        """The transition of the last change of a form.

        It is None if forms are not chosen.
        """
        choices = (self.centring, self.vectors, self.joint)
        changes = [int(choice.changed) for choice in choices if choice is not None]
        return max(changes, default=None)


Hypers = dict[str, Any]


@dataclass(frozen=True)
class Warmup:
    """Warm-up of the hyper-parameters in `tune`: "step_size" and "scale".

    `within` has the names of inner samplers' hyper-parameters, as "inner.step_size".
    """

    tune: tuple[str, ...]
    within: tuple[str, ...] = ()
    parts: Sequence[slice] = ()  # the unknowns whose form is chosen, in `places`
    places: Any = None  # their elements in the free state
    vector_parts: Sequence[slice] = ()  # the same for vectors
    vector_places: Any = None
    joint_places: Any = None  # the elements of the joint block in the free state
    joint_forms: Any = None  # and in `places`; -1 for elements without forms
    tails: int = 0  # the number of unknowns with tails, the last ones of `parts`

    @property
    def scales(self) -> tuple[str, ...]:
        """The names of the scales that are tuned."""
        return tuple(name for name in (*self.tune, *self.within) if name.endswith("scale"))

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the hyper-parameters that a transition may change."""
        return (*TUNED, HALVINGS, *self.within)

    @property
    def chooses(self) -> bool:
        """Whether the coordinates of any unknown are chosen."""
        return bool(self.parts or self.vector_parts or self.joint_places is not None)

    def start(self, position: Position, hyper: Hypers, scale: Any) -> tuple[Adaptation, Hypers]:
        """The state before the first transition, and the hyper-parameters."""
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
        centring = CentringChoice.start(len(self.places), dtype) if self.parts else None
        vectors = VectorChoice.start(len(self.vector_places), dtype) if self.vector_parts else None
        joint = None
        if self.joint_places is not None:
            joint = JointChoice.start(len(self.joint_places), position.q.shape[-1], dtype)
        halves = step is not None and HALVINGS in hyper
        pause = HalvingPause.start(hyper[HALVINGS]) if halves else None
        return Adaptation(step, metric, within, centring, vectors, joint, pause), hyper

    def update(
        self,
        state: Adaptation,
        hyper: Hypers,
        done: Any,
        phases: Phases,
        position: Position,
        info: Info,
        forms: Any = None,
        evidence: Any = None,
        joint_evidence: Any = None,
    ) -> tuple[Adaptation, Hypers]:
        """Update the state after transition number `done` (from 0).

        `forms` are the coordinates and slopes for each form of the unknowns, and `evidence` is
        that of vectors. `joint_evidence` is that of the joint block, with the free state.
        """
        step, metric, within, centring, vectors, joint, pause = state
        dtype = position.q.dtype
        if "target_limit" in hyper:
            needs_rise = info.diverging & (done >= phases.early)
            if step is not None:  # divergences of an unusually long step do not count
                needs_rise = needs_rise & (step.log_step < step.log_average + USUAL)
            hyper = hyper | {"target_acceptance": risen_target(hyper, needs_rise)}
        if pause is not None:
            pause, threshold = pause.update(info.diverging, done + 1 >= phases.late)
            hyper = hyper | {HALVINGS: threshold}
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
            before, old_scales = metric, {name: hyper[name] for name in self.scales}

            def adapt(_: None) -> tuple[FisherMetric, Any]:
                window = jnp.where(done < phases.early, EARLY_WINDOW, WINDOW)
                switch = (before.next.count + 1 >= window) & (phases.late - done > window)
                new = before.update(position.q, position.gradient, switch)
                return new, {name: new.scale(x).astype(dtype) for name, x in old_scales.items()}

            updates_metric = (done < phases.late) & ~info.diverging
            if "directions" in hyper:
                updates_metric = updates_metric & (hyper["directions"].count == 0)
            metric, scales = lax.cond(updates_metric, adapt, lambda _: (before, old_scales), None)
            hyper = hyper | scales
        if centring is not None:
            centring = centring.add(forms, done)
        if vectors is not None:
            vectors = vectors.add(evidence, done)
        if joint is not None:
            rows, free = joint_evidence
            joint = joint.add(rows, free, done)
        return Adaptation(step, metric, within, centring, vectors, joint, pause), hyper


def _stepped(
    step: DualAveraging, acceptance: Any, target: Any, done: Any, phases: Phases
) -> tuple[DualAveraging, Any]:
    """Update the averaging after a transition; also the step size.

    An acceptance of NaN means that the sampler made no step in this transition.
    """
    settled = (done == phases.late) & (step.count >= ENOUGH)
    step = jax.tree.map(partial(jnp.where, settled), step.steady, step)
    has_moved = ~jnp.isnan(acceptance)
    step = jax.tree.map(partial(jnp.where, has_moved), step.update(acceptance, target), step)
    last = done + 1 >= phases.end
    return step, jnp.exp(jnp.where(last, step.log_average, step.log_step))
