"""The host's part of a warm-up: directions of the metric, and when the warm-up has done its work.

At some transitions, of which there are more where each takes many gradients, a chain stops and the
host looks at the draws and gradients of the last half of its history. How well a metric S fits them
is the Fisher divergence

    F(S) = mean |S^T (s - mean s) + S^-1 (x - mean x)|^2

which is 0 for that of a normal posterior. A new metric, fitted to one half of these draws, is
judged by the other one; where it is clearly better than the one in use, it takes its place, and
the step size begins anew at what keeps the sharpest direction as stable as it was. Where no metric
fits, as the posterior is curved, it stays a diagonal.

A warm-up without a given length ends when no new metric would be much better, the draws do not
drift, the step size has settled, and no divergence has asked for smaller steps for a while.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..adaptation.low_rank import (
    CUTOFF,
    LowRank,
    divergence,
    least_divergence,
    low_rank,
    refined,
)
from ..adaptation.schedule import NEVER, Adaptation, Phases
from ..adaptation.step_size import DualAveraging
from ..kernels.blas import one_thread
from ..kernels.directions import Directions

__all__ = [
    "FINAL",
    "LONGEST",
    "MOST_TRANSITIONS",
    "OPEN",
    "SHORTEST",
    "Tuned",
    "Tuner",
    "judged",
    "warmup_length",
]

DEFAULT = 500  # transitions of a warm-up that nothing can end

FIRST, EVERY = 100, 50  # looks; and earlier ones
EARLIEST, GROWTH, WORTH = 10, 1.5, 500  # where so many gradients have been evaluated in between
EARLY, SHORTEST, LONGEST = 60, 200, 2000  # of a warm-up that ends by itself
FINAL = 50  # its last transitions tune the step size alone
OPEN = 2**30  # an end that is not known yet
MOST_TRANSITIONS = 2**31  # of a chain
SKIPPED, FEW = 2, 16  # of the first draws: those not looked at, and from where it is half of them
ROWS, LEAST, WORK = 200, 20, 5 * 10**7  # draws that are looked at, by what a look costs
BETTER = 0.8  # of the divergence of the metric in use: a new one takes its place
HOPE = 0.9  # of it, and a divergence less: what is possible in these very draws
NORMAL = 1.0  # divergence of an unknown above which a posterior is far from normal
FITS, ENOUGH = 0.25, 150  # divergence of an unknown, or draws, for which a metric may be kept
USED, DIAGONAL, NEW, REFINED = "used", "diagonal", "new", "refined"  # metrics that are judged
LIMIT = "limit"  # in the second half, above which directions are not worth another look
TELL = 8  # draws, as few as may tell of a metric
NUMBERS = 2**17  # of the draws of a batch of chains that are looked at together
GAIN = 2.0  # of the divergence that is less than a direction of eigenvalue 2.6 would bring
QUIET = 150  # transitions without a divergence, if there has been one
WORSE = 2.0  # times the divergence of a metric than which no better one was found
SETTLED_STEP = 0.3  # change of its logarithm
DRIFT = 3.0  # standard errors


def warmup_length(by_host: bool, given: int | None) -> int | None:
    """How long a warm-up is; None: until it has done its work."""
    if given is None:
        return None if by_host else DEFAULT
    return int(given)


Known = Mapping[str, float]  # the divergences of some metrics, by what they are
NOTHING: Known = MappingProxyType({})
Window = tuple[np.ndarray, np.ndarray | None]  # draws and, if there are, gradients


class Tuned(NamedTuple):
    """What warm-up tunes, of one chain."""

    hyper: Mapping[str, Any]
    adaptation: Adaptation


class Tuner:
    """The warm-up of one chain: of so many transitions, or, without a length, until it is done."""

    def __init__(self, length: int | None, tuned: bool, dense: bool = False) -> None:
        self.length, self.dense = length, dense
        if length is None:
            self.early, self.late, self.end = EARLY, OPEN, OPEN
        else:
            self.early, self.late, self.end, *_ = map(int, Phases.of(length, 0))
        self.stops = tuned
        self.draws: list[np.ndarray] = []
        self.slopes: list[np.ndarray] = []
        self.looked = 0  # the last stop
        self.glance, self.worth = EARLIEST, WORTH  # the next one, if gradients make it worth while
        self.rested = 0  # until when no metric is looked for, as none was better,
        self.misfit = 0.0  # unless the divergence of the one in use has grown since
        self.step = float("nan")  # its logarithm there,
        self.target = float("nan")  # and the target of acceptance,
        self.risen = -OPEN  # and the stop at which it was last seen to have risen

    def phases(self, transition: int, sampled: int) -> Phases:
        """What a block from a transition is to know; `sampled` transitions follow on warm-up."""
        stop = self.end + sampled
        if transition < self.end:
            stop = self.next_stop(transition) if self.stops else self.end
        looks = self.stops and max(transition, self.looked) < self.late
        glance = self.glance if looks else NEVER
        stop = min(stop, MOST_TRANSITIONS - 1)
        return Phases(self.early, self.late, self.end, stop, glance, self.worth)

    def next_stop(self, transition: int) -> int:
        """Where the host looks next, at the latest."""
        if transition >= self.late:
            return self.end
        stop = max(FIRST, (transition // EVERY + 1) * EVERY)
        return stop if stop < self.late else self.end

    def stops_at(self, transition: int, gradients: int) -> bool:
        """Whether the host looks there, when so many gradients have been evaluated."""
        due = transition >= FIRST and transition % EVERY == 0
        due |= transition >= self.glance and gradients >= self.worth
        return self.stops and self.looked < transition < self.late and due

    def add(self, draws: np.ndarray, slopes: np.ndarray | None) -> None:
        """Note what a block of warm-up has given."""
        if self.stops and len(draws) and self.looked < self.late:
            self.draws.append(np.array(draws))
            if slopes is not None:
                self.slopes.append(np.array(slopes))

    def look(self, transition: int, gradients: int, tuned: Tuned) -> Tuned:
        """At a stop: what is tuned from there on."""
        return self.looked_at(transition, gradients, self.window(transition), tuned)

    def looked_at(
        self,
        transition: int,
        gradients: int,
        window: Window,
        tuned: Tuned,
        known: Known = NOTHING,
    ) -> Tuned:
        """The same with what is looked at, and what is known of it."""
        self.looked = transition
        self.glance = max(transition + EARLIEST, int(GROWTH * transition))
        self.worth = gradients + WORTH
        draws, slopes = window
        settled = len(draws) >= 2
        if "scale" in tuned.hyper and len(draws) >= TELL and slopes is not None:
            with one_thread(), np.errstate(all="ignore"):
                known = known or of_used(tuned.hyper, draws, slopes, self.dense)
                misfit = known[USED]
                if transition < self.rested and misfit < WORSE * self.misfit:
                    settled = tells(misfit, draws)
                else:
                    before = tuned
                    tuned, settled = retuned(tuned, draws, slopes, self.dense, known)
                    if tuned is before:
                        self.rested, self.misfit = int(GROWTH * transition), misfit
        if self.length is None:
            self._end(transition, tuned, draws, settled)
        if min(self.next_stop(transition), self.glance) >= self.late:
            self.draws, self.slopes, self.looked = [], [], self.late
        return tuned

    def window(self, transition: int) -> Window:
        """Draws and gradients of the last half, those that moved."""
        draws = np.concatenate(self.draws)
        most = min(ROWS, max(LEAST, math.isqrt(WORK // draws.shape[1])))
        slopes = np.concatenate(self.slopes)[-most:] if self.slopes else None
        draws = draws[-most:]
        self.draws, self.slopes = [draws], [slopes] if slopes is not None else []
        count = max(transition - transition // 2, min(transition - SKIPPED, FEW))
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
        if "target_limit" in tuned.hyper:  # a divergence has asked for smaller steps
            before, self.target = self.target, float(tuned.hyper["target_acceptance"])
            if self.target > before:
                self.risen = transition
            settled &= transition - self.risen >= QUIET
        if transition < SHORTEST - FINAL:
            return
        if (settled and not drifts(draws)) or transition >= LONGEST - FINAL:
            self.late, self.end = transition, transition + FINAL


def judged(
    hyper: Mapping[str, Any], windows: Sequence[Window], dense: bool = False
) -> list[dict[str, float]]:
    """What is known of a stack of chains: how well the metric in use and others fit the draws.

    Of many chains it takes far less time together than of each.
    """
    known: list[dict[str, float]] = [{} for _ in windows]
    if "scale" not in hyper:
        return known
    used, room, cutoff = _in_use(hyper), _room(hyper), _cutoff(dense)
    alike = dict[int, list[int]]()
    for i, (draws, slopes) in enumerate(windows):
        if len(draws) >= TELL and slopes is not None:
            alike.setdefault(len(draws), []).append(i)

    def note(way: str, members: Any, values: Any) -> Any:
        for i, value in zip(members, values.tolist(), strict=True):
            known[i][way] = value
        return ~(values < GAIN)  # of which more is asked

    def look(members: Any) -> None:
        parts = zip(*(windows[i] for i in members), strict=True)
        draws, slopes = (np.stack(part) for part in parts)  # type: ignore[arg-type]
        metric = LowRank(*(part[members] for part in used))
        halves = _misfits(metric, draws, slopes)
        followed = (metric.stretches != 1).any(-1)
        whole = dense | (followed & tells_of_curves(draws[0]))
        limit = np.where(whole, np.inf, halves[1])
        left = note(USED, members, sum(halves))
        note(LIMIT, members, limit)
        for way, most in ((DIAGONAL, 0), (NEW, room))[dense:]:
            draws, slopes, members, limit = draws[left], slopes[left], members[left], limit[left]
            if not len(members):
                return
            fitted = partial(low_rank, before=used.scale[members], most=most, cutoff=cutoff)
            bound = limit if way == NEW else np.inf
            left = note(way, members, _crossed(fitted, draws, slopes, bound))

    with one_thread(), np.errstate(all="ignore"):
        for which in alike.values():  # windows of as many rows, some at once
            some = max(1, NUMBERS // windows[which[0]][0].size)
            for first in range(0, len(which), some):
                look(np.array(which[first : first + some]))
    return known


def _crossed(
    fitted: Callable[..., LowRank], draws: np.ndarray, slopes: np.ndarray, limit: Any = np.inf
) -> Any:
    """The divergences of what is fitted to each half of what has been drawn in the other one.

    Infinite if that in the second half is above a limit.
    """
    a, b = ((draws[..., part, :], slopes[..., part, :]) for part in _halves(draws))
    second = divergence(fitted(*a), *b)
    if np.all(second > limit):
        return np.full_like(second, np.inf)
    return np.where(second > limit, np.inf, second + divergence(fitted(*b), *a))


def _halves(draws: np.ndarray) -> tuple[slice, slice]:
    half = draws.shape[-2] // 2
    return slice(0, half), slice(half, None)


def _misfits(used: LowRank, draws: np.ndarray, slopes: np.ndarray) -> list[Any]:
    """The divergence of a metric in use in each half of what has been drawn."""
    return [divergence(used, draws[..., part, :], slopes[..., part, :]) for part in _halves(draws)]


def drifts(draws: np.ndarray) -> bool:
    """Whether the two halves of some draws are further apart than draws that mix well would be."""
    half = len(draws) // 2
    first, second = draws[:half], draws[half:]
    spread = np.sqrt((first.var(0) + second.var(0)) / 2)
    with np.errstate(all="ignore"):
        apart = (second.mean(0) - first.mean(0)) / spread
    apart = apart[np.isfinite(apart)]
    return bool(apart.size and np.sqrt(np.mean(apart**2)) > DRIFT * np.sqrt(2 / half))


def tells_of_curves(draws: np.ndarray) -> bool:
    """Whether draws are enough for directions that do not fit them to say that nothing does."""
    return len(draws) // 2 >= 2 * draws.shape[1]


def tells(misfit: float, draws: np.ndarray) -> bool:
    """Whether it says something that nothing better was found: only if it could have been."""
    size = draws.shape[1]
    return misfit < FITS * 2 * size or len(draws) >= min(2 * size, ENOUGH)


def of_used(
    hyper: Mapping[str, Any], draws: np.ndarray, slopes: np.ndarray, dense: bool = False
) -> Known:
    """What is known of the metric in use."""
    used = _in_use(hyper)
    halves = _misfits(used, draws, slopes)
    whole = dense or (len(used.stretches) > 0 and tells_of_curves(draws))
    return {USED: float(sum(halves)), LIMIT: np.inf if whole else float(halves[1])}


def retuned(
    tuned: Tuned,
    draws: np.ndarray,
    slopes: np.ndarray,
    dense: bool = False,
    known: Known = NOTHING,
) -> tuple[Tuned, bool]:
    """The metric in use, or a better one with a step size for it; and whether it was kept."""
    hyper, directions = tuned.hyper, tuned.hyper.get("directions")
    used, most, cutoff = _in_use(hyper), _room(hyper), _cutoff(dense)

    def fitted(draws: np.ndarray, slopes: np.ndarray, way: str) -> LowRank:
        if way == REFINED:
            return refined(used, draws, slopes, most, cutoff)
        return low_rank(draws, slopes, used.scale, 0 if way == DIAGONAL else most, cutoff)

    known = known or of_used(hyper, draws, slopes, dense)
    now = known[USED]
    if now < GAIN:
        return tuned, True
    half, size = len(draws) // 2, draws.shape[1]
    curved, followed = NORMAL * 2 * size, len(used.stretches) > 0
    kept = tuned, tells(now, draws)
    if half > size and not (followed and now > curved):
        parts = [(draws[part], slopes[part]) for part in _halves(draws)]
        if _hopeless(now, least_divergence(parts)):
            return kept
        plain = not (dense or followed or DIAGONAL in known)
        if plain and _hopeless(now, sum(_misfits(fitted(draws, slopes, NEW), draws, slopes))):
            return kept
    found: dict[str, float] = {}
    ways = [NEW] if dense else [DIAGONAL, NEW]
    if not dense and followed:
        ways.append(REFINED)  # of a diagonal it is nearly the new one
    for way in ways:
        bound = np.inf if way == DIAGONAL else known[LIMIT]
        crossed = partial(_crossed, partial(fitted, way=way), draws, slopes, bound)
        value = known[way] if way in known else crossed()
        found[way] = value if np.isfinite(value) else np.inf
        if value < GAIN:
            break
    least = min(found.values())
    # The simplest of those that are about as good.
    best = next(way for way, f in found.items() if f <= max(least / BETTER, least + GAIN))
    if not dense and tells_of_curves(draws) and found.get(NEW, 0.0) > curved:
        # The posterior is curved: what holds on average is wrong in places.
        best = DIAGONAL
        if directions is not None and directions.count > 0:
            return _changed(tuned, used, fitted(draws, slopes, best), slopes), False
    if not (np.isfinite(now) and found[best] <= BETTER * now and now - found[best] >= GAIN):
        return kept
    # The program itself tunes a diagonal.
    if directions is None or (best == DIAGONAL and directions.count == 0):
        return tuned, False
    return _changed(tuned, used, fitted(draws, slopes, best), slopes), False


def _hopeless(now: float, least: float) -> bool:
    """Whether a divergence cannot be made clearly less, if that is the least."""
    return least > HOPE * now or now - least < HOPE


def _room(hyper: Mapping[str, Any]) -> int:
    """How many directions there is room for."""
    directions = hyper.get("directions")
    return 0 if directions is None else int(np.shape(directions.stretches)[-1])


def _cutoff(dense: bool) -> float:
    return 1.0 if dense else CUTOFF


def _in_use(hyper: Mapping[str, Any]) -> LowRank:
    """The metric of a chain, or those of a stack of chains."""
    directions, scale = hyper.get("directions"), np.asarray(hyper["scale"])
    if directions is None:
        lead = scale.shape[:-1]
        return LowRank(scale, np.zeros((*lead, 0, scale.shape[-1])), np.zeros((*lead, 0)))
    count = np.asarray(directions.count)
    most = int(count.max())
    stretches = np.asarray(directions.stretches)[..., :most]
    stretches = np.where(np.arange(most) < count[..., None], stretches, 1.0)
    return LowRank(scale, np.asarray(directions.vectors)[..., :most, :], stretches)


def _changed(tuned: Tuned, old: LowRank, new: LowRank, slopes: np.ndarray) -> Tuned:
    """With a new metric; the step size changes as that of the sharpest direction does."""
    hyper, step = dict(tuned.hyper), tuned.adaptation.step
    room = hyper["directions"]
    count = len(new.stretches)
    vectors, stretches = np.zeros_like(room.vectors), np.ones_like(room.stretches)
    vectors[:count], stretches[:count] = new.vectors, new.stretches
    hyper["directions"] = Directions(vectors, stretches, np.int32(count))
    hyper["scale"] = new.scale.astype(np.asarray(hyper["scale"]).dtype)
    if step is not None:
        centred = slopes - slopes.mean(0)
        sharpest = [np.linalg.norm(m.transpose(centred), 2) for m in (old, new)]
        dtype = np.asarray(hyper["step_size"]).dtype
        present = float(np.exp(step.log_average))
        ratio = sharpest[0] / sharpest[1] if sharpest[1] > 0 else 1.0
        size = np.asarray(min(present * ratio, max(present, 1.0)), dtype)
        step = DualAveraging(*(np.asarray(x, dtype) for x in DualAveraging.start(size, 1.0)))
        hyper["step_size"] = size
    return Tuned(hyper, tuned.adaptation._replace(step=step))
