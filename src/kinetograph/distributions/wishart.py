"""The Wishart distribution of covariance matrices."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.node import Data, Node
from ..graph.numerics.gammas import gammaln
from ..graph.numerics.small_matrices import small_cholesky, triangular_solve
from ..graph.source import place_text
from .cauchy import LOG_PI
from .covariances import factor_of
from .declaration import Chosen, declared
from .family import Family
from .gamma_numbers import log_gamma
from .moments import Moments, squares
from .multivariate_normal import log_diagonal
from .numbers import nan_unless, reals
from .parameter import Parameter, positive
from .support import CovarianceMatrix

__all__ = ["draw", "wishart"]

LOG_2 = 0.6931471805599453


def log_multivariate_gamma(a: Any, dim: int) -> Any:
    """The logarithm of the multivariate gamma function."""
    steps = gammaln(jnp.asarray(a)[..., None] - 0.5 * np.arange(dim))
    return jnp.sum(steps, -1) + 0.25 * dim * (dim - 1) * LOG_PI


def _terms(x: Any, df: Any, chol: Any, cholesky_x: Any = None) -> tuple[Any, ...]:
    factor = small_cholesky(x) if cholesky_x is None else cholesky_x
    dim = factor.shape[-1]
    batch = jnp.broadcast_shapes(factor.shape[:-2], chol.shape[:-2])
    scale = jnp.broadcast_to(chol, (*batch, dim, dim))
    z = triangular_solve(scale, jnp.broadcast_to(factor, (*batch, dim, dim)))
    power = (df - dim - 1.0) * log_diagonal(factor) - 0.5 * jnp.sum(z * z, (-2, -1))
    constant = 0.5 * dim * LOG_2 * df + log_multivariate_gamma(0.5 * df, dim)
    return power, -df * log_diagonal(chol) - constant


def draw(source: Source, df: Any, chol: Any) -> Any:
    """Draw L A A' L' with Bartlett's triangular matrix A.

    A has normal numbers below a diagonal of chi numbers.

    Source: M. S. Bartlett, On the theory of statistical regression, Proceedings of the Royal
    Society of Edinburgh 53 (1934) 260-283.
    """
    df, chol = reals(source, df, chol)
    dim = source.shape[-1]
    row, diagonal = np.arange(dim)[:, None], np.eye(dim, dtype=bool)
    half = 0.5 * (df[..., None, None] - jnp.asarray(row, source.dtype))
    log_chi = 0.5 * (LOG_2 + log_gamma(source, jnp.where(diagonal, half, 1.0), 1))
    below = np.tri(dim, k=-1, dtype=bool)
    factor = jnp.where(diagonal, jnp.exp(log_chi), jnp.where(below, source.normal(), 0.0))
    factor = chol @ factor
    valid = (df > dim - 1) & jnp.isfinite(df) & jnp.all(jnp.isfinite(chol), (-2, -1))
    return nan_unless(valid[..., None, None], factor @ factor.mT)


def _check(df: Node, chol: Node) -> None:
    if not isinstance(df, Data) or len(chol.shape) < 2:
        return
    least = chol.shape[-1] - 1
    if np.any(df.value <= least):
        raise ValueError(
            f"wishart: df must be above {least}, one less than the scale has rows, got "
            f"{np.min(df.value):g}{place_text()}"
        )


def _moments(df: Any, chol: Any, event: tuple[int, ...]) -> Moments:
    df, scale = df[..., None, None], chol @ chol.mT
    diagonal = squares(chol)
    variance = scale * scale + diagonal[..., :, None] * diagonal[..., None, :]
    return df * scale, df * variance


WISHART = Family(
    "wishart",
    (positive("df"), Parameter("chol", event_ndim=2)),
    _terms,
    lambda df, chol: CovarianceMatrix(),
    event_ndim=2,
    event_shape=lambda df, chol: chol[-2:],
    check=_check,
    draw=draw,
    forms={"x": (("cholesky",),)},
    moments=_moments,
)


@declared(
    WISHART,
    draws="Covariance matrices with mean df scale.",
    scipy="wishart",
    same={"df": "concentration nu", "scale": "S V scale_matrix", "chol": "scale_tril"},
)
def wishart(df: Any, scale: Any = None, *, chol: Any = None, drawn: bool = False) -> Chosen:
    """A covariance matrix that follows a Wishart distribution.

        log p(X) = (df - p - 1) / 2 log det X - tr(scale^-1 X) / 2 - df p / 2 log(2)
                   - df / 2 log det scale - log Gamma_p(df / 2)

    Parameters
    ----------
    df
        Degrees of freedom, above p - 1 for p rows; the mean is df scale.
    scale
        The scale matrix, symmetric and positive definite, in the last two axes.
    chol
        Instead of `scale`: its lower Cholesky factor.

    Raises
    ------
    ValueError
        If `df` is known and not above p - 1, if `scale` is known and not symmetric and positive
        definite, or if an expression of unknowns is not symmetric.
    ShapeError
        If the matrix is not square.
    TypeError
        If not exactly one of `scale` and `chol` is given.

    Notes
    -----
    `kg.cholesky(X)` of the result costs nothing: the model computes the factor first.

    Examples
    --------
    >>> import kinetograph as kg
    >>> import numpy as np
    >>> X = kg.wishart(4, np.eye(3), name="X")
    >>> X.shape
    (3, 3)
    """
    factor = factor_of("wishart", drawn, {"df": df}, scale=scale, chol=chol)
    return Chosen(WISHART, (df, factor))
