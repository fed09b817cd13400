"""From a program to executables: trace, lower, compile or take from the cache."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import jax
import numpy as np

from ..collector import paused
from ..graph.precision import x64
from .background import Task
from .cache import compile_cached
from .fingerprint import fingerprint, identity
from .pace import Pace
from .program import Program
from .programs import Compiled, find, hold, trim
from .search import blank_search, search
from .state import Plan

__all__ = ["Engine", "build"]


# How XLA is to compile for a processor. Of a batch, sums of short rows by loops of its own: the
# library that it hands them to takes several times as long. Of one chain, with less effort, which
# halves the time to compile a model of 200 unknowns, and with the widest vectors there are: what it
# makes of a chain's loop is as fast.
_LOOPS = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
_QUICK = {"xla_backend_optimization_level": 1, "xla_cpu_prefer_vector_width": 512}
SEARCH_GRADIENTS = 30  # a search makes at once, if it has to: that of an easy model is over then


@dataclass
class Engine:
    """The executables of a program, and how long it took to get them."""

    program: Program
    batch: int | None
    compiled: Compiled
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def pace(self) -> Pace:
        """How many gradients a block should take."""
        return self.compiled.pace

    def find(self, beginning: Any, data: Any, ends: Callable[[], bool] = bool) -> Any:
        """Where a chain, or each of a batch, begins; `beginning` are arguments of the search.

        None, if `ends()` says so before it is found.
        """
        program, state = self.program, self.compiled.blank
        spent, walkers = 0, math.prod(program.walkers)
        while not ends():
            compiled, begun = self.compiled, time.perf_counter()
            gradients = np.int64(max(self.pace.gradients // walkers, SEARCH_GRADIENTS))
            found = compiled.search(*beginning, state, gradients, data)
            if not self.accept(compiled, program.model.density.loops, found.reports):
                continue
            if np.asarray(found.over).all():
                return found
            before, spent = spent, int(np.asarray(found.chain.gradients).max())
            state = found.search
            self.pace.adjust(spent - before, time.perf_counter() - begun)
        return None

    def advance(self, state: Any, data: Any, plan: Plan) -> Any:
        """The state and the block after advancing a chain, or a batch."""
        while True:
            compiled = self.compiled
            state_after, block = compiled.block(state, data, plan)
            if self.accept(compiled, self.program.loops, block.reports):
                return state_after, block

    def accept(self, compiled: Compiled, loops: Sequence[Any], reports: Sequence[Any]) -> bool:
        """Whether what was computed can be used.

        If not, some loop made more trips than its backward pass had room for: there is a program
        with more room now, to be run on what this one started from.

        Raises
        ------
        LoopError
            If a loop with `on_limit="error"` reached its bound.
        """
        if not reports:
            return True
        with self._lock:
            if not self.program.model.ensure_capacity(loops, reports):
                return True
            if compiled is self.compiled:
                self.compiled = build(self.program, self.batch).compiled
            return False


def build(
    program: Program, batch: int | None = None, meanwhile: Callable[[], Any] = bool
) -> Engine:
    """Compile the programs of one chain, or of a batch of chains.

    What is to be done `meanwhile` is called when the interpreter is free for it.

    What was compiled for a model is kept as long as it, if it is among the programs used last: a
    second run with a sampler whose step has the same graph, whatever its hyper-parameters, its
    draws, chains and seed, compiles nothing.
    """
    with program.model.its_values():  # data are part of the graphs of observables
        return _build(program, batch, meanwhile)


def _build(program: Program, batch: int | None, meanwhile: Callable[[], Any]) -> Engine:
    capacity = program.model.capacity
    made = program.model.version, capacity.key()
    key = (identity(program), tuple(program.targets), batch, *made)
    known = find(program.model, key)
    if known is not None:
        meanwhile()
        again = Compiled(known.search, known.block, known.blank, 0.0, 0.0, True, known.pace)
        return Engine(program, batch, again)
    # Tracing holds the interpreter, and XLA does not: the search is traced while XLA compiles the
    # block, which takes longer, and what else there is to do begins when that is traced, too.
    traced, begun = threading.Event(), threading.Event()

    def done() -> None:
        if not begun.is_set():
            begun.set()
            meanwhile()

    beside = Task(partial(_compile, program, batch, "search", _search, traced.wait, done))
    try:
        block, tracing, seconds, cached = _compile(program, batch, "block", _block, done=traced.set)
    finally:
        traced.set()
    begin, *_ = beside.result()
    compiled = Compiled(begin, block, _blank(program, batch), tracing, seconds, cached, Pace())
    hold(program.model, key, compiled)
    if not cached:
        trim()
    return Engine(program, batch, compiled)


def _compile(
    program: Program,
    batch: int | None,
    which: str,
    lowered: Callable[..., Any],
    first: Callable[[], Any] = bool,
    done: Callable[[], Any] = bool,
) -> tuple[Any, float, float, bool]:
    """An executable, how long tracing and compiling took, and whether it came from the cache.

    What comes `first` is called before tracing, and `done` after it, or where there is nothing to
    be traced.
    """
    traced = 0.0

    def lower() -> Any:
        nonlocal traced
        first()
        begun = time.perf_counter()
        made = lowered(program, batch)
        traced = time.perf_counter() - begun
        done()
        return made

    begun = time.perf_counter()
    with x64(), paused():
        known = fingerprint(program, batch)
        text = None if known is None else f"{which}\n{known}"
        executable, from_cache = compile_cached(text, lower, done)
    return executable, traced, time.perf_counter() - begun - traced, from_cache


def _block(program: Program, batch: int | None) -> Any:
    chain = _batched(program.shapes(), batch)
    plan = Plan(np.int32(1), np.int64(0))
    block: Any = program.block
    if batch is not None:
        block = program.batch_block
    options = _options(batch)
    jitted = jax.jit(block, compiler_options=options)
    return jitted.lower(chain, program.model.argument_values, plan)


def _options(batch: int | None) -> dict[str, Any] | None:
    """Those of XLA's options that there are for a program."""
    if jax.default_backend() != "cpu":
        return None
    return _accepted(tuple((_QUICK if batch is None else _LOOPS).items()))


@cache
def _accepted(options: tuple[tuple[str, Any], ...]) -> dict[str, Any] | None:
    """Options, if there are such: they are XLA's, and may go."""
    found = dict(options)
    try:
        jax.jit(lambda x: x, compiler_options=found).lower(np.int32(0)).compile()
    except RuntimeError:
        return None
    return found


def _search(program: Program, batch: int | None) -> Any:
    blank = np.zeros(program.space.shape, program.dtype)
    each = (np.zeros(4, np.uint32), blank, *(np.bool_(False) for _ in range(3)))
    arguments = _batched((*each, program.hyper(), blank_search(program)), batch)
    find: Any = partial(search, program)
    if batch is not None:
        find = jax.vmap(find, (*(0 for _ in arguments), None, None))
    jitted = jax.jit(find, compiler_options=_options(batch))
    return jitted.lower(*arguments, np.int64(0), program.model.argument_values)


def _blank(program: Program, batch: int | None) -> Any:
    lead = () if batch is None else (batch,)
    with x64():
        return jax.device_put(
            jax.tree.map(lambda x: np.broadcast_to(x, (*lead, *x.shape)), blank_search(program))
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
