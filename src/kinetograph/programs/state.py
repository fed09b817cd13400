"""The state of a chain, of a block's loop, and its results."""

from typing import Any, NamedTuple

import numpy as np

from ..adaptation.schedule import Adaptation, Phases
from ..graph.trips import Trips
from ..kernels.moments import Moments
from ..models.bound_density import Position

__all__ = [
    "ASCENTS",
    "BY_CHAIN",
    "Block",
    "ChainState",
    "BlockLoop",
    "Plan",
    "DrawRecord",
    "Start",
    "Where",
]

ASCENTS = 12  # the most that a search for a starting point makes


class Start(NamedTuple):
    """A starting point, with a record of the search for it."""

    position: Position
    scale: Any  # a first guess of the metric's scale
    attempts: Any  # points drawn
    gradients: Any  # evaluations
    taken: Any  # the number of the ascent that ended at the starting point
    begins: Any  # log density at the start of each ascent; NaN for ascents that were not made,
    ends: Any  # and at its end

    @classmethod
    def at(cls, position: Position) -> "Start":
        """A point for which nothing has been tried yet."""
        shape, dtype = np.shape(position.q), position.q.dtype
        zero, unknown = np.int32(0), np.full(ASCENTS, np.nan, dtype)
        return cls(position, np.ones(shape, dtype), zero, zero, zero, unknown, unknown)


class ChainState(NamedTuple):
    """The complete state of a chain, which can be saved and continued."""

    position: Position
    slots: Any  # the slots of the sampler
    hyper: Any  # values of its hyper-parameters, by name
    adaptation: Adaptation
    phases: Phases
    key: Any
    transition: Any  # transitions made so far, warm-up included
    gradients: Any  # gradients evaluated so far
    divergences: Any  # since warm-up
    averages: dict[str, Moments]  # of the draws kept since warm-up
    counts: dict[str, Any]  # evaluations since the last kept draw, if they are recorded


class Plan(NamedTuple):
    """The task of a block.

    Its fields are arguments of the compiled program, not part of it.
    """

    thin: Any
    gradients: Any  # the block ends after evaluations at this number of points
    warmup: Any = np.bool_(False)  # whether targets are computed in warm-up, too


class Block(NamedTuple):
    """The results of a block: new rows, and the chain's progress.

    There are few arrays, because each is copied out.
    """

    progress: Any  # whole numbers, in the order of `Where`
    step_size: Any
    statistics: Any
    targets: tuple[Any, ...]  # packed; `Engine.on_host` unpacks them
    reports: tuple[Any, ...]  # of the loops in the model's graph
    free: Any = None  # the free states and their gradients, if the host tunes by them
    slopes: Any = None


BY_CHAIN = Block._make([0, 0, 1, 1, 0, 1, 1])  # the axis of the chains in a batch


class Where(NamedTuple):
    """The progress of a chain after a block."""

    rows: Any  # new rows
    transition: Any
    gradients: Any
    divergences: Any
    spent: Any  # points evaluated in this block


class BlockLoop(NamedTuple):
    """The values that a block carries from transition to transition."""

    chain: ChainState
    count: Any  # rows: transitions in warm-up, or kept draws
    spent: Any  # points evaluated
    trips: tuple[Trips, ...]  # of the loops in the log density


class DrawRecord(NamedTuple):
    """The record of a draw, or of all draws in buffers."""

    free: Any
    statistics: Any
    observable_inputs: tuple[Any, ...]  # values that the observables need
    slopes: tuple[Any, ...]  # the gradient, if the host tunes by it
