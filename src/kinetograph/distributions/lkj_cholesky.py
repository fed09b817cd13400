"""The LKJ distribution of Cholesky factors of correlation matrices."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .declaration import Chosen, declared
from .family import Family
from .lkj import draw_factor, log_constant, size_of
from .moments import Moments, log_half_step_rest
from .parameter import positive
from .support import CholeskyCorrelation

__all__ = ["lkj_cholesky"]


def _terms(x: Any, eta: Any) -> tuple[Any, ...]:
    dim = x.shape[-1]
    log_l = jnp.log(jnp.diagonal(x, axis1=-2, axis2=-1))[..., 1:]
    rest = np.arange(dim - 2, -1, -1.0)
    powers = rest + 2.0 * jnp.asarray(eta)[..., None] - 2.0
    return jnp.sum(powers * log_l, -1), -log_constant(eta, dim)


def _moments(eta: Any, event: tuple[int, ...]) -> Moments:
    """The moments of each element.

    A diagonal element is the root of a beta number. The rest of its row has a uniform direction.
    """
    dim = event[0]
    row = np.arange(1, dim)
    b = eta[..., None] + 0.5 * (dim - 1 - row)
    whole = b + 0.5 * row
    gap = log_half_step_rest(b) - log_half_step_rest(whole)
    mean = jnp.sqrt(b / whole) * jnp.exp(gap)
    variance = b / whole * -jnp.expm1(2.0 * gap)
    first = ((0, 0),) * eta.ndim + ((1, 0),)
    on_diagonal = jnp.eye(dim, dtype=bool)
    means = jnp.pad(mean, first, constant_values=1.0)[..., None]
    below = jnp.where(np.tri(dim, k=-1, dtype=bool), jnp.pad(0.5 / whole, first)[..., None], 0.0)
    variances = jnp.where(on_diagonal, jnp.pad(variance, first)[..., None], below)
    return jnp.where(on_diagonal, means, 0.0), variances


LKJ_CHOLESKY = Family(
    "lkj_cholesky",
    (positive("eta"),),
    _terms,
    lambda eta: CholeskyCorrelation(),
    event_ndim=2,
    draw=draw_factor,
    moments=_moments,
)


@declared(
    LKJ_CHOLESKY,
    draws="Lower Cholesky factors of the matrices of `lkj_correlation`.",
    aliases={"": "lkjcholesky lkjcorrcholesky"},
    advice={
        "sd_dist": "standard deviations are separate unknowns: sd[:, None] * kg.lkj_cholesky(...)",
        "compute_corr": (
            "with chol = kg.lkj_cholesky(...), correlations are chol @ chol.T; leave it out"
        ),
    },
    same={"eta": "concentration", "dim": "dimension n"},
)
def lkj_cholesky(eta: Any = 1.0, dim: int = 2) -> Chosen:
    """The lower Cholesky factor of a correlation matrix that follows `kg.lkj_correlation`.

        log p(L) = sum_i (dim - i + 2 eta - 2) log L_ii - constant(eta, dim),  i = 2 .. dim

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
    `kg.chol_outer(L)` follows `kg.lkj_correlation`. The source is given there.

    Examples
    --------
    >>> import kinetograph as kg
    >>> L = kg.lkj_cholesky(2, 3, name="L")
    >>> L.shape
    (3, 3)
    """
    rows = size_of(dim, "lkj_cholesky")
    return Chosen(LKJ_CHOLESKY, (eta,), (rows, rows))
