"""How far draws of an approximation can be weighted to the posterior: Pareto-smoothed weights.

The largest importance weights p / q of S draws, min(S / 5, 3 sqrt(S)) of them, are fitted by a
generalised Pareto distribution, whose shape k tells how heavy their tail is, and replaced by its
quantiles. Above min(1 - 1 / log10(S), 0.7) nothing computed from weighted draws is to be trusted.
The same definitions as ArviZ's, which is the oracle of the tests; written here on NumPy alone
because importing the library costs more than most approximations.

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

FEWEST = 6  # in the tail, for a fit
EQUAL = 1e-8  # logarithms of weights that differ by less are equal but for rounding
PRIOR = 10  # draws that the prior of k, around 0.5, counts for


class ApproximationWarning(KinetographWarning):
    """An approximation of a posterior is not to be believed, or has not converged."""


def smoothed(log_weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Log weights with a smoothed tail, their weights adding up to 1, and k.

    Weights that are no numbers count as none. k is 0 where the weights are equal but for rounding,
    infinite where their tail is like no Pareto distribution or there are no weights at all, and
    NaN, with the weights as they are, of fewer than 30 draws.
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
        with np.errstate(all="ignore"):  # the quartile may be the least number that there is
            k, sigma = _fit(np.exp(log[largest]) - cutoff)
        if np.isfinite(k):
            made = cutoff + _quantiles((np.arange(tail) + 0.5) / tail, k, sigma)
            log[largest] = np.minimum(np.log(made), 0.0)
    return log - _log_sum(log), float(k)


def _fit(x: np.ndarray) -> tuple[float, float]:
    """Shape and scale of ascending excesses, the shape drawn towards 0.5 by a weak prior.

    The posterior mean of b = -k / sigma over a grid, with the profile likelihood.
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
    return sigma * (np.expm1(-k * np.log1p(-p)) / k if k else -np.log1p(-p))


def _log_sum(log: np.ndarray) -> float:
    top = log.max()
    return float(top + np.log(np.exp(log - top).sum()))


def log_mean(log_weights: np.ndarray) -> float:
    """The logarithm of the mean weight; weights that are not finite count as none."""
    finite = log_weights[np.isfinite(log_weights)]
    return _log_sum(finite) - math.log(log_weights.size) if finite.size else -math.inf


def efficiency(log_weights: np.ndarray) -> float:
    """The effective part of the draws when they are weighted: (sum w)^2 / (size sum w^2)."""
    top = np.nanmax(log_weights, initial=-np.inf)
    if not np.isfinite(top):
        return 0.0
    w = np.exp(log_weights - top)
    w = np.where(np.isfinite(w), w, 0.0)
    return float(w.sum() ** 2 / (w.size * (w * w).sum()))


def trusted(count: int) -> float:
    """The largest k at which so many weighted draws are to be believed."""
    return min(1 - 1 / math.log10(max(count, 5 * FEWEST)), 0.7)
