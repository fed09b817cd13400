"""A model at free states: log density, derivatives and values.

Given NumPy arrays, a function is compiled for all states at once. Given JAX arrays, it is one
operation of the surrounding JAX program (see `graph.compiling.primitive`): it is computed in double
precision, and its results have the floating-point type of that program.
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
from ..graph.precision import FLOAT64, x64

if TYPE_CHECKING:
    from .log_density import LogDensity

__all__ = ["at_states", "in_jax"]

_VALUES = ("transform", "targets")  # the functions that return several arrays


def at_states(model: "LogDensity", which: str, states: np.ndarray) -> Any:
    """Evaluate a function of the model at each state.

    `which` is "log_prob", "unadjusted", "gradient", "hessian" or "transform".
    """
    lead = states.shape[:-1]
    arguments = states.reshape(-1, model.free_size), model.argument_values

    def make() -> Callable[..., Any]:
        return jax.vmap(partial(_one, model, which), (0, None))

    if which == "gradient":
        result, _ = model.functions.run(which, make, arguments, model.density.loops)
    else:
        function = model.functions.get(which, lambda: jax.jit(make()))
        with x64():
            result = jax.tree.map(np.asarray, function(*arguments))
    return jax.tree.map(lambda r: r.reshape(lead + r.shape[1:]), result)


def _one(model: "LogDensity", which: str, free: Any, values: Any) -> Any:
    """The function at one state, with the values of the model's arguments."""
    if which == "hessian":
        return in_jax(model, which, free, values)
    bound = model.bind(values)
    if which == "gradient":
        return bound.value_and_gradient(free)[1:]
    if which == "transform":
        return bound.targets(free, model.component.unknowns)
    return bound.density.log_density(free, bound.data, adjusted=which == "log_prob")


def in_jax(model: "LogDensity", which: str, free: Any, values: Sequence[Any] | None = None) -> Any:
    """Evaluate a function of the model at states in JAX arrays.

    `which` is the log density ("log_prob", "unadjusted"), its derivatives ("gradient", "hessian"),
    the values of all unknowns ("transform") or the targets ("targets"). `values` are the values of
    the model's arguments, which may be traced; by default its present values, as constants.
    """
    if values is None:
        values = [constant(value) for value in model.argument_values]

    def function(free: Any) -> Any:
        results = call(_program(model, derived.get(which, which)), [free, *values])
        return results if which in _VALUES else results[0]

    derived = {"gradient": "log_prob", "hessian": "log_prob"}
    transform = {"gradient": jax.grad, "hessian": jax.hessian}.get(which)
    evaluate = function if transform is None else transform(function)
    for _ in free.shape[:-1]:
        evaluate = jax.vmap(evaluate)
    return evaluate(free)


def _program(model: "LogDensity", which: str) -> Whole:
    """The cached program of a model, in JAX's current mode."""
    floating = outer_dtype(FLOAT64)
    make = partial(Whole, partial(_run, model, which, floating))
    return model.functions.get(("in JAX", which, floating), make)


def _run(
    model: "LogDensity", which: str, floating: np.dtype, scope: Scope, tensors: Sequence[Any]
) -> list[Any]:
    """Compute the log density, unknowns or targets inside a JAX program."""
    free = tensors[0].astype(FLOAT64)
    density, data, *_ = model.bind(tensors[1:])
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
