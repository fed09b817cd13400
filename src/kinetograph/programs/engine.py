"""Engines: the executables of a program, with the calls that run them."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import jax
import numpy as np

from ..adaptation.joint_choice import MANY
from .background import Task
from .disk_cache import for_devices
from .executables import blank_states, lower_block, lower_search, make_executable, options_of
from .fingerprint import identity
from .joint_information import at_start, informed, is_asked, is_in_use
from .memory_cache import CompiledProgram, find, hold, trim
from .other_devices import default_device
from .pace import Pace
from .program import Program
from .state import Block, Plan

__all__ = ["Engine", "build"]


_ONCE = {"xla_backend_optimization_level": 0}  # of a program that runs a few times
SEARCH_GRADIENTS = 30  # at least this many at a time: enough for the whole search of an easy model


@dataclass
class Engine:
    """The executables of a program, with their compile times."""

    program: Program
    batch: int | None
    compiled: CompiledProgram
    device: Any
    source: "Engine | None" = None  # the engine from which the executables were loaded
    _lock: Any = field(default_factory=threading.RLock)
    _counterpart: "Engine | None" = None
    _lines: deque[str] = field(default_factory=deque)  # about compilations within a run
    _programs: list[CompiledProgram] = field(default_factory=list)  # the first, and later ones

    def __post_init__(self) -> None:
        self._programs.append(self.compiled)

    @property
    def pace(self) -> Pace:
        """The number of gradients that a block should take."""
        return self.compiled.pace

    def times(self, elapsed: float) -> dict[str, float]:
        """The seconds to trace, to compile and to draw.

        Programs that were compiled while chains were drawing, for `elapsed` seconds, do not count
        as drawing.
        """
        traced = [program.trace_seconds for program in self._programs]
        compiled = [program.compile_seconds for program in self._programs]
        return {
            "trace_time": sum(traced),
            "compile_time": sum(compiled),
            "sampling_time": max(elapsed - sum(traced[1:]) - sum(compiled[1:]), 0.0),
        }

    def find(self, beginning: Any, data: Any, ends: Callable[[], bool] = bool) -> Any:
        """The starting point of a chain, or of a batch.

        `beginning` are arguments of the search. None if `ends()` is true before the search is over.
        """
        program, state = self.program, self.compiled.blank
        spent, walkers = 0, math.prod(program.walkers)
        while not ends():
            compiled, started = self.compiled, time.perf_counter()
            gradients = np.int64(max(self.pace.gradients // walkers, SEARCH_GRADIENTS))
            result = compiled.search(*beginning, state, gradients, data)
            if not self.accept(compiled, program.model.density.loops, result.reports):
                continue
            if np.asarray(result.over).all():
                return result
            before, spent = spent, int(np.asarray(result.chain.gradients).max())
            state = result.search
            self.pace.adjust(spent - before, time.perf_counter() - started)
        return None

    def advance(self, state: Any, data: Any, plan: Plan) -> Any:
        """Advance a chain, or a batch; returns the state and the block."""
        state = self.prepared(state, data)
        return self._moving(state)._advanced(state, data, plan)

    def on_host(self, block: Block) -> Block:
        """A block as NumPy arrays, with an array of each target."""
        block = jax.device_get(block._replace(reports=()))
        return block._replace(targets=tuple(self.program.packing.unpack(block.targets)[0]))

    def prepared(self, state: Any, data: Any) -> Any:
        """The state of a chain or batch, ready for the next block.

        Information that it wants is computed, and the program that it needs is compiled. Neither
        says anything about the time of a block.
        """
        if self.program.maps_jointly:
            state = at_start(state)
        if is_asked(state):
            state = informed(
                self.program, state, data, self.batch, options_of(self.program, self.batch, _ONCE)
            )
        self._moving(state)
        return state

    def _moving(self, state: Any) -> "Engine":
        """The engine of the coordinates in which the chains move.

        The engine of the other coordinates is made when the first chain needs it.
        """
        used = is_in_use(state) == self.program.maps_jointly
        return self if used else self._in_other_coordinates()

    def _in_other_coordinates(self) -> "Engine":
        with self._lock:
            if self._counterpart is None and self.source is not None:
                (self._counterpart,) = self.source._in_other_coordinates().on([self.device])
            if self._counterpart is None:
                jointly = self.program.maps_jointly
                how = "one by one" if jointly else "together"
                program = replace(self.program, maps_jointly=not jointly)
                engine = self._further(program, f"coefficients and effects sampled {how}", False)
                engine._lines, engine._programs = self._lines, self._programs
                self._counterpart = engine
            return self._counterpart

    def on(self, devices: Sequence[Any]) -> "list[Engine]":
        """An engine for each of several devices of one kind.

        The executables are loaded for them, or compiled if that is not possible.
        """
        here, elsewhere = self.device, self.compiled.elsewhere
        missing = [d for d in devices if d != here and d not in elsewhere]
        started = time.perf_counter()
        blocks = for_devices(self.compiled.block, missing)
        searches = for_devices(self.compiled.search, missing)
        for i, device in enumerate(missing):
            if blocks is None or searches is None:
                searches_too = self.compiled.search is not None
                engine = _built(self.program, self.batch, bool, device, searches_too)
                elsewhere[device] = engine.compiled
                continue
            blank = jax.device_put(self.compiled.blank, device)
            parts: dict[str, Any] = {"block": blocks[i], "search": searches[i], "blank": blank}
            elsewhere[device] = replace(self.compiled, **parts, elsewhere={})
        if missing:
            self.compiled.compile_seconds += time.perf_counter() - started
        return [self if d == here else self._loaded_on(d) for d in devices]

    def _loaded_on(self, device: Any) -> "Engine":
        compiled, lines = self.compiled.elsewhere[device], self._lines
        return Engine(self.program, self.batch, compiled, device, self, self._lock, _lines=lines)

    def _further(self, program: Program, title: str, searches: bool = True) -> "Engine":
        """Compile a program within a run, and note lines for progress."""
        if self.source is not None:
            (engine,) = self.source._further(program, title, searches).on([self.device])
            return engine
        self._lines.append(f"compiling again, for {title} ...")
        engine = _built(program, self.batch, bool, self.device, searches)
        self._lines.append(f"for {title}: {engine.compiled.times_text}")
        self._programs.append(engine.compiled)
        return engine

    def new_lines(self) -> Iterator[str]:
        """The lines about compilations since the last call."""
        while self._lines:
            yield self._lines.popleft()

    def _advanced(self, state: Any, data: Any, plan: Plan) -> Any:
        while True:
            compiled = self.compiled
            state_after, block = compiled.block(state, data, plan)
            if self.accept(compiled, self.program.loops, block.reports):
                return state_after, block

    def accept(
        self, compiled: CompiledProgram, loops: Sequence[Any], reports: Sequence[Any]
    ) -> bool:
        """Whether the results of a call can be used.

        They cannot if a loop made more trips than its backward pass had capacity for. Then
        `compiled` has been replaced by a program with more capacity, and the call must be repeated
        with the same arguments.

        Raises
        ------
        LoopError
            If a loop with `on_limit="error"` reached its bound.
        """
        if not reports:
            return True
        with self._lock:
            if not self.program.model.functions.ensure_capacity(loops, reports):
                return True
            if compiled is self.compiled:
                searches = compiled.search is not None
                self.compiled = self._further(self.program, "longer loops", searches).compiled
            return False


def build(
    program: Program,
    batch: int | None = None,
    meanwhile: Callable[[], Any] = bool,
    device: Any = None,
    jointly: bool = False,
) -> Engine:
    """Compile the programs of one chain, or of a batch of chains.

    They run on `device`, by default JAX's default device. `meanwhile` is called when the
    interpreter is free, while XLA compiles. With `jointly`, chains begin in the coordinates of the
    joint block of the model, if there is one that is not large.

    The compiled programs of a model live as long as the model, if they are among the programs used
    last. A second run whose sampler has the same graph compiles nothing, for any values of its
    hyper-parameters and any number of draws, chains and seed.
    """
    joint = None if program.centring is None else program.centring.joint
    if jointly and joint is not None and joint.size <= MANY:
        program = replace(program, maps_jointly=True)
    if program.row_blocks is not None:
        device = program.row_blocks.replicated
    return _built(program, batch, meanwhile, device or default_device(), True)


def _built(program: Program, *arguments: Any) -> Engine:
    with program.model.its_values():  # data are part of the graphs of observables
        return _build(program, *arguments)


def _build(
    program: Program,
    batch: int | None,
    meanwhile: Callable[[], Any],
    device: Any,
    searches: bool,
) -> Engine:
    """The engine; without `searches` its chains have begun."""
    capacity = program.model.capacity
    model_key = program.model.version, capacity.key()
    which = identity(program), tuple(program.targets), program.varied, batch, device, searches
    key = (*which, *model_key)
    in_memory = find(program.model, key)
    if in_memory is not None:
        meanwhile()
        from_memory = replace(in_memory, trace_seconds=0.0, compile_seconds=0.0, from_cache=True)
        return Engine(program, batch, from_memory, device)
    if not searches:
        block, tracing, seconds, cached = make_executable(
            program, batch, device, "block", lower_block
        )
        compiled = CompiledProgram(None, block, None, tracing, seconds, cached, Pace())
        hold(program.model, key, compiled)
        return Engine(program, batch, compiled, device)
    # Tracing holds the interpreter, and XLA does not. So the search is traced while XLA compiles
    # the block, which takes longer, and `meanwhile` is called after that.
    traced, meanwhile_called = threading.Event(), threading.Event()

    def search_traced() -> None:
        if not meanwhile_called.is_set():
            meanwhile_called.set()
            meanwhile()

    search_task = Task(
        partial(
            make_executable,
            program,
            batch,
            device,
            "search",
            lower_search,
            traced.wait,
            search_traced,
        )
    )
    try:
        block, tracing, seconds, cached = make_executable(
            program, batch, device, "block", lower_block, after=traced.set
        )
    finally:
        traced.set()
    begin, *_ = search_task.result()
    blank = blank_states(program, batch, device)
    compiled = CompiledProgram(begin, block, blank, tracing, seconds, cached, Pace())
    hold(program.model, key, compiled)
    if not cached:
        trim()
    return Engine(program, batch, compiled, device)
