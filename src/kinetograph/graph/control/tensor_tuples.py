"""Flat tuples of tensors, with masks of tensors that have derivatives.

A mask has one truth value for each tensor. It can be true for floating-point tensors only.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..rewriting.participation import TRACK

__all__ = [
    "Mask",
    "Tensor",
    "Tensors",
    "Types",
    "in_places",
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
    """The tensors for which the mask is true."""
    return tuple(t for t, chosen in zip(tensors, mask, strict=True) if chosen)


def bytes_of(tensors: Iterable[Tensor | Type]) -> int:
    """The size of tensors, or of tensors of these types."""
    return sum(math.prod(t.shape) * t.dtype.itemsize for t in tensors)


def types_of(tensors: Iterable[Tensor]) -> Types:
    return tuple(Type(t.shape, t.dtype) for t in tensors)


def merged(parts: Tensors, everything: Tensors, mask: Mask) -> Tensors:
    """`everything`, with the tensors in the mask replaced by `parts` in order."""
    remaining = iter(parts)
    return tuple(next(remaining) if m else x for x, m in zip(everything, mask, strict=True))


def in_places(parts: Tensors, mask: Mask) -> tuple[Tensor | None, ...]:
    """Cotangents in the places of their tensors, None elsewhere."""
    remaining = iter(parts)
    return tuple(next(remaining, None) if chosen else None for chosen in mask)


def filled(stored: Tensors, kinds: Types, needed: Sequence[bool]) -> Tensors:
    """The stored tensors in their places; unread zeros in all other places."""
    remaining = iter(stored)
    return tuple(
        next(remaining) if n else jnp.zeros(kind.shape, kind.dtype)
        for kind, n in zip(kinds, needed, strict=True)
    )


def with_zeros(tangents: Tensors, values: Tensors, mask: Mask) -> Tensors:
    """Tangents in the places of their values, zeros elsewhere."""
    remaining = iter(tangents)
    return tuple(next(remaining) if m else _zero(v) for v, m in zip(values, mask, strict=True))


def _zero(x: Any) -> Any:
    inexact = jnp.issubdtype(x.dtype, jnp.inexact)
    return jnp.zeros_like(x) if inexact else np.zeros(x.shape, jax.dtypes.float0)


_CALLED = {"jit": "jaxpr", "custom_vmap_call": "call"}  # parameter: the program


def used_inputs(jaxpr: Any, tokens: bool = False) -> list[bool]:
    """Whether the outputs of a program depend on each of its inputs.

    With `tokens`, the token of a tracked value counts as used where the value is used: in the
    backward pass it receives the answer whether the value took part.
    """
    live = {id(v) for v in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        live_outputs = [id(v) in live for v in equation.outvars]
        if not any(live_outputs) and not equation.effects:
            continue
        name = equation.primitive.name if not equation.effects else ""
        if name in _CALLED:
            reads = _used_for(equation.params[_CALLED[name]].jaxpr, live_outputs, tokens)
        elif name == "cond":
            branches = [
                _used_for(b.jaxpr, live_outputs, tokens) for b in equation.params["branches"]
            ]
            reads = [True, *map(any, zip(*branches, strict=True))]
        elif name == "while":
            reads = _used_by_while(equation.params, live_outputs, tokens)
        elif name == TRACK.name:
            reads = [
                live_outputs[0],
                live_outputs[1] or (tokens and live_outputs[0]),
                *[any(live_outputs)] * 4,
            ]
        else:
            reads = [True] * len(equation.invars)
        live.update(id(v) for v, r in zip(equation.invars, reads, strict=True) if r)
    return [id(v) in live for v in jaxpr.invars]


def _used_for(jaxpr: Any, live_outputs: Sequence[bool], tokens: bool) -> list[bool]:
    outputs = [v for v, w in zip(jaxpr.outvars, live_outputs, strict=True) if w]
    return used_inputs(
        jaxpr.replace(outvars=outputs, debug_info=jaxpr.debug_info.with_unknown_names()), tokens
    )


def _used_by_while(params: Any, live_results: Sequence[bool], tokens: bool) -> list[bool]:
    """The inputs on which a loop's predicate or live results depend."""
    cond_consts, body_consts = params["cond_nconsts"], params["body_nconsts"]
    cond_inputs = used_inputs(params["cond_jaxpr"].jaxpr, tokens)
    carried = [a or b for a, b in zip(live_results, cond_inputs[cond_consts:], strict=True)]
    while True:
        body = _used_for(params["body_jaxpr"].jaxpr, carried, tokens)
        extended = [a or b for a, b in zip(carried, body[body_consts:], strict=True)]
        if extended == carried:
            return [*cond_inputs[:cond_consts], *body[:body_consts], *carried]
        carried = extended
