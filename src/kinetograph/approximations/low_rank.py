"""Normal and Student distributions with a diagonal plus low-rank covariance.

    x = m + d (z + Q (L - 1) Q' z),  z ~ normal(0, 1),  L L' = 1 + R C R'
    log |covariance|^(1/2) = sum log d + sum log L_ii

has the covariance D (1 + F C F') D, with D = diag(d) and Q R the QR factors of F.
"""

import math
from typing import NamedTuple

import numpy as np

__all__ = ["LowRankNormal", "LowRankStudent"]

SINGULAR = 1e-12  # fractions of a deviation below this are rounding errors


class LowRankNormal(NamedTuple):
    """A normal distribution of N numbers; its covariance has a rank-r part."""

    mean: np.ndarray
    scale: np.ndarray  # d
    basis: np.ndarray  # Q, (N, r)
    factor: np.ndarray  # L, (r, r)

    @classmethod
    def of(
        cls, mean: np.ndarray, scale: np.ndarray, loadings: np.ndarray, inner: np.ndarray
    ) -> "LowRankNormal":
        """The normal distribution with covariance D (1 + F C F') D.

        D is diagonal with the numbers `scale`; F are the loadings, and C is the inner part.

        Raises
        ------
        LinAlgError
            If the covariance is not positive definite.
        """
        basis, upper = np.linalg.qr(loadings)
        factor = np.linalg.cholesky(np.eye(len(upper)) + upper @ inner @ upper.T)
        return cls(mean, scale, basis, factor)

    @classmethod
    def of_rows(cls, mean: np.ndarray, rows: np.ndarray) -> "LowRankNormal":
        """The normal distribution with covariance A' A for the rows A.

        A must have rank N.

        Raises
        ------
        LinAlgError
            If the covariance is singular.
        """
        scale = np.sqrt(np.square(rows).sum(0))
        if not (np.isfinite(scale).all() and (scale > 0).all()):
            raise np.linalg.LinAlgError("a number does not vary")
        upper = np.linalg.qr(rows / scale, "r")
        signs = np.sign(np.diag(upper))
        if len(upper) < mean.size or not (abs(np.diag(upper)) > SINGULAR).all():
            raise np.linalg.LinAlgError("the covariance is singular")
        return cls(mean, scale, np.eye(mean.size), (signs[:, None] * upper).T)

    @property
    def width(self) -> int:
        """The number of standard normal numbers that a draw needs."""
        return self.mean.size

    def draws(self, normal: np.ndarray) -> np.ndarray:
        """Draws, made from rows of standard normal numbers."""
        part = normal @ self.basis
        return self.mean + self.scale * (normal + (part @ self.factor.T - part) @ self.basis.T)

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """The log density at each row."""
        values: np.ndarray = -0.5 * self.square(x) + self.log_peak
        return values

    def square(self, x: np.ndarray) -> np.ndarray:
        """The squared Mahalanobis distance of each row from the mean."""
        white = (x - self.mean) / self.scale
        part = white @ self.basis
        inner = part @ np.linalg.inv(self.factor).T  # faster than a triangular solve for all rows
        squares: np.ndarray = (white**2).sum(-1) - (part**2).sum(-1) + (inner**2).sum(-1)
        return squares

    @property
    def log_peak(self) -> float:
        """The log density at the mean."""
        log_scale = np.log(self.scale).sum() + np.log(np.diag(self.factor)).sum()
        return float(-log_scale - 0.5 * self.mean.size * math.log(2 * math.pi))

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each number."""
        inner = ((self.basis @ self.factor) ** 2).sum(-1) - (self.basis**2).sum(-1)
        deviations: np.ndarray = self.scale * np.sqrt(1 + inner)
        return deviations


class LowRankStudent(NamedTuple):
    """A Student distribution: a widened normal distribution with power-law tails."""

    normal: LowRankNormal
    spread: float  # the factor by which deviations are widened
    degrees: int

    @property
    def width(self) -> int:
        """The number of standard normal numbers that a draw needs."""
        return self.normal.width + self.degrees

    def draws(self, normal: np.ndarray) -> np.ndarray:
        """Draws, made from rows of standard normal numbers."""
        size, mean = self.normal.width, self.normal.mean
        chi_squared = np.square(normal[:, size:]).sum(-1, keepdims=True)
        deviations = self.normal.draws(normal[:, :size]) - mean
        rows: np.ndarray = mean + self.spread * np.sqrt(self.degrees / chi_squared) * deviations
        return rows

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """The log density at each row."""
        size, degrees = self.normal.mean.size, self.degrees
        constant = math.lgamma((degrees + size) / 2) - math.lgamma(degrees / 2)
        constant += self.normal.log_peak + 0.5 * size * math.log(2 / degrees / self.spread**2)
        square = self.normal.square(x) / (degrees * self.spread**2)
        values: np.ndarray = constant - 0.5 * (degrees + size) * np.log1p(square)
        return values
