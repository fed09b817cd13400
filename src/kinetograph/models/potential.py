"""A model's log density and derived quantities as functions for JAX.

Each function is one operation of the surrounding JAX program (see `graph.compiling.primitive`). It
is computed in double precision; its results have the floating-point type of that program.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.compiling.inside_jax import constant
from ..graph.compiling.primitive import Whole, call, outer_dtype
from ..graph.control.control_node import loops_in
from ..graph.lower import Scope
from ..graph.node import ancestors
from ..graph.precision import FLOAT64
from .density import data_environment

if TYPE_CHECKING:
    from .log_density import LogDensity

__all__ = ["in_jax", "potential"]


def in_jax(model: "LogDensity", which: str, free: Any) -> Any:
    """Evaluate a function of the model at states in JAX arrays.

    `which` is the log density ("log_prob", "unadjusted"), its derivatives ("gradient", "hessian"),
    the values of all unknowns ("transform") or the targets ("targets").
    """
    function = _DERIVED.get(which, _Value)(model, which)
    for _ in free.shape[:-1]:
        function = jax.vmap(function)
    return function(free)


def potential(model: "LogDensity", adjusted: bool) -> Callable[[Any], Any]:
    """The negative log density as a function of JAX arrays."""

    def potential(free: Any) -> Any:
        states = model._check_free(free)
        if not isinstance(states, jax.Array):
            states = constant(states.astype(outer_dtype(FLOAT64)))
        return -in_jax(model, which, states)

    which = "log_prob" if adjusted else "unadjusted"
    return potential


class _Value:
    """The result of the graph at one free state."""

    def __init__(self, model: "LogDensity", which: str) -> None:
        self.model, self.which = model, which

    def __call__(self, free: Any) -> Any:
        model, which = self.model, self.which
        data = [constant(value) for value in model.argument_values]
        results = call(_program(model, which), [free, *data])
        return results if which in _VALUES else results[0]


_VALUES = ("transform", "targets")
_DERIVED: dict[str, Any] = {
    "gradient": lambda model, which: jax.grad(_Value(model, "log_prob")),
    "hessian": lambda model, which: jax.hessian(_Value(model, "log_prob")),
}


def _program(model: "LogDensity", which: str) -> Whole:
    """The cached program of a model, in JAX's current mode."""
    floating = outer_dtype(FLOAT64)
    key = ("in JAX", which, floating)
    if key not in model._functions:
        model._functions[key] = Whole(partial(_run, model, which, floating))
    return model._functions[key]


def _run(
    model: "LogDensity", which: str, floating: np.dtype, scope: Scope, tensors: Sequence[Any]
) -> list[Any]:
    """Compute the log density, unknowns or targets inside a JAX program."""
    free = tensors[0].astype(FLOAT64)
    data = data_environment(model.arguments, tensors[1:])
    density = model.density
    scope = replace(scope, live=None if which in _VALUES else density.live)
    loops = density.loops
    if which in _VALUES:
        nodes = model.targets if which == "targets" else model.component.unknowns
        results = list(density.targets(free, nodes, data, scope))
        loops = tuple(dict.fromkeys(loops_in(ancestors(nodes))))
    else:
        adjusted = which != "unadjusted"
        results = [density.log_density(free, data, adjusted=adjusted, scope=scope)]
    # A truncated loop is an error. It cannot be raised here, so the results are NaN.
    for report in scope.reports(loops):
        results = [r * jnp.where(report.truncated, np.nan, 1.0) for r in results]
    return [r.astype(floating) for r in results]
