"""Optimisers as samplers: training with batches and records of a chain.

A step takes the gradient of its point, asks an optax transformation for an update, and evaluates
the next point. The state of the transformation is kept in slots. No noise is added.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from ..graph.lift import lift
from ..graph.precision import x64
from ..optimizers.descent import Steps
from ..optimizers.opt import choose
from ..samplers.hyper import hyper
from ..samplers.sampler import Point, Sampler

__all__ = ["Descending", "check_rate", "descending", "scheduled_rate"]

FALL = 0.01  # the last learning rate of a schedule, relative to the first


class Descending(Sampler):
    """Steps of an optimiser.

    Parameters
    ----------
    optimizer
        An optimiser of `kg.optimizers` that is made of gradient steps.
    step_size
        The learning rate, or a function of the number of the step.
    """

    optimizes = True
    step_size = hyper(0.03, positive=True, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def __init__(self, optimizer: Steps, **settings: Any) -> None:
        super().__init__(**settings)
        self.optimizer = optimizer

    def settings(self) -> dict[str, Any]:
        """The settings as they are stored in results."""
        return {"optimizer": self.optimizer.name, **super().settings()}

    def init(self, at: Point) -> dict[str, Any]:
        """The state of the transformation, a slot for each array."""
        with x64():
            like = jax.ShapeDtypeStruct(at.q.shape, at.q.dtype)
            leaves = jax.eval_shape(lambda q: self._leaves(q, 1.0)[0], like)
        if not leaves:
            return {}
        values = lift(lambda q, rate: tuple(self._leaves(q, rate)[0]))(at.q, self.step_size)
        values = values if isinstance(values, tuple) else (values,)
        return {f"state{i:03d}": value for i, value in enumerate(values)}

    def step(self, at: Point, **slots: Any) -> Any:
        """Make one step."""

        def update(q: Any, gradient: Any, rate: Any, *leaves: Any) -> Any:
            start, structure = self._leaves(q, rate)
            steps = self.optimizer.make(rate)
            change, state = steps.update(gradient, jax.tree.unflatten(structure, leaves), q)
            new = [
                jnp.asarray(after, before.dtype)
                for after, before in zip(jax.tree.leaves(state), start, strict=True)
            ]
            return ((q + change).astype(q.dtype), *new)

        results = lift(update)(at.q, at.gradient, self.step_size, *slots.values())
        q, *leaves = results if isinstance(results, tuple) else (results,)
        return self.evaluate(q), dict(zip(slots, leaves, strict=True))

    def _leaves(self, q: Any, rate: Any) -> tuple[list[Any], Any]:
        """The arrays of the initial state of the transformation, and its structure."""
        leaves, structure = jax.tree.flatten(self.optimizer.make(rate).init(q))
        return [jnp.asarray(leaf) for leaf in leaves], structure


def check_rate(options: Mapping[str, Any], given: Collection[str]) -> None:
    """Refuse a rate that an optimiser object would not have.

    `given` are the options that were set.

    Raises
    ------
    ValueError
        If the rate or its schedule is set together with an optimiser that has its own rate.
    """
    optimizer, names = options.get("optimizer", ""), ("learning_rate", "schedule")
    name = next((name for name in names if name in given), None)
    if name is None or isinstance(optimizer, str):
        return
    raise ValueError(
        f"{name}: the option has no effect on optimizer={type(optimizer).__name__}, which has its "
        f"own rate; give the rate where the optimiser is made, as in optax.adam(0.01), or write "
        "optimizer='adam' with learning_rate=0.01"
    )


def descending(optimizer: Any, rate: Any) -> Descending:
    """The sampler that makes the steps of an optimiser.

    It is given as a name, an optimiser of kg.optimizers, or a transformation of optax.

    Raises
    ------
    ValueError
        If it does not consist of gradient steps.
    """
    chosen = choose("Simulation", optimizer)
    if not isinstance(chosen, Steps):
        raise ValueError(
            f"{chosen.name} searches along lines with the full data; give one "
            "with gradient steps, such as 'adam'"
        )
    if not isinstance(optimizer, str):  # it has its own rate
        rate = 1.0 if chosen.learning_rate is None else chosen.learning_rate
    if callable(rate):
        schedule = lift(lambda step: jnp.asarray(rate(step), float))
        return Descending(chosen, step_size=lambda step: schedule(step))
    return Descending(chosen, step_size=float(rate))


def scheduled_rate(rate: Any, schedule: str, steps: int) -> Any:
    """A learning rate that follows a schedule within some steps."""
    if callable(rate) or schedule == "constant":
        return rate
    import optax

    learning_rate: Callable[[Any], Any] = (
        optax.exponential_decay(rate, steps, FALL, end_value=FALL * rate)
        if schedule == "exponential"
        else optax.cosine_decay_schedule(rate, steps, FALL)
    )
    return learning_rate
