"""Driving chains: by threads, or all are a batch.

Threads share one executable, and XLA releases the interpreter while it runs. Where there are fewer
of them than chains, these take turns, a block each, so that all are about as far. A batch is one
thread with an executable of its own. The host only takes the new draws of each block, counts, and
looks whether it should stop; the thread that was asked for the run waits, so that Ctrl-C never
comes between a block and its draws. Whoever stops a run does not wait for blocks that take long:
what such a block gives is not taken.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import jax
import numpy as np

from ..adaptation.schedule import Phases
from ..graph.precision import x64
from ..kernels.blas import one_thread
from .background import thread
from .chain import Chain, Lengths
from .engine import Engine
from .pace import Pace
from .program import Program
from .signals import STOPS, Terminated, hearing, holding, stoppable
from .state import ChainState, Plan, Where
from .warming import Tuned, judged

__all__ = ["Ending", "Keeper", "advance", "beginnings", "run_chains", "threads_available"]

PATIENCE = 1.2  # seconds that a run which is stopped waits for blocks


@dataclass
class Ending:
    """How a run ended, if not as it should."""

    stopped: BaseException | None = None  # KeyboardInterrupt or Terminated
    error: BaseException | None = None  # in a chain, or in what watches

    def hear(self, late: list[type[BaseException]]) -> bool:
        """Take the signals that have been held back; whether there are any."""
        kinds = late[:]
        late.clear()
        if kinds:
            terminated = Terminated in kinds
            self.stopped = Terminated() if terminated else self.stopped or kinds[0]()
        return bool(kinds)


class Keeper(Protocol):
    """Who writes down where chains are."""

    def due(self, chain: Chain) -> bool:
        """Whether it is time to."""

    def keep(self, chain: Chain) -> None:
        """Do it."""


@dataclass
class Control:
    """What the threads and the one that waits for them share."""

    stop: threading.Event = field(default_factory=threading.Event)
    failed: threading.Event = field(default_factory=threading.Event)  # of a chain, and so of all
    errors: list[BaseException] = field(default_factory=list)
    batch: ChainState | None = None  # the states of a batch
    keeper: Keeper | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _left: bool = False  # nobody waits for blocks any more

    def ends(self) -> bool:
        """Whether no further block is to be run."""
        return self.stop.is_set() or self.failed.is_set()

    @contextmanager
    def taking(self) -> Iterator[bool]:
        """While what a block gave is taken; whether anybody waits for it."""
        with self._lock:
            yield not self._left

    def leave(self) -> None:
        """Wait for nothing any more: what has been taken is whole."""
        with self._lock:
            self._left = True


def threads_available() -> int:
    """The number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def tuned_of(state: ChainState) -> Tuned:
    """What is tuned, on the host."""
    found: Tuned = jax.tree.map(np.asarray, Tuned(state.hyper, state.adaptation))
    return found


def _plan(lengths: Lengths, pace: Pace, chain: Chain) -> Plan:
    numbers = np.int32(lengths.thin), np.int64(pace.gradients)
    return Plan(*numbers, np.bool_(chain.warmup is not None))


def beginnings(program: Program, chains: Sequence[Chain]) -> list[Any]:
    """What the search for each chain's starting point takes."""
    blank = np.zeros(program.space.shape, program.dtype)
    rows = []
    for chain in chains:
        given = chain.free is not None
        free = np.asarray(chain.free, program.dtype) if given else blank
        sampler = chain.sampler or program.sampler
        hyper = sampler.hypers(program.space) | dict(chain.tuned)
        scaled = sampler.scale is not None or "scale" in chain.tuned
        climbing = chain.climbing and program.model.batch is None
        flags = (np.bool_(flag) for flag in (given, climbing, scaled))
        rows.append((chain.key, free, *flags, hyper))
    return rows


def advance(
    engine: Engine,
    data: Any,
    chain: Chain,
    plan: Plan,
    sampled: int,
    control: Control | None = None,
) -> None:
    """Advance a chain by a block, and tune it where the host has to."""
    state = chain.state
    assert state is not None
    phases = chain.tuner.phases(chain.transition, sampled)
    state = state._replace(phases=Phases(*map(np.int32, phases)))
    state, block = engine.advance(state, data, plan)
    with (control or Control()).taking() as wanted:
        if not wanted:
            return
        chain.take(block)
        chain.state = state
        if chain.at_stop():
            tuned = chain.tuner.look(chain.transition, chain.gradients, tuned_of(state))
            chain.state = state._replace(**tuned._asdict())
        if control is not None and control.keeper is not None and control.keeper.due(chain):
            control.keeper.keep(chain)


def run_chains(
    engine: Engine,
    chains: Sequence[Chain],
    lengths: Lengths,
    threads: int,
    watch: Callable[[], bool | None],
    keeper: Keeper | None = None,
) -> Ending:
    """Run chains, on threads or as the batch that the engine is for.

    `watch` is called while waiting, and after the last block; the run ends when it gives True. A
    chain that finds no start ends the others, too.
    """
    control, ending = Control(keeper=keeper), Ending()
    with x64():
        data = jax.device_put(engine.program.model.argument_values)
    job = partial(_run_batch, engine, data, chains, lengths, control)
    if engine.batch is None:
        turns = deque(_turns_of(engine, data, chain, lengths, control) for chain in chains)
        job = partial(_take_turns, turns)

    def work() -> None:
        try:
            job()
        except BaseException as error:
            control.errors.append(error)
            control.failed.set()

    count = 1 if engine.batch is not None else min(threads, len(chains))
    workers = [thread(work) for _ in range(count)]
    with one_thread(), stoppable(), holding() as late:
        try:
            with hearing():
                for worker in workers:
                    worker.start()
                going = True
                while going:
                    _wait(workers, 0.05)
                    going = any(worker.is_alive() for worker in workers)
                    if watch():  # once more when all have ended, however quick they were
                        break
        except STOPS as stopped:
            ending.stopped = stopped
        except Exception as error:
            ending.error = error
        control.stop.set()
        try:
            with hearing():
                _wait(workers, PATIENCE)
        except STOPS as stopped:  # once more: at once
            ending.stopped = stopped
        control.leave()
        if control.batch is not None:
            settle(chains, control.batch)
        ending.hear(late)
    if control.errors:
        ending.error = control.errors[0]
    return ending


def _wait(workers: Sequence[threading.Thread], seconds: float) -> None:
    """Until all have ended, but no longer than so many seconds."""
    until = time.perf_counter() + seconds
    for worker in workers:
        worker.join(max(0.0, until - time.perf_counter()))


def _take_turns(waiting: deque[Iterator[None]]) -> None:
    """Give the chain that has waited longest its turn, until there is none."""
    with x64():
        while waiting:
            try:
                chain = waiting.popleft()
            except IndexError:  # another thread was quicker
                return
            for _ in chain:
                if waiting:
                    waiting.append(chain)
                    break


def _turns_of(
    engine: Engine, data: Any, chain: Chain, lengths: Lengths, control: Control
) -> Iterator[None]:
    """Run one chain to its end, or until all end, a block at a time."""
    pace = engine.pace
    if chain.state is None:
        (arguments,) = beginnings(engine.program, [chain])
        found = engine.find(arguments, data, control.stop.is_set)
        if found is None:
            return
        with control.taking() as wanted:
            if wanted:
                chain.begin(found)
        if chain.failed:
            control.failed.set()
    while chain.left(lengths) > 0 and not control.ends():
        begun = time.perf_counter()
        plan = _plan(lengths, pace, chain)
        advance(engine, data, chain, plan, lengths.sampled, control)
        elapsed = time.perf_counter() - begun
        chain.seconds += elapsed
        pace.adjust(chain.spent, elapsed)
        yield


def _run_batch(
    engine: Engine, data: Any, chains: Sequence[Chain], lengths: Lengths, control: Control
) -> None:
    """Run all chains as one batch, in which each goes on until all have ended."""
    pace = engine.pace
    with x64():
        states = _begun(engine, data, chains, control)
        while states is not None and not control.ends():
            if all(c.left(lengths) <= 0 for c in chains):
                break
            begun = time.perf_counter()
            phases = [c.tuner.phases(c.transition, lengths.sampled) for c in chains]
            plan = _plan(lengths, pace, chains[0])
            states = states._replace(phases=Phases(*np.array(phases, np.int32).T))
            states, blocks = engine.advance(states, data, plan)
            if all(c.transition >= c.tuner.late for c in chains):  # nobody looks at them
                blocks = blocks._replace(free=None, slopes=None)
            rows = jax.device_get(blocks._replace(reports=()))
            computed = time.perf_counter() - begun
            with control.taking() as wanted:
                if not wanted:
                    return
                Chain.take_each(chains, rows)
                states = _tuned(states, chains)
                control.batch = states
                if control.keeper is not None and control.keeper.due(chains[0]):
                    settle(chains, states)
                    for chain in chains:
                        control.keeper.keep(chain)
            elapsed = time.perf_counter() - begun
            spent = rows.progress[:, Where._fields.index("spent")]
            for chain in chains:
                chain.seconds += elapsed
            # While some wait for the others, nothing is gained.
            waited = computed * (1 - spent.mean() / max(spent.max(), 1))
            pace.adjust(int(spent.max()), computed, elapsed - computed + float(waited))


def _begun(engine: Engine, data: Any, chains: Sequence[Chain], control: Control) -> Any:
    """The states of a batch, at its starting points or where another run has left it."""
    if all(chain.state is not None for chain in chains):
        return jax.device_put(_stacked([chain.state for chain in chains]))
    arguments = _stacked(beginnings(engine.program, chains))
    found = engine.find(arguments, data, control.stop.is_set)
    if found is None:
        return None
    with control.taking() as wanted:
        if wanted:
            for chain, start in zip(chains, _members(jax.device_get(found)), strict=True):
                chain.begin(start)
                if chain.failed:
                    control.failed.set()
    return found.chain


def _tuned(states: ChainState, chains: Sequence[Chain]) -> ChainState:
    """The states of a batch, tuned where the host has to."""
    due = [i for i, chain in enumerate(chains) if chain.at_stop()]
    if not due:
        return states
    leaves, structure = jax.tree.flatten(tuned_of(states))
    leaves = [np.array(leaf) for leaf in leaves]
    held: Tuned = jax.tree.unflatten(structure, leaves)
    windows = [chains[i].tuner.window(chains[i].transition) for i in due]
    dense = chains[0].tuner.dense
    known = judged(jax.tree.map(lambda a: a[due], held.hyper), windows, dense)
    for i, window, told in zip(due, windows, known, strict=True):
        chain, before = chains[i], jax.tree.unflatten(structure, [leaf[i] for leaf in leaves])
        tuned = chain.tuner.looked_at(chain.transition, chain.gradients, window, before, told)
        if tuned is not before:
            for leaf, value in zip(leaves, jax.tree.leaves(tuned), strict=True):
                leaf[i] = value
    return states._replace(**held._asdict())


def settle(chains: Sequence[Chain], states: ChainState) -> None:
    """Give each chain of a batch its state."""
    for chain, state in zip(chains, _members(jax.device_get(states)), strict=True):
        chain.state = state


def _stacked(rows: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *rows)


def _members(tree: Any) -> Iterator[Any]:
    """The members of a stack."""
    leaves, structure = jax.tree.flatten(tree)
    for parts in zip(*leaves, strict=True):
        yield jax.tree.unflatten(structure, parts)
