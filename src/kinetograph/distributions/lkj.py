"""The LKJ distribution of correlation matrices."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.errors import ShapeError
from ..graph.numerics.gammas import gammaln
from ..graph.numerics.small_matrices import small_cholesky
from ..graph.source import place_text
from ..graph.value_texts import shown
from .declaration import Chosen, declared
from .family import Family
from .gamma_numbers import log_gamma
from .moments import Moments
from .numbers import nan_unless, reals
from .parameter import positive
from .support import CorrelationMatrix

__all__ = ["draw", "draw_factor", "log_constant", "lkj_correlation", "size_of"]

LOG_2 = 0.6931471805599453


def log_constant(eta: Any, dim: int) -> Any:
    """The logarithm of the integral of det(R)**(eta - 1) over correlation matrices."""
    k = np.arange(1, dim)
    eta = jnp.asarray(eta)[..., None]
    terms = (
        0.5 * k * np.log(np.pi)
        + gammaln(eta + 0.5 * (dim - 1 - k))
        - gammaln(eta + 0.5 * (dim - 1))
    )
    return jnp.sum(terms, -1)


def _terms(x: Any, eta: Any, cholesky_x: Any = None) -> tuple[Any, ...]:
    factor = small_cholesky(x) if cholesky_x is None else cholesky_x
    log_det = 2.0 * jnp.sum(jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)), -1)
    return (eta - 1.0) * log_det, -log_constant(eta, factor.shape[-1])


def draw(source: Source, eta: Any) -> Any:
    """Draw a correlation matrix from partial correlations along a C-vine.

    They are 2 b - 1 with beta numbers b. In column j = 0, 1, ... of the factor both parameters of b
    are eta + (dim - 2 - j) / 2.
    """
    factor = draw_factor(source, eta)
    matrix = jnp.matmul(factor, factor.mT)
    ones = np.eye(source.shape[-1], dtype=bool)
    return jnp.where(ones & ~jnp.isnan(matrix), 1.0, matrix)


def draw_factor(source: Source, eta: Any) -> Any:
    """Draw the Cholesky factor of such a matrix."""
    (eta,) = reals(source, eta)
    dim = source.shape[-1]
    column = np.minimum(np.arange(dim), dim - 2)
    weight = eta[..., None, None] + jnp.asarray((dim - 2 - column) / 2, source.dtype)
    logit = log_gamma(source, weight, 0, 2) - log_gamma(source, weight, 1, 2)
    below = np.tri(dim, k=-1, dtype=bool)
    half = jnp.where(below, logit / 2, 0.0)
    size = jnp.where(half < 0, -half, half)
    log_cosh = size + jnp.log1p(jnp.exp(-2 * size)) - LOG_2
    # The square root of 1 minus the sum of squares before column j.
    rest = jnp.exp(log_cosh - jnp.cumsum(log_cosh, -1))
    factor = jnp.where(below, jnp.tanh(half), jnp.eye(dim, dtype=source.dtype)) * rest
    return nan_unless(((eta > 0) & jnp.isfinite(eta))[..., None, None], factor)


def _moments(eta: Any, event: tuple[int, ...]) -> Moments:
    """The mean and the variance of each element.

    An element off the diagonal is 2 b - 1 with a beta number b. Both parameters of b are eta - 1 +
    dim / 2.
    """
    mean = jnp.eye(event[0], dtype=eta.dtype)
    return mean, (1.0 - mean) / (2.0 * eta + (event[0] - 1.0))[..., None, None]


LKJ = Family(
    "lkj_correlation",
    (positive("eta"),),
    _terms,
    lambda eta: CorrelationMatrix(),
    event_ndim=2,
    draw=draw,
    forms={"x": (("cholesky",),)},
    moments=_moments,
)


def size_of(dim: Any, name: str = "lkj_correlation") -> int:
    """Check the number of rows, which the parameters do not determine."""
    if not isinstance(dim, (int, np.integer)) or dim < 2:
        raise ShapeError(
            f"{name}: dim must be a whole number of at least 2, got {shown(dim)}{place_text()}; "
            "dim is the number of rows, and the second value by position"
        )
    return int(dim)


@declared(
    LKJ,
    draws="Correlation matrices of `dim` rows, with density proportional to det(R)**(eta - 1).",
    aliases={"": "lkj lkjcorr"},
    same={"eta": "concentration", "dim": "dimension n"},
)
def lkj_correlation(eta: Any = 1.0, dim: int = 2) -> Chosen:
    """A correlation matrix.

        log p(R) = (eta - 1) log det R - constant(eta, dim)

    Parameters
    ----------
    eta
        Above zero; 1 is uniform over correlation matrices, larger values favour the identity.
    dim
        The number of rows, at least 2.

    Raises
    ------
    ShapeError
        If `dim` is below 2.

    Notes
    -----
    `kg.cholesky(R)` of the result costs nothing: the model computes the factor first.

    Source: D. Lewandowski, D. Kurowicka, H. Joe, Generating random correlation matrices based on
    vines and extended onion method, Journal of Multivariate Analysis 100 (2009) 1989-2001.

    Examples
    --------
    >>> import kinetograph as kg
    >>> R = kg.lkj_correlation(2, 3, name="R")
    >>> R.shape
    (3, 3)
    """
    event = (size_of(dim), size_of(dim))
    return Chosen(LKJ, (eta,), event)
