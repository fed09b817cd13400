"""The multivariate Student's t distribution."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.gammas import log_rising
from .cauchy import LOG_PI
from .covariances import factor_of, mean_of
from .declaration import Chosen, declared
from .family import Family
from .gamma_numbers import log_gamma
from .moments import Moments, squares
from .multivariate_normal import draw as draw_normal
from .multivariate_normal import log_diagonal, whitened
from .numbers import nan_unless, reals
from .parameter import Parameter, positive
from .student import moments_by

__all__ = ["draw", "multivariate_student"]


def _terms(x: Any, df: Any, mean: Any, chol: Any) -> tuple[Any, ...]:
    z, size = whitened(x, mean, chol), chol.shape[-1]
    half, whole = 0.5 * size, 0.5 * (df + size)
    constant = log_rising(0.5 * df, jnp.full_like(df, half)) - half * (jnp.log(df) + LOG_PI)
    return -whole * jnp.log1p(jnp.sum(z * z, -1) / df), constant, -log_diagonal(chol)


def draw(source: Source, df: Any, mean: Any, chol: Any) -> Any:
    """Draw mean + L z / sqrt(g / (df / 2)).

    The vector z is standard normal and g is one gamma number of shape df / 2.
    """
    df, mean, chol = reals(source, df, mean, chol)
    half = 0.5 * df
    log_ratio = 0.5 * (jnp.log(half) - log_gamma(source.row(0), half))
    away = draw_normal(source, jnp.zeros_like(mean), chol) * jnp.exp(log_ratio)[..., None]
    return nan_unless(jnp.all(jnp.isfinite(mean), -1, keepdims=True), mean + away)


def _moments(df: Any, mean: Any, chol: Any, event: tuple[int, ...]) -> Moments:
    return moments_by(df[..., None], mean, squares(chol))


MULTIVARIATE_STUDENT = Family(
    "multivariate_student",
    (positive("df"), Parameter("mean", event_ndim=1), Parameter("chol", event_ndim=2)),
    _terms,
    event_ndim=1,
    event_shape=lambda df, mean, chol: chol[-1:],
    draw=draw,
    moments=_moments,
)


@declared(
    MULTIVARIATE_STUDENT,
    draws="Vectors of Student's t, along the last axis, with scale matrix `cov`.",
    scipy="multivariate_t",
    aliases={"": "mvstudentt mvt"},
    same={"df": "nu", "mean": "loc mu", "cov": "Sigma scale", "chol": "L scale_tril"},
)
def multivariate_student(
    df: Any, mean: Any, cov: Any = None, *, chol: Any = None, drawn: bool = False
) -> Chosen:
    """Vectors (last axis) that follow a multivariate Student's t distribution.

        log p(x) = -(df + d) / 2 log(1 + |L^-1 (x - mean)|**2 / df) - sum log L_ii
                   + log Gamma((df + d) / 2) - log Gamma(df / 2) - d / 2 log(df pi),  cov = L L'

    Parameters
    ----------
    df
        Degrees of freedom, above zero.
    mean
        The location vector along the last axis, or one number for all elements.
    cov
        The scale matrix, symmetric and positive definite, in the last two axes. For df > 2 the
        covariance is df / (df - 2) times this matrix.
    chol
        Instead of `cov`: its lower Cholesky factor L.

    Raises
    ------
    ShapeError
        If the matrix is not square or the mean does not fit it.
    ValueError
        If `df` is known and not positive, if `cov` is known and not symmetric and positive
        definite, or if an expression of unknowns is not symmetric.
    TypeError
        If not exactly one of `cov` and `chol` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.multivariate_student(4, [0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], shape=(10, 2)).shape
    (10, 2)
    """
    factor = factor_of("multivariate_student", drawn, {"df": df, "mean": mean}, cov=cov, chol=chol)
    mean = mean_of("multivariate_student", mean, factor.shape[-1])
    return Chosen(MULTIVARIATE_STUDENT, (df, mean, factor))
