"""The state of a chain, of a block of its transitions, and what a block gives."""

from typing import Any, NamedTuple

import numpy as np

from ..adaptation.schedule import Adaptation, Phases
from ..graph.trips import Trips
from ..kernels.moments import Moments
from ..kernels.target import Position

__all__ = ["ASCENTS", "BY_CHAIN", "Block", "ChainState", "Loop", "Plan", "Row", "Start", "Where"]

ASCENTS = 12  # that a search for a starting point makes at most


class Start(NamedTuple):
    """A starting point, and what became of all that were tried."""

    position: Position
    scale: Any  # a first guess
    attempts: Any  # points drawn
    gradients: Any  # evaluations
    taken: Any  # which ascent's end it is
    begins: Any  # log density where each ascent began, NaN for those not made,
    ends: Any  # and where it ended

    @classmethod
    def at(cls, position: Position) -> "Start":
        """A point that nothing has been tried for yet."""
        shape, dtype = np.shape(position.q), position.q.dtype
        zero, unknown = np.int32(0), np.full(ASCENTS, np.nan, dtype)
        return cls(position, np.ones(shape, dtype), zero, zero, zero, unknown, unknown)


class ChainState(NamedTuple):
    """Everything a chain is: a pytree that can be saved and continued."""

    position: Position
    slots: Any  # the sampler's own
    hyper: Any  # values of its hyper-parameters, by name
    adaptation: Adaptation
    phases: Phases
    key: Any
    transition: Any  # transitions made so far, warm-up included
    gradients: Any  # gradients evaluated so far
    divergences: Any  # since warm-up
    averages: dict[str, Moments]  # of the draws kept since warm-up
    counts: dict[str, Any]  # evaluations since the last draw kept, those that are recorded


class Plan(NamedTuple):
    """What a block is to do: values of the compiled program, not part of it."""

    thin: Any
    gradients: Any  # it ends after evaluations at this many points
    warmup: Any = np.bool_(False)  # whether targets are computed of warm-up, too


class Block(NamedTuple):
    """What a block gives: new rows, and where the chain is, in few arrays to copy out."""

    progress: Any  # whole numbers, in the order of `Where`
    step_size: Any
    statistics: Any
    targets: tuple[Any, ...]
    reports: tuple[Any, ...]  # of the loops in the model's graph
    free: Any = None  # the free states and their gradients, where the host tunes by them
    slopes: Any = None


BY_CHAIN = Block._make([0, 0, 1, 1, 0, 1, 1])  # the axis of the chains of a batch


class Where(NamedTuple):
    """Where a chain is after a block."""

    rows: Any  # new ones
    transition: Any
    gradients: Any
    divergences: Any
    spent: Any  # points evaluated in this block


class Loop(NamedTuple):
    """What a block carries from transition to transition."""

    chain: ChainState
    count: Any  # rows: transitions of warm-up, or draws kept
    spent: Any  # points evaluated
    trips: tuple[Trips, ...]  # of the loops in the log density


class Row(NamedTuple):
    """What is noted of a draw; of all draws of a block in its buffers."""

    free: Any
    statistics: Any
    kept: tuple[Any, ...]  # for the observables
    slopes: tuple[Any, ...]  # the gradient, where the host tunes by it
