"""Compiled functions in other JAX programs: called with JAX arrays, or where JAX traces.

JAX arrays in, JAX arrays out. A call that JAX traces becomes an operation of the program around it
(see `primitive`): it computes in kinetograph's precision, and its results have the type that the
program around has for theirs: float32 and int32 unless its 64-bit mode is on. Such a call is pure.
Nothing can be raised there, so what would be turns all floating-point results into NaN.
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
    """Whether JAX arrays are among values, also in lists and the like."""
    return any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(values))


def has_tracer(values: Any) -> bool:
    """Whether arrays that JAX is tracing are among values."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))


with jax.core.eval_context():
    _NOT_TRACING = type(find_top_trace(()))


def tracing() -> bool:
    """Whether JAX is tracing here, so that even what is known becomes part of a program."""
    return type(find_top_trace(())) is not _NOT_TRACING


def outside(run: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call with known values, which is not traced."""
    if not tracing():
        return run(*arguments)
    with jax.ensure_compile_time_eval():
        return run(*arguments)


def constant(value: Any) -> Any:
    """A known array as an input of a program, in its own precision."""
    with jax.ensure_compile_time_eval(), x64():
        return jnp.asarray(value)


def from_jax(function: "Function", values: Sequence[Any]) -> list[Any]:
    """The results of a call with JAX arrays."""
    if not has_tracer(values):
        values = [*map(_checked, function._inputs, function._names, values)]
        return list(map(jnp.asarray, function.called(tuple(map(np.asarray, values)))))
    if function._cells:
        raise refused(function)
    results, _ = embed(function, (), values)
    return results


def refused(function: "Function") -> ModelError:
    """What to do with states in a JAX program."""
    titles = ", ".join(f"{'' if c.hidden else 'state '}{c.title}" for c in function._cells)
    name = function.title if function.title.isidentifier() else "f"
    return ModelError(
        f"{function.title} is called in a JAX transformation (jit, grad, vmap, scan, ...), where "
        f"it cannot keep {titles}. Hand its states in and out: "
        f"states = {name}.state.copy(), then results, states = {name}.pure(states, ...)"
    )


def embed(
    function: "Function", states: Sequence[Any], values: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Results and next states of a call that has no effect."""
    given = [
        *map(_checked, function._inputs, function._names, values),
        *(value if isinstance(value, jax.Array) else constant(value) for value in states),
        *(constant(node.value) for node in function._data),
    ]
    found = call(_program(function), given)
    count = len(function._outputs)
    return found[:count], found[count:]


def _checked(node: Any, name: str, value: Any) -> Any:
    refuse_masked(value, f"input {name}")
    array = jnp.asarray(value) if has_jax(value) else constant(np.asarray(value))
    if array.shape != node.shape:
        raise ShapeError(f"input {name}: expected shape {node.shape}, got {array.shape}")
    known = isinstance(array.dtype, np.dtype)  # JAX's random keys have a type of their own
    if not known or not np.can_cast(array.dtype, node.dtype, "same_kind"):
        raise SymbolicError(f"input {name}: expected {node.dtype}, got {array.dtype}")
    return array


def _program(function: "Function") -> Whole:
    """The function as JAX sees it, in its present mode."""
    types = tuple(outer_dtype(node.dtype) for node in (*function._outputs, *function._reads))
    known = function._embedded
    if types not in known:
        known[types] = Whole(_lowered(function, types))
    return known[types]


def _lowered(function: "Function", types: Sequence[np.dtype]) -> Callable[..., Any]:
    counts = len(function._inputs), len(function._cells)
    inputs = (*function._inputs, *function._reads)
    fallible = _fallible(function)
    ends = (*function._outputs, *function._finals, *function._forms.values())
    parts = live(function._needed, ends).results

    def run(scope: Scope, tensors: Sequence[Any]) -> Any:
        own = [jnp.asarray(t).astype(n.dtype) for t, n in zip(tensors, inputs, strict=False)]
        values, states = own[: counts[0]], own[counts[0] :]
        effects = function._effects
        scope = replace(scope, effects=effects, indices=function._indices or None, live=parts)
        results, finals, failed, reports = function._lower(
            scope, values, states, tensors[sum(counts) :]
        )
        if effects is not None:  # no check has such a number: results wait for what is printed
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
    """Whether calls can fail; refused if results could not tell."""
    what = ["an index out of bounds"] if function._bounds or function._indices else []
    if function._effects is not None:
        errors = (effect.error() for effect in function._effects.numbers)
        what += [str(error) for error in errors if error is not None]
    what += [
        "on_limit='error'"
        for loop in function.loops
        if isinstance(loop, While) and loop.on_limit == "error"
    ]
    mute = [i for i, node in enumerate(function._outputs) if node.dtype.kind != "f"]
    if what and mute:
        raise ModelError(
            f"{function.title} is called in a JAX transformation (jit, grad, vmap, scan, ...), "
            f"where nothing can be raised, but it can fail ({what[0]}) and its result {mute[0]} "
            f"({function._outputs[mute[0]].dtype}) has no NaN to tell. Return floating-point "
            "results only, or leave the check out"
        )
    return bool(what)
