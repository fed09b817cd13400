"""The multivariate normal distribution, by covariance, Cholesky factor or precision."""

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..bits.source import Source
from ..graph.numerics.small_matrices import triangular_solve
from .covariances import factor_of, mean_of
from .declaration import Chosen, declared
from .family import Family
from .moments import Moments, squares
from .normal import HALF_LOG_2PI
from .numbers import nan_unless, reals
from .parameter import Parameter

__all__ = ["draw", "log_diagonal", "multivariate_normal", "whitened"]


def whitened(x: Any, mean: Any, chol: Any) -> Any:
    """Solve L z = x - mean."""
    difference = x - mean
    size = chol.shape[-1]
    if chol.ndim == 2:
        # With one factor for many vectors, these are the columns of one right-hand side.
        z = triangular_solve(chol, difference.reshape(-1, size).T)
        return z.T.reshape(difference.shape)
    return triangular_solve(chol, difference[..., None])[..., 0]


def log_diagonal(chol: Any) -> Any:
    """The sum of the logarithms of the diagonal.

    For a Cholesky factor it is half the log determinant of the covariance.
    """
    return jnp.sum(jnp.log(jnp.diagonal(chol, axis1=-2, axis2=-1)), -1)


def _terms(x: Any, mean: Any, chol: Any) -> tuple[Any, ...]:
    z = whitened(x, mean, chol)
    constant = -log_diagonal(chol) - chol.shape[-1] * HALF_LOG_2PI
    return -0.5 * jnp.sum(z * z, -1), constant


def _precision_terms(x: Any, mean: Any, chol: Any) -> tuple[Any, ...]:
    z = jnp.matmul((x - mean)[..., None, :], chol)[..., 0, :]
    constant = log_diagonal(chol) - chol.shape[-1] * HALF_LOG_2PI
    return -0.5 * jnp.sum(z * z, -1), constant


def draw(source: Source, mean: Any, chol: Any) -> Any:
    """Draw mean + L z with a standard normal z."""
    mean, chol = reals(source, mean, chol)
    value = mean + jnp.matmul(chol, source.normal()[..., None])[..., 0]
    valid = jnp.all(jnp.isfinite(chol), (-2, -1)) & jnp.all(jnp.isfinite(mean), -1)
    return nan_unless(valid[..., None], value)


def draw_by_precision(source: Source, mean: Any, chol: Any) -> Any:
    """Draw mean + A^-T z with a standard normal z.

    The precision is A A'.
    """
    mean, chol = reals(source, mean, chol)
    chol = jnp.broadcast_to(chol, (*source.shape, source.shape[-1]))
    z = lax.linalg.triangular_solve(
        chol, source.normal()[..., None], left_side=True, lower=True, transpose_a=True
    )
    valid = jnp.all(jnp.isfinite(chol), (-2, -1)) & jnp.all(jnp.isfinite(mean), -1)
    return nan_unless(valid[..., None], mean + z[..., 0])


def _moments(mean: Any, chol: Any, event: tuple[int, ...]) -> Moments:
    return mean, squares(chol)


def _moments_by_precision(mean: Any, chol: Any, event: tuple[int, ...]) -> Moments:
    one = jnp.broadcast_to(jnp.eye(event[0], dtype=chol.dtype), chol.shape)
    return mean, squares(triangular_solve(chol, one).mT)


MULTIVARIATE_NORMAL = Family(
    "multivariate_normal",
    (Parameter("mean", event_ndim=1), Parameter("chol", event_ndim=2)),
    _terms,
    event_ndim=1,
    event_shape=lambda mean, chol: chol[-1:],
    draw=draw,
    moments=_moments,
)
BY_PRECISION = Family(
    "multivariate_normal_precision",
    (Parameter("mean", event_ndim=1), Parameter("chol", event_ndim=2)),
    _precision_terms,
    event_ndim=1,
    event_shape=lambda mean, chol: chol[-1:],
    draw=draw_by_precision,
    moments=_moments_by_precision,
)


@declared(
    MULTIVARIATE_NORMAL,
    draws="Normal vectors along the last axis, by covariance, Cholesky factor or precision.",
    scipy="multivariate_normal",
    aliases={
        "": "multinormal mvn mvnormal",
        "(mean, chol=...)": "multinormalcholesky",
        "(mean, kg.kron(a, b))": "kroneckernormal",
        "(mean, precision=...)": "multinormalprec",
        "(mean, precision=tau * (D - alpha * W))": "car",
    },
    same={
        "mean": "loc mu",
        "cov": "Sigma covariance_matrix",
        "chol": "L scale_tril",
        "precision": "precision_matrix tau",
    },
)
def multivariate_normal(
    mean: Any,
    cov: Any = None,
    *,
    chol: Any = None,
    precision: Any = None,
    drawn: bool = False,
) -> Chosen:
    """Vectors (last axis) that follow a multivariate normal distribution.

        log p(x) = -|L^-1 (x - mean)|**2 / 2 - sum log L_ii - d log(2 pi) / 2,  cov = L L'

    Parameters
    ----------
    mean
        The mean vector along the last axis, or one number for all elements.
    cov
        The covariance matrix, symmetric and positive definite, in the last two axes. It is not
        factorised if its factor is known, as for `kg.chol_outer(L)` with an unknown factor L, or
        for `sd[:, None] * R * sd` with positive unknowns and a correlation matrix R.
    chol
        Instead of `cov`: its lower Cholesky factor L. This is cheaper if the factor is known, such
        as `sd[:, None] * kg.cholesky(R)` for standard deviations and a correlation matrix
        `R = kg.lkj_correlation(2, dim)`, whose factor costs nothing.
    precision
        Instead of `cov`: its inverse, symmetric and positive definite. No inverse is computed.

    Raises
    ------
    ShapeError
        If the matrix is not square or the mean does not fit it.
    ValueError
        If `cov` or `precision` is known and not symmetric and positive definite, if an expression
        of unknowns is not symmetric, such as `kg.diag(sd) @ R`, or `chol` not lower triangular.
    TypeError
        If not exactly one of `cov`, `chol` and `precision` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.multivariate_normal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], shape=(10, 2)).shape
    (10, 2)
    """
    name = "multivariate_normal"
    factor = factor_of(name, drawn, {"mean": mean}, cov=cov, chol=chol, precision=precision)
    family = MULTIVARIATE_NORMAL if precision is None else BY_PRECISION
    return Chosen(family, (mean_of(name, mean, factor.shape[-1]), factor))
