"""How far a run is, and how long it will still take.

What a chain's transitions cost is told by its last ones: by those of the second half of what it has
made in this run, and, once there are some, by those after warm-up alone, whose first transitions
may have cost many times as much. A chain that has made none costs as much as the others do.

Chains that share threads take turns, so that of the work of each as much is done as of the others'.
When n chains are at work on k < n threads, each has k / n of a thread; as chains end, the others
have more, up to a thread each. So each has an end, and the run ends with the last.

Of a warm-up that ends by itself, the end is guessed: between the next transition at which it may
end and SLOWEST times those made, and as those of other chains that are known.
"""

import math
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .chain import Lengths, RunningChain
from .warming import FINAL, LONGEST, OPEN, SHORTEST

__all__ = ["Forecast", "clock_text", "ends"]

FEW = 10  # transitions after warm-up, by which the next ones are judged
SLOWEST = 4
FINE = 64  # marks for each doubling of the transitions made, about


def ends(works: Sequence[float], at_once: int) -> list[float]:
    """When each of some works is done, of which each gets as much time as the others.

    `works` are the seconds that each takes alone; so many of them run at once.
    """
    found, now, done, left = [0.0] * len(works), 0.0, 0.0, len(works)
    for i in sorted(range(len(works)), key=lambda i: works[i]):
        now += (works[i] - done) * max(1.0, left / at_once)
        found[i], done, left = now, works[i], left - 1
    return found


@dataclass
class _Watched:
    """A chain, and when it had made how many transitions: seconds of its own by transition."""

    chain: RunningChain
    first: int = 0
    made: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.first = self.chain.transition
        self.made, self.seconds = [self.first], [self.chain.seconds]

    def look(self) -> bool:
        """Whether it has come further. Its seconds are counted last when a block ends."""
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
        """Seconds of a transition, if one has been made."""
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
    """What is to be expected of the chains of a run."""

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
        self._ends: list[float] | None = None  # seconds after `_told` at which each chain ends
        self._told = self.begun

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self.begun

    @property
    def endless(self) -> bool:
        """Whether nobody said how many draws there are to be."""
        return self.lengths.draws is None

    def update(self) -> None:
        """Look at the chains."""
        come = [watched.look() for watched in self._watched]
        if any(come) and not self.endless:
            costs = [watched.cost() for watched in self._watched]
            known = [cost for cost in costs if cost is not None]
            usual = sum(known) / len(known)
            each = zip(costs, self.chains, strict=True)
            works = [(usual if c is None else c) * self.still(chain) for c, chain in each]
            self._ends, self._told = ends(works, self.at_once), self.clock()

    def known(self, chain: RunningChain) -> bool:
        """Whether the end of a chain's warm-up is no guess."""
        return chain.tuner.end != OPEN

    def end(self, chain: RunningChain) -> int:
        """The end of a chain's warm-up, or a guess."""
        if self.known(chain):
            return chain.tuner.end
        made, sampled = chain.transition, self.lengths.sampled
        least = max(SHORTEST, made + FINAL)
        most = min(LONGEST, max(least, SLOWEST * made))
        between = math.sqrt((least - made + sampled) * (most - made + sampled)) + made - sampled
        others = [max(c.tuner.end, least) for c in self.chains if self.known(c)]
        return round(sum([between, *others]) / (1 + len(others)))

    def still(self, chain: RunningChain) -> int:
        """Transitions that a chain has still to make."""
        return max(self.end(chain) + self.lengths.sampled - chain.transition, 0)

    def of_all(self, chain: RunningChain) -> int:
        """Transitions that a chain will have made."""
        return chain.transition + self.still(chain)

    @property
    def share(self) -> float | None:
        """How much of what is to be done in this run has been, from 0 to 1, if that is known."""
        if self.endless:
            return None
        made = sum(w.chain.transition - w.first for w in self._watched)
        left = sum(map(self.still, self.chains))
        return made / (made + left) if made + left else 1.0

    def speed(self, place: int) -> float | None:
        """Transitions that a chain makes in a second, alone on its thread."""
        cost = self._watched[place].cost()
        return 1 / cost if cost else None

    @property
    def speed_of_all(self) -> float | None:
        """Transitions of all chains in a second of this run."""
        made, elapsed = sum(w.chain.transition - w.first for w in self._watched), self.elapsed
        return made / elapsed if made and elapsed > 0 else None

    def left(self, place: int | None = None) -> float | None:
        """Seconds until a chain ends, or the run, if that is known."""
        if self._ends is None:
            return None
        end = max(self._ends) if place is None else self._ends[place]
        return max(end - (self.clock() - self._told), 0.0)


def clock_text(seconds: float | None) -> str:
    """`02:31`, `5:02:31`, `3 d 05 h`; `--:--` if it is not known."""
    if seconds is None:
        return "--:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24:02d} h"
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"
