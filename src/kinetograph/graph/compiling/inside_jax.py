"""Calls of compiled functions with JAX arrays, and inside JAX transformations.

With JAX arrays as arguments a call returns JAX arrays. A call that JAX traces becomes an operation
of the surrounding program (see `primitive`). It computes in kinetograph's precision, and its
results have the types of the surrounding program: float32 and int32 unless JAX's 64-bit mode is on.
Such a call is pure. A traced program cannot raise an error, so a failure makes all floating-point
results NaN.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import find_top_trace

from ..control.liveness import live
from ..control.loops import While
from ..errors import ModelError, ShapeError, SymbolicError
from ..lower import Scope
from ..missing import refuse_masked
from ..precision import x64
from .primitive import Whole, call, outer_dtype

if TYPE_CHECKING:
    from .compiled import Function

__all__ = [
    "constant",
    "embed",
    "from_jax",
    "has_jax",
    "has_tracer",
    "outside",
    "refused",
    "tracing",
]


def has_jax(values: Any) -> bool:
    """Whether values contain JAX arrays, in nested structures, too."""
    return any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(values))


def has_tracer(values: Any) -> bool:
    """Whether values contain JAX tracers."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))


with jax.core.eval_context():
    _NOT_TRACING = type(find_top_trace(()))


def tracing() -> bool:
    """Whether JAX is tracing, so that operations become part of a program."""
    return type(find_top_trace(())) is not _NOT_TRACING


def outside(run: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function on known values, outside of any trace."""
    if not tracing():
        return run(*arguments)
    with jax.ensure_compile_time_eval():
        return run(*arguments)


def constant(value: Any) -> Any:
    """Convert a known array to a JAX array, and keep its precision."""
    with jax.ensure_compile_time_eval(), x64():
        return jnp.asarray(value)


def from_jax(function: "Function", values: Sequence[Any]) -> list[Any]:
    """Call a function with JAX arrays; return JAX arrays."""
    if not has_tracer(values):
        values = [*map(_checked, function._inputs, function._names, values)]
        return list(map(jnp.asarray, function.called(tuple(map(np.asarray, values)))))
    if function._cells:
        raise refused(function)
    results, _ = embed(function, (), values)
    return results


def refused(function: "Function") -> ModelError:
    """The error for a function with states in a JAX program."""
    titles = ", ".join(f"{'' if c.hidden else 'state '}{c.title}" for c in function._cells)
    name = function.title if function.title.isidentifier() else "f"
    return ModelError(
        f"{function.title} is called in a JAX transformation (jit, grad, vmap, scan, ...), where "
        f"it cannot update {titles}. Pass the states explicitly: "
        f"states = {name}.state.copy(), then results, states = {name}.pure(states, ...)"
    )


def embed(
    function: "Function", states: Sequence[Any], values: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Call a function without side effects; return results and new states."""
    tensors = [
        *map(_checked, function._inputs, function._names, values),
        *(value if isinstance(value, jax.Array) else constant(value) for value in states),
        *(constant(node.value) for node in function._data),
    ]
    results = call(_program(function), tensors)
    count = len(function._outputs)
    return results[:count], results[count:]


def _checked(node: Any, name: str, value: Any) -> Any:
    refuse_masked(value, f"input {name}")
    array = jnp.asarray(value) if has_jax(value) else constant(np.asarray(value))
    if array.shape != node.shape:
        raise ShapeError(f"input {name}: expected shape {node.shape}, got {array.shape}")
    is_numeric = isinstance(array.dtype, np.dtype)  # JAX's random keys have a special dtype
    if not is_numeric or not np.can_cast(array.dtype, node.dtype, "same_kind"):
        raise SymbolicError(f"input {name}: expected {node.dtype}, got {array.dtype}")
    return array


def _program(function: "Function") -> Whole:
    """The program of a function for JAX's present 64-bit mode."""
    types = tuple(outer_dtype(node.dtype) for node in (*function._outputs, *function._reads))
    programs = function._embedded
    if types not in programs:
        programs[types] = Whole(_lowered(function, types))
    return programs[types]


def _lowered(function: "Function", types: Sequence[np.dtype]) -> Callable[..., Any]:
    counts = len(function._inputs), len(function._cells)
    inputs = (*function._inputs, *function._reads)
    fallible = _fallible(function)
    ends = (*function._outputs, *function._finals, *function._forms.values())
    live_places = live(function._needed, ends).results

    def run(scope: Scope, tensors: Sequence[Any]) -> Any:
        converted = [jnp.asarray(t).astype(n.dtype) for t, n in zip(tensors, inputs, strict=False)]
        values, states = converted[: counts[0]], converted[counts[0] :]
        effects = function._effects
        scope = replace(scope, effects=effects, indices=function._indices or None, live=live_places)
        results, finals, failed, reports = function._lower(
            scope, values, states, tensors[sum(counts) :]
        )
        # No check has such a number. The comparison makes the results depend on the state, so that
        # XLA does not drop the prints.
        if effects is not None:
            results = [jnp.where(failed < -(2**30), jnp.zeros_like(r), r) for r in results]
        if fallible:
            bad = jnp.asarray(failed != 0)
            for report in reports:
                bad |= report.truncated
            for place, _, size, _ in function._bounds:
                index = values[place]
                bad |= jnp.any((index < -size) | (index >= size))
            factor = jnp.where(bad, np.nan, 1.0)
            results = [r * factor.astype(r.dtype) for r in results]
            finals = [jnp.where(bad, s, new) for s, new in zip(states, finals, strict=True)]
        return [r.astype(t) for r, t in zip((*results, *finals), types, strict=True)]

    return run


def _fallible(function: "Function") -> bool:
    """Whether calls can fail.

    Raises ModelError if a result that is not floating-point could not show a failure.
    """
    failures = ["an index out of bounds"] if function._bounds or function._indices else []
    if function._effects is not None:
        errors = (effect.error() for effect in function._effects.numbers)
        failures += [str(error) for error in errors if error is not None]
    failures += [
        "on_limit='error'"
        for loop in function.loops
        if isinstance(loop, While) and loop.on_limit == "error"
    ]
    without_nan = [i for i, node in enumerate(function._outputs) if node.dtype.kind != "f"]
    if failures and without_nan:
        raise ModelError(
            f"{function.title} is called in a JAX transformation (jit, grad, vmap, scan, ...), "
            f"where errors cannot be raised, but it can fail ({failures[0]}) and its result "
            f"{without_nan[0]} ({function._outputs[without_nan[0]].dtype}) cannot be NaN. Return "
            "floating-point results only, or remove the check"
        )
    return bool(failures)
