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
from .engine import Engine
from .program import GIVEN_UP, ChainState, Plan, Where

__all__ = ["Chain", "Lengths", "run_batch", "run_threads", "threads_available"]


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
    """One chain: its state, its draws so far, and what progress shows."""

    state: ChainState
    statistics: np.ndarray
    targets: list[np.ndarray]
    kept: int = 0
    transition: int = 0
    gradients: int = 0
    divergences: int = 0
    step_size: float = float("nan")
    seconds: float = 0.0
    failed: bool = False
    done: bool = False

    def take(self, state: ChainState, block: Any) -> None:
        """Copy the new draws out of a block, and note where the chain is."""
        where = Where(*np.asarray(block.progress).tolist())
        end = self.kept + where.rows
        if where.rows:
            self.statistics[self.kept : end] = np.asarray(block.statistics)[: where.rows]
            for rows, values in zip(self.targets, block.targets, strict=True):
                rows[self.kept : end] = np.asarray(values)[: where.rows]
        self.kept = end
        self.state = state
        self.transition = where.transition
        self.gradients = where.gradients
        self.divergences = where.divergences
        self.step_size = float(block.step_size)
        self.failed = not where.started and where.attempts >= GIVEN_UP


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


def _advance(engine: Engine, data: Any, chain: Chain, lengths: Lengths, control: Control) -> None:
    """Run one chain to its end, to a stop, or to a failed start."""
    pace = engine.pace
    with x64():
        while not control.stop.is_set():
            begun, before = time.perf_counter(), chain.gradients
            run = engine.run
            state, block = run(chain.state, data, _plan(lengths, pace.gradients))
            if not engine.accept(run, block.reports):
                continue
            chain.take(state, block)
            elapsed = time.perf_counter() - begun
            chain.seconds += elapsed
            pace.adjust(chain.gradients - before, elapsed)
            if chain.failed or chain.transition >= lengths.transitions:
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
        states = jax.tree.map(lambda *leaves: np.stack(leaves), *(c.state for c in chains))
        try:
            while not all(c.done for c in chains):
                begun = time.perf_counter()
                before = min(chain.gradients for chain in chains)
                run = engine.run
                new, blocks = run(states, data, _plan(lengths, pace.gradients))
                host_states, host_blocks = jax.device_get((new, blocks))
                if not engine.accept(run, host_blocks.reports):
                    continue
                states = new
                for i, chain in enumerate(chains):
                    chain.take(*jax.tree.map(lambda a, i=i: a[i], (host_states, host_blocks)))
                    chain.seconds += time.perf_counter() - begun
                    chain.done = chain.failed or chain.transition >= lengths.transitions
                spent = min(chain.gradients for chain in chains) - before
                pace.adjust(spent, time.perf_counter() - begun)
                watch()
        except KeyboardInterrupt:
            return True
    return False
