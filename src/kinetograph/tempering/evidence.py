"""The evidence from log likelihoods at the rungs of a ladder.

    stepping stones          log Z = sum over r of log E_(b_r) [L^(b_(r+1) - b_r)]
    thermodynamic integral   log Z = integral over b from 0 to 1 of E_b [log L]

Sources: W. Xie, P. Lewis, Y. Fan, L. Kuo, M.-H. Chen, Improving marginal likelihood estimation for
Bayesian phylogenetic model selection, Systematic Biology 60 (2011); the integral with the
correction by variances: N. Friel, M. Hurn, J. Wyse, Improving power posterior estimation of
statistical evidence, Statistics and Computing 24 (2014).
"""

from typing import NamedTuple

import numpy as np

from ..results.mean_errors import mean_error
from .resampling import log_mean

__all__ = ["Evidence", "stepping_stones", "thermodynamic"]


class Evidence(NamedTuple):
    """An estimate of the log evidence, and its standard error."""

    value: float
    error: float


def stepping_stones(log_likelihood: np.ndarray, powers: np.ndarray) -> Evidence:
    """The evidence by stepping stones.

    The standard error takes the correlation of scans and of rungs into account: the estimate is
    linearised, and the error is that of the mean of the terms of the scans.

    Parameters
    ----------
    log_likelihood
        Of each scan, (chains, scans, rungs).
    powers
        The powers of the rungs, from 0 to 1.
    """
    steps = np.diff(powers)
    log_weights = steps * log_likelihood[..., :-1]
    value = sum(log_mean(log_weights[..., r].ravel()) for r in range(len(steps)))
    weights = np.exp(log_weights - log_weights.max((0, 1)))
    linear = (weights / weights.mean((0, 1))).sum(-1)
    return Evidence(float(value), mean_error(linear))


def thermodynamic(log_likelihood: np.ndarray, powers: np.ndarray) -> float:
    """The evidence by the thermodynamic integral.

    The integral is over t = sqrt(b), with corrected trapezoids: with a scale in the prior,
    E_b [log L] grows like -1 / t near the prior, and its slope by b has no bound. The interval at
    the prior is a stepping stone, because the mean of log L may be infinite at power 0.
    NaN if a mean log likelihood is not finite at another power.
    """
    first = stepping_stones(log_likelihood[..., :2], powers[:2]).value
    flat, roots = log_likelihood[..., 1:].reshape(-1, len(powers) - 1), np.sqrt(powers[1:])
    with np.errstate(invalid="ignore"):
        mean, variance = flat.mean(0), flat.var(0)
        heights, slopes = 2 * roots * mean, 4 * roots**2 * variance + 2 * mean
        steps = np.diff(roots)
        trapezoids = steps * (heights[1:] + heights[:-1]) / 2
        corrections = steps**2 * (slopes[1:] - slopes[:-1]) / 12
        value = first + float((trapezoids - corrections).sum())
    return value if np.isfinite(value) else float("nan")
