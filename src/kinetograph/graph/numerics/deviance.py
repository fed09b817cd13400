"""Densities for large counts and shapes, without cancellation.

    log_peak(x)  x log(x) - x - log Gamma(x + 1): the log density of a Poisson at its mean x
    bd0(x, m)    x log(x / m) + m - x: the loss of log density because x differs from the mean m

Binomial, negative binomial, gamma, beta and Dirichlet densities are sums of these terms, too; see
`graph.numerics.gammas` for the source.
"""

from typing import Any

import jax.numpy as jnp

from .derivative_rules import partials
from .gammas import HALF_LOG_2PI, bd0, gammaln, stirlerr
from .special import log_expit

__all__ = ["deviance_of_log", "log_binomial", "log_peak", "weighted_log", "weighted_log_expit"]


def weighted_log(weight: Any, log: Any) -> Any:
    """weight * log, and 0 where weight is 0.

    The value is 0 there even if log is infinite.
    """
    return weight * jnp.where((weight == 0) & jnp.isinf(log), 0.0, log)


def _slope_of_logit(x: Any, y: Any, logit: Any) -> Any:
    """The derivative of `weighted_log_expit` by the logit.

    It is x (1 - p) - y p for p of these log odds.

    One exponential is computed, and neither p nor 1 - p is found by a difference.
    """
    positive = logit >= 0
    e = jnp.exp(-jnp.where(positive, logit, -logit))
    return (x * jnp.where(positive, e, 1.0) - y * jnp.where(positive, 1.0, e)) / (1.0 + e)


@partials(
    lambda x, y, logit: log_expit(logit),
    lambda x, y, logit: log_expit(-logit),
    _slope_of_logit,
)
def weighted_log_expit(x: Any, y: Any, logit: Any) -> Any:
    """The log density of x successes and y failures.

    It is x log(p) + y log(1 - p) for p of these log odds.

    The log odds may be infinite. One logarithm is computed.
    """
    sure = weighted_log(x, jnp.minimum(logit, 0.0)) - weighted_log(y, jnp.maximum(logit, 0.0))
    return sure - (x + y) * jnp.log1p(jnp.exp(-jnp.abs(logit)))


def log_peak(x: Any) -> Any:
    """x log(x) - x - log(x!) for x >= 0.

    x! is Gamma(x + 1).
    """
    large = x >= 10.0
    y, small = jnp.where(large, x, 10.0), jnp.where(large, 1.0, x)
    plain = small * jnp.log(jnp.where(small > 0, small, 1.0)) - small - gammaln(small + 1.0)
    return jnp.where(large, -0.5 * jnp.log(y) - HALF_LOG_2PI - stirlerr(y), plain)


def _log_quotient(x: Any, log_mean: Any) -> Any:
    return jnp.log(x) - log_mean


@partials(_log_quotient, lambda x, log_mean: jnp.exp(log_mean) - x)
def deviance_of_log(x: Any, log_mean: Any) -> Any:
    """The deviance bd0 from a mean given by its logarithm.

    The mean itself may round to 0 or overflow.
    """
    mean = jnp.exp(log_mean)
    moderate = (mean > 0) & (mean >= 0.5 * x) & (mean <= 2.0 * x)
    is_positive = x > 0
    safe = jnp.where(is_positive, x, 1.0)
    # Far from the mean nothing cancels.
    far = jnp.where(is_positive, safe * (jnp.log(safe) - log_mean) + mean - x, mean)
    return jnp.where(moderate, bd0(x, jnp.where(moderate, mean, 1.0)), far)


def _shift(x: Any, y: Any, log_p: Any, log_q: Any) -> Any:
    """n p - x, without n p.

    It equals y - n q with n = x + y and q = 1 - p.

    It is accurate even if n is huge and q tiny.
    """
    return y * jnp.exp(log_p) - x * jnp.exp(log_q)


def _log_excess(x: Any, n: Any, shift: Any, log_p: Any) -> Any:
    """log(x / (n p)), where n p = x + shift."""
    near = jnp.abs(shift) < 0.5 * x
    close = -jnp.log1p(jnp.where(near, shift, 0.0) / jnp.where(near, x, 1.0))
    return jnp.where(near, close, jnp.log(x) - jnp.log(n) - log_p)


def _excess(x: Any, n: Any, shift: Any, log_p: Any) -> Any:
    """x log(x / (n p)) + n p - x.

    n p is x + shift.
    """
    is_positive = x > 0
    safe = jnp.where(is_positive, x, 1.0)
    near = is_positive & (jnp.abs(shift) < 0.5 * x)
    # Far from the mean nothing cancels.
    far = jnp.where(is_positive, safe * (jnp.log(safe) - jnp.log(n) - log_p) + shift, shift)
    return jnp.where(near, bd0(x, jnp.where(near, x + shift, 1.0)), far)


@partials(
    lambda x, y, log_p, log_q: _log_excess(x, x + y, _shift(x, y, log_p, log_q), log_p),
    lambda x, y, log_p, log_q: _log_excess(y, x + y, -_shift(x, y, log_p, log_q), log_q),
    _shift,
    lambda x, y, log_p, log_q: -_shift(x, y, log_p, log_q),
)
def _deviance_of_logs(x: Any, y: Any, log_p: Any, log_q: Any) -> Any:
    """The deviance of a binomial distribution.

    It is x log(x / (n p)) + y log(y / (n q)) with n = x + y and p + q = 1.
    """
    shift = _shift(x, y, log_p, log_q)
    return _excess(x, x + y, shift, log_p) + _excess(y, x + y, -shift, log_q)


def log_binomial(
    x: Any, y: Any, p: Any, q: Any, log_p: Any = None, log_q: Any = None
) -> tuple[Any, Any]:
    """The log density of a binomial distribution, as two terms.

    The density is Gamma(n + 1) / (Gamma(x + 1) Gamma(y + 1)) p**x q**y with n = x + y, and q is
    1 - p. If the logarithms of p and q are given, p and q themselves are not used.
    """
    n = x + y
    constant = log_peak(x) + log_peak(y) - log_peak(n)
    if log_p is None or log_q is None:
        return -bd0(x, n * p) - bd0(y, n * q), constant
    return -_deviance_of_logs(x, y, log_p, log_q), constant
