"""Loops of a batch, whose members may make different numbers of trips.

There are two ways to run them:

    together     All members run until the last one is finished. A finished member keeps its old
                 carried values.
    in turn      The members run one after the other, each with its own number of trips.

"Together" costs the trips of the longest loop for each member. It is faster where the processor
computes several members with one instruction, that is, where a trip consists of a few simple
operations. Otherwise, on CPU, "in turn" is faster, because it makes only the trips that are needed.

Result rows are not selected member by member. They are written at the number of the trip, which all
members share, so a trip costs the writing of its own rows only. Loops that read rows backwards all
start at the last trip of the longest loop. If all members certainly make the same number of trips,
carried values are not selected either.
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

from .tensor_tuples import Tensor, Tensors, Type, types_of, used_inputs

if TYPE_CHECKING:
    from .differentiable_loop import After, Loop, Modes

__all__ = ["batched", "chosen", "with_tracers_captured"]

Turns = Callable[..., tuple[Tensors, Tensor, Tensors]]

_MEMBERS = 4  # with fewer members, vector instructions gain little
_ELEMENTS = 16  # a value with more elements than this fills vector instructions by itself
_NAMES = """
    abs add add_any and broadcast_in_dim ceil clamp concatenate convert_element_type copy
    div dynamic_slice dynamic_update_slice eq exp exp2 expm1 floor ge gt integer_pow
    iota is_finite le log log1p logistic lt max min mul ne neg not or pad reduce_and reduce_max
    reduce_min reduce_or reduce_sum rem reshape round rsqrt select_n sign slice split sqrt square
    squeeze stop_gradient sub tanh track transpose xor
"""
_SIMPLE = frozenset(_NAMES.split())  # XLA computes several elements of these with one instruction
_CALLS = frozenset(("jit", "custom_jvp_call", "custom_vjp_call", "cond"))


def chosen(flags: Tensor, new: Tensor, old: Any) -> Tensor:
    """New values where the member's flag is true, else old values."""
    return jnp.where(flags.reshape(flags.shape + (1,) * (new.ndim - flags.ndim)), new, old)


def batched(
    turns: "Callable[[Loop, Tensor, Tensors, Tensors, Tensors], Any]", loop: "Loop"
) -> Turns:
    """Return a loop as a function with its own batching rule.

    The function takes limit, carry, captures and rows.

    Constants of the traced program are inputs, too, because a branch around the loop may batch
    them.
    """

    def call(*inputs: Any) -> Any:
        program, types = jax.make_jaxpr(partial(turns, loop), return_shape=True)(*inputs)
        structure = jax.tree.structure(types)

        @custom_vmap
        def evaluated(constants: Tensors, inputs: Any) -> Any:
            leaves = jax.tree.leaves(inputs)
            results = jax.core.eval_jaxpr(program.jaxpr, constants, *leaves)
            return jax.tree.unflatten(structure, results)

        @evaluated.def_vmap
        def rule(size: int, flags: Any, constants: Tensors, inputs: Any) -> Any:
            flags = flags[1]
            body, more = _programs(loop, flags, inputs)
            varying = _varying_results(body, more, flags)
            if varying is not None:
                axes = jax.tree.map(_axis, flags)
                results = jax.vmap(lambda *parts: turns(loop, *parts), axes, axis_size=size)(
                    *inputs
                )
                return jax.tree.map(lambda x, b: x if b else x[0], results, varying), varying
            run_members = _together if _faster_together(body, size) else _in_turn
            results = run_members(turns, loop, size, flags, *inputs)
            return results, jax.tree.map(lambda _: True, results)

        return evaluated(tuple(program.consts), inputs)

    return call


def with_tracers_captured(
    loop: "Loop", carry: Tensors, captures: Tensors, rows: Tensors
) -> "tuple[Loop, Tensors]":
    """Turn tracers that a loop reads from outside into captures.

    Returns the changed loop and all captures.

    The batching rule of the loop runs after the surrounding trace has ended, so the loop must not
    refer to the tracers of that trace.
    """
    types = types_of(carry), types_of(captures)
    row = tuple(Type(r.shape[1:], r.dtype) for r in rows)
    alive = Type((), np.bool_)
    body, after = jax.make_jaxpr(partial(loop.body, ()), return_shape=True)(alive, *types, row)
    structure = jax.tree.structure(after)
    programs = [body]
    if loop.more is not None:
        programs.append(jax.make_jaxpr(loop.more)(*types))
    tracers = {id(c): c for p in programs for c in p.consts if isinstance(c, jax.core.Tracer)}
    if not tracers:
        return loop, captures
    count = len(captures)

    def call(program: Any, leaves: Any, all_captures: Tensors) -> Any:
        value_of_tracer = dict(zip(tracers, all_captures[count:], strict=True))
        consts = [value_of_tracer.get(id(c), c) for c in program.consts]
        return jax.core.eval_jaxpr(program.jaxpr, consts, *leaves)

    def turn(_: Any, alive: Tensor, carry: Tensors, all_captures: Tensors, row: Tensors) -> "After":
        leaves = (alive, *carry, *all_captures[:count], *row)
        return jax.tree.unflatten(structure, call(body, leaves, all_captures))  # type: ignore[no-any-return]

    def more(carry: Tensors, all_captures: Tensors) -> Tensor:
        return call(programs[1], (*carry, *all_captures[:count]), all_captures)[0]  # type: ignore[no-any-return]

    changed = replace(loop, body=turn, more=None if loop.more is None else more)
    return changed, (*captures, *tracers.values())


def _faster_together(body: Any, size: int) -> bool:
    """Whether running all members together is faster than in turn."""
    if jax.default_backend() != "cpu":
        return True
    return size >= _MEMBERS and all(
        equation.primitive.name in _SIMPLE | _CALLS
        and all(v.aval.size <= _ELEMENTS for v in equation.outvars)
        for equation in _equations(body)
    )


def _equations(jaxpr: Any) -> Iterator[Any]:
    """The operations of a program and of the programs that it calls."""
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
    """Run the loop of all members at the same time."""
    of_limit, of_carry, of_captures, of_rows = flags

    def for_all_members(tensor: Tensor, flag: bool) -> Tensor:
        return tensor if flag else jnp.broadcast_to(tensor, (size, *tensor.shape))

    axes = (0, 0, tuple(map(_axis, of_captures)), tuple(map(_axis, of_rows)))
    more = loop.more

    def body(
        modes: "Modes", alive: Tensor, carry: Tensors, captures: Tensors, row: Tensors
    ) -> "After":
        def run_member(*parts_of_member: Any) -> "After":
            return loop.body(modes, *parts_of_member)

        return jax.vmap(run_member, axes, axis_size=size)(alive, carry, captures, row)  # type: ignore[no-any-return]

    loop_of_batch = replace(
        loop,
        body=body,
        more=None if more is None else jax.vmap(more, axes[1:3], axis_size=size),
        results=tuple(Type((size, *t.shape), t.dtype) for t in loop.results),
    )
    inputs = (
        for_all_members(limit, of_limit),
        tuple(map(for_all_members, carry, of_carry)),
        captures,
        tuple(jnp.moveaxis(r, 0, 1) if b else r for r, b in zip(rows, of_rows, strict=True)),
    )
    new, trips, results = batched(turns, loop_of_batch)(*inputs)
    return new, trips, tuple(jnp.moveaxis(r, 1, 0) for r in results)


def _in_turn(turns: Any, loop: "Loop", size: int, flags: Any, *inputs: Any) -> Any:
    """Run the loops of the members one after the other."""
    leaves, structure = jax.tree.flatten(inputs)
    batched_flags = jax.tree.leaves(tuple(flags))
    batched_leaves = [leaf for leaf, flag in zip(leaves, batched_flags, strict=True) if flag]

    def run_member(_: Any, member_leaves: Any) -> Any:
        remaining = iter(member_leaves)
        parts = [
            next(remaining) if flag else leaf
            for leaf, flag in zip(leaves, batched_flags, strict=True)
        ]
        return None, batched(turns, loop)(*jax.tree.unflatten(structure, parts))

    return lax.scan(run_member, None, batched_leaves, length=size)[1]


def _programs(loop: "Loop", flags: Any, inputs: Any) -> tuple[Any, Any]:
    """The programs of body and predicate for one member.

    The program of a missing predicate is None.
    """

    def type_of(tensor: Any, flag: bool) -> Any:
        return Type(tensor.shape[1:] if flag else tensor.shape, tensor.dtype)

    limit, carry, captures, rows = jax.tree.map(type_of, tuple(inputs), tuple(flags))
    row = tuple(Type(r.shape[1:], r.dtype) for r in rows)
    alive = Type(limit.shape, np.bool_)
    body = jax.make_jaxpr(lambda *parts: loop.body((), *parts))(alive, carry, captures, row)
    more = None if loop.more is None else jax.make_jaxpr(loop.more)(carry, captures).jaxpr
    return body.jaxpr, more


def _varying_results(body: Any, more: Any, flags: Any) -> Any:
    """Whether each result differs between members, or None.

    The value is None if the members may make different numbers of trips.

    The flags have the structure of the results: carry, number of trips, rows.
    """
    of_limit, of_carry, of_captures, of_rows = flags
    dependences = _dependences(body)
    varying_carry = list(of_carry)
    while True:
        varying = [
            _depends_on_any(read, [False, *varying_carry, *of_captures, *of_rows])
            for read in dependences
        ]
        grown = [a or b for a, b in zip(varying_carry, varying, strict=False)]
        if grown == varying_carry:
            break
        varying_carry = grown
    if of_limit or (
        more is not None and _depends_on_any(_dependences(more)[0], [*varying_carry, *of_captures])
    ):
        return None
    return tuple(varying_carry), False, tuple(varying[len(varying_carry) :])


def _dependences(jaxpr: Any) -> list[list[bool]]:
    """Dependences of each output of a program on each input."""
    debug_info = jaxpr.debug_info.with_unknown_names()
    return [
        used_inputs(jaxpr.replace(outvars=[output], debug_info=debug_info))
        for output in jaxpr.outvars
    ]


def _depends_on_any(reads: Sequence[bool], flags: Sequence[bool]) -> bool:
    return any(map(and_, reads, flags))
