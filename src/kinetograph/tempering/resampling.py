"""Weights of particles: the next power, resampling, and the variance of Z.

With likelihoods L_i, a step from power b to b' gives the weights w_i = L_i^(b' - b). Their
conditional effective sample size is (sum w)^2 / sum w^2.
"""

from typing import NamedTuple

import numpy as np

__all__ = ["Resampled", "log_mean", "next_power", "systematic", "variance_of_evidence"]

BISECTIONS = 60


class Resampled(NamedTuple):
    """The parents of new particles, and the noise that was added."""

    parents: np.ndarray
    noise: float  # variance of the sizes of families, given the weights, by particle


def next_power(log_likelihood: np.ndarray, power: float, efficiency: float) -> float:
    """The largest power at which the weights keep an efficiency.

    The efficiency is the conditional effective sample size as a fraction of the particles whose
    likelihood is positive.
    """
    finite = log_likelihood[log_likelihood > -np.inf]

    def efficiency_after(step: float) -> float:
        weights = np.exp(step * (finite - finite.max()))
        return float(weights.sum() ** 2 / (weights**2).sum() / len(finite))

    low, high = 0.0, 1.0 - power
    if efficiency_after(high) >= efficiency:
        return 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if efficiency_after(middle) >= efficiency else (low, middle)
    return max(power + high, float(np.nextafter(power, 1.0)))  # always a step


def log_mean(log_weights: np.ndarray) -> float:
    """The logarithm of the mean of weights."""
    most = log_weights.max()
    return float(most + np.log(np.mean(np.exp(log_weights - most))))


def systematic(log_weights: np.ndarray, uniform: float, first: np.ndarray) -> Resampled:
    """Systematic resampling: particle i has floor(N w_i) or ceil(N w_i) children.

    `first` is the first ancestor of each particle. Particles of one ancestor are neighbours, and so
    are their children.
    """
    weights = np.exp(log_weights - log_weights.max())
    expected = len(weights) * weights / weights.sum()
    ends = np.cumsum(expected)
    ends *= len(weights) / ends[-1]
    # Rounding may move the last place to the end, where only weights of 0 follow.
    places = np.minimum(np.arange(len(weights)) + uniform, np.nextafter(ends[-1], 0.0))
    parents = np.searchsorted(ends, places, side="right")
    families = np.bincount(first, expected, minlength=len(weights))
    fraction = families - np.floor(families)
    noise = float(np.mean(fraction * (1 - fraction)))
    return Resampled(parents, noise)


def variance_of_evidence(first: np.ndarray, log_weights: np.ndarray, noise: float) -> float:
    """An estimate of the relative variance of the evidence, from one run.

        sum over first ancestors e of (sum of W_i with ancestor e)^2 - (1 + noise) / N

    The weights W_i of the last step sum to 1, and `noise` is the sum over the steps of the noise
    that resampling added. With multinomial resampling, whose noise is 1, this is the estimator of
    Lee and Whiteley to first order in 1 / N.

    Source: A. Lee, N. Whiteley, Variance estimation in the particle filter, Biometrika 105 (2018).
    """
    weights = np.exp(log_weights - log_weights.max())
    shares = np.bincount(first, weights / weights.sum(), minlength=len(weights))
    return float((shares**2).sum() - (1 + noise) / len(weights))
