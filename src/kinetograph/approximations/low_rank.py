"""Normal distributions with a covariance of a diagonal and a part of low rank.

    x = m + d (z + Q (L - 1) Q' z),  z ~ normal(0, 1),  L L' = 1 + R C R'
    log |covariance|^(1/2) = sum log d + sum log L_ii

have the covariance D (1 + F C F') D, with D = diag(d) and Q R the QR factors of F.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

__all__ = ["LowRankNormal"]


class LowRankNormal(NamedTuple):
    """A normal distribution of N numbers with a part of rank r in its covariance."""

    mean: np.ndarray
    scale: np.ndarray  # d
    basis: np.ndarray  # Q, (N, r)
    factor: np.ndarray  # L, (r, r)

    @classmethod
    def of(
        cls, mean: np.ndarray, scale: np.ndarray, loadings: np.ndarray, inner: np.ndarray
    ) -> "LowRankNormal":
        """That of the covariance D (1 + F C F') D, with the loadings F and the inner part C.

        Raises
        ------
        LinAlgError
            If this is not positive definite.
        """
        basis, upper = np.linalg.qr(loadings)
        factor = np.linalg.cholesky(np.eye(len(upper)) + upper @ inner @ upper.T)
        return cls(mean, scale, basis, factor)

    def draws(self, normal: np.ndarray) -> np.ndarray:
        """Draws, made of rows of standard normal numbers."""
        part = normal @ self.basis
        return self.mean + self.scale * (normal + (part @ self.factor.T - part) @ self.basis.T)

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """The log density at each row."""
        white = (x - self.mean) / self.scale
        part = white @ self.basis
        inner = solve_triangular(self.factor, part.T, lower=True).T
        square = (white**2).sum(-1) - (part**2).sum(-1) + (inner**2).sum(-1)
        log_scale = np.log(self.scale).sum() + np.log(np.diag(self.factor)).sum()
        constant = 0.5 * self.mean.size * math.log(2 * math.pi)
        found: np.ndarray = -0.5 * square - log_scale - constant
        return found

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each number."""
        inner = ((self.basis @ self.factor) ** 2).sum(-1) - (self.basis**2).sum(-1)
        found: np.ndarray = self.scale * np.sqrt(1 + inner)
        return found
