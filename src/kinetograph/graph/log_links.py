"""Logarithms of inverse links and of their complements, right where the probability rounds.

Each is a function of the linear predictor alone: the probability, which may round to 0 or 1, is
never formed, neither in the value nor in the derivative.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["log_icauchit", "log_icloglog"]


@jax.custom_jvp
def log_icloglog(x: Any) -> Any:
    """log(1 - exp(-exp(x))); its complement is log(exp(-exp(x))) = -exp(x)."""
    w = jnp.exp(x)
    # log(w) + log((1 - exp(-w)) / w) for small w, of which the second tends to -w / 2.
    small = jnp.where(w > 0, jnp.minimum(w, 1.0), 1.0)
    ratio = jnp.where(w > 0, -jnp.expm1(-small) / small, 1.0)
    return jnp.where(w < 1.0, x + jnp.log(ratio), jnp.log1p(-jnp.exp(-jnp.maximum(w, 1.0))))


@log_icloglog.defjvp
def _log_icloglog_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    w = jnp.exp(x)
    # w / expm1(w): 1 at 0, 0 where expm1 overflows.
    inner = jnp.where((w > 1e-300) & (w < 700.0), w, 1.0)
    slope = jnp.where(w <= 1e-300, 1.0, jnp.where(w < 700.0, inner / jnp.expm1(inner), 0.0))
    return log_icloglog(x), slope * t


@jax.custom_jvp
def log_icauchit(x: Any) -> Any:
    """log(1/2 + arctan(x) / pi); its complement is the same of -x."""
    upper = jnp.arctan2(jnp.ones_like(x), jnp.abs(x)) / np.pi  # the tail beyond |x|
    return jnp.where(x > 0, jnp.log1p(-upper), jnp.log(upper))


@log_icauchit.defjvp
def _log_icauchit_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    length = jnp.hypot(1.0, x)
    slope = 1.0 / length / length / jnp.arctan2(jnp.ones_like(x), -x)
    # 1 / length twice underflows before the quotient does.
    far = x < -1e100
    return log_icauchit(x), jnp.where(far, 1.0 / jnp.where(far, -x, 1.0), slope) * t
