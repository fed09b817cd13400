"""The order in which chains take turns on threads.

Chains take turns of one block each, so that all advance equally. In warm-up a chain holds draws and
gradients for the host. If all chains together would hold too many, a limited number of them warms
up at once, and a chain whose warm-up has ended waits until the warm-up of every chain has ended.
"""

import math
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..adaptation.host_warmup import Tuner
from ..programs.program import Program
from .chain import RunningChain

__all__ = ["ChainQueue", "ChainTurns", "held_in_warmup", "warming_up_at_once"]

MOST_BYTES = 2**30  # bytes, about, of draws and gradients that all chains hold in warm-up
LEAST = 16  # chains that warm up at once, for any number of unknowns


def warming_up_at_once(program: Program, tuner: Tuner, chains: int, threads: int) -> int:
    """The number of chains on threads that warm up at once."""
    size = held_in_warmup(program, tuner)
    return min(chains, max(LEAST, threads, MOST_BYTES // size)) if size else chains


def held_in_warmup(program: Program, tuner: Tuner) -> int:
    """Bytes of the draws and gradients that a chain holds in warm-up."""
    row = (1 + program.keeps_slopes) * math.prod(program.space.shape)
    return row * np.dtype(program.dtype).itemsize * tuner.most_held(program.space.shape[-1])


@dataclass
class ChainTurns:
    """A chain, or a batch, and the iterator of its turns."""

    turns: Iterator[None]
    chain: RunningChain | None = None  # None for a batch
    warms_up: bool = True  # counts among the chains that warm up


class ChainQueue:
    """Chains that wait for their turns.

    Parameters
    ----------
    chains
        The chains in their order.
    at_once
        The number of chains that warm up at once.
    """

    def __init__(self, chains: Sequence[ChainTurns], at_once: int) -> None:
        self._new, self._waiting = deque(chains), deque[ChainTurns]()
        limited = at_once < len(chains)
        self._warmed_up = deque[ChainTurns]() if limited else self._waiting
        self._places, self._lock = at_once, threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._new or self._waiting or self._warmed_up)

    def take(self) -> ChainTurns | None:
        """The chain whose turn is next; None if no chain waits."""
        with self._lock:
            if self._new and self._places:
                self._places -= 1
                return self._new.popleft()
            queue = self._waiting or self._warmed_up
            return queue.popleft() if queue else None

    def put(self, each: ChainTurns) -> None:
        """Let a chain wait for its next turn."""
        with self._lock:
            self._release(each)
            (self._waiting if each.warms_up else self._warmed_up).append(each)

    def ended(self, each: ChainTurns) -> None:
        """Note that a chain has no further turns."""
        with self._lock:
            self._release(each, True)

    def _release(self, each: ChainTurns, ended: bool = False) -> None:
        """Let another chain begin if this one has ended its warm-up."""
        chain = each.chain
        if each.warms_up and (ended or (chain and chain.transition >= chain.tuner.end)):
            each.warms_up = False
            self._places += 1
