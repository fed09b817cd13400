"""The communication barrier, and ladders of equal rejection.

    lambda(b) = E |l - l'| / 2,   Lambda(b) = integral of lambda from 0 to b

where l and l' are independent log likelihoods at the power b. To first order the rejection of a
swap between b and b' is Lambda(b') - Lambda(b). With many rungs of equal rejection, the round trips
of a ladder tend to 1 / (2 + 2 Lambda) for each scan.

Source: S. Syed, A. Bouchard-Cote, G. Deligiannidis, A. Doucet, Non-reversible parallel tempering: a
scalable highly parallel MCMC scheme, JRSS B 84 (2022), sections 3 and 5.
"""

from collections.abc import Sequence

import numpy as np

__all__ = [
    "barrier_between",
    "barrier_of_rejections",
    "ladder_of",
    "local_barrier",
    "round_trip_rate",
]

POINTS = 16  # of the integral of lambda between two powers


def local_barrier(log_likelihood: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Half the mean absolute difference of independent log likelihoods.

    Infinite values are left out. Values have the given weights, or equal ones.
    """
    finite = np.isfinite(log_likelihood)
    order = np.argsort(log_likelihood[finite], kind="stable")
    values = log_likelihood[finite][order]
    if len(values) < 2:
        return 0.0
    shares = np.ones(len(values)) if weights is None else weights[finite][order]
    shares = shares / shares.sum()
    pairs = 1 - (shares**2).sum()  # the probability of two different ones
    ends = shares.cumsum()
    # differences from the greatest value, so that a common large number does not round
    sums = (shares * (values - values[-1]) * (2 * ends - shares - 1)).sum()
    return float(sums / pairs) if pairs > 0 else 0.0


def barrier_between(log_likelihood: np.ndarray, begin: float, end: float) -> float:
    """Lambda(end) - Lambda(begin), from log likelihoods at the power `begin`.

    lambda(b) is that of the values with weights L^(b - begin). At a prior with a scale,
    log L may have no mean, and lambda(b) be infinite at b = 0; b = begin + (end - begin) t^2 with
    the midpoints of t makes its integral finite.
    """
    heights = log_likelihood - np.max(log_likelihood)
    lengths = (np.arange(POINTS) + 0.5) / POINTS
    width = end - begin
    local = [local_barrier(log_likelihood, np.exp(width * t * t * heights)) for t in lengths]
    return float(2 * width * (lengths * local).sum() / POINTS)


def barrier_of_rejections(rejections: Sequence[float] | np.ndarray) -> np.ndarray:
    """Lambda at each rung: the sum of the rejections below it."""
    return np.concatenate([[0.0], np.cumsum(rejections)])


def ladder_of(powers: np.ndarray, barrier: np.ndarray, rungs: int) -> np.ndarray:
    """Powers at which Lambda rises by equal steps, from 0 to 1.

    Lambda is interpolated monotonically between its values `barrier` at `powers`.
    """
    from scipy.interpolate import PchipInterpolator

    if barrier[-1] <= 0:
        return np.linspace(0.0, 1.0, rungs)
    lift = 1e-9 * barrier[-1] * np.arange(len(barrier))  # a strictly increasing function
    inverse = PchipInterpolator(barrier + lift, powers)
    ladder = np.clip(inverse(np.linspace(0.0, (barrier + lift)[-1], rungs)), 0.0, 1.0)
    ladder[0], ladder[-1] = 0.0, 1.0
    return ladder


def round_trip_rate(rejections: np.ndarray) -> float:
    """The expected round trips of a ladder in each scan.

    1 / (2 + 2 sum of r / (1 - r))
    """
    if np.any(rejections >= 1):
        return 0.0
    return float(1 / (2 + 2 * (rejections / (1 - rejections)).sum()))
