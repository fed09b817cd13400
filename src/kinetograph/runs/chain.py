"""A chain of a run, as the host sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ..samplers.sampler import Sampler
from .rows import Rows, Sink, rows_of
from .state import Block, ChainState, Start, Where
from .warming import LONGEST, MOST_TRANSITIONS, OPEN, Tuner

__all__ = ["ENDLESS", "Chain", "Lengths"]

ENDLESS = 2**30  # draws that a run which goes on until it is stopped may make, times thin


@dataclass(frozen=True)
class Lengths:
    """How long a run is."""

    warmup: int | None  # None: each chain ends its own
    draws: int | None  # None: until it is stopped
    thin: int
    before: int = 0  # transitions after warm-up that another run has made

    @property
    def sampled(self) -> int:
        """Transitions of a chain after warm-up."""
        return ENDLESS if self.draws is None else self.before + self.draws * self.thin

    @property
    def most(self) -> int:
        """All transitions of a chain, at most."""
        return (LONGEST if self.warmup is None else self.warmup) + self.sampled

    def check(self, doing: str) -> None:
        """Refuse more transitions than can be counted."""
        if self.most >= MOST_TRANSITIONS:
            most = MOST_TRANSITIONS - 1
            raise ValueError(
                f"{doing}: {self.most} transitions a chain are too many (at most {most})"
            )


@dataclass
class Chain:
    """One chain: where it begins, its state, its draws so far, and what progress shows."""

    key: np.ndarray
    free: np.ndarray | None = None  # the starting point, if it is given
    state: ChainState | None = None  # None until it has begun
    number: int = 0
    sink: Sink = field(default_factory=Sink)  # where the draws go
    sampler: Sampler | None = None  # with its hyper-parameters, if they are not the program's
    tuned: Mapping[str, Any] = field(default_factory=dict)  # values that replace the sampler's
    climbing: bool = True  # whether the search for a starting point makes ascents
    warmup: list[Rows] | None = None  # what blocks of warm-up gave, where that is kept
    start: Start | None = None  # what was tried
    transition: int = 0
    gradients: int = 0
    spent: int = 0  # points evaluated in the last block
    divergences: int = 0
    step_size: float = float("nan")
    seconds: float = 0.0
    failed: bool = False
    tuner: Tuner = field(default_factory=lambda: Tuner(0, False))

    @property
    def kept(self) -> int:
        """Draws made."""
        return self.sink.count

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
                self.warmup.append(rows_of(block, where.rows).copied())
        elif where.rows:
            self.sink.add(rows_of(block, where.rows))
        self.transition = where.transition
        self.gradients = where.gradients
        self.spent = where.spent
        self.divergences = where.divergences
        self.step_size = step_size

    def at_stop(self) -> bool:
        """Whether the host has to look at what is tuned."""
        return self.tuner.stops_at(self.transition, self.gradients)
