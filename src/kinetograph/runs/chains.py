"""Drive chains, on threads, as a batch, or on several devices.

Threads share one executable, and XLA releases the interpreter while it runs. If there are fewer
threads than chains, the chains take turns of one block each (`queues`). A batch is one thread with
an executable for all chains (`batches`). If several devices are given, each has a thread and an
executable, and runs its own chains or batches in turns. The host only takes the new draws of each
block, counts, and checks whether the run should stop. The thread that called the run waits, so that
Ctrl-C never comes between a block and its draws. A stopped run does not wait for blocks that take
long, and does not take their draws.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from ..adaptation.host_warmup import Tuner
from ..adaptation.schedule import Phases
from ..graph.precision import x64
from ..kernels.blas import one_thread
from ..programs.background import thread
from ..programs.engine import Engine
from ..programs.program import Program
from ..programs.state import Plan
from .batches import batches_of
from .chain import Lengths, RunningChain
from .control import CheckpointWriter, ThreadControl, beginnings, plan_of, tuned_of
from .queues import ChainQueue, ChainTurns, warming_up_at_once
from .signals import STOPS, Terminated, hearing, holding, stoppable

__all__ = [
    "RunEnding",
    "advance",
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


def threads_available() -> int:
    """The number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    phases = chain.phases(sampled)
    state = engine.prepared(state._replace(phases=Phases(*map(np.int32, phases))), data)
    begun = time.perf_counter()
    state, block = engine.advance(state, data, plan)
    with (control or ThreadControl()).taking() as continues:
        if not continues:
            return 0.0
        chain.take(engine.on_host(block))
        chain.state = state
        chooses, looks = chain.tuner.chooses_at(chain.transition), chain.at_stop()
        if chooses or looks:
            tuned = tuned_of(state)
            if chooses:
                stacked = jax.tree.map(lambda x: x[None], tuned)
                stacked = Tuner.chosen([chain.tuner], [chain.transition], stacked)
                tuned = jax.tree.map(lambda x: x[0], stacked)
            if looks:
                tuned = chain.tuner.look(chain.transition, chain.gradients, tuned)
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
    devices: Sequence[Any] = (),
    others_continue: Callable[[], bool] = bool,
) -> RunEnding:
    """Run chains, on threads or as batches.

    The engine is that of the first of several devices, if there are any.
    `watch` is called during the run and after the last block. `others_continue` says whether other
    processes still draw; then `watch` is called until they have ended. The run ends when it returns
    True. If a chain finds no starting point, all chains end.
    """
    control, ending = ThreadControl(keeper=keeper), RunEnding()
    engines = engine.on(devices) if devices else [engine]
    batches = [] if engine.batch is None else batches_of(engines, chains)
    parts: list[list[ChainTurns]] = [[] for _ in engines]
    with x64():
        shared = [engine.program.placed(each.device) for each in engines]
    for i, batch in enumerate(batches):
        place = i % len(engines)
        parts[place].append(ChainTurns(batch.turns(shared[place], lengths, control)))
    for i, chain in enumerate(chains if engine.batch is None else ()):
        place = i % len(engines)
        data = _data_of(chain, engine.program, shared[place])
        turns = _turns_of(engines[place], data, chain, lengths, control)
        parts[place].append(ChainTurns(turns, chain))

    def work(queue: ChainQueue) -> None:
        try:
            _take_turns(queue)
        except BaseException as error:
            control.errors.append(error)
            control.failed.set()

    sharing = 1 if devices or batches else min(threads, len(chains))  # threads of a queue
    at_once = 0  # a process may have no chains
    if chains:
        at_once = warming_up_at_once(engine.program, chains[0].tuner, len(chains), sharing)
    queues = [ChainQueue(part, max(at_once // len(engines), sharing)) for part in parts]
    workers = [thread(partial(work, queue)) for queue in queues for _ in range(sharing)]
    with one_thread(), stoppable(), holding() as late:
        try:
            for worker in workers:
                worker.start()
            with hearing():
                alive = True
                while alive:
                    _wait(workers, 0.05)
                    alive = any(worker.is_alive() for worker in workers)
                    if watch():  # called once more after all chains have ended
                        break
                    if not (alive or control.ends()) and others_continue():
                        alive = True
                        time.sleep(0.02)
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
        for batch in batches:
            batch.settle()
        ending.hear(late)
    if control.errors:
        ending.error = control.errors[0]
    return ending


def _wait(workers: Sequence[threading.Thread], seconds: float) -> None:
    """Wait until all threads have ended, at most the given seconds."""
    until = time.perf_counter() + seconds
    for worker in workers:
        worker.join(max(0.0, until - time.perf_counter()))


def _take_turns(waiting: ChainQueue) -> None:
    """Give each waiting chain its turn, until all have ended."""
    with x64():
        while (each := waiting.take()) is not None:
            for _ in each.turns:
                if waiting:
                    waiting.put(each)
                    break
            else:
                waiting.ended(each)


def _data_of(chain: RunningChain, program: Program, shared: Any) -> Any:
    """The values of the model's arguments for a chain."""
    if not chain.data:
        return shared
    each = zip(program.arguments, shared, strict=True)
    return tuple(chain.data.get(node, value) for node, value in each)


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
        with control.taking() as continues:
            if continues:
                chain.begin(result)
        if chain.failed:
            control.failed.set()
        del result  # the state at the start would be held as long as the chain runs
    while chain.left(lengths) > 0 and not control.ends():
        plan = plan_of(lengths, pace, chain)
        elapsed = advance(engine, data, chain, plan, lengths.sampled, control)
        chain.seconds += elapsed
        pace.adjust(chain.spent, elapsed)
        yield
