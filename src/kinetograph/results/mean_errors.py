"""Standard errors of means of draws that change slowly.

The autocorrelation of draws of several modes is small at all lags if modes change rarely. Then it
gives too small an error, which the means of long parts show.

Source of the smoothed weights: A. Agresti, B. Coull, Approximate is better than "exact" for
interval estimation of binomial proportions, American Statistician 52 (1998).
"""

import numpy as np

from .diagnostics import ess_mean

__all__ = ["mean_error", "weight_errors"]

PARTS = 4  # of each chain
ADDED = 2.0  # independent draws within a mode, and as many outside


def mean_error(values: np.ndarray) -> float:
    """The standard error of the mean of values, (chain, draw).

    It is the largest one of three: by the autocorrelation, by the means of quarters of chains, and
    by the means of chains. It is NaN if there are too few values for all of them.
    """
    variance = float(values.var())
    if variance == 0:
        return 0.0
    chains, draws = values.shape
    length = draws // PARTS
    errors, groups = [], [values]
    if length:
        errors.append(np.sqrt(variance / float(ess_mean(values))))
        groups.append(values[:, : length * PARTS].reshape(chains * PARTS, length))
    for parts in groups:
        if len(parts) > 1:
            errors.append(parts.mean(1).std(ddof=1) / np.sqrt(len(parts)))
    return float(max((error for error in errors if not np.isnan(error)), default=np.nan))


def weight_errors(members: np.ndarray) -> np.ndarray:
    """The standard errors of the weights of modes.

    The n draws of a mode of weight w are worth m independent draws, where m = n / tau follows from
    the error of the mean, and is at most the median of all modes. The error is that of m
    draws of the smoothed weight,

        sqrt(s (1 - s) / m),    s = (m w + 2) / (m + 4)

    because a mode that was entered once or twice, and soon left, has too small a weight and too
    small an autocorrelation time.

    Parameters
    ----------
    members
        Whether a draw is in a mode, or with which probability: (chain, draw, mode).
    """
    weights, variances = members.mean((0, 1)), members.var((0, 1))
    errors = np.array([mean_error(members[..., mode]) for mode in range(len(weights))])
    varies = variances > 0
    if not varies.any():
        return errors
    sizes = variances[varies] / errors[varies] ** 2
    sizes = np.fmin(sizes, np.median(sizes))
    smoothed = (weights[varies] * sizes + ADDED) / (sizes + 2 * ADDED)
    errors[varies] = np.sqrt(smoothed * (1 - smoothed) / sizes)
    return errors
