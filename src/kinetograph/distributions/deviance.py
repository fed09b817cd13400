"""What cancels in densities of large counts and shapes, written so that nothing does.

    log_peak(x)     x log(x) - x - log Gamma(x + 1), of a Poisson at its own mean
    deviance(x, m)  x log(x / m) + m - x, what it costs that x differs from the mean m

Binomial, negative binomial, gamma, beta and Dirichlet densities are sums of these, too.

Source: C. Loader, Fast and accurate computation of binomial probabilities (2000).
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln

from ..graph.special import _stirling as stirling

__all__ = ["deviance", "deviance_of_log", "log_binomial", "log_peak", "weighted_log"]

# 2 (v + v**3 / 3 + v**5 / 5 + ...) = log((1 + v) / (1 - v)), from the second term on
_SERIES = [2.0 / (2 * k + 1) for k in range(9, 0, -1)]


def weighted_log(weight: Any, log: Any) -> Any:
    """weight * log, 0 where the weight is: also beside an infinite logarithm."""
    return weight * jnp.where((weight == 0) & jnp.isinf(log), 0.0, log)


def log_peak(x: Any) -> Any:
    """x log(x) - x - log Gamma(x + 1) for x >= 0."""
    large = x >= 10.0
    y, small = jnp.where(large, x, 10.0), jnp.where(large, 1.0, x)
    positive = jnp.where(small > 0, small, 1.0)
    plain = small * jnp.log(positive) - small - gammaln(small + 1.0)
    return jnp.where(large, -0.5 * jnp.log(2.0 * math.pi * y) - stirling(y), plain)


def _value(x: Any, mean: Any, log_mean: Any) -> Any:
    difference = x - mean
    v = difference / (x + mean)
    near = jnp.abs(v) < 0.1  # false where both are 0 or the mean is infinite
    v = jnp.where(near, v, 0.0)
    series = difference * v + x * v * v * v * jnp.polyval(jnp.asarray(_SERIES, v.dtype), v * v)
    some = x > 0
    far = jnp.where(some, x, 1.0) * (jnp.log(jnp.where(some, x, 1.0)) - log_mean) + mean - x
    return jnp.where(near, series, jnp.where(some, far, mean))


@jax.custom_jvp
def deviance(x: Any, mean: Any) -> Any:
    """x log(x / mean) + mean - x for x, mean >= 0."""
    return _value(x, mean, jnp.log(mean))


def _deviance_jvp(primals: Any, tangents: Any) -> Any:
    (x, mean), (x_dot, mean_dot) = primals, tangents
    value = deviance(x, mean)
    slope = 0.0
    if type(x_dot) is not jax.custom_derivatives.SymbolicZero:
        slope = slope + x_dot * _log_ratio(x, mean, jnp.log(mean))
    if type(mean_dot) is not jax.custom_derivatives.SymbolicZero:
        ratio = (mean - x) / jnp.where(mean == 0, 1.0, mean)
        slope = slope + mean_dot * jnp.where(mean == 0, jnp.where(x == 0, 1.0, -jnp.inf), ratio)
    return value, slope + jnp.zeros_like(value)


deviance.defjvp(_deviance_jvp, symbolic_zeros=True)


@jax.custom_jvp
def deviance_of_log(x: Any, log_mean: Any) -> Any:
    """The deviance from a mean given by its logarithm, which may round to 0 or overflow."""
    return _value(x, jnp.exp(log_mean), log_mean)


def _deviance_of_log_jvp(primals: Any, tangents: Any) -> Any:
    (x, log_mean), (x_dot, log_dot) = primals, tangents
    value, mean = deviance_of_log(x, log_mean), jnp.exp(log_mean)
    slope = 0.0
    if type(x_dot) is not jax.custom_derivatives.SymbolicZero:
        slope = slope + x_dot * _log_ratio(x, mean, log_mean)
    if type(log_dot) is not jax.custom_derivatives.SymbolicZero:
        slope = slope + log_dot * (mean - x)
    return value, slope + jnp.zeros_like(value)


deviance_of_log.defjvp(_deviance_of_log_jvp, symbolic_zeros=True)


def _log_ratio(x: Any, mean: Any, log_mean: Any) -> Any:
    """log(x / mean), right where both are close; 0 for x = 0, where it stands beside no change."""
    some = x > 0
    x = jnp.where(some, x, 1.0)
    relative = (x - mean) / jnp.where(mean > 0, mean, 1.0)
    near = jnp.abs(relative) < 0.5
    close = jnp.log1p(jnp.where(near, relative, 0.0))
    return jnp.where(some, jnp.where(near, close, jnp.log(x) - log_mean), 0.0)


def log_binomial(
    x: Any, y: Any, p: Any, q: Any, log_p: Any = None, log_q: Any = None
) -> tuple[Any, Any]:
    """Gamma(n + 1) / (Gamma(x + 1) Gamma(y + 1)) p**x q**y with n = x + y, as two log terms.

    q is 1 - p; log_p and log_q, where given, are what is differentiated.
    """
    n = x + y
    constant = log_peak(x) + log_peak(y) - log_peak(n)
    if log_p is None or log_q is None:
        return -deviance(x, n * p) - deviance(y, n * q), constant
    log_n = jnp.log(jnp.where(n > 0, n, 1.0))
    # Without trials nothing is expected, either.
    none = jnp.where(n > 0, 0.0, -jnp.inf)
    first = deviance_of_log(x, log_n + none + log_p)
    return -first - deviance_of_log(y, log_n + none + log_q), constant
