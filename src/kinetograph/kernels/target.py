"""The target of a transition: a model's log density and gradient at any point, in any loop."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.lower import Environment, Room, Scope, Trips
from ..models.density import Density

__all__ = ["Position", "Target", "any_short"]


class Position(NamedTuple):
    """A point of the free state, with the log density and its gradient there."""

    q: Any
    log_density: Any
    gradient: Any


class Target(NamedTuple):
    """The log density of a model with data, on its free state.

    Points may have a leading axis of walkers. `trips` are what the model's loops have told so far,
    to be handed on through a kernel's own loops; without loops they are empty.
    """

    density: Density
    data: Environment
    room: Room

    def no_trips(self) -> tuple[Trips, ...]:
        """What is told before the first evaluation."""
        return Scope().reports(self.density.loops)

    def evaluate(self, q: Any, trips: tuple[Trips, ...]) -> tuple[Position, tuple[Trips, ...]]:
        """Value and gradient at a point."""

        def one(q: Any) -> Any:
            return self.density.value_and_gradient(q, self.data, self.room)

        value, gradient, found = one(q) if jnp.ndim(q) == 1 else jax.vmap(one)(q)
        if jnp.ndim(q) > 1:
            found = [Trips(*(jnp.max(x, 0) for x in told)) for told in found]
        return Position(q, value, gradient), self.join(trips, found)

    def join(self, trips: tuple[Trips, ...], found: Any) -> tuple[Trips, ...]:
        """What was told before and what is told now, together."""
        return tuple(old.join(Trips(*new)) for old, new in zip(trips, found, strict=True))

    def log_density(self, q: Any) -> Any:
        """The log density alone; -inf where it is not a number."""

        def one(q: Any) -> Any:
            value = self.density.log_density(q, self.data, scope=Scope(room=self.room))
            return jnp.where(jnp.isnan(value), -jnp.inf, value)

        return one(q) if jnp.ndim(q) == 1 else jax.vmap(one)(q)


def any_short(trips: tuple[Trips, ...]) -> Any:
    """Whether a gradient may be wrong for want of room: what follows from it is then of no use."""
    short = np.bool_(False)
    for told in trips:
        short = short | told.short
    return short
