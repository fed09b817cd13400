"""The target of a transition: a model's log density and gradient at any point, in any loop."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.errors import ModelError
from ..graph.lower import Environment, Scope
from ..graph.trips import Capacity, Trips
from ..models.batch import Batch
from ..models.density import Density
from .noise import Noise

__all__ = ["Position", "Target", "any_short"]


class Position(NamedTuple):
    """A point of the free state, with the log density and its gradient there."""

    q: Any
    log_density: Any
    gradient: Any


class Target(NamedTuple):
    """The log density of a model with data, on its free state.

    Points may have a leading axis of walkers. `trips` are what the model's loops have told so far,
    to be handed on through a kernel's own loops; without loops they are empty. `rows` are those of
    the data that are seen, with a `batch`; None: all.
    """

    density: Density
    data: Environment
    capacity: Capacity
    batch: Batch | None = None
    rows: Any = None

    def of_transition(self, noise: Noise) -> "Target":
        """What a transition sees of it: the same, or some of the rows."""
        batch = self.batch
        if batch is None:
            return self
        return self._replace(rows=noise.rows(batch.count, batch.size, batch.replace))

    def no_trips(self) -> tuple[Trips, ...]:
        """What is told before the first evaluation."""
        return Scope().reports(self.density.loops)

    def evaluate(self, q: Any, trips: tuple[Trips, ...]) -> tuple[Position, tuple[Trips, ...]]:
        """Value and gradient at a point."""

        def one(q: Any) -> Any:
            if self.rows is None:
                return self.density.value_and_gradient(q, self.data, self.capacity)
            assert self.batch is not None
            found = self.batch.value_and_gradient(q, self.data, self.capacity, self.rows)
            return *found, ()

        value, gradient, found = one(q) if jnp.ndim(q) == 1 else jax.vmap(one)(q)
        if jnp.ndim(q) > 1:
            found = [Trips(*(jnp.max(x, 0) for x in told)) for told in found]
        return Position(q, value, gradient), self.join(trips, found)

    def evaluate_with_covariance(
        self, q: Any, trips: tuple[Trips, ...], *, full: bool
    ) -> tuple[Position, Any, tuple[Trips, ...]]:
        """The same, with an estimate of the covariance of the gradient; 0 where all are seen."""
        if self.rows is None:
            position, trips = self.evaluate(q, trips)
            shape = (*q.shape, q.shape[-1]) if full else q.shape
            return position, jnp.zeros(shape, q.dtype), trips
        batch = self.batch
        assert batch is not None
        if batch.size < 2:
            raise ModelError(
                "the covariance of a gradient cannot be told from one row; give kg.minibatch a "
                "size of at least 2"
            )

        def one(q: Any) -> Any:
            return batch.with_covariance(q, self.data, self.capacity, self.rows, full=full)

        value, gradient, covariance = one(q) if jnp.ndim(q) == 1 else jax.vmap(one)(q)
        return Position(q, value, gradient), covariance, trips

    def join(self, trips: tuple[Trips, ...], found: Any) -> tuple[Trips, ...]:
        """What was told before and what is told now, together."""
        return tuple(old.join(Trips(*new)) for old, new in zip(trips, found, strict=True))

    def log_density(self, q: Any) -> Any:
        """The log density alone; -inf where it is not a number."""

        def one(q: Any) -> Any:
            scope = Scope(capacity=self.capacity)
            if self.rows is None:
                value = self.density.log_density(q, self.data, scope=scope)
            else:
                assert self.batch is not None
                value = self.batch.log_density(q, self.data, self.rows, scope=scope)
            return jnp.where(jnp.isnan(value), -jnp.inf, value)

        return one(q) if jnp.ndim(q) == 1 else jax.vmap(one)(q)


def any_short(trips: tuple[Trips, ...]) -> Any:
    """Whether a gradient may be wrong for want of room: what follows from it is then of no use."""
    overflowed = np.bool_(False)
    for told in trips:
        overflowed = overflowed | told.overflowed
    return overflowed
