"""Drive chains, on threads or as a batch.

Threads share one executable, and XLA releases the interpreter while it runs. If there are fewer
threads than chains, the chains take turns of one block each, so that all advance equally. A batch
is one thread with an executable for all chains. The host only takes the new draws of each block,
counts, and checks whether the run should stop. The thread that called the run waits, so that Ctrl-C
never comes between a block and its draws. A stopped run does not wait for blocks that take long,
and does not take their draws.
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

from ..adaptation.host_warmup import Tuned, judged
from ..adaptation.schedule import Phases
from ..graph.precision import x64
from ..kernels.blas import one_thread
from ..programs.background import thread
from ..programs.engine import Engine
from ..programs.pace import Pace
from ..programs.program import Program
from ..programs.state import ChainState, Plan, Where
from .chain import Lengths, RunningChain
from .signals import STOPS, Terminated, hearing, holding, stoppable

__all__ = [
    "RunEnding",
    "CheckpointWriter",
    "advance",
    "beginnings",
    "run_chains",
    "threads_available",
]

PATIENCE = 1.2  # seconds that a stopped run waits for its blocks


@dataclass
class RunEnding:
    """The end of a run, if it did not end normally."""

    stopped: BaseException | None = None  # KeyboardInterrupt or Terminated
    error: BaseException | None = None  # in a chain, or in a function that watches the run

    def hear(self, late: list[type[BaseException]]) -> bool:
        """Take the signals that have been held back.

        Returns whether there were any.
        """
        kinds = late[:]
        late.clear()
        if kinds:
            terminated = Terminated in kinds
            self.stopped = Terminated() if terminated else self.stopped or kinds[0]()
        return bool(kinds)


class CheckpointWriter(Protocol):
    """A writer of checkpoints."""

    def due(self, chain: RunningChain) -> bool:
        """Whether a checkpoint of the chain is due."""

    def keep(self, chain: RunningChain) -> None:
        """Write a checkpoint of the chain."""


@dataclass
class ThreadControl:
    """State shared by the threads and the thread that waits."""

    stop: threading.Event = field(default_factory=threading.Event)
    failed: threading.Event = field(default_factory=threading.Event)  # in a chain, so all end
    errors: list[BaseException] = field(default_factory=list)
    batch: ChainState | None = None  # the states of a batch
    keeper: CheckpointWriter | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _left: bool = False  # no thread waits for blocks

    def ends(self) -> bool:
        """Whether no further block is run."""
        return self.stop.is_set() or self.failed.is_set()

    @contextmanager
    def taking(self) -> Iterator[bool]:
        """A context in which the results of a block are taken.

        Yields whether a thread still waits for them.
        """
        with self._lock:
            yield not self._left

    def leave(self) -> None:
        """Stop waiting; all results taken so far are complete."""
        with self._lock:
            self._left = True


def threads_available() -> int:
    """The number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def tuned_of(state: ChainState) -> Tuned:
    """The tuned values of a chain's state, on the host."""
    tuned: Tuned = jax.tree.map(np.asarray, Tuned(state.hyper, state.adaptation))
    return tuned


def _plan(lengths: Lengths, pace: Pace, chain: RunningChain) -> Plan:
    numbers = np.int32(lengths.thin), np.int64(pace.gradients)
    return Plan(*numbers, np.bool_(chain.warmup is not None))


def beginnings(program: Program, chains: Sequence[RunningChain]) -> list[Any]:
    """The arguments of the search for each chain's starting point."""
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
    chain: RunningChain,
    plan: Plan,
    sampled: int,
    control: ThreadControl | None = None,
) -> float:
    """Advance a chain by a block, and tune it if due.

    Returns the seconds that the block took; a compilation does not count.
    """
    state = chain.state
    assert state is not None
    phases = chain.tuner.phases(chain.transition, sampled)
    state = engine.prepared(state._replace(phases=Phases(*map(np.int32, phases))), data)
    begun = time.perf_counter()
    state, block = engine.advance(state, data, plan)
    with (control or ThreadControl()).taking() as wanted:
        if not wanted:
            return 0.0
        chain.take(block)
        chain.state = state
        if chain.at_stop():
            tuned = chain.tuner.look(chain.transition, chain.gradients, tuned_of(state))
            chain.state = state._replace(**tuned._asdict())
        if control is not None and control.keeper is not None and control.keeper.due(chain):
            control.keeper.keep(chain)
    return time.perf_counter() - begun


def run_chains(
    engine: Engine,
    chains: Sequence[RunningChain],
    lengths: Lengths,
    threads: int,
    watch: Callable[[], bool | None],
    keeper: CheckpointWriter | None = None,
) -> RunEnding:
    """Run chains, on threads or as the engine's batch.

    `watch` is called during the run and after the last block. The run ends when it returns True. If
    a chain finds no starting point, all chains end.
    """
    control, ending = ThreadControl(keeper=keeper), RunEnding()
    with x64():
        shared = jax.device_put(engine.program.model.argument_values)
        if engine.batch is None:
            each = zip(chains, _data_of_each(engine.program, shared, chains), strict=True)
            turns = deque(_turns_of(engine, data, chain, lengths, control) for chain, data in each)
            job = partial(_take_turns, turns)
        else:
            data = _data_of_batch(engine.program, shared, chains)
            job = partial(_run_batch, engine, data, chains, lengths, control)

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
                alive = True
                while alive:
                    _wait(workers, 0.05)
                    alive = any(worker.is_alive() for worker in workers)
                    if watch():  # called once more after all chains have ended
                        break
        except STOPS as stopped:
            ending.stopped = stopped
        except Exception as error:
            ending.error = error
        control.stop.set()
        try:
            with hearing():
                _wait(workers, PATIENCE)
        except STOPS as stopped:  # a second signal: do not wait
            ending.stopped = stopped
        control.leave()
        if control.batch is not None:
            settle(chains, control.batch)
        ending.hear(late)
    if control.errors:
        ending.error = control.errors[0]
    return ending


def _wait(workers: Sequence[threading.Thread], seconds: float) -> None:
    """Wait until all threads have ended, at most the given seconds."""
    until = time.perf_counter() + seconds
    for worker in workers:
        worker.join(max(0.0, until - time.perf_counter()))


def _take_turns(waiting: deque[Iterator[None]]) -> None:
    """Give each waiting chain its turn, until all have ended."""
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


def _data_of_each(program: Program, shared: Any, chains: Sequence[RunningChain]) -> list[Any]:
    """The values of the model's arguments for each chain."""
    names = program.model.arguments
    return [
        shared
        if not chain.data
        else tuple(chain.data.get(n, x) for n, x in zip(names, shared, strict=True))
        for chain in chains
    ]


def _data_of_batch(program: Program, shared: Any, chains: Sequence[RunningChain]) -> Any:
    """The model's arguments, stacked where chains have their own values."""
    each = zip(program.model.arguments, shared, strict=True)
    return tuple(
        np.stack([chain.data[node] for chain in chains]) if node in program.varied else value
        for node, value in each
    )


def _turns_of(
    engine: Engine, data: Any, chain: RunningChain, lengths: Lengths, control: ThreadControl
) -> Iterator[None]:
    """Run a chain block by block, until it or the run ends."""
    pace = engine.pace
    if chain.state is None:
        (arguments,) = beginnings(engine.program, [chain])
        result = engine.find(arguments, data, control.stop.is_set)
        if result is None:
            return
        with control.taking() as wanted:
            if wanted:
                chain.begin(result)
        if chain.failed:
            control.failed.set()
    while chain.left(lengths) > 0 and not control.ends():
        plan = _plan(lengths, pace, chain)
        elapsed = advance(engine, data, chain, plan, lengths.sampled, control)
        chain.seconds += elapsed
        pace.adjust(chain.spent, elapsed)
        yield


def _run_batch(
    engine: Engine,
    data: Any,
    chains: Sequence[RunningChain],
    lengths: Lengths,
    control: ThreadControl,
) -> None:
    """Run all chains as one batch, until all chains have ended."""
    pace = engine.pace
    with x64():
        states = _begun(engine, data, chains, control)
        while states is not None and not control.ends():
            if all(c.left(lengths) <= 0 for c in chains):
                break
            phases = [c.tuner.phases(c.transition, lengths.sampled) for c in chains]
            plan = _plan(lengths, pace, chains[0])
            states = states._replace(phases=Phases(*np.array(phases, np.int32).T))
            states, begun = engine.prepared(states, data), time.perf_counter()
            states, blocks = engine.advance(states, data, plan)
            if all(c.transition >= c.tuner.late for c in chains):  # the tuner does not need them
                blocks = blocks._replace(free=None, slopes=None)
            rows = jax.device_get(blocks._replace(reports=()))
            computed = time.perf_counter() - begun
            with control.taking() as wanted:
                if not wanted:
                    return
                RunningChain.take_each(chains, rows)
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
            # The time in which chains wait for slower ones is lost.
            waited = computed * (1 - spent.mean() / max(spent.max(), 1))
            pace.adjust(int(spent.max()), computed, elapsed - computed + float(waited))


def _begun(
    engine: Engine, data: Any, chains: Sequence[RunningChain], control: ThreadControl
) -> Any:
    """The states of a batch, at starting points or from before."""
    if all(chain.state is not None for chain in chains):
        return jax.device_put(_stacked([chain.state for chain in chains]))
    arguments = _stacked(beginnings(engine.program, chains))
    result = engine.find(arguments, data, control.stop.is_set)
    if result is None:
        return None
    with control.taking() as wanted:
        if wanted:
            for chain, start in zip(chains, _members(jax.device_get(result)), strict=True):
                chain.begin(start)
                if chain.failed:
                    control.failed.set()
    return result.chain


def _tuned(states: ChainState, chains: Sequence[RunningChain]) -> ChainState:
    """The states of a batch, tuned where the host has to."""
    due = [i for i, chain in enumerate(chains) if chain.at_stop()]
    if not due:
        return states
    leaves, structure = jax.tree.flatten(tuned_of(states))
    leaves = [np.array(leaf) for leaf in leaves]
    tuned_states: Tuned = jax.tree.unflatten(structure, leaves)
    befores = [jax.tree.unflatten(structure, [leaf[i] for leaf in leaves]) for i in due]
    windows = [
        chains[i].tuner.window(chains[i].transition, before)
        for i, before in zip(due, befores, strict=True)
    ]
    dense = chains[0].tuner.dense
    divergences = judged(jax.tree.map(lambda a: a[due], tuned_states.hyper), windows, dense)
    for i, before, window, chain_divergences in zip(
        due, befores, windows, divergences, strict=True
    ):
        chain = chains[i]
        tuned = chain.tuner.looked_at(
            chain.transition, chain.gradients, window, before, chain_divergences
        )
        if tuned is not before:
            for leaf, value in zip(leaves, jax.tree.leaves(tuned), strict=True):
                leaf[i] = value
    return states._replace(**tuned_states._asdict())


def settle(chains: Sequence[RunningChain], states: ChainState) -> None:
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
