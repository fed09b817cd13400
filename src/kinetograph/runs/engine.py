"""From a program to an executable: trace, lower, compile or take from the cache."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ..collector import paused
from ..graph.precision import x64
from .cache import compile_cached
from .fingerprint import fingerprint
from .pace import Pace
from .program import Plan, Program

__all__ = ["Engine", "build"]


@dataclass
class Engine:
    """An executable block and how long it took to get it."""

    program: Program
    batch: int | None
    run: Any
    trace_seconds: float
    compile_seconds: float
    from_cache: bool
    pace: Pace
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def accept(self, run: Any, reports: Sequence[Any]) -> bool:
        """Whether a block that `run` made can be used.

        If not, some loop made more trips than its backward pass had room for: there is a program
        with more room now, to be run on what the block started from.

        Raises
        ------
        LoopError
            If a loop with `on_limit="error"` reached its bound.
        """
        if not reports:
            return True
        with self._lock:
            if not self.program.model.make_room(self.program.loops, reports):
                return True
            if run is self.run:
                self.run = build(self.program, self.batch).run
            return False


def build(program: Program, batch: int | None = None) -> Engine:
    """Compile the block of one chain, or of a batch of chains.

    A model keeps the executables made for it: a second run with the same sampler, whatever its
    draws, chains and seed, compiles nothing.
    """
    kept = program.model.__dict__.setdefault("_engines", {})
    sampler = program.sampler
    # By its settings, which may be changed between runs, not by the object.
    settings = repr(sorted(sampler.settings().items()))
    room = program.model.room
    identity = (type(sampler), settings, tuple(program.targets), batch, room.key())
    if identity in kept:
        run, pace = kept[identity]
        return Engine(program, batch, run, 0.0, 0.0, True, pace)
    chain = program.initial(np.zeros(4, np.uint32))
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
    seconds = time.perf_counter() - begun - traced
    pace = Pace()
    kept[identity] = executable, pace
    return Engine(program, batch, executable, traced, seconds, from_cache, pace)
