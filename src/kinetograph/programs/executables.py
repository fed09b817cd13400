"""Executables of a program: traced, lowered, then compiled or loaded."""

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cache, partial
from typing import Any, cast

import jax
import numpy as np

from ..collector import paused
from ..graph.precision import x64
from .block_loops import transitions_at_once
from .disk_cache import compile_cached
from .fingerprint import fingerprint
from .program import Program
from .shared_programs import simplified
from .start_search import blank_search, search
from .state import Plan

__all__ = ["blank_states", "lower_block", "lower_search", "make_executable", "options_of"]

# Compiler options for a processor. For a batch, sums of short rows are computed by XLA's own loops,
# because the library that it would call takes several times as long; the library sums the long rows
# of a shared block in less time. For one chain, less optimisation halves the time to compile a
# model of 200 unknowns, and the widest vectors are used; the loop of a chain is as fast as with
# full optimisation. Only random arrays that are drawn for many transitions at once need full
# optimisation: it computes them by vectors.
_LOOPS = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}


_WIDE = {"xla_cpu_prefer_vector_width": 512}


_QUICK = {"xla_backend_optimization_level": 1, **_WIDE}


def make_executable(
    program: Program,
    batch: int | None,
    device: Any,
    which: str,
    lowered: Callable[..., Any],
    before: Callable[[], Any] = bool,
    after: Callable[[], Any] = bool,
) -> tuple[Any, float, float, bool]:
    """An executable, its times of tracing and compiling, and its origin.

    The last value is whether it came from the cache. `before` is called before tracing. `after` is
    called after tracing, or when an entry of the cache makes tracing unnecessary.
    """
    traced = 0.0

    def lower() -> Any:
        nonlocal traced
        before()
        started = time.perf_counter()
        with nullcontext() if program.row_blocks is not None else jax.default_device(device):
            lowered_program = lowered(program, batch)
        if program.row_blocks is not None:
            simplified(lowered_program)
        traced = time.perf_counter() - started
        after()
        return lowered_program

    started = time.perf_counter()
    with x64(), paused():
        program_fingerprint = fingerprint(program, batch)
        text = None if program_fingerprint is None else f"{which}\n{program_fingerprint}"
        devices = (device,) if program.row_blocks is None else program.row_blocks.devices
        executable, from_cache = compile_cached(text, lower, after, devices)
    return executable, traced, time.perf_counter() - started - traced, from_cache


def lower_block(program: Program, batch: int | None) -> Any:
    chain = _batched(program.shapes(), batch)
    plan = Plan(np.int32(1), np.int64(0))
    block: Any = program.block
    if batch is not None:
        block = program.batch_block
    options = options_of(program, batch, _WIDE if transitions_at_once(program) > 1 else _QUICK)
    jitted = jax.jit(program.on_devices(block, 1, 1), compiler_options=options)
    return jitted.lower(chain, _data(program, batch), plan)


def options_of(
    program: Program, batch: int | None, for_chain: Mapping[str, Any] = _QUICK
) -> dict[str, Any] | None:
    """The compiler options for a program."""
    if jax.default_backend() != "cpu":
        return None
    for_batch = _LOOPS if program.row_blocks is None else {}
    return _accepted(tuple((for_chain if batch is None else for_batch).items()))


@cache
def _accepted(options: tuple[tuple[str, Any], ...]) -> dict[str, Any] | None:
    """The options, if this version of XLA accepts them, otherwise None.

    They are options of XLA and may be removed there.
    """
    accepted = dict(options)
    try:
        jax.jit(lambda x: x, compiler_options=accepted).lower(np.int32(0)).compile()
    except RuntimeError:
        return None
    return accepted


def lower_search(program: Program, batch: int | None) -> Any:
    blank = np.zeros(program.space.shape, program.dtype)
    each = (np.zeros(4, np.uint32), blank, *(np.bool_(False) for _ in range(3)))
    arguments = _batched((*each, program.hyper(), blank_search(program)), batch)
    find: Any = partial(search, program)
    if batch is not None:
        find = jax.vmap(find, (*(0 for _ in arguments), None, program.data_axes))
    shared = program.on_devices(find, len(arguments) + 1, 0)
    jitted = jax.jit(shared, compiler_options=options_of(program, batch))
    return jitted.lower(*arguments, np.int64(0), _data(program, batch))


def _data(program: Program, batch: int | None) -> tuple[Any, ...]:
    """The model's arguments, stacked where chains have their own values."""
    each = zip(program.argument_values, program.data_axes, strict=True)
    shapes = tuple(_batched(x, None if axis is None else batch) for x, axis in each)
    if program.row_blocks is None:
        return shapes

    def on_devices(placement: Any, shapes: Any) -> Any:
        return jax.tree.map(lambda x: x.update(sharding=placement), shapes)

    return cast(tuple[Any, ...], jax.tree.map(on_devices, program.row_blocks.placements(), shapes))


def blank_states(program: Program, batch: int | None, device: Any) -> Any:
    lead = () if batch is None else (batch,)
    with x64():
        return jax.device_put(
            jax.tree.map(lambda x: np.broadcast_to(x, (*lead, *x.shape)), blank_search(program)),
            device,
        )


def _batched(tree: Any, batch: int | None) -> Any:
    lead = () if batch is None else (batch,)
    return jax.tree.map(
        lambda a: (
            jax.ShapeDtypeStruct((*lead, *np.shape(a)), np.asarray(a).dtype)
            if not isinstance(a, jax.ShapeDtypeStruct)
            else jax.ShapeDtypeStruct((*lead, *a.shape), a.dtype)
        ),
        tree,
    )
