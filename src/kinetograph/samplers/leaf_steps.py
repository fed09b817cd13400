"""The steps between two neighbouring leaves of a trajectory.

A leaf follows its neighbour after a time h: one step of the integrator, or 2**k steps of h / 2**k.
The number of halvings k is the smallest one for which the energies on the way differ by at most a
tolerance,

    beta (max H - min H) <= tolerance

From the new leaf the same search, backwards in time, must find the same k: each coarser step back
has to exceed the tolerance. If one of them does not, the trajectory ends at the old leaf, because a
trajectory that begins at the new leaf would not contain the old leaf.

A try ends as soon as it exceeds the tolerance. The search fails if the finest step exceeds it, or
if the energy jumps: after a few halvings a single step still changes the energy by more than the
tolerance and by at least half of the change before. At a bound of the support, or at another
discontinuity, shorter steps do not help.

Source   N. Bou-Rabee, B. Carpenter, T. S. Kleppe, S. Liu, The within-orbit adaptive leapfrog
         no-U-turn sampler, arXiv:2506.18746, section 2.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels.batching import once
from ..kernels.contract import Moment
from ..models.bound_density import Position
from .integrators import Integrator

__all__ = ["End", "LeafSteps", "LeafWay"]

_FORWARD = -1
_BEFORE_JUMPS = 3  # the number of halvings from which on jumps are looked for


class End(NamedTuple):
    """A point of the trajectory.

    Momentum and force (the gradient of the log density) are in the metric's coordinates.
    """

    q: Any
    p: Any
    force: Any
    energy: Any


class _Halving(NamedTuple):
    """The search for the number of halvings."""

    level: Any  # the number of halvings of the way to the leaf
    back: Any  # the number of halvings of the present try backwards; -1 in a try forwards
    steps: Any  # steps of this try that are done
    start: End  # where this try begins
    position: Position  # of the start; unused forwards
    lowest: Any  # energy in this try
    highest: Any
    first: Any  # energy after the whole step
    change: Any  # of the energy, in the last step of the try before


class LeafWay(NamedTuple):
    """The state between two leaves."""

    stage: Any  # the number of stages of the present step that are done
    here: End
    halving: _Halving | None
    evaluations: Any  # the number of gradients
    complete: Any  # whether the leaf is known
    failed: Any  # whether the finest step exceeds the tolerance
    blocked: Any  # whether the energy jumps, or the search backwards ends elsewhere
    leaf: Position | None = None  # known if the way is complete


class LeafSteps:
    """The way from a leaf to the next one."""

    def __init__(self, integrator: Integrator, max_halvings: int) -> None:
        self.integrator, self.max_halvings = integrator, max_halvings
        self.stages = integrator.stages
        self.single = self.stages == 1 and not max_halvings  # whether each way takes one gradient

    def end(self, moment: Moment, position: Position, p: Any, energy: Any) -> End:
        """A leaf as the beginning of a way."""
        force = _force(moment.hyper, position.gradient)
        return End(position.q, p, force, energy)

    def start(self, end: End) -> LeafWay:
        """The beginning of the way from a leaf."""
        count, false = jnp.int32(0), jnp.array(False)
        halving = None
        if self.max_halvings:
            unused = Position(end.q, end.energy, end.force)
            energies = (end.energy,) * 4
            halving = _Halving(count, jnp.int32(_FORWARD), count, end, unused, *energies)
        return LeafWay(count, end, halving, count, false, false, false)

    def next(self, moment: Moment, way: LeafWay, direction: Any) -> Any:
        """The position at which the next gradient is needed."""
        step = self._step(moment, way, direction)
        velocity = _velocity(moment.hyper, self._kicked(way, step))
        if self.stages == 1:
            return way.here.q + step * velocity
        drift = jnp.asarray(self.integrator.coefficients(velocity.dtype)[1])[way.stage]
        return way.here.q + drift * step * velocity

    def _step(self, moment: Moment, way: LeafWay, direction: Any) -> Any:
        """The length of the present step, with its sign."""
        step = moment.hyper["step_size"] * direction
        if way.halving is None:
            return step
        level, back, *_ = way.halving
        forward = back == _FORWARD
        part = jnp.exp2(-jnp.where(forward, level, back).astype(step.dtype))
        return step * jnp.where(forward, part, -part)

    def _kicked(self, way: LeafWay, step: Any) -> Any:
        """The momentum after the kick that begins the next stage."""
        _, p, force, _ = way.here
        if self.stages == 1:
            return p + (0.5 * step) * force
        kick = jnp.asarray(self.integrator.coefficients(p.dtype)[0])[way.stage]
        return p + kick * step * force

    def followed(self, moment: Moment, way: LeafWay, direction: Any, point: Position) -> LeafWay:
        """The way after the evaluated point."""
        # Without the barrier XLA computes the gradient again wherever it is used.
        point = point._replace(gradient=lax.optimization_barrier(point.gradient))
        force = _force(moment.hyper, point.gradient)
        step = self._step(moment, way, direction)
        kick: Any = float(self.integrator.kicks[-1])
        stage, stepped = way.stage, jnp.array(True)
        if self.stages > 1:
            stage = stage + 1
            stepped = stage == self.stages
            stage, kick = jnp.where(stepped, 0, stage), jnp.where(stepped, kick, 0.0)
        p, point = once((self._kicked(way, step) + kick * step * force, point))
        before, energy = way.here.energy, 0.5 * jnp.sum(p * p) - point.log_density
        if self.stages > 1:
            energy = jnp.where(stepped, energy, before)
        way = way._replace(
            stage=stage,
            here=End(point.q, p, force, energy),
            evaluations=way.evaluations + 1,
            complete=stepped,
            leaf=point,
        )
        return way if way.halving is None else self._judged(moment, way, before, stepped)

    def _judged(self, moment: Moment, way: LeafWay, before: Any, stepped: Any) -> LeafWay:
        """The way after a stage of a try.

        `before` is the energy before the step.
        """
        assert way.halving is not None
        level, back, steps, start, position, lowest, highest, first, change = way.halving
        here, energy, beta = way.here, way.here.energy, moment.hyper["inverse_temperature"]
        tolerance = moment.hyper["halving_threshold"] / beta
        lowest, highest = jnp.minimum(lowest, energy), jnp.maximum(highest, energy)
        near = highest - lowest <= tolerance  # False for NaN
        steps = steps + stepped.astype(np.int32)
        forward = back == _FORWARD
        present = jnp.where(forward, level, back)
        good = stepped & near & ((steps >> present) == 1)
        bad = stepped & ~near
        new_change = jnp.abs(energy - before)
        new_change = jnp.where(jnp.isnan(new_change), jnp.inf, new_change)
        jumps = (present >= _BEFORE_JUMPS) & (new_change > tolerance) & (2 * new_change >= change)
        first = jnp.where(stepped & forward & (level == 0), energy, first)

        turns = good & forward & (level > 0)  # the way back is tried next
        finer = bad & forward
        failed = finer & ~jumps & (level == self.max_halvings)
        one_way = ~forward & (good | (bad & jumps))
        blocked = one_way | (bad & jumps)
        proven = bad & ~forward & ~jumps & (back + 1 == level)
        restarts = once(turns | (bad & ~failed & ~blocked) | one_way)

        start, position = _select(once(turns), (here, way.leaf), (start, position))
        energies = [jnp.where(restarts, start.energy, x) for x in (lowest, highest)]
        halving = _Halving(
            jnp.where(finer & ~failed & ~blocked, level + 1, level),
            jnp.where(turns | (bad & ~forward), back + 1, back),
            jnp.where(restarts, 0, steps),
            start,
            position,
            energies[0],
            energies[1],
            first,
            jnp.where(bad, new_change, change),
        )
        return way._replace(
            here=_select(restarts, start, here),
            halving=halving,
            complete=(good & ~turns) | proven | failed | blocked,
            failed=failed,
            blocked=blocked,
            leaf=_select(once(proven), position, way.leaf),
        )


def _select(take: Any, new: Any, old: Any) -> Any:
    """The new arrays if `take`, else the old ones."""
    return jax.tree.map(lambda a, b: lax.select(jnp.broadcast_to(take, a.shape), a, b), new, old)


def _force(hyper: Mapping[str, Any], gradient: Any) -> Any:
    """The force S^T g for a scale S.

    S is a diagonal, a matrix, or a diagonal with directions.
    """
    scale, directions = hyper["scale"], hyper.get("directions")
    if jnp.ndim(scale) == 2:
        return gradient @ scale
    return scale * gradient if directions is None else directions.stretched(scale * gradient)


def _velocity(hyper: Mapping[str, Any], p: Any) -> Any:
    """The velocity S p for a scale S."""
    scale, directions = hyper["scale"], hyper.get("directions")
    if jnp.ndim(scale) == 2:
        return scale @ p
    return scale * p if directions is None else scale * directions.stretched(p)
