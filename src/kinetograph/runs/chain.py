"""A chain of a run, as the host sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ..adaptation.host_warmup import LONGEST, MOST_TRANSITIONS, OPEN, Tuner
from ..adaptation.joint_choice import LEAST
from ..adaptation.schedule import Phases
from ..graph.node import Node
from ..programs.joint_information import is_in_use
from ..programs.state import Block, ChainState, Start, Where
from ..samplers.sampler import Sampler
from .rows import Sink, TransitionRows, rows_of

__all__ = ["ENDLESS", "IdleChain", "RunningChain", "Lengths"]

ENDLESS = 2**30  # transitions that a run without a given number of draws may make after warm-up


@dataclass(frozen=True)
class Lengths:
    """The length of a run."""

    warmup: int | None  # None: each chain ends its own warm-up
    draws: int | None  # None: until the run is stopped
    thin: int
    before: int = 0  # transitions after warm-up that an earlier run has made

    @property
    def sampled(self) -> int:
        """The number of transitions of a chain after warm-up."""
        return ENDLESS if self.draws is None else self.before + self.draws * self.thin

    @property
    def most(self) -> int:
        """The largest number of transitions of a chain, warm-up included."""
        return (LONGEST if self.warmup is None else self.warmup) + self.sampled

    def check(self, doing: str) -> None:
        """Refuse more transitions than can be counted."""
        if self.most >= MOST_TRANSITIONS:
            most = MOST_TRANSITIONS - 1
            raise ValueError(
                f"{doing}: {self.most} transitions a chain are too many (at most {most}); they are "
                "the warm-up, and draws * thin"
            )


@dataclass
class RunningChain:
    """A chain of a run: its start, state, draws and progress."""

    key: np.ndarray
    free: np.ndarray | None = None  # the starting point, if the user gave one
    state: ChainState | None = None  # None until it has begun
    number: int = 0
    sink: Sink = field(default_factory=Sink)  # where the draws go
    sampler: Sampler | None = None  # if its hyper-parameters differ from the program's
    tuned: Mapping[str, Any] = field(default_factory=dict)  # hyper-parameters of another run
    climbing: bool = True  # whether the search for a starting point makes ascents
    warmup: list[TransitionRows] | None = None  # the rows of warm-up, if the run keeps them
    data: Mapping[Node, np.ndarray] = field(default_factory=dict)  # its own values of arguments
    start: Start | None = None  # the result of the search for a starting point
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
        """The number of draws made."""
        return self.sink.count

    def left(self, lengths: Lengths) -> int:
        """The largest number of transitions that the chain still has to make."""
        end = LONGEST if self.tuner.end == OPEN else self.tuner.end
        return end + lengths.sampled - self.transition

    def begin(self, result: Any) -> None:
        """Take the result of the search for a starting point."""
        self.state, self.start = result.chain, jax.device_get(result.start)
        self.gradients = int(result.chain.gradients)
        self.failed = not bool(result.success)

    def take(self, block: Block) -> None:
        """Copy the new draws of a block, and note the chain's progress."""
        self._take(block, Where(*np.asarray(block.progress).tolist()), float(block.step_size))

    @staticmethod
    def take_each(chains: Sequence["RunningChain"], blocks: Block) -> None:
        """Copy the new draws of a batch to its chains.

        The arrays in `blocks` are NumPy's and hold all chains.
        """
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
        if where.transition <= self.tuner.end:  # a block ends at the end of warm-up
            arrays = [x if x is None else np.asarray(x) for x in (block.free, block.slopes)]
            free, slopes = (x if x is None else x[: where.rows] for x in arrays)
            if free is not None:
                self.tuner.add(free, slopes)
            if self.warmup is not None:
                self.warmup.append(rows_of(block, where.rows).copied())
        elif where.rows:
            self.sink.add(rows_of(block, where.rows))
        self.tuner.release(where.transition)
        self.transition = where.transition
        self.gradients = where.gradients
        self.spent = where.spent
        self.divergences = where.divergences
        self.step_size = step_size

    @property
    def begins_jointly(self) -> bool:
        """Whether the chain moves in the coordinates of the joint block.

        The model may have no block. A resumed run decides as the run that was stopped.
        """
        if self.state is not None and np.any(self.state.transition):
            return is_in_use(self.state)
        information = self.tuned.get("joint")
        in_use = information is not None and bool(np.asarray(information)[0, 0] >= 0)
        return in_use or self.tuner.late > LEAST

    def phases(self, sampled: int) -> Phases:
        """The phases of the next block, with `sampled` transitions after warm-up."""
        return self.tuner.phases(self.transition, sampled)

    def at_stop(self) -> bool:
        """Whether the host has to examine the draws of warm-up now."""
        return self.tuner.stops_at(self.transition, self.gradients)


class IdleChain(RunningChain):
    """A chain that fills a place of a batch without transitions."""

    @classmethod
    def like(cls, chain: RunningChain) -> "IdleChain":
        """An idle chain in the state of another chain."""
        place = cls(chain.key, chain.free, chain.state)
        place.sampler, place.tuned, place.climbing = chain.sampler, chain.tuned, chain.climbing
        return place

    def phases(self, sampled: int) -> Phases:
        """The phases of a block that ends before its first transition."""
        return Phases.of(0, 0)

    def at_stop(self) -> bool:
        """False: there is nothing to tune."""
        return False
