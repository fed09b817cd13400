"""The progress of a run, and a forecast of its end.

The cost of a chain's next transitions is estimated from its last ones: from the second half of the
transitions made in this run, and later only from transitions after warm-up, because the first ones
may have cost many times as much. A chain without transitions is expected to cost as much as the
other chains.

Chains that share threads take turns, so all chains get the same amount of time. If n chains run on
k < n threads, each has k / n of a thread; when chains end, the remaining ones get more, up to a
thread each. So each chain has an expected end, and the run ends with the last chain.

The end of an adaptive warm-up is guessed. The guess lies between the next transition at which it
can end and SLOWEST times the transitions made, and takes the known ends of other chains into
account.
"""

import math
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...adaptation.host_warmup import FINAL, LONGEST, OPEN, SHORTEST
from ..chain import Lengths, RunningChain

__all__ = ["Forecast", "clock_text", "ends"]

FEW = 10  # transitions after warm-up that are needed to estimate the cost of the next ones
SLOWEST = 4
FINE = 64  # about this number of marks for each doubling of the transitions


def ends(works: Sequence[float], at_once: int) -> list[float]:
    """The time at which each of some works is done.

    All works get equal time. `works` are the seconds that each work takes alone; `at_once` of them
    run at the same time.
    """
    times, now, done, left = [0.0] * len(works), 0.0, 0.0, len(works)
    for i in sorted(range(len(works)), key=lambda i: works[i]):
        now += (works[i] - done) * max(1.0, left / at_once)
        times[i], done, left = now, works[i], left - 1
    return times


@dataclass
class _Watched:
    """A chain with marks: its own seconds at some of its transitions."""

    chain: RunningChain
    first: int = 0
    made: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.first = self.chain.transition
        self.made, self.seconds = [self.first], [self.chain.seconds]

    def look(self) -> bool:
        """Add a mark if the chain has advanced; returns whether it has.

        The seconds of a chain are updated last when a block ends.
        """
        seconds, transition = self.chain.seconds, self.chain.transition
        if seconds == self.seconds[-1] or transition == self.made[-1]:
            return False
        if len(self.made) > 2 and FINE * (transition - self.made[-2]) < transition - self.first:
            self.made.pop()
            self.seconds.pop()
        self.made.append(transition)
        self.seconds.append(seconds)
        return True

    def cost(self) -> float | None:
        """Seconds for each transition; None before the first transition."""
        last, end = self.made[-1], self.chain.tuner.end
        if last == self.first:
            return None
        since = self.first + (last - self.first) // 2
        sampling = last - end >= FEW
        place = bisect_left(self.made, max(since, end) if sampling else since)
        while place > 0 and last - self.made[place] < (FEW if sampling else 1):
            place -= 1
        return (self.seconds[-1] - self.seconds[place]) / (last - self.made[place])


class Forecast:
    """The expected course of a run."""

    def __init__(
        self,
        chains: Sequence[RunningChain],
        lengths: Lengths,
        at_once: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.chains, self.lengths, self.at_once = chains, lengths, at_once
        self.clock, self.begun = clock, clock()
        self._watched = [_Watched(chain) for chain in chains]
        self._ends: list[float] | None = None  # at which each chain ends, after `_forecast_time`
        self._forecast_time = self.begun

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self.begun

    @property
    def endless(self) -> bool:
        """Whether the run has no given number of draws."""
        return self.lengths.draws is None

    def update(self) -> None:
        """Read the progress of the chains, and update the forecast."""
        advanced = [watched.look() for watched in self._watched]
        if any(advanced) and not self.endless:
            costs = [watched.cost() for watched in self._watched]
            known_costs = [cost for cost in costs if cost is not None]
            usual = sum(known_costs) / len(known_costs)
            each = zip(costs, self.chains, strict=True)
            works = [(usual if c is None else c) * self.still(chain) for c, chain in each]
            self._ends, self._forecast_time = ends(works, self.at_once), self.clock()

    def end_is_known(self, chain: RunningChain) -> bool:
        """Whether the end of a chain's warm-up is known."""
        return chain.tuner.end != OPEN

    def end(self, chain: RunningChain) -> int:
        """The end of a chain's warm-up, or a guess."""
        if self.end_is_known(chain):
            return chain.tuner.end
        transitions, sampled = chain.transition, self.lengths.sampled
        least = max(SHORTEST, transitions + FINAL)
        most = min(LONGEST, max(least, SLOWEST * transitions))
        guess = (
            math.sqrt((least - transitions + sampled) * (most - transitions + sampled))
            + transitions
            - sampled
        )
        known_ends = [max(c.tuner.end, least) for c in self.chains if self.end_is_known(c)]
        return round(sum([guess, *known_ends]) / (1 + len(known_ends)))

    def still(self, chain: RunningChain) -> int:
        """The number of transitions that a chain still has to make."""
        return max(self.end(chain) + self.lengths.sampled - chain.transition, 0)

    def of_all(self, chain: RunningChain) -> int:
        """The number of all transitions of a chain."""
        return chain.transition + self.still(chain)

    @property
    def share(self) -> float | None:
        """The part of this run's work that is done.

        It is between 0 and 1, or None if the number of draws is not known.
        """
        if self.endless:
            return None
        transitions = sum(w.chain.transition - w.first for w in self._watched)
        left = sum(map(self.still, self.chains))
        return transitions / (transitions + left) if transitions + left else 1.0

    def speed(self, place: int) -> float | None:
        """Transitions of a chain in a second, alone on its thread."""
        cost = self._watched[place].cost()
        return 1 / cost if cost else None

    @property
    def speed_of_all(self) -> float | None:
        """Transitions of all chains in a second of this run."""
        transitions, elapsed = (
            sum(w.chain.transition - w.first for w in self._watched),
            self.elapsed,
        )
        return transitions / elapsed if transitions and elapsed > 0 else None

    def left(self, place: int | None = None) -> float | None:
        """Seconds until a chain ends, or the run; None if not known."""
        if self._ends is None:
            return None
        end = max(self._ends) if place is None else self._ends[place]
        return max(end - (self.clock() - self._forecast_time), 0.0)


def clock_text(seconds: float | None) -> str:
    """A time such as `02:31`, `5:02:31` or `3 d 05 h`.

    `--:--` if it is not known.
    """
    if seconds is None:
        return "--:--"
    minutes, remainder = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24:02d} h"
    return f"{hours}:{minutes:02d}:{remainder:02d}" if hours else f"{minutes:02d}:{remainder:02d}"
