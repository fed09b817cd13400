"""The state that the threads of a run share, and programs' arguments."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import jax
import numpy as np

from ..adaptation.metric_search import Tuned
from ..programs.pace import Pace
from ..programs.program import Program
from ..programs.state import ChainState, Plan
from .chain import Lengths, RunningChain

__all__ = ["CheckpointWriter", "ThreadControl", "beginnings", "plan_of", "tuned_of"]


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


def tuned_of(state: ChainState) -> Tuned:
    """The tuned values of a chain's state, on the host."""
    tuned: Tuned = jax.tree.map(np.asarray, Tuned(state.hyper, state.adaptation))
    return tuned


def plan_of(lengths: Lengths, pace: Pace, chain: RunningChain) -> Plan:
    """The task of the next block."""
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
