"""The scales of a step's coordinates y, where q = S y.

    y = S^-1 q,  grad_y U = S^T grad_q U

In the coordinates y the mass is 1. S is a number, the elements of a diagonal, or a lower triangular
matrix; it is equivalent to a mass matrix of (S S^T)^-1. Positions and gradients may have a leading
axis of walkers.
"""

from typing import Any

import numpy as np

from ..graph.functions.matrices import einsum, solve_triangular
from .hyper import Hyper, value_of

__all__ = ["Scale", "covariance_of", "divided", "gradient_of", "times"]


class Scale(Hyper):
    """The hyper-parameter `scale`: positive numbers, or a lower Cholesky factor."""

    def check(self, value: Any, owner: str) -> Any:
        """Check a value; a matrix must be lower triangular with positive diagonal.

        Raises
        ------
        TypeError, ValueError
            If the value is neither positive numbers nor such a matrix.
        """
        value = value_of(value, f"{owner}: {self.name}")
        matrix = None if value is None or callable(value) else np.asarray(value)
        if matrix is None or matrix.ndim != 2 or matrix.dtype.kind not in "iuf":
            return super().check(value, owner)
        title = f"{owner}: {self.name}, as a matrix,"
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"{title} must be square, got the shape {matrix.shape}")
        if not np.all(np.isfinite(matrix)):
            raise ValueError(f"{title} must be finite, got {value!r}")
        if np.any(np.triu(matrix, 1)) or not np.all(np.diagonal(matrix) > 0):
            raise ValueError(
                f"{title} must be the lower triangular factor of a covariance, with a positive "
                f"diagonal; got {value!r}. For a covariance matrix C give "
                "numpy.linalg.cholesky(C), for a mass matrix M "
                "numpy.linalg.cholesky(numpy.linalg.inv(M))"
            )
        array: np.ndarray = matrix.astype(float)
        array.setflags(write=False)
        return array


def times(y: Any, scale: Any) -> Any:
    """The product S y."""
    return y @ scale.T if scale.ndim == 2 else y * scale


def divided(q: Any, scale: Any) -> Any:
    """The solution y = S^-1 q."""
    if scale.ndim < 2:
        return q / scale
    return solve_triangular(scale, q.T, lower=True).T


def gradient_of(gradient: Any, scale: Any) -> Any:
    """The gradient S^T g in the coordinates y."""
    return gradient @ scale if scale.ndim == 2 else gradient * scale


def covariance_of(covariance: Any, scale: Any, full: bool) -> Any:
    """The matrix S^T C S of a covariance C, or its diagonal.

    If C is given by its diagonal c and S is not a matrix, the result is S^2 c.
    """
    if scale.ndim == 2:
        parts = "ki,...kl,lj->...ij" if full else "ki,...kl,li->...i"
        return einsum(parts, scale, covariance, scale)
    both = scale.reshape((-1, 1)) if full and scale.ndim else scale
    return covariance * scale * both
