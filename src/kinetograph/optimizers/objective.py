"""The objective: a model's negative log density on the free scale.

    f(u) = -log p(x(u), data) - log |dx / du|   adjusted: the mode of the density of u
    f(u) = -log p(x(u), data)                   otherwise: the mode of the density of x

If the backward pass of a loop overflows its capacity, the model gets a larger capacity and the
evaluation is repeated.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.precision import x64
from ..models.evaluation import in_jax
from ..models.model import Model

__all__ = ["Objective"]


class Objective:
    """The negative log density of a model, and its derivatives."""

    def __init__(self, model: Model, adjusted: bool) -> None:
        self.model, self.adjusted = model, adjusted
        self.size = model.free_size
        self.dtype = np.result_type(*(v.dtype for v in model.component.unknowns))
        self.epsilon = float(np.finfo(self.dtype).eps)
        self.evaluations = 0
        self._which = "log_prob" if adjusted else "unadjusted"
        with x64():
            self.data = jax.device_put(model.argument_values)

    def traced(self, free: Any, data: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Value, gradient and the reports of the model's loops, as JAX tracers."""
        bound = self.model.bind(data)
        value, gradient, reports = bound.value_and_gradient(free, adjusted=self.adjusted)
        return -value, -gradient, reports

    def run(
        self,
        key: Any,
        make: Callable[[], Callable[..., Any]],
        *arguments: Any,
        owner: Any = None,
    ) -> Any:
        """Run a cached function of this objective; see `CompiledFunctions.run`."""
        model, full_key = self.model, ("objective", self.adjusted, key)
        return model.functions.run(full_key, make, arguments, model.density.loops, owner)

    def value_and_gradient(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and the gradient at a free state."""
        free = np.asarray(free, self.dtype)
        value, gradient, _ = self.run("value_and_gradient", lambda: self.traced, free, self.data)
        self.evaluations += 1
        return float(value), np.asarray(gradient, float)

    def potential(self, free: Any, data: Sequence[Any]) -> Any:
        """The value alone, as a JAX tracer."""
        return -in_jax(self.model, self._which, free, data)

    def hessian(self, free: np.ndarray) -> np.ndarray:
        """The second derivatives at a free state."""
        return self._derived("hessian", free, jax.hessian(self.potential))

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
        values = self._derived("targets", free, partial(in_jax, self.model, "targets"))
        return [v.astype(n.dtype) for v, n in zip(values, self.model.targets, strict=True)]

    def _values(self, free: Any, data: Any) -> tuple[Any, ...]:
        unknowns = in_jax(self.model, "transform", free, data)
        return (*unknowns, *(t.astype(float) for t in in_jax(self.model, "targets", free, data)))

    def _derived(self, key: str, free: np.ndarray, function: Callable[..., Any]) -> Any:
        full_key = "objective", self.adjusted, key
        compiled = self.model.functions.get(full_key, lambda: jax.jit(function))
        with x64():
            return jax.tree.map(np.asarray, compiled(jnp.asarray(free, float), self.data))

    def _by_name(self, parts: Sequence[np.ndarray]) -> tuple[dict[str, Any], dict[str, Any]]:
        count = len(self.model.names)
        names = self.model.names, self.model.target_names
        return dict(zip(names[0], parts[:count])), dict(zip(names[1], parts[count:]))
