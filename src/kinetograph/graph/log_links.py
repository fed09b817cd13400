"""Logarithms of inverse links, right where the probability rounds.

Each is a function of the linear predictor alone: the probability, which may round to 0 or 1, is
never formed, neither in the value nor in the derivative.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .derivative_rules import derivative

__all__ = ["log_complement", "log_icauchit", "log_icloglog"]


def _slope_of_log_icloglog(x: Any) -> Any:
    """w / (exp(w) - 1) with w = exp(x): 1 at w = 0, 0 where it overflows."""
    w = jnp.exp(x)
    middle = (w > 1e-300) & (w < 700.0)
    inner = jnp.where(middle, w, 1.0)
    return jnp.where(middle, inner / jnp.expm1(inner), jnp.where(w < 1.0, 1.0, 0.0))


@derivative(_slope_of_log_icloglog)
def log_icloglog(x: Any) -> Any:
    """log(1 - exp(-exp(x))); the logarithm of the complement is -exp(x)."""
    w = jnp.exp(x)
    # log(w) + log((1 - exp(-w)) / w) for small w.
    small = jnp.where(w > 0, jnp.minimum(w, 1.0), 1.0)
    ratio = jnp.where(w > 0, -jnp.expm1(-small) / small, 1.0)
    return jnp.where(w < 1.0, x + jnp.log(ratio), jnp.log1p(-jnp.exp(-jnp.maximum(w, 1.0))))


def _slope_of_log_icauchit(x: Any) -> Any:
    far = x < -1e100  # 1 + x**2 overflows before 1 / x underflows
    near = jnp.where(far, 0.0, x)
    length = jnp.hypot(1.0, near)
    slope = 1.0 / length / length / jnp.arctan2(jnp.ones_like(x), -near)
    return jnp.where(far, -1.0 / jnp.where(far, x, 1.0), slope)


@derivative(_slope_of_log_icauchit)
def log_icauchit(x: Any) -> Any:
    """log(1/2 + arctan(x) / pi); the logarithm of the complement is that of -x."""
    tail = jnp.arctan2(jnp.ones_like(x), jnp.abs(x)) / np.pi  # what lies beyond |x|
    return jnp.where(x > 0, jnp.log1p(-tail), jnp.log(tail))


def _slope_of_log_complement(log: Any) -> Any:
    """-p / (1 - p); at p = 1 finite, so that it is 0 for a weight of 0."""
    rest = jnp.where(log == 0, jnp.finfo(log.dtype).tiny, -jnp.expm1(log))
    return -jnp.exp(log) / rest


@derivative(_slope_of_log_complement)
def log_complement(log: Any) -> Any:
    """log(1 - p) of a probability given by its logarithm (Mächler 2012); NaN for p > 1."""
    small = log < -0.6931471805599453
    far = jnp.log1p(-jnp.exp(jnp.where(small, log, -1.0)))
    return jnp.where(small, far, jnp.log(-jnp.expm1(jnp.where(small, -1.0, log))))
