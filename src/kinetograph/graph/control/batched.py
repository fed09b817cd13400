"""Loops of a batch, whose members may make different numbers of trips.

    together     all members turn until the last one is finished; of what is carried, members that
                 are finished keep the old values
    in turn      one member after the other, each with its own trips

Together costs the trips of the longest loop for each member, and is faster where the processor
computes several members by one instruction: where a trip is a few simple operations. Else, on CPU,
in turn is: it makes the trips that are needed, and no others.

Rows that go out are not chosen, but written at the number of the trip, which is that of all
members: so a trip costs its rows and not all rows. Loops that read rows from the last trip on begin
together at the last trip of the longest. Where all members make equally many trips for sure,
nothing is chosen.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import and_
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_batching import custom_vmap

from .flat import Tensor, Tensors, Type, types_of, used_inputs

if TYPE_CHECKING:
    from .derivable import After, Loop, Modes

__all__ = ["batched", "chosen", "told_all"]

Turns = Callable[..., tuple[Tensors, Tensor, Tensors]]

_MEMBERS = 4  # for fewer, instructions for several gain little
_ELEMENTS = 16  # of a value of one member: more of them fill instructions by themselves
_NAMES = """
    abs add add_any and broadcast_in_dim ceil clamp concatenate convert_element_type copy copy_p
    div dynamic_slice dynamic_update_slice eq exp exp2 expm1 expand_dims floor ge gt integer_pow
    iota is_finite le log log1p logistic lt max min mul ne neg not or pad reduce_and reduce_max
    reduce_min reduce_or reduce_sum rem reshape round rsqrt select_n sign slice split sqrt square
    squeeze stop_gradient sub tanh track transpose xor
"""
_SIMPLE = frozenset(_NAMES.split())  # what XLA computes for several elements by one instruction
_CALLS = frozenset(("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "cond"))


def chosen(flags: Tensor, new: Tensor, old: Any) -> Tensor:
    """The new values of members for which a flag holds."""
    return jnp.where(flags.reshape(flags.shape + (1,) * (new.ndim - flags.ndim)), new, old)


def batched(
    turns: "Callable[[Loop, Tensor, Tensors, Tensors, Tensors], Any]", loop: "Loop"
) -> Turns:
    """A loop as a function of limit, carry, captures and rows that knows what it is in a batch.

    Constants of the program are inputs, too: a branch around the loop may make rows of them.
    """

    def call(*inputs: Any) -> Any:
        program, types = jax.make_jaxpr(partial(turns, loop), return_shape=True)(*inputs)
        structure = jax.tree.structure(types)

        @custom_vmap
        def evaluated(constants: Tensors, inputs: Any) -> Any:
            leaves = jax.tree.leaves(inputs)
            found = jax.core.eval_jaxpr(program.jaxpr, constants, *leaves)
            return jax.tree.unflatten(structure, found)

        @evaluated.def_vmap
        def rule(size: int, flags: Any, constants: Tensors, inputs: Any) -> Any:
            flags = flags[1]
            body, more = _programs(loop, flags, inputs)
            alike = _alike(body, more, flags)
            if alike is not None:
                axes = jax.tree.map(_axis, flags)
                found = jax.vmap(lambda *own: turns(loop, *own), axes, axis_size=size)(*inputs)
                return jax.tree.map(lambda x, b: x if b else x[0], found, alike), alike
            way = _together if _gains(body, size) else _in_turn
            found = way(turns, loop, size, flags, *inputs)
            return found, jax.tree.map(lambda _: True, found)

        return evaluated(tuple(program.consts), inputs)

    return call


def told_all(
    loop: "Loop", carry: Tensors, captures: Tensors, rows: Tensors
) -> "tuple[Loop, Tensors]":
    """The loop, of which what it reads of the trace around it is among the captures.

    A batch comes to it when that trace has ended.
    """
    types = types_of(carry), types_of(captures)
    row = tuple(Type(r.shape[1:], r.dtype) for r in rows)
    alive = Type((), np.bool_)
    body, after = jax.make_jaxpr(partial(loop.body, ()), return_shape=True)(alive, *types, row)
    structure = jax.tree.structure(after)
    programs = [body]
    if loop.more is not None:
        programs.append(jax.make_jaxpr(loop.more)(*types))
    read = {id(c): c for p in programs for c in p.consts if isinstance(c, jax.core.Tracer)}
    if not read:
        return loop, captures
    own = len(captures)

    def call(program: Any, leaves: Any, everything: Tensors) -> Any:
        found = dict(zip(read, everything[own:], strict=True))
        consts = [found.get(id(c), c) for c in program.consts]
        return jax.core.eval_jaxpr(program.jaxpr, consts, *leaves)

    def turn(_: Any, alive: Tensor, carry: Tensors, everything: Tensors, row: Tensors) -> "After":
        leaves = (alive, *carry, *everything[:own], *row)
        return jax.tree.unflatten(structure, call(body, leaves, everything))  # type: ignore[no-any-return]

    def more(carry: Tensors, everything: Tensors) -> Tensor:
        return call(programs[1], (*carry, *everything[:own]), everything)[0]  # type: ignore[no-any-return]

    changed = replace(loop, body=turn, more=None if loop.more is None else more)
    return changed, (*captures, *read.values())


def _gains(body: Any, size: int) -> bool:
    """Whether trips of all members together are faster than those of each."""
    if jax.default_backend() != "cpu":
        return True
    return size >= _MEMBERS and all(
        equation.primitive.name in _SIMPLE | _CALLS
        and all(v.aval.size <= _ELEMENTS for v in equation.outvars)
        for equation in _equations(body)
    )


def _equations(jaxpr: Any) -> Iterator[Any]:
    """The operations of a program and of those that it calls."""
    for equation in jaxpr.eqns:
        yield equation
        if equation.primitive.name in _CALLS:
            for value in jax.tree.leaves(list(equation.params.values()), is_leaf=_is_program):
                if _is_program(value):
                    yield from _equations(getattr(value, "jaxpr", value))


def _is_program(value: Any) -> bool:
    return hasattr(value, "eqns")


def _axis(flag: bool) -> int | None:
    return 0 if flag else None


def _together(
    turns: Any,
    loop: "Loop",
    size: int,
    flags: Any,
    limit: Tensor,
    carry: Tensors,
    captures: Tensors,
    rows: Tensors,
) -> Any:
    """The loop of all members."""
    of_limit, of_carry, of_captures, of_rows = flags

    def whole(tensor: Tensor, flag: bool) -> Tensor:
        return tensor if flag else jnp.broadcast_to(tensor, (size, *tensor.shape))

    axes = (0, 0, tuple(map(_axis, of_captures)), tuple(map(_axis, of_rows)))
    more = loop.more

    def body(
        modes: "Modes", alive: Tensor, carry: Tensors, captures: Tensors, row: Tensors
    ) -> "After":
        def one(*own: Any) -> "After":
            return loop.body(modes, *own)

        return jax.vmap(one, axes, axis_size=size)(alive, carry, captures, row)  # type: ignore[no-any-return]

    wide = replace(
        loop,
        body=body,
        more=None if more is None else jax.vmap(more, axes[1:3], axis_size=size),
        results=tuple(Type((size, *t.shape), t.dtype) for t in loop.results),
    )
    inputs = (
        whole(limit, of_limit),
        tuple(map(whole, carry, of_carry)),
        captures,
        tuple(jnp.moveaxis(r, 0, 1) if b else r for r, b in zip(rows, of_rows, strict=True)),
    )
    new, trips, results = batched(turns, wide)(*inputs)
    return new, trips, tuple(jnp.moveaxis(r, 1, 0) for r in results)


def _in_turn(turns: Any, loop: "Loop", size: int, flags: Any, *inputs: Any) -> Any:
    """The loops of the members, one after the other."""
    leaves, structure = jax.tree.flatten(inputs)
    of = jax.tree.leaves(tuple(flags))
    differing = [leaf for leaf, flag in zip(leaves, of, strict=True) if flag]

    def one(_: Any, own: Any) -> Any:
        rest = iter(own)
        parts = [next(rest) if flag else leaf for leaf, flag in zip(leaves, of, strict=True)]
        return None, batched(turns, loop)(*jax.tree.unflatten(structure, parts))

    return lax.scan(one, None, differing, length=size)[1]


def _programs(loop: "Loop", flags: Any, inputs: Any) -> tuple[Any, Any]:
    """Of one member: the body, and what tells whether to go on (None: for ever)."""

    def type_of(tensor: Any, flag: bool) -> Any:
        return Type(tensor.shape[1:] if flag else tensor.shape, tensor.dtype)

    limit, carry, captures, rows = jax.tree.map(type_of, tuple(inputs), tuple(flags))
    row = tuple(Type(r.shape[1:], r.dtype) for r in rows)
    alive = Type(limit.shape, np.bool_)
    body = jax.make_jaxpr(lambda *parts: loop.body((), *parts))(alive, carry, captures, row)
    more = None if loop.more is None else jax.make_jaxpr(loop.more)(carry, captures).jaxpr
    return body.jaxpr, more


def _alike(body: Any, more: Any, flags: Any) -> Any:
    """Which results differ from member to member where all make equally many trips; else None."""
    of_limit, of_carry, of_captures, of_rows = flags
    reads = _reads(body)
    differ = list(of_carry)
    while True:
        found = [_any(read, [False, *differ, *of_captures, *of_rows]) for read in reads]
        after = [a or b for a, b in zip(differ, found, strict=False)]
        if after == differ:
            break
        differ = after
    if of_limit or (more is not None and _any(_reads(more)[0], [*differ, *of_captures])):
        return None
    return tuple(differ), False, tuple(found[len(differ) :])


def _reads(jaxpr: Any) -> list[list[bool]]:
    """Of each output of a program the inputs on which it depends."""
    debug_info = jaxpr.debug_info.with_unknown_names()
    return [used_inputs(jaxpr.replace(outvars=[v], debug_info=debug_info)) for v in jaxpr.outvars]


def _any(reads: Sequence[bool], flags: Sequence[bool]) -> bool:
    return any(map(and_, reads, flags))
