"""Resampled draws from a pool, with a warning if they are unreliable.

Draws are resampled from the pool with probabilities proportional to their smoothed weights. If
Pareto's k is above 1, the weights have no mean, and the draws are unweighted draws of the
approximation. A warning reports this. It is also given if k is above `trusted`, if few draws are
effective, or if the weights leave the mean or the standard deviation of a target uncertain: with
weights w that add up to 1,

    error of the mean m = sqrt(sum w^2 (x - m)^2)
    error of the standard deviation s, in units of it = sqrt(sum w^2 ((x - m)^2 / s^2 - 1)^2) / 2.

Before the draws are resampled, the pool is doubled until these errors are well below their limits,
at most three times. The limits are a third of 10 % and of 15 %.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ..graph.source import warn_user
from ..optimizers.objective import Objective
from .low_rank import LowRankNormal
from .pareto import ApproximationWarning, trusted
from .pool import OUTSIDE, Pool, PoolWeights, fill
from .results import noise, targets_at

__all__ = ["DOUBLINGS", "EFFICIENT", "MEAN_ERROR", "SD_ERROR", "Judged", "judge", "picked"]

NO_MEAN = 1.0  # from this k on, the mean of the weights is infinite
EFFICIENT = 0.1  # least effective fraction of the pool
MEAN_ERROR = 0.033  # greatest error of a mean, in standard deviations
SD_ERROR = 0.05  # greatest relative error of a standard deviation
WELL_BELOW = 0.7  # fraction of these limits at which the pool is large enough
DOUBLINGS = 3  # greatest number of doublings of the pool
NUMBERS = 2**24  # greatest number of target values that are computed from the pool
_PICKING = 2**30 + 2**29  # first row of the random numbers for resampling; see `paths`


class TargetError(NamedTuple):
    """The largest error of the means or deviations of all targets."""

    statistic: str
    limit: float
    error: float = 0.0  # in standard deviations
    name: str = ""  # of the target

    def exceeds(self, fraction: float) -> bool:
        """Whether the error is above a fraction of its limit."""
        return self.error > fraction * self.limit


class Judged(NamedTuple):
    """The resampled draws, and their diagnostics."""

    free: np.ndarray
    statistics: dict[str, np.ndarray]
    label: np.ndarray
    attributes: dict[str, Any]
    pool: Pool


def judge(
    doing: str,
    objective: Objective,
    laws: Mapping[int, LowRankNormal],
    scout_laws: list[LowRankNormal],
    count: int,
    seed: int,
    key: np.ndarray,
    advice: str,
) -> Judged:
    """Resample draws of an approximation, with a warning if they are unreliable.

    The approximation is a mixture of labelled distributions.
    """
    parts = [(law, label) for label, law in laws.items()]
    pool, weights = fill(objective, parts, scout_laws, count, seed)
    errors = _target_errors(objective, pool, weights)
    for _ in range(DOUBLINGS):
        if weights.k >= NO_MEAN or not any(error.exceeds(WELL_BELOW) for error in errors):
            break
        pool.double()
        weights = pool.weights
        errors = _target_errors(objective, pool, weights)
    log_z, error = pool.evidence(list(laws.values()))
    resampled = weights.k < NO_MEAN
    from_approximation = pool.label != OUTSIDE
    indices = picked(
        weights.weight if resampled else from_approximation / from_approximation.sum(),
        key,
        count,
        objective.size,
    )
    free, log_q = pool.free[indices], pool.log_q[indices]
    if not resampled:
        each = [law.log_density(free) for law in laws.values()]
        log_q = np.logaddexp.reduce(each, 0) - np.log(len(each))
    doubt = _doubt(pool, weights, errors, error)
    if doubt:
        warn_user(f"{doing}: {doubt} {advice}.", ApproximationWarning)
    attributes = {
        "log_marginal_likelihood": log_z,
        "log_marginal_likelihood_error": error,
        "pareto_k": weights.k,
        "efficiency": weights.efficiency,
        "resampled": int(resampled),
        "doubt": doubt,
        "pool": len(pool.free),
        "seed": str(seed),
        "draws": count,
    }
    statistics = {"lp": pool.log_density[indices], "log_q": log_q}
    return Judged(free, statistics, pool.label[indices], attributes, pool)


def _doubt(pool: Pool, weights: PoolWeights, errors: list[TargetError], error: float) -> str:
    """The reason why draws and evidence are unreliable, or an empty string."""
    size = len(pool.free)
    limit = trusted(size)
    if not weights.k <= limit:
        text = (
            f"the Pareto k of the importance weights is {weights.k:.2g}, above {limit:.2g}: the "
            "posterior has mass where the approximation has little. "
        )
        if weights.k < NO_MEAN:
            return f"{text}Do not trust the draws, or the log marginal likelihood."
        return (
            f"{text}The draws are unweighted draws of the approximation: do not trust them, or "
            "the log marginal likelihood."
        )
    reasons = []
    if weights.efficiency < EFFICIENT:
        reasons.append(
            f"of {size} weighted draws only {1 / np.square(weights.weight).sum():.0f} are "
            f"effective, fewer than {EFFICIENT:.0%}"
        )
    reasons += [
        f"the {each.statistic} of {each.name} has a standard error of {each.error:.2g} standard "
        f"deviations, more than {each.limit}"
        for each in errors
        if each.exceeds(1)
    ]
    if not reasons:
        return ""
    return (
        f"{', and '.join(reasons)}. Do not trust the draws, or the log marginal likelihood, whose "
        f"standard error is at least {error:.2g}."
    )


def _target_errors(objective: Objective, pool: Pool, weights: PoolWeights) -> list[TargetError]:
    """The largest errors of means and of standard deviations of targets."""
    good = np.flatnonzero(weights.weight > 0)
    numbers = sum(node.size for node in objective.model.targets)
    good = good[:: max(1, good.size * numbers // NUMBERS)]
    weight = weights.weight[good] / weights.weight[good].sum()
    worst = [TargetError("mean", MEAN_ERROR), TargetError("standard deviation", SD_ERROR)]
    values = targets_at(objective, pool.free[good])
    for name, value in zip(objective.model.target_names, values, strict=True):
        flat = value.reshape(len(good), -1).astype(float)
        with np.errstate(all="ignore"):
            square = np.square(flat - weight @ flat)
            variance = weight @ square
            errors = (
                np.sqrt(weight**2 @ square / variance),
                0.5 * np.sqrt(weight**2 @ np.square(square / variance - 1)),
            )
        for i, each in enumerate(errors):
            largest = float(np.nanmax(each, initial=0.0))
            if largest > worst[i].error:
                worst[i] = worst[i]._replace(error=largest, name=name)
    return worst


def picked(chances: np.ndarray, key: np.ndarray, count: int, size: int) -> np.ndarray:
    """Indices drawn with the given probabilities, in random order.

    Systematic resampling: an index with probability c is drawn floor(count c) or ceil(count c)
    times, so that draws repeat as rarely as possible.
    """
    numbers = noise(key, -(-(count + 1) // size), size, _PICKING).ravel()
    ends = np.cumsum(chances)
    places = (np.arange(count) + ndtr(numbers[-1])) / count * ends[-1]
    indices = np.minimum(np.searchsorted(ends, places), chances.size - 1)
    return indices[np.argsort(numbers[:count])]
