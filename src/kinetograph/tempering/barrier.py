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

__all__ = ["barrier_of_rejections", "ladder_of", "local_barrier", "round_trip_rate"]


def local_barrier(log_likelihood: np.ndarray) -> float:
    """Half the mean absolute difference of independent log likelihoods."""
    values = np.sort(log_likelihood[np.isfinite(log_likelihood)])
    size = len(values)
    if size < 2:
        return 0.0
    ranks = 2 * np.arange(1, size + 1) - size - 1
    return float((ranks * values).sum() / (size * (size - 1)))


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
