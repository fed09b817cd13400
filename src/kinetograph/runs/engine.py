"""From a program to an executable: trace, lower, compile or take from the cache."""

import time
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..collector import paused
from ..graph.precision import x64
from .cache import compile_cached
from .chains import Pace
from .fingerprint import fingerprint
from .program import Plan, Program

__all__ = ["Engine", "build"]


@dataclass
class Engine:
    """An executable block and how long it took to get it."""

    run: Any
    trace_seconds: float
    compile_seconds: float
    from_cache: bool
    pace: Pace


def build(program: Program, batch: int | None = None) -> Engine:
    """Compile the block of one chain, or of a batch of chains.

    A model keeps the executables made for it: a second run with the same sampler, whatever its
    draws, chains and seed, compiles nothing.
    """
    kept = program.model.__dict__.setdefault("_engines", {})
    sampler = program.sampler
    # By its settings, which may be changed between runs, not by the object.
    settings = repr(sorted(sampler.settings().items()))
    identity = (type(sampler), settings, tuple(program.targets), batch)
    if identity in kept:
        engine = kept[identity]
        return Engine(engine.run, 0.0, 0.0, True, engine.pace)
    chain = program.initial(np.zeros(2, np.uint32))
    plan = Plan(np.int32(0), np.int32(1), np.int32(0), np.int64(0))
    block: Any = program.block
    if batch is not None:
        chain = jax.tree.map(lambda a: np.broadcast_to(a, (batch, *np.shape(a))), chain)
        block = jax.vmap(program.flat_block, (0, None, None))
    traced = 0.0

    def lower() -> Any:
        nonlocal traced
        begun = time.perf_counter()
        lowered = jax.jit(block).lower(chain, program.model.argument_values, plan)
        traced = time.perf_counter() - begun
        return lowered

    begun = time.perf_counter()
    with x64(), paused():
        executable, from_cache = compile_cached(fingerprint(program, batch), lower)
    engine = Engine(executable, traced, time.perf_counter() - begun - traced, from_cache, Pace())
    kept[identity] = engine
    return engine
