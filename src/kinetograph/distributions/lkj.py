"""The LKJ distribution of correlation matrices."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.gammas import gammaln
from ..graph.linear_algebra import small_cholesky
from .family import Family, distribute, positive
from .support import CorrelationMatrix

__all__ = ["lkj_correlation"]


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


LKJ = Family(
    "lkj_correlation",
    (positive("eta"),),
    _terms,
    lambda eta: CorrelationMatrix(),
    event_ndim=2,
    forms={"x": (("cholesky",),)},
)


def lkj_correlation(
    eta: Any = 1.0,
    dim: int = 2,
    *,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """A correlation matrix.

        log p(R) = (eta - 1) log det R - constant(eta, dim)

    Parameters
    ----------
    eta
        Above zero; 1 is uniform over correlation matrices, larger values favour the identity.
    dim
        The number of rows, at least 2.
    shape, dims, name
        Shape of the replicates (leading axes), names of the axes, name in the results.

    Raises
    ------
    ValueError
        If `eta` is known and not positive.
    ShapeError
        If `dim` is below 2.

    Notes
    -----
    `kg.cholesky(R)` of the result costs nothing: the factor is what the unknown is made of.

    Source: D. Lewandowski, D. Kurowicka, H. Joe, Generating random correlation matrices based on
    vines and extended onion method, Journal of Multivariate Analysis 100 (2009) 1989-2001.

    Examples
    --------
    >>> import kinetograph as kg
    >>> R = kg.lkj_correlation(2, 3, name="R")
    >>> R.shape
    (3, 3)
    """
    if not isinstance(dim, (int, np.integer)) or dim < 2:
        raise ShapeError(f"lkj_correlation: dim must be a whole number of at least 2, got {dim!r}")
    event = (int(dim), int(dim))
    return distribute(LKJ, (eta,), event=event, shape=shape, dims=dims, name=name)
