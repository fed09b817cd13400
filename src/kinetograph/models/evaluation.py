"""Compiled functions of a model for free states given as NumPy arrays.

The model caches them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..graph.precision import x64
from ..graph.trips import Capacity
from .density import data_environment
from .potential import in_jax

if TYPE_CHECKING:
    from .log_density import LogDensity

__all__ = ["at_states"]


def at_states(model: "LogDensity", which: str, states: np.ndarray) -> Any:
    """Evaluate a model's function at each state.

    `which` is "log_prob", "unadjusted", "gradient", "hessian" or "transform".
    """
    lead = states.shape[:-1]
    flat = states.reshape(-1, model.free_size)
    with x64():
        if which == "gradient":
            result = _gradients(model, flat)
        else:
            if which not in model._functions:
                model._functions[which] = _compiled(_FUNCTIONS[which], model)
            result = model._functions[which](flat, model.argument_values)
        return jax.tree.map(lambda r: np.asarray(r).reshape(lead + r.shape[1:]), result)


def _log_prob(model: "LogDensity", free: Any, env: Any) -> Any:
    return model.density.log_density(free, env)


def _unadjusted(model: "LogDensity", free: Any, env: Any) -> Any:
    return model.density.log_density(free, env, adjusted=False)


def _transform(model: "LogDensity", free: Any, env: Any) -> Any:
    return model.density.targets(free, model.component.unknowns, env)


def _hessian(model: "LogDensity", free: Any, env: Any) -> Any:
    return in_jax(model, "hessian", free)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log_prob": _log_prob,
    "unadjusted": _unadjusted,
    "transform": _transform,
    "hessian": _hessian,
}


def _compiled(function: Callable[..., Any], model: "LogDensity") -> Callable[..., Any]:
    """Compile a function of one free state for many states."""

    def at(free: Any, values: Any) -> Any:
        return function(model, free, data_environment(model.arguments, values))

    return jax.jit(jax.vmap(at, (0, None)))


def _gradients(model: "LogDensity", states: Any) -> Any:
    """The gradient at each state.

    If a loop needs more capacity, the function is compiled with more and run again.
    """
    while True:
        key = "gradient", model.capacity.key()
        if key not in model._functions:

            def gradient(
                model: "LogDensity", free: Any, env: Any, capacity: Capacity = model.capacity
            ) -> Any:
                return model.density.value_and_gradient(free, env, capacity)[1:]

            model._functions[key] = _compiled(gradient, model)
        result, reports = model._functions[key](states, model.argument_values)
        if not model.ensure_capacity(model.density.loops, reports):
            return result
