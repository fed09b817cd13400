"""The multivariate normal distribution, by covariance or by its Cholesky factor."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.array import Array
from ..graph.elementwise import as_node
from ..graph.errors import ShapeError
from ..graph.functions import where
from ..graph.linear_algebra import cholesky, triangular_solve
from ..graph.mathematics import sqrt
from ..graph.messages import describe
from ..graph.node import Data, Node
from ..graph.shaping import diagonal
from ..graph.source import place_text
from .family import Family
from .normal import HALF_LOG_2PI
from .numbers import nan_unless, reals
from .parameter import Parameter
from .variable import distribute
from .words import with_words

__all__ = ["draw", "mean_and_factor", "multivariate_normal"]


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


def draw(source: Source, mean: Any, chol: Any) -> Any:
    """mean + L z with z standard normal."""
    mean, chol = reals(source, mean, chol)
    value = mean + jnp.matmul(chol, source.normal()[..., None])[..., 0]
    valid = jnp.all(jnp.isfinite(chol), (-2, -1)) & jnp.all(jnp.isfinite(mean), -1)
    return nan_unless(valid[..., None], value)


MULTIVARIATE_NORMAL = Family(
    "multivariate_normal",
    (Parameter("mean", event_ndim=1), Parameter("chol", event_ndim=2)),
    _terms,
    event_ndim=1,
    event_shape=lambda mean, chol: chol[-1:],
    draw=draw,
)


def _check_matrix(node: Node, what: str) -> None:
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(
            f"multivariate_normal: {what} {describe(node)} must be square, got shape {node.shape}"
            f"{place_text()}"
        )
    if not isinstance(node, Data):
        return
    value, wrong = node.value, ""
    if not np.all(np.isfinite(value)):
        wrong = "is not finite"
    elif what == "cov":
        if not np.allclose(value, np.swapaxes(value, -1, -2)):
            wrong = "is not symmetric"
        elif np.any(np.linalg.eigvalsh(value) <= 0):
            wrong = "is not positive definite"
    elif np.any(np.triu(value, 1)) or np.any(np.diagonal(value, axis1=-2, axis2=-1) <= 0):
        wrong = "must be lower triangular with a positive diagonal"
    if wrong:
        raise ValueError(f"multivariate_normal: {what} {describe(node)} {wrong}{place_text()}")


def _symmetric(cov: Array) -> Array:
    sd = sqrt(abs(Array(diagonal(cov.node, 0, -2, -1))))
    return abs(cov - cov.mT) <= 1e-5 * sd[..., :, None] * sd[..., None, :]


def mean_and_factor(
    mean: Any, cov: Any = None, chol: Any = None, checked: bool = False
) -> tuple[Any, Any]:
    """The mean vector and the lower Cholesky factor.

    `checked`: a covariance that is known only at run time has none if it is not symmetric, to 1e-5
    of standard deviations: two products of the same numbers in single precision, rounded in another
    order, pass.
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
        if checked:
            factor = as_node(where(_symmetric(Array(matrix)), Array(factor), np.nan))
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
            f"{size} x {size} matrix{hint}{place_text()}"
        )
    return mean, factor


@with_words
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
    parameters = mean_and_factor(mean, cov, chol)
    return distribute(MULTIVARIATE_NORMAL, parameters, shape=shape, dims=dims, name=name)
