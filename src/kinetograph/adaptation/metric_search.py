"""The search for a better metric by the host.

The misfit of a metric S to draws x and slopes s is measured by the Fisher divergence

    F(S) = mean |S^T (s - mean s) + S^-1 (x - mean x)|^2

which is 0 for the right metric of a normal posterior. A new metric is fitted to one half of the
draws and judged by the other half. If it is clearly better than the metric in use, it replaces that
one, and the adaptation of the step size restarts at the size for which the sharpest direction is as
stable as before. If no metric fits, because the posterior is curved, the metric stays diagonal.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..kernels.blas import one_thread
from ..kernels.directions import Directions
from .low_rank import (
    CUTOFF,
    LowRank,
    divergence,
    least_divergence,
    low_rank,
    refined,
)
from .schedule import Adaptation
from .step_size import DualAveraging

__all__ = [
    "FEWEST_DRAWS",
    "NO_DIVERGENCES",
    "USED",
    "Divergences",
    "Tuned",
    "Window",
    "divergences_in_use",
    "is_informative",
    "judged",
    "retuned",
]

BETTER = 0.8  # a new metric must have a divergence below this part of the present one
HOPE = 0.9  # the part, and the gain, that the best possible metric must reach to be fitted
NORMAL = 1.0  # divergence for each unknown above which a posterior is far from normal
FITS, ENOUGH = 0.25, 150  # divergence for each unknown, or draws, with which a metric is kept
USED, DIAGONAL, NEW, REFINED = "used", "diagonal", "new", "refined"  # the compared metrics
LIMIT = "limit"  # divergence in the second half above which directions are not tried
FEWEST_DRAWS = 8  # by which a metric is judged
NUMBERS = 2**17  # in the draws of a batch that are examined together
GAIN = 2.0  # of the divergence; a direction of eigenvalue 2.6 would bring more

Divergences = Mapping[str, float]  # the divergences of some metrics, by their names
NO_DIVERGENCES: Divergences = MappingProxyType({})
Window = tuple[np.ndarray, np.ndarray | None]  # draws and, if the metric uses them, gradients


class Tuned(NamedTuple):
    """The values of a chain that warm-up tunes."""

    hyper: Mapping[str, Any]
    adaptation: Adaptation


def judged(
    hyper: Mapping[str, Any], windows: Sequence[Window], dense: bool = False
) -> list[dict[str, float]]:
    """The divergences of metrics on the draws of a stack of chains.

    For many chains it takes far less time together than for each chain alone.
    """
    divergences: list[dict[str, float]] = [{} for _ in windows]
    if "scale" not in hyper:
        return divergences
    used, room, cutoff = _in_use(hyper), _room(hyper), _cutoff(dense)
    windows_by_length = dict[int, list[int]]()
    for i, (draws, slopes) in enumerate(windows):
        if len(draws) >= FEWEST_DRAWS and slopes is not None:
            windows_by_length.setdefault(len(draws), []).append(i)

    def record(metric_name: str, members: Any, values: Any) -> Any:
        for i, value in zip(members, values.tolist(), strict=True):
            divergences[i][metric_name] = value
        return ~(values < GAIN)  # these chains need further metrics

    def examine(members: Any) -> None:
        parts = zip(*(windows[i] for i in members), strict=True)
        draws, slopes = (np.stack(part) for part in parts)  # type: ignore[arg-type]
        metric = LowRank(*(part[members] for part in used))
        halves = _misfits(metric, draws, slopes)
        has_directions = (metric.stretches != 1).any(-1)
        no_limit = dense | (has_directions & can_show_curvature(draws[0]))
        limit = np.where(no_limit, np.inf, halves[1])
        remaining = record(USED, members, sum(halves))
        record(LIMIT, members, limit)
        for metric_name, most in ((DIAGONAL, 0), (NEW, room))[dense:]:
            draws, slopes, members, limit = (
                draws[remaining],
                slopes[remaining],
                members[remaining],
                limit[remaining],
            )
            if not len(members):
                return
            fitted = partial(low_rank, before=used.scale[members], most=most, cutoff=cutoff)
            bound = limit if metric_name == NEW else np.inf
            remaining = record(metric_name, members, _crossed(fitted, draws, slopes, bound))

    with one_thread(), np.errstate(all="ignore"):
        for chain_numbers in windows_by_length.values():  # windows of equal length, in chunks
            chunk_size = max(1, NUMBERS // windows[chain_numbers[0]][0].size)
            for first in range(0, len(chain_numbers), chunk_size):
                examine(np.array(chain_numbers[first : first + chunk_size]))
    return divergences


def _crossed(
    fitted: Callable[..., LowRank], draws: np.ndarray, slopes: np.ndarray, limit: Any = np.inf
) -> Any:
    """The cross-validated divergence of a metric that is fitted to draws.

    The metric fitted to each half is judged by the other half, and both divergences are added.
    Infinite if the divergence in the second half exceeds the limit.
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
    """The divergence of the metric in use in each half."""
    return [divergence(used, draws[..., part, :], slopes[..., part, :]) for part in _halves(draws)]


def can_show_curvature(draws: np.ndarray) -> bool:
    """Whether there are enough draws to conclude that no direction fits."""
    return len(draws) // 2 >= 2 * draws.shape[1]


def is_informative(misfit: float, draws: np.ndarray) -> bool:
    """Whether the absence of a better metric is informative.

    It is only if a better one could have been found from these draws.
    """
    size = draws.shape[1]
    return misfit < FITS * 2 * size or len(draws) >= min(2 * size, ENOUGH)


def divergences_in_use(
    hyper: Mapping[str, Any], draws: np.ndarray, slopes: np.ndarray, dense: bool = False
) -> Divergences:
    """The divergences of the metric in use."""
    used = _in_use(hyper)
    halves = _misfits(used, draws, slopes)
    no_limit = dense or (len(used.stretches) > 0 and can_show_curvature(draws))
    return {USED: float(sum(halves)), LIMIT: np.inf if no_limit else float(halves[1])}


def retuned(
    tuned: Tuned,
    draws: np.ndarray,
    slopes: np.ndarray,
    dense: bool = False,
    divergences: Divergences = NO_DIVERGENCES,
) -> tuple[Tuned, bool]:
    """A better metric with its step size, or the one in use.

    Also returns whether the search for a metric has settled.
    """
    hyper, directions = tuned.hyper, tuned.hyper.get("directions")
    used, most, cutoff = _in_use(hyper), _room(hyper), _cutoff(dense)

    def fitted(draws: np.ndarray, slopes: np.ndarray, metric_name: str) -> LowRank:
        if metric_name == REFINED:
            return refined(used, draws, slopes, most, cutoff)
        return low_rank(draws, slopes, used.scale, 0 if metric_name == DIAGONAL else most, cutoff)

    divergences = divergences or divergences_in_use(hyper, draws, slopes, dense)
    now = divergences[USED]
    if now < GAIN:
        return tuned, True
    half, size = len(draws) // 2, draws.shape[1]
    curved, has_directions = NORMAL * 2 * size, len(used.stretches) > 0
    unchanged = tuned, is_informative(now, draws)
    if half > size and not (has_directions and now > curved):
        parts = [(draws[part], slopes[part]) for part in _halves(draws)]
        if _hopeless(now, least_divergence(parts)):
            return unchanged
        plain = not (dense or has_directions or DIAGONAL in divergences)
        if plain and _hopeless(now, sum(_misfits(fitted(draws, slopes, NEW), draws, slopes))):
            return unchanged
    by_metric: dict[str, float] = {}
    metric_names = [NEW] if dense else [DIAGONAL, NEW]
    if not dense and has_directions:
        metric_names.append(REFINED)  # for a diagonal metric it is almost the new one
    for metric_name in metric_names:
        bound = np.inf if metric_name == DIAGONAL else divergences[LIMIT]
        crossed = partial(_crossed, partial(fitted, metric_name=metric_name), draws, slopes, bound)
        value = divergences[metric_name] if metric_name in divergences else crossed()
        by_metric[metric_name] = value if np.isfinite(value) else np.inf
        if value < GAIN:
            break
    least = min(by_metric.values())
    # The simplest of the metrics whose divergence is close to the least.
    best = next(
        metric_name
        for metric_name, value in by_metric.items()
        if value <= max(least / BETTER, least + GAIN)
    )
    if not dense and can_show_curvature(draws) and by_metric.get(NEW, 0.0) > curved:
        # The posterior is curved: directions that fit on average are wrong in places.
        best = DIAGONAL
        if directions is not None and directions.count > 0:
            return _changed(tuned, used, fitted(draws, slopes, best), slopes), False
    if not (np.isfinite(now) and by_metric[best] <= BETTER * now and now - by_metric[best] >= GAIN):
        return unchanged
    # The compiled program tunes a diagonal metric by itself.
    if directions is None or (best == DIAGONAL and directions.count == 0):
        return tuned, False
    return _changed(tuned, used, fitted(draws, slopes, best), slopes), False


def _hopeless(now: float, least: float) -> bool:
    """Whether the least possible divergence is not clearly below the present one."""
    return least > HOPE * now or now - least < HOPE


def _room(hyper: Mapping[str, Any]) -> int:
    """The largest number of directions."""
    directions = hyper.get("directions")
    return 0 if directions is None else int(np.shape(directions.stretches)[-1])


def _cutoff(dense: bool) -> float:
    return 1.0 if dense else CUTOFF


def _in_use(hyper: Mapping[str, Any]) -> LowRank:
    """The metric of a chain, or of each chain in a stack."""
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
    """The tuning with a new metric.

    The step size is scaled so that the sharpest direction stays as stable as before.
    """
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
