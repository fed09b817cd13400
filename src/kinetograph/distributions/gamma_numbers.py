"""Gamma numbers and their logarithms.

Draws of beta, Dirichlet, Student's t and other distributions are made of them. The derivative of a
gamma number by its shape is that of its quantile, x' = -(dF(x; a) / da) / f(x; a) (Figurnov,
Mohamed, Mnih, Implicit reparameterization gradients, NeurIPS 2018).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import digamma

from ..bits.rejection import first_accepted
from ..bits.source import Source
from .numbers import reals

__all__ = ["follow", "gamma_parts", "log_gamma"]


def log_gamma(source: Source, concentration: Any, first: int = 0, step: int = 1) -> Any:
    """The logarithm of a gamma number of rate 1.

    It is finite even if the number itself underflows. It uses the attempts `first`, `first + step`,
    ... of the source.
    """
    (concentration,) = reals(source, concentration)
    large, log_boost = gamma_parts(source, concentration, first, step)
    return follow_log(jnp.log(large) + log_boost, concentration)


def gamma_parts(source: Source, concentration: Any, first: int, step: int) -> tuple[Any, Any]:
    """A number and the log of its factor: the product is gamma.

    For a concentration of at least 1 the factor is 1 and the number is d v with v = (1 + c x)^3, d
    = concentration - 1/3, c = 1 / sqrt(9 d), accepted if log u < x^2 / 2 + d (1 - v + log v). For a
    smaller one it is the number of concentration + 1 and the factor is u**(1 / concentration).
    Source: G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables, ACM TOMS 26
    (2000) 363-372.
    """
    a = lax.stop_gradient(concentration)
    valid = (a > 0) & jnp.isfinite(a)
    a = jnp.where(valid, a, 1)
    small = a < 1
    d = jnp.where(small, a + 1, a) - 1 / 3

    def proposal(source: Source, attempt: Any, d: Any) -> tuple[Any, Any, Any, Any]:
        # The first attempt is used for the factor.
        x, u = source.normal_and_uniform(np.uint32(first) + np.uint32(step) * (attempt + 1))
        w = 1 / (3 * jnp.sqrt(d)) * x
        inside = w > -1
        return x, u, jnp.where(inside, w, 0), inside

    def sure(source: Source, attempt: Any, d: Any) -> tuple[Any, Any]:
        x, u, w, inside = proposal(source, attempt, d)
        return d * (1 + w) ** 3, inside & (u > 0.0331 * (x * x) * (x * x))

    def propose(source: Source, attempt: Any, d: Any) -> tuple[Any, Any]:
        x, u, w, inside = proposal(source, attempt, d)
        # 1 - v + log v, written so that it is exact for large d.
        gap = 3 * (jnp.log1p(w) - w) - w * w * (3 + w)
        return d * (1 + w) ** 3, inside & (jnp.log1p(-u) < 0.5 * x * x + d * gap)

    large = first_accepted(source, propose, [d], valid, np.asarray(np.nan, source.dtype), sure)

    def boost() -> Any:
        return jnp.where(small, jnp.log(source.positive(np.uint32(first))) / a, 0)

    nothing = jnp.zeros(source.shape, source.dtype)
    return large, lax.cond(jnp.any(small), boost, lambda: nothing)


@jax.custom_jvp
def follow(x: Any, log_x: Any, concentration: Any) -> Any:
    """The gamma number x, with the derivative of its quantile."""
    return x


@follow.defjvp
def _follow_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    x, log_x, concentration = primals
    return x, x * _log_gamma_slope(concentration, log_x) * tangents[2]


@jax.custom_jvp
def follow_log(log_x: Any, concentration: Any) -> Any:
    """The logarithm of a gamma number, with the derivative of its quantile."""
    return log_x


@follow_log.defjvp
def follow_log_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    log_x, concentration = primals
    return log_x, _log_gamma_slope(concentration, log_x) * tangents[1]


def _log_gamma_slope(concentration: Any, log_x: Any) -> Any:
    """The derivative of log x by the concentration at fixed F(x).

    Near 0, F(x) is x**a / Gamma(a + 1) (1 + O(x)), which gives (digamma(a + 1) - log x) / a.
    """
    concentration = jnp.broadcast_to(concentration, log_x.shape)
    tiny = log_x < (-12 if log_x.dtype == np.float32 else -30)
    x = jnp.exp(jnp.where(tiny, 0, log_x))
    near_zero = (digamma(concentration + 1) - log_x) / concentration
    return jnp.where(tiny, near_zero, lax.random_gamma_grad(concentration, x) / x)
