"""Small models for the tests of approximations, with known posteriors."""

from functools import cache

import numpy as np

import kinetograph as kg

__all__ = ["COVARIANCE", "MEAN", "check_moments", "correlated", "evidence", "funnel", "logistic"]

MEAN = np.array([1.0, -2.0, 3.0])
COVARIANCE = np.array([[1.0, 1.8, 0.3], [1.8, 4.0, 0.1], [0.3, 0.1, 0.5]])


@cache
def correlated() -> kg.Model:
    """A normal posterior with correlation 0.9; its density integrates to 1."""
    x = kg.multivariate_normal(MEAN, COVARIANCE, name="x")
    return kg.model(x)


@cache
def funnel(size: int = 6) -> kg.Model:
    """Neal's funnel: a scale, and numbers with that scale."""
    v = kg.normal(0.0, 3.0, name="v")
    return kg.model(v, kg.normal(0.0, kg.exp(v / 2), shape=size, name="x"))


@cache
def evidence() -> tuple[kg.Model, float, float, float]:
    """A normal-mean model with exact mean, deviation and log marginal likelihood."""
    y, n = np.array([1.2, 0.7, 1.9, 1.1]), 4
    mu = kg.normal(-1.0, 2.0, name="mu")
    kg.observe(kg.data(y, name="y"), kg.normal(mu, 0.5))
    precision = 1 / 4.0 + n / 0.25
    covariance = 0.25 * np.eye(n) + 4.0
    apart = y + 1.0
    log_z = -0.5 * (
        apart @ np.linalg.solve(covariance, apart)
        + np.linalg.slogdet(covariance)[1]
        + n * np.log(2 * np.pi)
    )
    return kg.model(mu), (-1.0 / 4.0 + y.sum() / 0.25) / precision, precision**-0.5, log_z


@cache
def logistic() -> kg.Model:
    """Logistic regression on 60 rows; its posterior is nearly normal."""
    rng = np.random.default_rng(4)
    design = np.c_[np.ones(60), rng.normal(size=(60, 2))]
    y = rng.uniform(size=60) < 1 / (1 + np.exp(-design @ [0.3, 1.0, -0.7]))
    slope = kg.normal(0.0, 2.0, shape=3, name="slope")
    kg.observe(kg.data(y.astype(int)), kg.bernoulli(kg.ilogit(kg.data(design) @ slope)))
    return kg.model(slope)


def check_moments(draws: np.ndarray, mean: np.ndarray, covariance: np.ndarray, part: float = 1.0):
    """Compare the moments of draws with the exact moments.

    Only the given effective part of the draws counts. After whitening with the exact covariance,
    the mean has the error 1 / sqrt(n) and the elements of the covariance at most sqrt(2 / n); six
    of these are a false alarm in 1e9.
    """
    count = len(draws) * part
    white = np.linalg.solve(np.linalg.cholesky(covariance), (draws - mean).T)
    np.testing.assert_allclose(white.mean(1), 0.0, atol=6 / np.sqrt(count))
    second = white @ white.T / len(draws)
    np.testing.assert_allclose(second, np.eye(len(mean)), atol=6 * np.sqrt(2 / count))
