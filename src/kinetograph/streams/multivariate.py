"""Vectors of real numbers: the last axis belongs to one draw."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.linear_algebra import small_cholesky

__all__ = ["multivariate_normal", "symmetric"]


def multivariate_normal(source: Source, mean: Any, covariance: Any) -> Any:
    """mean + L z with z standard normal and L L' = covariance.

    NaN where the mean is not finite or the covariance not symmetric and positive definite.
    """
    mean, covariance = (jnp.asarray(p, source.dtype) for p in (mean, covariance))
    factor = small_cholesky(covariance)
    value = mean + jnp.matmul(factor, source.normal()[..., None])[..., 0]
    # A factor that fails does so from some row on.
    right = symmetric(covariance, jnp) & jnp.isfinite(factor)
    valid = jnp.all(right, (-2, -1)) & jnp.all(jnp.isfinite(mean), -1)
    return jnp.where(valid[..., None], value, jnp.nan)


def symmetric(a: Any, xp: Any) -> Any:
    """Which elements are finite and those of the transpose, to 1e-5 of standard deviations.

    Two products of the same numbers in single precision, rounded in another order, pass.
    """
    sd = xp.sqrt(xp.abs(xp.diagonal(a, axis1=-2, axis2=-1)))
    room = 1e-5 * sd[..., :, None] * sd[..., None, :]
    return xp.isfinite(a) & (xp.abs(a - xp.swapaxes(a, -1, -2)) <= room)
