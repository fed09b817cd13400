"""Pareto-smoothed importance weights, and when they can be trusted.

The min(S / 5, 3 sqrt(S)) largest importance weights p / q of S draws are fitted by a generalised
Pareto distribution and replaced by its quantiles. Its shape k measures how heavy the tail of the
weights is. Above min(1 - 1 / log10(S), 0.7) no result computed from weighted draws can be trusted.
The definitions agree with ArviZ, and the tests compare both. They are written with NumPy alone,
because importing ArviZ takes longer than most approximations.

Sources: A. Vehtari, D. Simpson, A. Gelman, Y. Yao, J. Gabry, Pareto smoothed importance sampling,
Journal of Machine Learning Research 25 (2024) 1-58; J. Zhang, M. Stephens, A new and efficient
estimation method for the generalized Pareto distribution, Technometrics 51 (2009) 316-325.
"""

import math

import numpy as np

from ..graph.errors import KinetographWarning

__all__ = [
    "ApproximationWarning",
    "efficiency",
    "log_mean",
    "smoothed",
    "trusted",
]

FEWEST = 6  # least number of weights in the tail for a fit
EQUAL = 1e-8  # log weights that differ by less are equal up to rounding
PRIOR = 10  # weight of the prior of k, around 0.5, as a number of draws


class ApproximationWarning(KinetographWarning):
    """An approximation of a posterior is unreliable, or has not converged."""


def smoothed(log_weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Normalised log weights with a smoothed tail, and k.

    NaN weights count as 0. k is 0 if the weights are equal up to rounding. It is infinite if no
    Pareto distribution fits their tail, or if there are no finite weights. For fewer than 30 draws
    it is NaN, and the weights are not smoothed.
    """
    log = np.where(np.isnan(log_weights), -np.inf, log_weights)
    if not np.isfinite(log.max()):
        return np.full(log.shape, -math.log(log.size)), math.inf
    log = log - log.max()
    tail = int(min(0.2 * log.size, 3 * math.sqrt(log.size)))
    k = math.nan
    if np.ptp(log) < EQUAL:
        k = 0.0
    elif tail >= FEWEST:
        order = np.argsort(log)
        largest, cutoff = order[-tail:], np.exp(log[order[-tail - 1]])
        with np.errstate(all="ignore"):  # the quartile may be the smallest positive number
            k, sigma = _fit(np.exp(log[largest]) - cutoff)
        if np.isfinite(k):
            tail_weights = cutoff + _quantiles((np.arange(tail) + 0.5) / tail, k, sigma)
            log[largest] = np.minimum(np.log(tail_weights), 0.0)
    return log - _log_sum(log), float(k)


def _fit(x: np.ndarray) -> tuple[float, float]:
    """Shape and scale of a generalised Pareto distribution for ascending excesses.

    b = -k / sigma is its posterior mean over a grid, with the profile likelihood. A weak prior
    draws the shape towards 0.5.
    """
    quartile = x[int(x.size / 4 + 0.5) - 1]
    if quartile <= x[0] or x[-1] <= 0:
        return math.inf, math.nan
    count = 30 + int(math.sqrt(x.size))
    b = 1 / x[-1] + (1 - np.sqrt(count / (np.arange(count) + 0.5))) / (3 * quartile)
    b = b[b != 0]
    shapes = np.log1p(-b[:, None] * x).mean(1)
    fit = x.size * (np.log(-b / shapes) - shapes - 1)
    weights = np.exp(fit - fit.max())
    mean = float((weights * b).sum() / weights.sum())
    shape = float(np.log1p(-mean * x).mean())
    if math.isnan(shape):
        return math.inf, math.nan
    return (x.size * shape + PRIOR * 0.5) / (x.size + PRIOR), -shape / mean


def _quantiles(p: np.ndarray, k: float, sigma: float) -> np.ndarray:
    """Quantiles of a generalised Pareto distribution."""
    return sigma * (np.expm1(-k * np.log1p(-p)) / k if k else -np.log1p(-p))


def _log_sum(log: np.ndarray) -> float:
    """The logarithm of the sum of exponentials."""
    top = log.max()
    return float(top + np.log(np.exp(log - top).sum()))


def log_mean(log_weights: np.ndarray) -> float:
    """The logarithm of the mean weight; non-finite weights count as 0."""
    finite = log_weights[np.isfinite(log_weights)]
    return _log_sum(finite) - math.log(log_weights.size) if finite.size else -math.inf


def efficiency(log_weights: np.ndarray) -> float:
    """The effective fraction of weighted draws: (sum w)^2 / (size sum w^2)."""
    top = np.nanmax(log_weights, initial=-np.inf)
    if not np.isfinite(top):
        return 0.0
    w = np.exp(log_weights - top)
    w = np.where(np.isfinite(w), w, 0.0)
    return float(w.sum() ** 2 / (w.size * (w * w).sum()))


def trusted(count: int) -> float:
    """The largest k for which `count` weighted draws can be trusted."""
    return min(1 - 1 / math.log10(max(count, 5 * FEWEST)), 0.7)
