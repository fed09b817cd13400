"""Vectors of real numbers: the last axis belongs to one draw."""

from typing import Any

import jax.numpy as jnp

from ..graph.linear_algebra import small_cholesky
from .source import Source

__all__ = ["multivariate_normal"]


def multivariate_normal(source: Source, mean: Any, covariance: Any) -> Any:
    """mean + L z with z standard normal and L L' = covariance, of which the lower half is read.

    NaN where the covariance is not positive definite.
    """
    mean, covariance = (jnp.asarray(p, source.dtype) for p in (mean, covariance))
    factor = small_cholesky(covariance)
    return mean + jnp.matmul(factor, source.normal()[..., None])[..., 0]
