"""Driving chains: on the CPU each chain is a thread, on an accelerator all chains are a batch.

Threads share one executable, and XLA releases the interpreter while it runs. The host only copies
out the new draws of each block, counts, and looks whether it should stop.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ..graph.precision import x64
from ..samplers.sampler import Sampler
from .engine import Engine
from .program import Program
from .state import Block, ChainState, Plan, Start, Where

__all__ = ["Chain", "Lengths", "beginnings", "run_batch", "run_threads", "threads_available"]


@dataclass(frozen=True)
class Lengths:
    """How long a run is."""

    warmup: int
    draws: int
    thin: int

    @property
    def transitions(self) -> int:
        """All transitions of a chain."""
        return self.warmup + self.draws * self.thin


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
    climbing: bool = True  # whether the search for a starting point makes ascents
    start: Start | None = None  # what was tried
    kept: int = 0  # draws made
    transition: int = 0
    gradients: int = 0
    spent: int = 0  # points evaluated in the last block
    divergences: int = 0
    step_size: float = float("nan")
    seconds: float = 0.0
    failed: bool = False
    done: bool = False

    def begin(self, found: Any) -> None:
        """Take what the search for a starting point ended with."""
        self.state, self.start = found.chain, jax.device_get(found.start)
        self.gradients = int(found.chain.gradients)
        self.failed = not bool(found.success)

    def take(self, block: Block) -> None:
        """Copy the new draws out of a block, and note where the chain is."""
        where = Where(*np.asarray(block.progress).tolist())
        end = self.kept + where.rows
        if where.rows and self.keep:
            self.statistics[self.kept : end] = np.asarray(block.statistics)[: where.rows]
            for rows, values in zip(self.targets, block.targets, strict=True):
                rows[self.kept : end] = np.asarray(values)[: where.rows]
        self.kept = end
        self.transition = where.transition
        self.gradients = where.gradients
        self.spent = where.spent
        self.divergences = where.divergences
        self.step_size = float(block.step_size)


@dataclass
class Control:
    """What the threads and the one that waits for them share."""

    stop: threading.Event = field(default_factory=threading.Event)


def threads_available() -> int:
    """The number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _plan(lengths: Lengths, gradients: int) -> Plan:
    return Plan(
        np.int32(lengths.warmup),
        np.int32(lengths.thin),
        np.int32(lengths.transitions),
        np.int64(gradients),
    )


def beginnings(program: Program, chains: Sequence[Chain]) -> list[Any]:
    """What the search for each chain's starting point takes."""
    blank = np.zeros(program.space.shape, program.dtype)
    rows = []
    for chain in chains:
        given = chain.free is not None
        free = np.asarray(chain.free, program.dtype) if given else blank
        sampler = chain.sampler or program.sampler
        hyper, scaled = sampler.hypers(program.space), sampler.scale is not None
        climbing = chain.climbing and program.model.batch is None
        flags = (np.bool_(flag) for flag in (given, climbing, scaled))
        rows.append((chain.key, free, *flags, hyper))
    return rows


def _advance(engine: Engine, data: Any, chain: Chain, lengths: Lengths, control: Control) -> None:
    """Run one chain to its end, to a stop, or to a failed start."""
    pace = engine.pace
    with x64():
        if chain.state is None:
            (arguments,) = beginnings(engine.program, [chain])
            chain.begin(engine.find(arguments, data))
        while not (control.stop.is_set() or chain.failed):
            begun = time.perf_counter()
            plan = _plan(lengths, pace.gradients)
            chain.state, block = engine.advance(chain.state, data, plan)
            chain.take(block)
            elapsed = time.perf_counter() - begun
            chain.seconds += elapsed
            pace.adjust(chain.spent, elapsed)
            if chain.transition >= lengths.transitions:
                break
    chain.done = True


def run_threads(
    engine: Engine,
    chains: Sequence[Chain],
    lengths: Lengths,
    threads: int,
    watch: Callable[[], None],
) -> bool:
    """Run chains on threads; `watch` is called while waiting. Gives whether it was interrupted."""
    control = Control()
    with x64():
        data = jax.device_put(engine.program.model.argument_values)
    interrupted = False
    with ThreadPoolExecutor(max_workers=threads) as pool:
        futures: list[Future[None]] = [
            pool.submit(_advance, engine, data, chain, lengths, control) for chain in chains
        ]
        try:
            pending = set(futures)
            while pending:
                _, pending = wait(pending, timeout=0.05)
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


def run_batch(
    engine: Engine, chains: Sequence[Chain], lengths: Lengths, watch: Callable[[], None]
) -> bool:
    """Run all chains as one batch on the accelerator. Gives whether it was interrupted."""
    pace = engine.pace
    with x64():
        data = jax.device_put(engine.program.model.argument_values)
        arguments = _stacked(beginnings(engine.program, chains))
        states = None
        try:
            found = engine.find(arguments, data)
            host = jax.device_get(found)
            for i, chain in enumerate(chains):
                chain.begin(_member(host, i))
                chain.done = chain.failed
            states = found.chain
            while not all(chain.done for chain in chains):
                begun = time.perf_counter()
                states, blocks = engine.advance(states, data, _plan(lengths, pace.gradients))
                rows = jax.device_get(blocks)
                for i, chain in enumerate(chains):
                    values = tuple(value[i] for value in rows.targets)
                    block = Block(
                        rows.progress[i], rows.step_size[i], rows.statistics[i], values, ()
                    )
                    chain.take(block)
                    chain.done = chain.failed or chain.transition >= lengths.transitions
                elapsed = time.perf_counter() - begun
                for chain in chains:
                    chain.seconds += elapsed
                pace.adjust(max(chain.spent for chain in chains), elapsed)
                watch()
        except KeyboardInterrupt:
            return True
        finally:
            if states is not None:
                host = jax.device_get(states)
                for i, chain in enumerate(chains):
                    chain.state = _member(host, i)
    return False


def _stacked(rows: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *rows)


def _member(tree: Any, index: int) -> Any:
    return jax.tree.map(lambda a: a[index], tree)
