"""The trips of the loops of a program: what a run tells of them, and what it can keep of them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from .control.control import Looping

__all__ = ["NO_TRIPS", "Capacity", "LoopPlan", "Trips"]

FIRST = 64  # trips


class Trips(NamedTuple):
    """What a run tells of a loop."""

    most: Any  # trips of its longest execution
    truncated: Any  # whether its bound, where that is an error, cut one short
    overflowed: Any  # whether there was too little room for the backward pass of one

    def join(self, other: "Trips") -> "Trips":
        """Those of two executions together."""
        return Trips(
            jnp.maximum(self.most, other.most),
            jnp.logical_or(self.truncated, other.truncated),
            jnp.logical_or(self.overflowed, other.overflowed),
        )


NO_TRIPS = Trips(np.int32(0), np.bool_(False), np.bool_(False))


class LoopPlan(NamedTuple):
    """How the backward pass of a loop was lowered."""

    strategy: str
    rows: int
    bytes: int
    reason: str


@dataclass
class Capacity:
    """How many trips of each unbounded loop a program keeps for its backward pass.

    A run that needed more is made again with more room; all its inputs are still there. Where
    nobody can make it again, as in the midst of another JAX program, it is `final`.
    """

    rows: "dict[Looping, int]" = field(default_factory=dict)
    plans: "dict[Looping, LoopPlan]" = field(default_factory=dict)  # noted while lowering
    final: bool = False

    def of(self, loop: "Looping") -> int:
        """How many trips of a loop can be kept."""
        return self.rows.get(loop, FIRST)

    def grown(self, needed: "dict[Looping, int]") -> "Capacity":
        """One for so many trips, in powers of two."""
        rows = {loop: 1 << max(int(n) - 1, 1).bit_length() for loop, n in needed.items()}
        return Capacity({**self.rows, **rows}, self.plans)

    def key(self) -> tuple[tuple[int, int], ...]:
        """For lookups: rooms are equal where their loops and sizes are."""
        if not self.rows:
            return ()
        return tuple(sorted((loop.serial, rows) for loop, rows in self.rows.items()))
