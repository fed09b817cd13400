"""The scales of the coordinates in which a step is made: q = S y, where the mass is 1.

    y = S^-1 q,  grad_y U = S^T grad_q U

S is a number, a diagonal by its elements, or a lower triangular matrix: that is a mass matrix of
(S S^T)^-1. Positions and gradients may have a leading axis of walkers.
"""

from typing import Any

import numpy as np

from ..graph.functions.matrices import einsum, solve_triangular
from .hyper import Hyper, value_of

__all__ = ["Scale", "covariance_of", "divided", "gradient_of", "times"]


class Scale(Hyper):
    """The hyper-parameter `scale`: positive numbers, or the lower Cholesky factor of a matrix."""

    def check(self, value: Any, owner: str) -> Any:
        """As of any other; of a matrix the diagonal is positive, and above it there is nothing.

        Raises
        ------
        TypeError, ValueError
            If it cannot be one.
        """
        value = value_of(value, f"{owner}: {self.name}")
        given = None if value is None or callable(value) else np.asarray(value)
        if given is None or given.ndim != 2 or given.dtype.kind not in "iuf":
            return super().check(value, owner)
        what = f"{owner}: {self.name}, as a matrix,"
        if given.shape[0] != given.shape[1]:
            raise ValueError(f"{what} must be square, got the shape {given.shape}")
        if not np.all(np.isfinite(given)):
            raise ValueError(f"{what} must be finite, got {value!r}")
        if np.any(np.triu(given, 1)) or not np.all(np.diagonal(given) > 0):
            raise ValueError(
                f"{what} must be the lower triangular factor of a covariance, with a positive "
                f"diagonal; got {value!r}. Of a covariance matrix C give numpy.linalg.cholesky(C), "
                "of a mass matrix M numpy.linalg.cholesky(numpy.linalg.inv(M))"
            )
        array: np.ndarray = given.astype(float)
        array.setflags(write=False)
        return array


def times(y: Any, scale: Any) -> Any:
    """S y."""
    return y @ scale.T if scale.ndim == 2 else y * scale


def divided(q: Any, scale: Any) -> Any:
    """S^-1 q."""
    if scale.ndim < 2:
        return q / scale
    return solve_triangular(scale, q.T, lower=True).T


def gradient_of(gradient: Any, scale: Any) -> Any:
    """S^T g."""
    return gradient @ scale if scale.ndim == 2 else gradient * scale


def covariance_of(covariance: Any, scale: Any, full: bool) -> Any:
    """S^T C S of a matrix C, or its diagonal; or S^2 c of a diagonal."""
    if scale.ndim == 2:
        parts = "ki,...kl,lj->...ij" if full else "ki,...kl,li->...i"
        return einsum(parts, scale, covariance, scale)
    both = scale.reshape((-1, 1)) if full and scale.ndim else scale
    return covariance * scale * both
