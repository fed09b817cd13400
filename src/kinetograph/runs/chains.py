"""Driving chains: by threads, or all are a batch.

Threads share one executable, and XLA releases the interpreter while it runs. Where there are fewer
of them than chains, these take turns, a block each, so that all are about as far. A batch is one
thread with an executable of its own. The host only copies out the new draws of each block, counts,
and looks whether it should stop; the thread that was asked for the run waits, so that Ctrl-C never
comes between a block and its draws.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from ..adaptation.schedule import Phases
from ..graph.precision import x64
from ..kernels.blas import one_thread
from ..samplers.sampler import Sampler
from .engine import Engine
from .pace import Pace
from .program import Program
from .state import Block, ChainState, Plan, Start, Where
from .warming import LONGEST, OPEN, Tuned, Tuner, judged

__all__ = ["Chain", "Lengths", "Rows", "beginnings", "rows_of", "run_chains", "threads_available"]


@dataclass(frozen=True)
class Lengths:
    """How long a run is."""

    warmup: int | None  # None: each chain ends its own
    draws: int
    thin: int

    @property
    def sampled(self) -> int:
        """Transitions of a chain after warm-up."""
        return self.draws * self.thin

    @property
    def most(self) -> int:
        """All transitions of a chain, at most."""
        return (LONGEST if self.warmup is None else self.warmup) + self.sampled


class Rows(NamedTuple):
    """Rows of transitions."""

    targets: list[np.ndarray]
    statistics: np.ndarray


def rows_of(block: Block) -> Rows:
    """The rows of a block, copied."""
    count = int(Where(*np.asarray(block.progress)).rows)
    copied = [np.array(np.asarray(v)[:count]) for v in (block.statistics, *block.targets)]
    return Rows(copied[1:], copied[0])


@dataclass
class Chain:
    """One chain: where it begins, its state, its draws so far, and what progress shows."""

    key: np.ndarray
    free: np.ndarray | None  # the starting point, if it is given
    state: ChainState | None  # None until it has begun
    statistics: np.ndarray
    targets: list[np.ndarray]
    keep: bool = True  # whether the draws are copied out
    sampler: Sampler | None = None  # with its hyper-parameters, if they are not the program's
    tuned: Mapping[str, Any] = field(default_factory=dict)  # values that replace the sampler's
    climbing: bool = True  # whether the search for a starting point makes ascents
    warmup: list[Rows] | None = None  # what blocks of warm-up gave, where that is kept
    start: Start | None = None  # what was tried
    kept: int = 0  # draws made
    transition: int = 0
    gradients: int = 0
    spent: int = 0  # points evaluated in the last block
    divergences: int = 0
    step_size: float = float("nan")
    seconds: float = 0.0
    failed: bool = False
    tuner: Tuner = field(default_factory=lambda: Tuner(0, False))

    def left(self, lengths: Lengths) -> int:
        """Transitions that are still to be made, at most."""
        end = LONGEST if self.tuner.end == OPEN else self.tuner.end
        return end + lengths.sampled - self.transition

    def begin(self, found: Any) -> None:
        """Take what the search for a starting point ended with."""
        self.state, self.start = found.chain, jax.device_get(found.start)
        self.gradients = int(found.chain.gradients)
        self.failed = not bool(found.success)

    def take(self, block: Block) -> None:
        """Copy the new draws out of a block, and note where the chain is."""
        self._take(block, Where(*np.asarray(block.progress).tolist()), float(block.step_size))

    @staticmethod
    def take_each(chains: Sequence["Chain"], blocks: Block) -> None:
        """The same of the chains of a batch; its arrays are NumPy's, of all chains."""
        free, slopes = blocks.free, blocks.slopes
        each = zip(chains, blocks.progress.tolist(), blocks.step_size.tolist(), strict=True)
        for i, (chain, where, step_size) in enumerate(each):
            block = Block(
                where,
                step_size,
                blocks.statistics[:, i],
                tuple(values[:, i] for values in blocks.targets),
                (),
                None if free is None else free[:, i],
                None if slopes is None else slopes[:, i],
            )
            chain._take(block, Where(*where), step_size)

    def _take(self, block: Block, where: Where, step_size: float) -> None:
        if where.transition <= self.tuner.end:  # a block ends where warm-up does
            held = [x if x is None else np.asarray(x) for x in (block.free, block.slopes)]
            free, slopes = (x if x is None else x[: where.rows] for x in held)
            if free is not None:
                self.tuner.add(free, slopes)
            if self.warmup is not None:
                self.warmup.append(rows_of(block))
        else:
            self._keep(block, where.rows)
        self.transition = where.transition
        self.gradients = where.gradients
        self.spent = where.spent
        self.divergences = where.divergences
        self.step_size = step_size

    def _keep(self, block: Block, count: int) -> None:
        """Copy the new draws out of a block."""
        end = self.kept + count
        if count and self.keep:
            self.statistics[self.kept : end] = np.asarray(block.statistics)[:count]
            for rows, values in zip(self.targets, block.targets, strict=True):
                rows[self.kept : end] = np.asarray(values)[:count]
        self.kept = end

    def at_stop(self) -> bool:
        """Whether the host has to look at what is tuned."""
        return self.tuner.stops_at(self.transition, self.gradients)


@dataclass
class Control:
    """What the threads and the one that waits for them share."""

    stop: threading.Event = field(default_factory=threading.Event)
    failed: threading.Event = field(default_factory=threading.Event)  # of a chain, and so of all

    def ends(self) -> bool:
        """Whether no further block is to be run."""
        return self.stop.is_set() or self.failed.is_set()


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


def advance(engine: Engine, data: Any, chain: Chain, plan: Plan, sampled: int) -> Block:
    """Advance a chain by a block, and tune it where the host has to; gives the block."""
    state = chain.state
    assert state is not None
    phases = chain.tuner.phases(chain.transition, sampled)
    state = state._replace(phases=Phases(*map(np.int32, phases)))
    chain.state, block = engine.advance(state, data, plan)
    chain.take(block)
    if chain.at_stop():
        tuned = chain.tuner.look(chain.transition, chain.gradients, tuned_of(chain.state))
        chain.state = chain.state._replace(**tuned._asdict())
    return block


def run_chains(
    engine: Engine,
    chains: Sequence[Chain],
    lengths: Lengths,
    threads: int,
    watch: Callable[[], None],
) -> bool:
    """Run chains, on threads or as the batch that the engine is for.

    `watch` is called while waiting. Gives whether the run was interrupted. A chain that finds no
    start ends the others, too.
    """
    control = Control()
    with x64():
        data = jax.device_put(engine.program.model.argument_values)
    job = partial(_run_batch, engine, data, chains, lengths, control)
    if engine.batch is None:
        turns = deque(_turns_of(engine, data, chain, lengths, control) for chain in chains)
        job = partial(_take_turns, turns)
    interrupted = False
    with one_thread(), ThreadPoolExecutor(max_workers=threads) as pool:
        count = 1 if engine.batch is not None else threads
        futures: list[Future[None]] = [pool.submit(job) for _ in range(count)]
        try:
            pending = set(futures)
            while pending:
                done, pending = wait(pending, timeout=0.05)
                if any(future.exception() for future in done):
                    control.failed.set()
                watch()
        except KeyboardInterrupt:
            interrupted = True
            control.stop.set()
        except BaseException:
            control.stop.set()
            raise
    for future in futures:
        future.result()
    return interrupted


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
    (arguments,) = beginnings(engine.program, [chain])
    found = engine.find(arguments, data, control.stop.is_set)
    if found is None:
        return
    chain.begin(found)
    if chain.failed:
        control.failed.set()
    while chain.left(lengths) > 0 and not control.ends():
        begun = time.perf_counter()
        plan = _plan(lengths, pace, chain)
        advance(engine, data, chain, plan, lengths.sampled)
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
        arguments = _stacked(beginnings(engine.program, chains))
        found = engine.find(arguments, data, control.stop.is_set)
        if found is None:
            return
        host = jax.device_get(found)
        for chain, start in zip(chains, _members(host), strict=True):
            chain.begin(start)
            if chain.failed:
                control.failed.set()
        states = found.chain
        while not control.ends() and any(c.left(lengths) > 0 for c in chains):
            begun = time.perf_counter()
            phases = [c.tuner.phases(c.transition, lengths.sampled) for c in chains]
            plan = _plan(lengths, pace, chains[0])
            states = states._replace(phases=Phases(*np.array(phases, np.int32).T))
            states, blocks = engine.advance(states, data, plan)
            if all(c.transition >= c.tuner.late for c in chains):  # nobody looks at them
                blocks = blocks._replace(free=None, slopes=None)
            rows = jax.device_get(blocks._replace(reports=()))
            computed = time.perf_counter() - begun
            Chain.take_each(chains, rows)
            states = _tuned(states, chains)
            elapsed = time.perf_counter() - begun
            spent = rows.progress[:, Where._fields.index("spent")]
            for chain in chains:
                chain.seconds += elapsed
            # While some wait for the others, nothing is gained.
            waited = computed * (1 - spent.mean() / max(spent.max(), 1))
            pace.adjust(int(spent.max()), computed, elapsed - computed + float(waited))
        for chain, state in zip(chains, _members(jax.device_get(states)), strict=True):
            chain.state = state


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


def _stacked(rows: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *rows)


def _members(tree: Any) -> Iterator[Any]:
    """The members of a stack."""
    leaves, structure = jax.tree.flatten(tree)
    for parts in zip(*leaves, strict=True):
        yield jax.tree.unflatten(structure, parts)
