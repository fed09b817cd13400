"""The log density of a model with data, for samplers and optimisers.

It can be evaluated at any point of the free state, in any loop.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..graph.control.control_node import Looping
from ..graph.errors import ModelError
from ..graph.lower import Environment, Scope
from ..graph.node import Node
from ..graph.trips import Capacity, Trips
from .batch import RowBatch
from .centring import Centring, ChosenForms
from .density import Density
from .row_blocks import BoundBlocks

__all__ = ["BoundDensity", "Position"]


class Position(NamedTuple):
    """A point of the free state, with its log density and gradient."""

    q: Any
    log_density: Any
    gradient: Any


class BoundDensity(NamedTuple):
    """A log density with the tensors of its data; made by `model.bind`.

    Points may have a leading axis of walkers. `trips` are the reports on the model's loops so far,
    which a kernel passes through its own loops; they are empty for models without loops. With a
    `batch`, `rows` are the rows of the data that are used; None: all rows. With a `centring`,
    points are in its coordinates for `forms`, and log densities there have the log Jacobian of the
    coordinates times `temperature`: a sampler of exp(log density / temperature) then has the same
    law in all coordinates. With `blocks`, devices share the rows.
    """

    density: Density
    data: Environment
    capacity: Capacity
    batch: RowBatch | None = None
    rows: Any = None
    centring: Centring | None = None
    forms: ChosenForms | None = None
    temperature: Any = 1.0
    blocks: BoundBlocks | None = None

    def into(self, position: Position) -> Position:
        """A point of the free state in the coordinates of the centring."""
        if self.centring is None:
            return position
        x, log_density, gradient = position
        assert self.forms is not None
        y = self.centring.inverse(x, self.forms, self.data)
        (_, log_jacobian), pull = jax.vjp(self._forward, y)
        (slope,) = pull((gradient, jnp.ones_like(log_jacobian)))
        return Position(y, log_density + log_jacobian, slope)

    def out_of(self, position: Position) -> Position:
        """A point of the coordinates of the centring in the free state."""
        centring = self.centring
        if centring is None:
            return position
        y, log_density, slope = position
        if centring.is_expensive and not self.loops:
            x, _ = self._forward(y)
            density, data = self._density_and_data()
            log_density, gradient, _ = density.value_and_gradient(x, data, self.capacity)
            return Position(x, log_density, gradient)
        (x, log_jacobian), pull = jax.vjp(self._forward, y)
        (of_jacobian,) = pull((jnp.zeros_like(x), jnp.ones_like(log_jacobian)))
        forms = self.forms
        assert forms is not None
        _, back = jax.vjp(lambda x: centring.inverse(x, forms, self.data, near=y), x)
        (gradient,) = back(slope - of_jacobian)
        return Position(x, log_density - log_jacobian, gradient)

    def _forward(self, y: Any) -> Any:
        assert self.centring is not None
        assert self.forms is not None
        x, log_jacobian = self.centring.forward(y, self.forms, self.data)
        return x, self.temperature * log_jacobian

    @property
    def loops(self) -> tuple[Looping, ...]:
        """The loops that the log density evaluates."""
        return self.density.loops

    def no_trips(self) -> tuple[Trips, ...]:
        """The reports on loops before the first evaluation."""
        return Scope().reports(self.loops)

    def join(self, trips: tuple[Trips, ...], new_trips: Any) -> tuple[Trips, ...]:
        """Join earlier reports on loops with the reports of an evaluation."""
        return tuple(old.join(Trips(*new)) for old, new in zip(trips, new_trips, strict=True))

    def _density_and_data(self) -> tuple[Density | BoundBlocks, Environment]:
        """The density and the data of the rows that are used."""
        if self.rows is None:
            return self.blocks or self.density, self.data
        assert self.batch is not None
        return self.batch.estimate, self.batch.taken(self.data, self.rows)

    def log_density(self, q: Any) -> Any:
        """The log density alone; -inf where it is NaN."""

        def evaluate_one(q: Any) -> Any:
            density, data = self._density_and_data()
            value = density.log_density(q, data, scope=Scope(capacity=self.capacity))
            return jnp.where(jnp.isnan(value), -jnp.inf, value)

        return evaluate_one(q) if jnp.ndim(q) == 1 else jax.vmap(evaluate_one)(q)

    def value_and_gradient(self, q: Any, *, adjusted: bool = True) -> Any:
        """Value and gradient at one point, and the reports on loops.

        The log Jacobians are left out unless `adjusted`.
        """
        density, data = self._density_and_data()
        if self.centring is None:
            return density.value_and_gradient(q, data, self.capacity, adjusted=adjusted)
        (free, log_jacobian), pull = jax.vjp(self._forward, q)
        value, gradient, reports = density.value_and_gradient(free, data, self.capacity)
        (slope,) = pull((gradient, jnp.ones_like(log_jacobian)))
        return value + log_jacobian, slope, reports

    def evaluate(self, q: Any, trips: tuple[Trips, ...]) -> tuple[Position, tuple[Trips, ...]]:
        """Value and gradient at a point, and the joined reports on loops."""
        if jnp.ndim(q) == 1:
            value, gradient, reports = self.value_and_gradient(q)
        else:
            value, gradient, reports = jax.vmap(self.value_and_gradient)(q)
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
        if batch.order.smallest < 2:
            hint = "a size of at least 2" if batch.size < 2 else "another size, or last='wrap'"
            raise ModelError(
                "the covariance of a gradient cannot be estimated from one row, which is "
                f"{'each' if batch.size < 2 else 'the last'} batch of an epoch; give "
                f"kg.minibatch {hint}"
            )

        def evaluate_one(q: Any) -> Any:
            return batch.with_covariance(q, self.data, self.capacity, self.rows, full=full)

        value, gradient, covariance = (
            evaluate_one(q) if jnp.ndim(q) == 1 else jax.vmap(evaluate_one)(q)
        )
        return Position(q, value, gradient), covariance, trips

    def targets(self, q: Any, targets: Sequence[Node], scope: Scope | None = None) -> Any:
        """The tensors of the targets at one point."""
        return self.density.targets(q, targets, self.data, scope)
