"""Trips of loops: a run's reports, and the capacity for backward passes."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from .control.control_node import Looping

__all__ = ["NO_TRIPS", "Capacity", "LoopPlan", "Trips", "any_short"]

FIRST = 64  # trips


class Trips(NamedTuple):
    """The report of a run on one loop."""

    most: Any  # the trips of its longest execution
    truncated: Any  # whether its bound, if reaching it is an error, ended an execution early
    overflowed: Any  # whether an execution made more trips than the capacity

    def join(self, other: "Trips") -> "Trips":
        """Combine the reports of two executions."""
        return Trips(
            jnp.maximum(self.most, other.most),
            jnp.logical_or(self.truncated, other.truncated),
            jnp.logical_or(self.overflowed, other.overflowed),
        )


NO_TRIPS = Trips(np.int32(0), np.bool_(False), np.bool_(False))


def any_short(trips: tuple[Trips, ...]) -> Any:
    """Whether a loop had too little room for its backward pass.

    The gradient may then be wrong, and values computed from it must not be used.
    """
    overflowed = np.bool_(False)
    for report in trips:
        overflowed = overflowed | report.overflowed
    return overflowed


class LoopPlan(NamedTuple):
    """The strategy with which the backward pass of a loop was lowered."""

    strategy: str
    rows: int
    bytes: int
    reason: str


@dataclass
class Capacity:
    """The number of trips that a program keeps for each unbounded loop.

    The backward pass needs these trips. If a run makes more trips, it is repeated with a larger
    capacity; all its inputs still exist. If a run cannot be repeated, as inside another JAX
    program, the capacity is `final`.
    """

    rows: "dict[Looping, int]" = field(default_factory=dict)
    plans: "dict[Looping, LoopPlan]" = field(default_factory=dict)  # noted while lowering
    final: bool = False

    def of(self, loop: "Looping") -> int:
        """The number of trips of a loop that can be kept."""
        return self.rows.get(loop, FIRST)

    def grown(self, needed: "dict[Looping, int]") -> "Capacity":
        """The capacity for the needed trips, rounded up to powers of two."""
        rows = {loop: 1 << max(int(n) - 1, 1).bit_length() for loop, n in needed.items()}
        return Capacity({**self.rows, **rows}, self.plans)

    def key(self) -> tuple[tuple[int, int], ...]:
        """A key for lookups: equal for equal loops and sizes."""
        if not self.rows:
            return ()
        return tuple(sorted((loop.serial, rows) for loop, rows in self.rows.items()))
