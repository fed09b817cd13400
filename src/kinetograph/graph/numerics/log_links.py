"""Logarithms of inverse links, accurate where a probability rounds.

Each function takes the linear predictor. Neither its value nor its derivative computes the
probability, which may round to 0 or 1.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .derivative_rules import derivative
from .special import log1mexp, logaddexp

__all__ = [
    "log_complement",
    "log_complement_of_power",
    "log_complement_of_product",
    "log_complement_of_quotient",
    "log_icauchit",
    "log_icloglog",
]


def _slope_of_log_icloglog(x: Any) -> Any:
    """w / (exp(w) - 1) with w = exp(x).

    It is 1 at w = 0, and 0 where exp(w) overflows.
    """
    w = jnp.exp(x)
    middle = (w > 1e-300) & (w < 700.0)
    inner = jnp.where(middle, w, 1.0)
    return jnp.where(middle, inner / jnp.expm1(inner), jnp.where(w < 1.0, 1.0, 0.0))


@derivative(_slope_of_log_icloglog)
def log_icloglog(x: Any) -> Any:
    """log(1 - exp(-exp(x))); the logarithm of the complement is -exp(x)."""
    w = jnp.exp(x)
    # For small w the value is log(w) + log((1 - exp(-w)) / w).
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
    """log(1/2 + arctan(x) / pi).

    The logarithm of the complement is log_icauchit(-x).
    """
    tail = jnp.arctan2(jnp.ones_like(x), jnp.abs(x)) / np.pi  # the probability beyond |x|
    return jnp.where(x > 0, jnp.log1p(-tail), jnp.log(tail))


def _slope_of_log_complement(log: Any) -> Any:
    """-p / (1 - p), finite at p = 1.

    Multiplied by a weight of 0 it is therefore 0.
    """
    complement = jnp.where(log == 0, jnp.finfo(log.dtype).tiny, -jnp.expm1(log))
    return -jnp.exp(log) / complement


@derivative(_slope_of_log_complement)
def log_complement(log: Any) -> Any:
    """log(1 - p), given log(p) (Mächler 2012).

    It is NaN for p > 1.
    """
    small = log < -0.6931471805599453
    far = jnp.log1p(-jnp.exp(jnp.where(small, log, -1.0)))
    return jnp.where(small, far, jnp.log(-jnp.expm1(jnp.where(small, -1.0, log))))


def _complement(log: Any, near: Any) -> Any:
    """log(1 - p), from log(p) up to 1/2.

    For larger p, it is the argument `near`.
    """
    small = log < -0.6931471805599453
    return jnp.where(small, log_complement(jnp.where(small, log, -1.0)), near)


def log_complement_of_product(log_a: Any, log_b: Any, log1m_a: Any, log1m_b: Any) -> Any:
    """log(1 - a b), also for a and b near 1.

    It is log((1 - a) + a (1 - b)).

    It is accurate even if a and b round to 1.
    """
    return _complement(log_a + log_b, logaddexp(log1m_a, log_a + log1m_b))


def log_complement_of_quotient(log_a: Any, log_b: Any, log1m_a: Any, log1m_b: Any) -> Any:
    """log(1 - a / b), also near 1.

    It is log(((1 - a) - (1 - b)) / b).

    It is accurate even if a and b round to 1.
    """
    is_near, are_equal = log_b > -0.6931471805599453, log1m_a == log1m_b
    log_ratio = jnp.where(is_near & ~are_equal, log1m_a - log1m_b, 1.0)  # of 1 - a and 1 - b
    from_complements = jnp.where(are_equal, -jnp.inf, log1m_a - log_b + log1mexp(log_ratio))
    return jnp.where(
        is_near, from_complements, log_complement(jnp.where(is_near, -1.0, log_a - log_b))
    )


def log_complement_of_power(log: Any, log1m: Any, y: Any) -> Any:
    """log(1 - p^y), given log(p) and log(1 - p).

    y is positive.

    It is accurate even if p rounds to 1, where 1 - p^y is about y (1 - p).
    """
    power = y * log
    small = power < -0.6931471805599453
    inner = jnp.where(small, -1.0, log)
    ratio = jnp.log(y) + _log_growth(y * inner) - _log_growth(inner)
    return _complement(power, log1m + ratio)


def _slope_of_log_growth(x: Any) -> Any:
    """1 / (1 - exp(-x)) - 1 / x."""
    near = jnp.abs(x) < 1e-2
    far = jnp.where(near, -1.0, x)
    return jnp.where(near, 0.5 + x / 12.0 - x**3 / 720.0, -1.0 / jnp.expm1(-far) - 1.0 / far)


@derivative(_slope_of_log_growth)
def _log_growth(x: Any) -> Any:
    """log((exp(x) - 1) / x); 0 at x = 0."""
    x = jnp.asarray(x)
    inner = jnp.where(x == 0, 1.0, x)
    return jnp.where(x == 0, 0.0, jnp.log(jnp.expm1(inner) / inner))
