"""The target of a transition: a model's log density and gradient.

They can be evaluated at any point, in any loop.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.errors import ModelError
from ..graph.lower import Environment, Scope
from ..graph.trips import Capacity, Trips
from ..models.batch import RowBatch
from ..models.density import Density
from .noise import Noise

__all__ = ["Position", "Target", "any_short"]


class Position(NamedTuple):
    """A point of the free state, with its log density and gradient."""

    q: Any
    log_density: Any
    gradient: Any


class Target(NamedTuple):
    """The log density of a model with data, on its free state.

    Points may have a leading axis of walkers. `trips` are the reports on the model's loops so far,
    which a kernel passes through its own loops; they are empty for models without loops. With a
    `batch`, `rows` are the rows of the data that are used; None: all rows.
    """

    density: Density
    data: Environment
    capacity: Capacity
    batch: RowBatch | None = None
    rows: Any = None

    def of_transition(self, noise: Noise) -> "Target":
        """The target of one transition: this target, or a batch of rows."""
        batch = self.batch
        if batch is None:
            return self
        return self._replace(rows=noise.rows(batch.count, batch.size, batch.replace))

    def no_trips(self) -> tuple[Trips, ...]:
        """The reports on loops before the first evaluation."""
        return Scope().reports(self.density.loops)

    def evaluate(self, q: Any, trips: tuple[Trips, ...]) -> tuple[Position, tuple[Trips, ...]]:
        """Value and gradient at a point, and the joined reports on loops."""

        def evaluate_one(q: Any) -> Any:
            if self.rows is None:
                return self.density.value_and_gradient(q, self.data, self.capacity)
            assert self.batch is not None
            result = self.batch.value_and_gradient(q, self.data, self.capacity, self.rows)
            return *result, ()

        value, gradient, reports = (
            evaluate_one(q) if jnp.ndim(q) == 1 else jax.vmap(evaluate_one)(q)
        )
        if jnp.ndim(q) > 1:
            reports = [Trips(*(jnp.max(x, 0) for x in report)) for report in reports]
        return Position(q, value, gradient), self.join(trips, reports)

    def evaluate_with_covariance(
        self, q: Any, trips: tuple[Trips, ...], *, full: bool
    ) -> tuple[Position, Any, tuple[Trips, ...]]:
        """Value and gradient with an estimate of the gradient's covariance.

        The covariance is 0 if all rows are used. It is a matrix if `full` is true, and otherwise
        its diagonal.

        Raises
        ------
        ModelError
            If the batch has only one row.
        """
        if self.rows is None:
            position, trips = self.evaluate(q, trips)
            shape = (*q.shape, q.shape[-1]) if full else q.shape
            return position, jnp.zeros(shape, q.dtype), trips
        batch = self.batch
        assert batch is not None
        if batch.size < 2:
            raise ModelError(
                "the covariance of a gradient cannot be estimated from one row; give "
                "kg.minibatch a size of at least 2"
            )

        def evaluate_one(q: Any) -> Any:
            return batch.with_covariance(q, self.data, self.capacity, self.rows, full=full)

        value, gradient, covariance = (
            evaluate_one(q) if jnp.ndim(q) == 1 else jax.vmap(evaluate_one)(q)
        )
        return Position(q, value, gradient), covariance, trips

    def join(self, trips: tuple[Trips, ...], new_trips: Any) -> tuple[Trips, ...]:
        """Join earlier reports on loops with the reports of an evaluation."""
        return tuple(old.join(Trips(*new)) for old, new in zip(trips, new_trips, strict=True))

    def log_density(self, q: Any) -> Any:
        """The log density alone; -inf where it is NaN."""

        def evaluate_one(q: Any) -> Any:
            scope = Scope(capacity=self.capacity)
            if self.rows is None:
                value = self.density.log_density(q, self.data, scope=scope)
            else:
                assert self.batch is not None
                value = self.batch.log_density(q, self.data, self.rows, scope=scope)
            return jnp.where(jnp.isnan(value), -jnp.inf, value)

        return evaluate_one(q) if jnp.ndim(q) == 1 else jax.vmap(evaluate_one)(q)


def any_short(trips: tuple[Trips, ...]) -> Any:
    """Whether a loop had too little room for its backward pass.

    The gradient may then be wrong, and values computed from it must not be used.
    """
    overflowed = np.bool_(False)
    for report in trips:
        overflowed = overflowed | report.overflowed
    return overflowed
