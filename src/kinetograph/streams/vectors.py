"""Draws of vectors and matrices, one method a distribution."""

from typing import Any

from ..distributions.covariances import factor_of, mean_of
from ..distributions.dirichlet import DIRICHLET
from ..distributions.lkj import LKJ, size_of
from ..distributions.lkj_cholesky import LKJ_CHOLESKY
from ..distributions.matrix_normal import MATRIX_NORMAL, factors_of
from ..distributions.multivariate_normal import family_and_parameters
from ..distributions.multivariate_student import MULTIVARIATE_STUDENT
from ..distributions.wishart import WISHART
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
        precision: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal vectors, along the last axis; instead of `cov` its lower factor, or inverse."""
        family, parameters = family_and_parameters(mean, cov, chol, precision, checked=True)
        return self._draw(family, parameters, shape, name, dtype, like)

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

    def lkj_cholesky(
        self,
        eta: ArrayLike = 1.0,
        dim: int = 2,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Lower Cholesky factors of the matrices of `lkj_correlation`."""
        rows = size_of(dim, "lkj_cholesky")
        return self._draw(LKJ_CHOLESKY, (eta,), shape, name, dtype, like, (rows, rows))

    def multivariate_student(
        self,
        df: ArrayLike,
        mean: ArrayLike,
        cov: ArrayLike | None = None,
        shape: Any = None,
        *,
        chol: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Vectors of Student's t, along the last axis, with scale matrix `cov`."""
        factor = factor_of("multivariate_student", True, cov=cov, chol=chol)
        centre = mean_of("multivariate_student", mean, factor.shape[-1])
        parameters = (df, centre, factor)
        return self._draw(MULTIVARIATE_STUDENT, parameters, shape, name, dtype, like)

    def matrix_normal(
        self,
        mean: ArrayLike,
        row_cov: ArrayLike | None = None,
        col_cov: ArrayLike | None = None,
        shape: Any = None,
        *,
        row_chol: ArrayLike | None = None,
        col_chol: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal matrices, with a covariance of rows and one of columns."""
        parameters = factors_of(mean, row_cov, col_cov, row_chol, col_chol, checked=True)
        return self._draw(MATRIX_NORMAL, parameters, shape, name, dtype, like)

    def wishart(
        self,
        df: ArrayLike,
        scale: ArrayLike | None = None,
        shape: Any = None,
        *,
        chol: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Covariance matrices with mean df scale."""
        factor = factor_of("wishart", True, scale=scale, chol=chol)
        return self._draw(WISHART, (df, factor), shape, name, dtype, like)
