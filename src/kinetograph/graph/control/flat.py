"""Flat tuples of tensors, of which only some take part in derivatives.

A mask tells which: the floating-point ones at most.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..participation import TRACK

__all__ = [
    "Mask",
    "Tensor",
    "Tensors",
    "Types",
    "among",
    "bytes_of",
    "filled",
    "floats",
    "merged",
    "picked",
    "types_of",
    "used_inputs",
    "with_zeros",
]

Tensor = jax.Array
Type = jax.ShapeDtypeStruct  # of a tensor
Tensors = tuple[Tensor, ...]
Types = tuple[Type, ...]
Mask = tuple[bool, ...]


def floats(tensors: Iterable[Tensor | Type]) -> Mask:
    """The mask of all floating-point tensors."""
    return tuple(jnp.issubdtype(t.dtype, jnp.inexact) for t in tensors)


def picked[T](tensors: Sequence[T], mask: Mask) -> tuple[T, ...]:
    """Those in the mask."""
    return tuple(t for t, chosen in zip(tensors, mask, strict=True) if chosen)


def bytes_of(tensors: Iterable[Tensor | Type]) -> int:
    """The size of tensors, or of tensors of these types."""
    return sum(math.prod(t.shape) * t.dtype.itemsize for t in tensors)


def types_of(tensors: Iterable[Tensor]) -> Types:
    return tuple(Type(t.shape, t.dtype) for t in tensors)


def merged(parts: Tensors, everything: Tensors, mask: Mask) -> Tensors:
    """`everything` with those in the mask replaced."""
    rest = iter(parts)
    return tuple(next(rest) if m else x for x, m in zip(everything, mask, strict=True))


def among(parts: Tensors, mask: Mask) -> tuple[Tensor | None, ...]:
    """Cotangents in their places, None for what has none."""
    rest = iter(parts)
    return tuple(next(rest, None) if chosen else None for chosen in mask)


def filled(kept: Tensors, kinds: Types, needed: Sequence[bool]) -> Tensors:
    """What was kept in its places; zeros, which nobody reads, in the others."""
    rest = iter(kept)
    return tuple(
        next(rest) if n else jnp.zeros(kind.shape, kind.dtype)
        for kind, n in zip(kinds, needed, strict=True)
    )


def with_zeros(tangents: Tensors, values: Tensors, mask: Mask) -> Tensors:
    """Tangents in their places, zeros for what has none."""
    rest = iter(tangents)
    return tuple(next(rest) if m else _zero(v) for v, m in zip(values, mask, strict=True))


def _zero(x: Any) -> Any:
    inexact = jnp.issubdtype(x.dtype, jnp.inexact)
    return jnp.zeros_like(x) if inexact else np.zeros(x.shape, jax.dtypes.float0)


_CALLED = {"jit": "jaxpr", "pjit": "jaxpr", "custom_vmap_call": "call"}  # what is called


def used_inputs(jaxpr: Any, told: bool = False) -> list[bool]:
    """Which inputs of a program its outputs depend on.

    With those that are `told` in the backward pass whether a value took part, if asked for.
    """
    live = {id(v) for v in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        made = [id(v) in live for v in equation.outvars]
        if not any(made) and not equation.effects:
            continue
        name = equation.primitive.name if not equation.effects else ""
        if name in _CALLED:
            reads = _used_for(equation.params[_CALLED[name]].jaxpr, made, told)
        elif name == "cond":
            branches = [_used_for(b.jaxpr, made, told) for b in equation.params["branches"]]
            reads = [True, *map(any, zip(*branches, strict=True))]
        elif name == "while":
            reads = _used_by_while(equation.params, made, told)
        elif name == TRACK.name:
            reads = [made[0], made[1] or (told and made[0]), *[any(made)] * 4]
        else:
            reads = [True] * len(equation.invars)
        live.update(id(v) for v, r in zip(equation.invars, reads, strict=True) if r)
    return [id(v) in live for v in jaxpr.invars]


def _used_for(jaxpr: Any, wanted: Sequence[bool], told: bool) -> list[bool]:
    outputs = [v for v, w in zip(jaxpr.outvars, wanted, strict=True) if w]
    return used_inputs(
        jaxpr.replace(outvars=outputs, debug_info=jaxpr.debug_info.with_unknown_names()), told
    )


def _used_by_while(params: Any, wanted: Sequence[bool], told: bool) -> list[bool]:
    """What a loop reads for some of its results: what they are made of, and what it goes on by."""
    consts, others = params["cond_nconsts"], params["body_nconsts"]
    judged = used_inputs(params["cond_jaxpr"].jaxpr, told)
    carried = [a or b for a, b in zip(wanted, judged[consts:], strict=True)]
    while True:
        body = _used_for(params["body_jaxpr"].jaxpr, carried, told)
        more = [a or b for a, b in zip(carried, body[others:], strict=True)]
        if more == carried:
            return [*judged[:consts], *body[:others], *carried]
        carried = more
