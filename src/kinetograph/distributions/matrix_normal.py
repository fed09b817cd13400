"""The matrix normal distribution, with covariances of rows and of columns."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.errors import ShapeError
from ..graph.messages import describe
from ..graph.node import Node
from ..graph.numerics.small_matrices import triangular_solve
from ..graph.operations.operands import as_node
from ..graph.source import place_text
from .covariances import factor_of
from .declaration import Chosen, declared
from .family import Family
from .moments import Moments, squares
from .multivariate_normal import log_diagonal
from .normal import HALF_LOG_2PI
from .numbers import nan_unless, reals
from .parameter import Parameter

__all__ = ["draw", "factors_of", "matrix_normal"]


def _terms(x: Any, mean: Any, row_chol: Any, col_chol: Any) -> tuple[Any, ...]:
    rows, columns = row_chol.shape[-1], col_chol.shape[-1]
    z = triangular_solve(row_chol, x - mean)
    z = triangular_solve(col_chol, z.mT)
    constant = -columns * log_diagonal(row_chol) - rows * log_diagonal(col_chol)
    return -0.5 * jnp.sum(z * z, (-2, -1)), constant - rows * columns * HALF_LOG_2PI


def draw(source: Source, mean: Any, row_chol: Any, col_chol: Any) -> Any:
    """Draw mean + A Z B' with a standard normal matrix Z."""
    mean, row_chol, col_chol = reals(source, mean, row_chol, col_chol)
    value = mean + row_chol @ source.normal() @ col_chol.mT
    matrices = (mean, row_chol, col_chol)
    valid = [jnp.all(jnp.isfinite(m), (-2, -1), keepdims=True) for m in matrices]
    return nan_unless(valid[0] & valid[1] & valid[2], value)


def _moments(mean: Any, row_chol: Any, col_chol: Any, event: tuple[int, ...]) -> Moments:
    return mean, squares(row_chol)[..., :, None] * squares(col_chol)[..., None, :]


MATRIX_NORMAL = Family(
    "matrix_normal",
    (
        Parameter("mean", event_ndim=2),
        Parameter("row_chol", event_ndim=2),
        Parameter("col_chol", event_ndim=2),
    ),
    _terms,
    event_ndim=2,
    event_shape=lambda mean, row_chol, col_chol: (row_chol[-1], col_chol[-1]),
    draw=draw,
    moments=_moments,
)


def factors_of(
    mean: Any, row_cov: Any, col_cov: Any, row_chol: Any, col_chol: Any, checked: bool = False
) -> tuple[Any, Node, Node]:
    """The mean as a matrix, and both Cholesky factors."""
    name = "matrix_normal"
    rows = factor_of(name, checked, {}, row_cov=row_cov, row_chol=row_chol)
    columns = factor_of(name, checked, {}, col_cov=col_cov, col_chol=col_chol)
    centre, size = as_node(mean), (rows.shape[-1], columns.shape[-1])
    if not centre.shape:
        return mean + np.zeros(size), rows, columns
    if centre.shape[-2:] != size:
        raise ShapeError(
            f"{name}: mean {describe(centre)} of shape {centre.shape} does not fit "
            f"{size[0]} rows and {size[1]} columns{place_text()}"
        )
    return mean, rows, columns


@declared(
    MATRIX_NORMAL,
    draws="Normal matrices, with a covariance of rows and one of columns.",
    same={
        "mean": "loc mu",
        "row_cov": "rowcov",
        "col_cov": "colcov",
        "row_chol": "rowchol scale_tril_row",
        "col_chol": "colchol scale_tril_column",
    },
)
def matrix_normal(
    mean: Any,
    row_cov: Any = None,
    col_cov: Any = None,
    *,
    row_chol: Any = None,
    col_chol: Any = None,
    drawn: bool = False,
) -> Chosen:
    """Matrices (last two axes) with a covariance of rows and of columns.

        log p(X) = -|A^-1 (X - mean) B^-T|**2 / 2 - c sum log A_ii - r sum log B_ii
                   - r c log(2 pi) / 2

        with r rows and c columns, row_cov = A A' and col_cov = B B'.

    Parameters
    ----------
    mean
        The mean matrix, or one number for all elements.
    row_cov, col_cov
        The covariances of rows and of columns, symmetric and positive definite:
        Cov(X_ij, X_kl) = row_cov_ik col_cov_jl.
    row_chol, col_chol
        Alternatives to the covariances: their lower Cholesky factors A and B.

    Raises
    ------
    ShapeError
        If a matrix is not square or the mean does not fit.
    ValueError
        If a covariance is known and not symmetric and positive definite, or if an expression
        of unknowns is not symmetric.
    TypeError
        If for rows or columns not exactly one of covariance and factor is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> import numpy as np
    >>> kg.matrix_normal(0.0, np.eye(3), [[1.0, 0.5], [0.5, 1.0]]).shape
    (3, 2)
    """
    parameters = factors_of(mean, row_cov, col_cov, row_chol, col_chol, drawn)
    return Chosen(MATRIX_NORMAL, parameters)
