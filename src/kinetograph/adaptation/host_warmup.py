"""The host's part of warm-up: stops, and the end.

At some transitions a chain stops, and the host examines the draws and gradients of the last half of
its history (`metric_search`). Stops are more frequent if a transition takes many gradients. Every
50 transitions the host also chooses the forms of unknowns (`form_choice`).

A warm-up without a given length ends when no new metric would be much better, the draws do not
drift, the step size has settled, and no divergence has asked for smaller steps for a while.
"""

import math
from collections.abc import Sequence

import numpy as np

from ..kernels.blas import one_thread
from .form_choice import choose_forms
from .metric_search import (
    FEWEST_DRAWS,
    NO_DIVERGENCES,
    USED,
    Divergences,
    Tuned,
    Window,
    divergences_in_use,
    is_informative,
    retuned,
)
from .schedule import NEVER, Phases, Warmup
from .windows import is_judged, next_judged

__all__ = [
    "FINAL",
    "LONGEST",
    "MOST_TRANSITIONS",
    "OPEN",
    "SHORTEST",
    "Tuner",
    "warmup_length",
]

DEFAULT = 500  # transitions of a warm-up whose end is not adaptive

FIRST, EVERY = 100, 50  # transitions: the first stop, and the distance between stops
# Earlier stops, at this transition first and then at distances that grow by this factor,
# once that number of gradients has been evaluated since the last stop.
EARLIEST, GROWTH, WORTH = 10, 1.5, 500
EARLY, SHORTEST, LONGEST = 60, 200, 2000  # transitions of an adaptive warm-up
FINAL = 50  # the last transitions, which tune only the step size
OPEN = 2**30  # an end that is not known yet
MOST_TRANSITIONS = 2**31  # of a chain
# The first draws are skipped. Then the last half of the history is examined, but at least 16 draws.
SKIPPED, FEW = 2, 16
ROWS, LEAST, WORK = 200, 20, 5 * 10**7  # the number of examined draws: bounds and cost
QUIET = 150  # transitions without a divergence, once there has been one
WORSE = 2.0  # growth of the divergence after which a better metric is looked for again
SETTLED_STEP = 0.3  # change of the logarithm of the step size
DRIFT = 3.0  # standard errors


def warmup_length(host_tunes: bool, given: int | None) -> int | None:
    """The length of a warm-up; None if each chain ends its own."""
    if given is None:
        return None if host_tunes else DEFAULT
    return int(given)


class Tuner:
    """The warm-up of one chain.

    It has a given length, or, without one, ends itself.
    """

    def __init__(
        self,
        length: int | None,
        tuned: bool,
        dense: bool = False,
        warmup: Warmup | None = None,
    ) -> None:
        self.length, self.dense = length, dense
        self.warmup = warmup if warmup is not None and warmup.chooses else None
        if length is None:
            self.early, self.late, self.end = EARLY, OPEN, OPEN
        else:
            self.early, self.late, self.end, *_ = map(int, Phases.of(length, 0))
        self.stops = tuned
        self.draws: list[np.ndarray] = []
        self.slopes: list[np.ndarray] = []
        self.looked = 0  # transition of the last stop
        # The next early stop: a transition, and the gradients that it needs.
        self.glance, self.worth = EARLIEST, WORTH
        self.rested = 0  # no metric is looked for before this transition, because none was better,
        self.misfit = 0.0  # unless the divergence of the present metric has grown from this value
        self.step = float("nan")  # logarithm of the step size at the last stop
        self.target = float("nan")  # target of acceptance at the last stop
        self.risen = -OPEN  # last stop at which the target had risen
        self.formed = 0  # the transition of the last change of a form that was seen
        self.judged = 0  # transition of the last choice of forms

    def phases(self, transition: int, sampled: int) -> Phases:
        """The phases for a block that starts at a transition.

        `sampled` transitions follow after warm-up.
        """
        stop = self.end + sampled
        if transition < self.end:
            stop = self.next_stop(transition) if self.stops else self.end
            judged = next_judged(transition)
            if self.warmup is not None and is_judged(judged, self.late):
                stop = min(stop, judged)
        looks = self.stops and max(transition, self.looked) < self.late
        glance = self.glance if looks else NEVER
        stop = min(stop, MOST_TRANSITIONS - 1)
        return Phases(self.early, self.late, self.end, stop, glance, self.worth)

    def next_stop(self, transition: int) -> int:
        """The latest transition at which the host examines the chain next."""
        if transition >= self.late:
            return self.end
        stop = max(FIRST, (transition // EVERY + 1) * EVERY)
        return stop if stop < self.late else self.end

    def stops_at(self, transition: int, gradients: int) -> bool:
        """Whether the host examines the chain at this transition.

        `gradients` is the number of gradients evaluated so far.
        """
        due = transition >= FIRST and transition % EVERY == 0
        due |= transition >= self.glance and gradients >= self.worth
        return self.stops and self.looked < transition < self.late and due

    def chooses_at(self, transition: int) -> bool:
        """Whether the host chooses forms at this transition."""
        chooses = self.warmup is not None and transition > self.judged
        return chooses and is_judged(transition, self.late)

    @staticmethod
    def chosen(tuners: "Sequence[Tuner]", transitions: Sequence[int], tuned: Tuned) -> Tuned:
        """The tuning of stacked chains with the forms that are chosen now."""
        warmup = tuners[0].warmup
        assert warmup is not None
        for tuner, transition in zip(tuners, transitions, strict=True):
            tuner.judged = transition
        adaptation, hyper = choose_forms(
            warmup, tuned.adaptation, tuned.hyper, np.array(transitions)
        )
        return Tuned(hyper, adaptation)

    def add(self, draws: np.ndarray, slopes: np.ndarray | None) -> None:
        """Store the draws and gradients of a block of warm-up."""
        if self.stops and len(draws) and self.looked < self.late:
            self.draws.append(np.array(draws))
            if slopes is not None:
                self.slopes.append(np.array(slopes))

    def release(self, transition: int) -> None:
        """Drop the draws and gradients that will not be examined any more."""
        if transition >= self.late:
            self.draws, self.slopes, self.looked = [], [], max(self.looked, self.late)

    def most_held(self, size: int) -> int:
        """The largest number of draws that are held at once.

        A draw has `size` numbers.
        """
        if not self.stops or self.end == 0:
            return 0
        return min(max(FIRST, _most_examined(size) + EVERY), self.end)

    def look(self, transition: int, gradients: int, tuned: Tuned) -> Tuned:
        """Examine the stored draws at a stop; returns the new tuning."""
        return self.examined(transition, gradients, self.window(transition, tuned), tuned)

    def examined(
        self,
        transition: int,
        gradients: int,
        window: Window,
        tuned: Tuned,
        divergences: Divergences = NO_DIVERGENCES,
    ) -> Tuned:
        """Examine a window of draws at a stop; returns the new tuning.

        `divergences` are the divergences of metrics that are already computed.
        """
        self.looked = transition
        self.glance = max(transition + EARLIEST, int(GROWTH * transition))
        self.worth = gradients + WORTH
        draws, slopes = window
        settled = len(draws) >= 2
        changed = tuned.adaptation.formed
        if changed is not None:
            if changed > self.formed:  # no better metric was found for the old form
                self.formed, self.rested = changed, 0
            settled &= transition - self.formed >= EVERY
        if "scale" in tuned.hyper and len(draws) >= FEWEST_DRAWS and slopes is not None:
            with one_thread(), np.errstate(all="ignore"):
                divergences = divergences or divergences_in_use(
                    tuned.hyper, draws, slopes, self.dense
                )
                misfit = divergences[USED]
                if transition < self.rested and misfit < WORSE * self.misfit:
                    settled = is_informative(misfit, draws)
                else:
                    before = tuned
                    tuned, settled = retuned(tuned, draws, slopes, self.dense, divergences)
                    if tuned is before:
                        self.rested, self.misfit = int(GROWTH * transition), misfit
        if self.length is None:
            self._end(transition, tuned, draws, settled)
        if min(self.next_stop(transition), self.glance) >= self.late:
            self.draws, self.slopes, self.looked = [], [], self.late
        return tuned

    def window(self, transition: int, tuned: Tuned) -> Window:
        """Draws and gradients of the last half of the history.

        Draws in the coordinates of an earlier form are left out, too.
        Draws that equal the draw before, or are not finite, are left out.
        """
        draws = np.concatenate(self.draws)
        most = _most_examined(draws.shape[1])
        slopes = np.concatenate(self.slopes)[-most:] if self.slopes else None
        draws = draws[-most:]
        self.draws, self.slopes = [draws], [slopes] if slopes is not None else []
        count = max(transition - transition // 2, min(transition - SKIPPED, FEW))
        if (changed := tuned.adaptation.formed) is not None:
            count = max(min(count, transition - changed), 1)
        draws = draws[-count:]
        usable = np.isfinite(draws).all(1)
        if slopes is not None:
            slopes = slopes[-count:]
            usable &= np.isfinite(slopes).all(1)
        usable[1:] &= (draws[1:] != draws[:-1]).any(1)
        return draws[usable], None if slopes is None else slopes[usable]

    def _end(self, transition: int, tuned: Tuned, draws: np.ndarray, settled: bool) -> None:
        step, before = self.step, np.nan
        if tuned.adaptation.step is not None:
            before, self.step = step, float(tuned.adaptation.step.log_average)
            settled &= abs(self.step - before) < SETTLED_STEP
        if "target_limit" in tuned.hyper:  # a divergence raises the target, for smaller steps
            before, self.target = self.target, float(tuned.hyper["target_acceptance"])
            if self.target > before:
                self.risen = transition
            settled &= transition - self.risen >= QUIET
        if transition < SHORTEST - FINAL:
            return
        if (settled and not drifts(draws)) or transition >= LONGEST - FINAL:
            self.late, self.end = transition, transition + FINAL


def _most_examined(size: int) -> int:
    """The largest number of draws of `size` numbers that are examined."""
    return min(ROWS, max(LEAST, math.isqrt(WORK // max(size, 1))))


def drifts(draws: np.ndarray) -> bool:
    """Whether two halves of the draws differ more than by chance.

    The limit is set for draws that mix well.
    """
    half = len(draws) // 2
    first, second = draws[:half], draws[half:]
    spread = np.sqrt((first.var(0) + second.var(0)) / 2)
    with np.errstate(all="ignore"):
        shift = (second.mean(0) - first.mean(0)) / spread
    shift = shift[np.isfinite(shift)]
    return bool(shift.size and np.sqrt(np.mean(shift**2)) > DRIFT * np.sqrt(2 / half))
