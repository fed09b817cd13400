"""Descent: a compiled loop around an optax transformation.

Each trip evaluates objective and gradient at the next point, tests for convergence, and gets a step
from the transformation. The program contains the model's gradient once. Tolerance, number of
iterations and learning rate are arguments of the program. Several starting points run as one batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.lower import Scope
from .objective import Objective
from .optimizer import Optimizer, Reached, SearchLimits, within

__all__ = ["Steps"]

_GOING, _CONVERGED, _NOT_FINITE = 0, 1, 2
_OUT_OF_BOUNDS = (
    "the next step led to a point where the density or its gradient is not finite; a smaller "
    "learning_rate may help"
)


@dataclass(frozen=True)
class Steps(Optimizer):
    """An optimiser that is made of an optax transformation.

    `make` returns the transformation for a learning rate, which is a schedule or an argument of the
    program. `settings` are all numbers on which `make` depends. `given` is a user's transformation,
    which is used as it is.
    """

    make: Callable[[Any], Any]
    learning_rate: Any
    settings: tuple[Any, ...] = ()
    given: Any = None

    def search(self, objective: Objective, starts: int) -> "Descent":
        """A loop for one start, a batch of loops for several."""
        return Descent(self, objective, starts)

    def __repr__(self) -> str:
        return f"<optimizer {self.name}>"


class _Good(NamedTuple):
    """The last point with finite objective and gradient."""

    free: Any
    value: Any
    norm: Any  # the norm of the gradient
    change: Any  # the change of the value in the last step


class _DescentPlace(NamedTuple):
    """The loop variables of a descent."""

    good: _Good
    next: Any  # the next point to evaluate
    state: Any  # the state of the transformation
    evaluations: Any
    status: Any
    reports: Any  # the numbers of trips of the loops in the model's graph


class Descent:
    """The compiled loop of an optimiser over an objective."""

    def __init__(self, optimizer: Steps, objective: Objective, starts: int) -> None:
        self.optimizer, self.objective, self.starts = optimizer, objective, starts
        rate = optimizer.learning_rate
        self.schedule = rate if callable(rate) else None
        self.rate = 0.0 if rate is None or callable(rate) else float(rate)

    def fit(self, points: np.ndarray) -> np.ndarray:
        """Whether objective and gradient are finite at the points."""
        return self._descend(points, SearchLimits(0, 0.0)).status != _NOT_FINITE

    def run(self, points: np.ndarray, limits: SearchLimits) -> list[Reached]:
        """Search from all points at once."""
        places = self._descend(points, limits)
        ends = zip(*places.good, places.evaluations, places.status, strict=True)
        return [
            Reached(
                free,
                float(value),
                float(norm),
                float(change),
                int(evaluations) - 1 - int(status == _NOT_FINITE),
                int(evaluations),
                _OUT_OF_BOUNDS if status == _NOT_FINITE else "",
            )
            for free, value, norm, change, evaluations, status in ends
        ]

    def _descend(self, points: np.ndarray, limits: SearchLimits) -> Any:
        """Run the loop from all points."""
        objective, optimizer = self.objective, self.optimizer
        batch = self.starts > 1
        key = ("descent", optimizer.name, optimizer.settings, batch)
        points = np.asarray(points, objective.dtype)
        arguments = (
            np.asarray(self.rate, objective.dtype),
            np.int64(limits.iterations),
            (np.float64(limits.tolerance), np.float64(limits.gradient)),
        )
        places = objective.run(
            key,
            lambda: self._program(batch),
            points if batch else points[0],
            objective.data,
            *arguments,
            owner=self.schedule or optimizer.given,
        )
        return places if batch else jax.tree.map(lambda leaf: leaf[None], places)

    def _program(self, batch: bool) -> Callable[..., Any]:
        """The loop from one point, or from a batch of points."""
        import optax

        objective = self.objective
        loops = objective.model.density.loops

        def descend(
            free: Any, data: Any, rate: Any, iterations: Any, tolerances: Any
        ) -> _DescentPlace:
            make = self.optimizer.make
            steps = optax.with_extra_args_support(make(self.schedule or rate))

            def value_fn(free: Any) -> Any:  # for transformations that search along a line
                return objective.potential(free, data).astype(free.dtype)

            def continues(place: _DescentPlace) -> Any:
                going = (place.status == _GOING) & (place.evaluations <= iterations)
                for report in place.reports:
                    going = going & ~report.overflowed
                return going

            def trip(place: _DescentPlace) -> _DescentPlace:
                free = place.next
                value, gradient, reports = objective.traced(free, data)
                scope = Scope()
                scope.receive(loops, place.reports)
                scope.receive(loops, reports)
                norm = jnp.sqrt(jnp.sum(gradient * gradient))
                change = jnp.abs(value - place.good.value)
                finite = jnp.isfinite(value) & jnp.all(jnp.isfinite(gradient))
                done = within(value, change, norm, tolerances, objective.epsilon)
                status = jnp.where(done, _CONVERGED, _GOING)
                here = _Good(free, value, norm, change)
                good = jax.tree.map(lambda new, old: jnp.where(finite, new, old), here, place.good)
                step, state = steps.update(
                    gradient, place.state, free, value=value, grad=gradient, value_fn=value_fn
                )
                state = jax.tree.map(lambda new, old: jnp.asarray(new, old.dtype), state, first)
                return _DescentPlace(
                    good,
                    (free + step).astype(free.dtype),
                    state,
                    place.evaluations + 1,
                    jnp.where(finite, status, _NOT_FINITE),
                    scope.reports(loops),
                )

            first = jax.tree.map(jnp.asarray, steps.init(free))
            infinite = jnp.full((), jnp.inf, free.dtype)
            no_point = _Good(free, infinite, infinite, infinite)
            counts = jnp.zeros((), jnp.int64), jnp.asarray(_GOING)
            start = _DescentPlace(no_point, free, first, *counts, Scope().reports(loops))
            place = lax.while_loop(continues, trip, start)
            return place._replace(next=None, state=None)

        return jax.vmap(descend, (0, *[None] * 4)) if batch else descend
