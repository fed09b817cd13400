"""Flat tuples of tensors, of which only the floating-point ones have derivatives."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = [
    "Tensors",
    "among",
    "bytes_of",
    "filled",
    "floats_of",
    "is_float",
    "merged",
    "no_tangent",
    "types_of",
    "used_inputs",
    "with_zeros",
]

Tensors = tuple[Any, ...]


def is_float(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.inexact)


def floats_of(tensors: Sequence[Any]) -> Tensors:
    return tuple(t for t in tensors if is_float(t))


def bytes_of(tensors: Iterable[Any]) -> int:
    """The size of tensors, or of tensors of these types."""
    return sum(math.prod(t.shape) * t.dtype.itemsize for t in tensors)


def types_of(tensors: Sequence[Any]) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(jax.ShapeDtypeStruct(t.shape, t.dtype) for t in tensors)


def merged(floats: Tensors, everything: Tensors) -> Tensors:
    """`everything` with its floating-point parts replaced."""
    rest = iter(floats)
    return tuple(next(rest) if is_float(x) else x for x in everything)


def among(floats: Tensors, kinds: Tensors) -> tuple[Any, ...]:
    """Cotangents in their places, None for what has none."""
    rest = iter(floats)
    return tuple(next(rest, None) if is_float(kind) else None for kind in kinds)


def filled(kept: Tensors, kinds: Tensors, needed: Sequence[bool]) -> Tensors:
    """What was kept in its places; zeros, which nobody reads, in the others."""
    rest = iter(kept)
    return tuple(
        next(rest) if n else jnp.zeros(kind.shape, kind.dtype)
        for kind, n in zip(kinds, needed, strict=True)
    )


def no_tangent(x: Any) -> np.ndarray:
    return np.zeros(x.shape, jax.dtypes.float0)


def with_zeros(tangents: Tensors, values: Tensors) -> Tensors:
    rest = iter(tangents)
    return tuple(next(rest) if is_float(v) else no_tangent(v) for v in values)


def used_inputs(jaxpr: Any) -> list[bool]:
    """Which inputs of a program its outputs depend on."""
    live = {id(v) for v in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        made = [id(v) in live for v in equation.outvars]
        if not any(made) and not equation.effects:
            continue
        name = equation.primitive.name if not equation.effects else ""
        if name in ("jit", "pjit"):
            reads = _used_for(equation.params["jaxpr"].jaxpr, made)
        elif name == "cond":
            branches = [_used_for(b.jaxpr, made) for b in equation.params["branches"]]
            reads = [True, *map(any, zip(*branches, strict=True))]
        else:
            reads = [True] * len(equation.invars)
        live.update(id(v) for v, r in zip(equation.invars, reads, strict=True) if r)
    return [id(v) in live for v in jaxpr.invars]


def _used_for(jaxpr: Any, wanted: Sequence[bool]) -> list[bool]:
    outputs = [v for v, w in zip(jaxpr.outvars, wanted, strict=True) if w]
    return used_inputs(
        jaxpr.replace(outvars=outputs, debug_info=jaxpr.debug_info.with_unknown_names())
    )
