"""Statistical assertions in standard errors, gated by effective sample size.

How often does a correct sampler fail? An assertion with z = 5 fails with probability 2 Phi(-5) =
5.7e-7 if the estimate is normal, which the gate on the effective sample size is for: so less than
1e-6 an assertion, and with the seeds fixed a test that passes once passes always. A limit of z = 4
on a difference of two estimates fails 6e-5 of the time; tests with that limit say so.

The effective sample sizes come from ArviZ, so that a fault in our own diagnostics cannot hide one
in the sampler.
"""

from typing import Any

import numpy as np
from arviz_stats.base import array_stats

__all__ = ["assert_mean", "assert_moments", "assert_sd", "ess", "mean_error", "rhat"]


def _chains(draws: Any) -> np.ndarray:
    x = np.asarray(draws, float)
    return x[None] if x.ndim == 1 else x


def ess(draws: Any, method: str = "mean") -> float:
    """Effective sample size of draws of shape (chain, draw) or (draw,)."""
    return float(array_stats.ess(_chains(draws), chain_axis=0, draw_axis=1, method=method))


def rhat(draws: Any) -> float:
    """Rank-normalised split R-hat of draws of shape (chain, draw)."""
    return float(array_stats.rhat(_chains(draws), chain_axis=0, draw_axis=1, method="rank"))


def mean_error(draws: Any, truth: float, truth_error: float = 0.0) -> float:
    """How many standard errors the mean of the draws lies from the truth."""
    x = _chains(draws)
    error = np.hypot(x.std(ddof=1) / np.sqrt(ess(x)), truth_error)
    return float((x.mean() - truth) / error)


def assert_mean(
    draws: Any,
    truth: float,
    *,
    truth_error: float = 0.0,
    z: float = 5.0,
    min_ess: float = 400,
    what: str = "mean",
) -> None:
    """The mean of the draws is the truth, up to z standard errors (of both)."""
    size = ess(draws)
    assert size >= min_ess, f"{what}: ESS {size:.0f} < {min_ess}: run longer; do not widen z"
    error = mean_error(draws, truth, truth_error)
    assert abs(error) <= z, f"{what} is off by {error:+.1f} standard errors"


def assert_sd(
    draws: Any,
    truth: float,
    *,
    truth_ess: float = np.inf,
    z: float = 5.0,
    min_ess: float = 400,
    what: str = "sd",
) -> None:
    """The standard deviation of the draws is the truth, up to z standard errors.

    The relative error of an sd from n independent draws is sqrt((kurtosis - 1) / 4 n); n is the
    effective sample size of the squared deviations.
    """
    x = _chains(draws)
    squares = (x - x.mean()) ** 2
    size = ess(squares)
    assert size >= min_ess, f"{what}: ESS {size:.0f} < {min_ess}: run longer; do not widen z"
    kurtosis = max(3.0, float((squares**2).mean() / squares.mean() ** 2))
    allowed = np.sqrt((kurtosis - 1) / 4 * (1 / truth_ess + 1 / size))
    error = (x.std(ddof=1) / truth - 1) / allowed
    assert abs(error) <= z, f"{what} is off by {error:+.1f} standard errors"


def assert_moments(draws: Any, mean: Any, sd: Any, **limits: float) -> None:
    """Mean and standard deviation of each element of draws of shape (chain, draw, ...)."""
    x = np.asarray(draws, float)
    x = x.reshape(*x.shape[:2], -1)
    means, sds = (np.broadcast_to(v, x.shape[2:]) for v in (mean, sd))
    for i in range(x.shape[2]):
        assert_mean(x[:, :, i], means[i], what=f"mean of element {i}", **limits)
        assert_sd(x[:, :, i], sds[i], what=f"sd of element {i}", **limits)
