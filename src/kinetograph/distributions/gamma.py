"""The gamma distribution, the exponential, and the inverse gamma."""

from typing import Any

import jax.numpy as jnp

from ..graph.array import Array
from ..graph.gammas import gammaln
from ..graph.special import divide, xlogy
from .deviance import deviance_of_log, log_peak, weighted_log
from .family import Family, distribute, positive
from .support import NONNEGATIVE, POSITIVE, powers

__all__ = ["exponential", "gamma", "inverse_gamma"]


def _log(value: Any, log: Any) -> Any:
    return jnp.log(value) if log is None else log


def _gamma_terms(
    x: Any, alpha: Any, rate: Any, log_x: Any = None, log_rate: Any = None
) -> tuple[Any, ...]:
    log_rate = _log(rate, log_rate)
    constant = log_peak(alpha) + jnp.log(alpha)
    if log_x is not None:
        return -deviance_of_log(alpha, log_x + log_rate) - log_x, constant
    # At 0 the parts are infinite, also where the density is finite.
    plain = sum(_small_gamma_terms(x, alpha, rate, log_rate=log_rate))
    log_x = jnp.log(jnp.where(x == 0, 1.0, x))
    careful = -deviance_of_log(alpha, log_x + log_rate) - log_x + constant
    return (jnp.where(x == 0, plain, careful),)


def _small_gamma_terms(
    x: Any, alpha: Any, rate: Any, log_x: Any = None, log_rate: Any = None
) -> tuple[Any, ...]:
    weight = alpha - 1.0
    power = xlogy(weight, x) if log_x is None else weighted_log(weight, log_x)
    return power - rate * x, alpha * _log(rate, log_rate), -gammaln(alpha)


def _exponential_terms(x: Any, rate: Any, log_rate: Any = None) -> tuple[Any, ...]:
    return -rate * x, _log(rate, log_rate)


def _inverse_gamma_terms(
    x: Any, alpha: Any, beta: Any, log_x: Any = None, log_beta: Any = None
) -> tuple[Any, ...]:
    log_x, log_beta = _log(x, log_x), _log(beta, log_beta)
    cost = deviance_of_log(alpha, log_beta - log_x)
    return -cost - log_x, log_peak(alpha) + jnp.log(alpha)


def _small_inverse_gamma_terms(
    x: Any, alpha: Any, beta: Any, log_x: Any = None, log_beta: Any = None
) -> tuple[Any, ...]:
    power = -(alpha + 1.0) * _log(x, log_x)
    return power - divide(beta, x), alpha * _log(beta, log_beta), -gammaln(alpha)


GAMMA = Family(
    "gamma",
    (positive("alpha"), positive("rate")),
    _gamma_terms,
    lambda alpha, rate: powers(POSITIVE, alpha),
    forms={"x": (("log",),), "rate": (("log",),)},
    small_terms=_small_gamma_terms,
    sizes=("alpha",),
)
EXPONENTIAL = Family(
    "exponential",
    (positive("rate"),),
    _exponential_terms,
    lambda rate: NONNEGATIVE,
    forms={"rate": (("log",),)},
)
INVERSE_GAMMA = Family(
    "inverse_gamma",
    (positive("alpha"), positive("beta")),
    _inverse_gamma_terms,
    lambda alpha, beta: POSITIVE,
    forms={"x": (("log",),), "beta": (("log",),)},
    small_terms=_small_inverse_gamma_terms,
    sizes=("alpha",),
)


def gamma(
    alpha: Any, rate: Any = 1.0, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """A positive unknown that follows a gamma distribution.

        log p(x) = alpha log(rate) - log Gamma(alpha) + (alpha - 1) log(x) - rate x,  x > 0

    Parameters
    ----------
    alpha, rate
        Shape, and rate (the inverse of the scale), both above zero; the mean is alpha / rate.
    shape, dims, name
        Shape of the unknown (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If a parameter is known and not positive.
    ShapeError
        If parameters and shape do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.gamma(2, 0.1, name="x")
    """
    return distribute(GAMMA, (alpha, rate), shape=shape, dims=dims, name=name)


def exponential(
    rate: Any = 1.0, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """A positive unknown that follows an exponential distribution.

        log p(x) = log(rate) - rate x,  x > 0

    Parameters
    ----------
    rate
        The inverse of the mean, above zero.
    shape, dims, name
        Shape of the unknown (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If `rate` is known and not positive.
    ShapeError
        If parameters and shape do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.exponential(0.5, name="x")
    """
    return distribute(EXPONENTIAL, (rate,), shape=shape, dims=dims, name=name)


def inverse_gamma(
    alpha: Any, beta: Any = 1.0, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """A positive unknown whose inverse follows gamma(alpha, beta).

        log p(x) = alpha log(beta) - log Gamma(alpha) - (alpha + 1) log(x) - beta / x,  x > 0

    Parameters
    ----------
    alpha, beta
        Shape and scale, both above zero; the mean is beta / (alpha - 1) for alpha > 1.
    shape, dims, name
        Shape of the unknown (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If a parameter is known and not positive.
    ShapeError
        If parameters and shape do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.inverse_gamma(3, 2, name="x")
    """
    return distribute(INVERSE_GAMMA, (alpha, beta), shape=shape, dims=dims, name=name)
