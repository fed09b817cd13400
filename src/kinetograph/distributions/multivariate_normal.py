"""The multivariate normal distribution, by covariance or by its Cholesky factor."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..graph.array import Array
from ..graph.elementwise import as_node
from ..graph.errors import ShapeError
from ..graph.linear_algebra import cholesky, triangular_solve
from ..graph.messages import describe
from ..graph.node import Data, Node
from .family import Family, Parameter, distribute
from .normal import HALF_LOG_2PI

__all__ = ["multivariate_normal"]


def _terms(x: Any, mean: Any, chol: Any) -> tuple[Any, ...]:
    difference = x - mean
    size = chol.shape[-1]
    if chol.ndim == 2:
        # One factor for many vectors: they are the columns of one right side.
        z = triangular_solve(chol, difference.reshape(-1, size).T)
        squares = jnp.sum(z * z, 0).reshape(difference.shape[:-1])
    else:
        z = triangular_solve(chol, difference[..., None])[..., 0]
        squares = jnp.sum(z * z, -1)
    log_det = jnp.sum(jnp.log(jnp.diagonal(chol, axis1=-2, axis2=-1)), -1)
    return -0.5 * squares, -log_det - size * HALF_LOG_2PI


MULTIVARIATE_NORMAL = Family(
    "multivariate_normal",
    (Parameter("mean", event_ndim=1), Parameter("chol", event_ndim=2)),
    _terms,
    event_ndim=1,
    event_shape=lambda mean, chol: chol[-1:],
)


def _check_matrix(node: Node, what: str) -> None:
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(
            f"multivariate_normal: {what} {describe(node)} must be square, got shape {node.shape}"
        )
    if not isinstance(node, Data):
        return
    value = node.value
    if what == "cov":
        if not np.allclose(value, np.swapaxes(value, -1, -2)):
            raise ValueError(f"multivariate_normal: cov {describe(node)} is not symmetric")
        if np.any(np.linalg.eigvalsh(value) <= 0):
            raise ValueError(f"multivariate_normal: cov {describe(node)} is not positive definite")
    elif np.any(np.triu(value, 1)) or np.any(np.diagonal(value, axis1=-2, axis2=-1) <= 0):
        raise ValueError(
            f"multivariate_normal: chol {describe(node)} must be lower triangular with a positive "
            "diagonal"
        )


def multivariate_normal(
    mean: Any,
    cov: Any = None,
    *,
    chol: Any = None,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """Vectors (last axis) that follow a multivariate normal distribution.

        log p(x) = -|L^-1 (x - mean)|**2 / 2 - sum log L_ii - d log(2 pi) / 2,  cov = L L'

    Parameters
    ----------
    mean
        The mean vector, along the last axis; a single number stands for all elements.
    cov
        The covariance matrix, symmetric and positive definite, in the last two axes. It is not
        factorised where its factor is known: in `kg.chol_outer(L)` of an unknown factor, and in
        `sd[:, None] * R * sd` of positive unknowns and a correlation matrix.
    chol
        Instead of `cov`: its lower Cholesky factor L. Cheaper where it is at hand, for example
        `sd[:, None] * kg.cholesky(R)` for standard deviations and a correlation matrix
        `R = kg.lkj_correlation(2, dim)`, whose factor costs nothing.
    shape, dims, name
        Shape of the unknown (leading axes are replicates), names of its axes, name in the results.

    Raises
    ------
    ShapeError
        If the matrix is not square or the mean does not fit it.
    ValueError
        If `cov` is known and not symmetric and positive definite.
    TypeError
        If not exactly one of `cov` and `chol` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.multivariate_normal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], shape=(10, 2)).shape
    (10, 2)
    """
    if (cov is None) == (chol is None):
        raise TypeError("multivariate_normal: give one of cov= and chol=")
    matrix = as_node(cov if chol is None else chol)
    _check_matrix(matrix, "cov" if chol is None else "chol")
    if chol is not None:
        factor = matrix
    elif isinstance(matrix, Data) and matrix.literal:
        factor = as_node(np.linalg.cholesky(matrix.value))
    else:
        factor = cholesky(matrix)
    centre = as_node(mean)
    size = matrix.shape[-1]
    if not centre.shape:
        mean = mean + np.zeros(size)
    elif centre.shape[-1] != size:
        hint = (
            "; each row is a separate realisation: transpose?"
            if len(centre.shape) > 1 and centre.shape[-2] == size
            else ""
        )
        raise ShapeError(
            f"multivariate_normal: mean {describe(centre)} of shape {centre.shape} does not fit a "
            f"{size} x {size} matrix{hint}"
        )
    return distribute(MULTIVARIATE_NORMAL, (mean, factor), shape=shape, dims=dims, name=name)
