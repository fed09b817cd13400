"""Draws of vectors and matrices, one method a distribution."""

from typing import Any

from ..distributions.dirichlet import DIRICHLET
from ..distributions.lkj import LKJ, size_of
from ..distributions.multivariate_normal import MULTIVARIATE_NORMAL, mean_and_factor
from ..graph.array import Array, ArrayLike
from .one_draw import OneDraw

__all__ = ["VectorDraws"]


class VectorDraws(OneDraw):
    """Draws of vectors and matrices: `shape` is that of the result, or of the replicates alone."""

    def dirichlet(
        self,
        alpha: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Vectors that add up to one, along the last axis."""
        return self._draw(DIRICHLET, (alpha,), shape, name, dtype, like)

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike | None = None,
        shape: Any = None,
        *,
        chol: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal vectors, along the last axis; `chol` instead of `cov` is its lower factor."""
        centre, factor = mean_and_factor(mean, cov, chol, checked=True)
        return self._draw(MULTIVARIATE_NORMAL, (centre, factor), shape, name, dtype, like)

    def lkj_correlation(
        self,
        eta: ArrayLike = 1.0,
        dim: int = 2,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Correlation matrices of `dim` rows, with densities in proportion to det(R)**(eta - 1)."""
        event = (size_of(dim), size_of(dim))
        return self._draw(LKJ, (eta,), shape, name, dtype, like, event)
