"""The objective: a model's negative log density on the free scale.

    f(u) = -log p(x(u), data) - log |dx / du|   adjusted: the mode of the density of u
    f(u) = -log p(x(u), data)                   otherwise: the mode of the density of x

If the backward pass of a loop overflows its capacity, the model gets a larger capacity and the
evaluation is repeated.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.precision import x64
from ..graph.trips import Capacity
from ..models.density import data_environment
from ..models.model import Model
from ..models.potential import in_jax

__all__ = ["Objective"]


class Objective:
    """The negative log density of a model, and its derivatives."""

    def __init__(self, model: Model, adjusted: bool) -> None:
        self.model, self.adjusted = model, adjusted
        self.size = model.free_size
        self.dtype = np.result_type(*(v.dtype for v in model.component.unknowns))
        self.epsilon = float(np.finfo(self.dtype).eps)
        self.evaluations = 0
        with x64():
            self.data = jax.device_put(model.argument_values)

    def traced(self, free: Any, data: Sequence[Any], capacity: Capacity) -> tuple[Any, Any, Any]:
        """Value, gradient and the reports of the model's loops, as JAX tracers."""
        environment = data_environment(self.model.arguments, data)
        value, gradient, reports = self.model.density.value_and_gradient(
            free, environment, capacity, adjusted=self.adjusted
        )
        return -value, -gradient, reports

    def kept(self, key: Any, make: Callable[[Capacity], Any], of: Any = None) -> Any:
        """A compiled function of this objective, cached in the model.

        It is compiled for the present capacity of the model's loops. `of` is a user's object on
        which the function depends, such as a schedule: only the function of the latest one is
        cached.
        """
        capacity = self.model.capacity
        key = ("objective", self.adjusted, key, capacity.key())
        entry = self.model._functions.get(key)
        if entry is None or entry[0] is not of:
            entry = self.model._functions[key] = (of, make(capacity))
        return entry[1]

    def value_and_gradient(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and the gradient at a free state."""

        def make(capacity: Capacity) -> Any:
            def function(free: Any, data: Any) -> Any:
                return self.traced(free, data, capacity)

            return jax.jit(function)

        free = np.asarray(free, self.dtype)
        while True:
            with x64():
                value, gradient, reports = self.kept("value_and_gradient", make)(free, self.data)
            self.evaluations += 1
            if not self.model.ensure_capacity(self.model.density.loops, reports):
                return float(value), np.asarray(gradient, float)

    def hessian(self, free: np.ndarray) -> np.ndarray:
        """The second derivatives at a free state."""
        which = "log_prob" if self.adjusted else "unadjusted"
        return -self._derived(("hessian", which), free, jax.hessian(self._function(which)))[0]

    def values(self, free: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """The values of the unknowns, and of the targets, by name."""
        return self._by_name(self._derived("values", free, self._values))

    def slopes(self, free: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """The derivatives of unknowns and targets by the free state.

        The last axis is the free state.
        """
        return self._by_name(self._derived("slopes", free, jax.jacfwd(self._values)))

    def targets(self, free: np.ndarray) -> list[np.ndarray]:
        """The values of the targets at many free states."""
        values = self._derived("targets", free, lambda free: in_jax(self.model, "targets", free))
        return [v.astype(n.dtype) for v, n in zip(values, self.model.targets, strict=True)]

    def _function(self, which: str) -> Callable[[Any], Any]:
        return lambda free: (in_jax(self.model, which, free),)

    def _values(self, free: Any) -> tuple[Any, ...]:
        unknowns = in_jax(self.model, "transform", free)
        return (*unknowns, *(t.astype(float) for t in in_jax(self.model, "targets", free)))

    def _derived(self, key: Any, free: np.ndarray, function: Callable[[Any], Any]) -> Any:
        compiled = self.kept(key, lambda _: jax.jit(function))
        with x64():
            return [np.asarray(part) for part in compiled(jnp.asarray(free, float))]

    def _by_name(self, parts: Sequence[np.ndarray]) -> tuple[dict[str, Any], dict[str, Any]]:
        count = len(self.model.names)
        names = self.model.names, self.model.target_names
        return dict(zip(names[0], parts[:count])), dict(zip(names[1], parts[count:]))
