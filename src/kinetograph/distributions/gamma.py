"""The gamma distribution, the exponential, and the inverse gamma."""

from typing import Any

import jax.numpy as jnp
from jax.scipy.special import gammaln, xlogy

from ..graph.array import Array
from .family import Family, distribute, positive
from .support import POSITIVE

__all__ = ["exponential", "gamma", "inverse_gamma"]


def _gamma_terms(x: Any, alpha: Any, rate: Any) -> tuple[Any, ...]:
    return xlogy(alpha - 1.0, x) - rate * x, alpha * jnp.log(rate), -gammaln(alpha)


def _exponential_terms(x: Any, rate: Any) -> tuple[Any, ...]:
    return -rate * x, jnp.log(rate)


def _inverse_gamma_terms(x: Any, alpha: Any, beta: Any) -> tuple[Any, ...]:
    return -(alpha + 1.0) * jnp.log(x) - beta / x, alpha * jnp.log(beta), -gammaln(alpha)


GAMMA = Family(
    "gamma", (positive("alpha"), positive("rate")), _gamma_terms, lambda alpha, rate: POSITIVE
)
EXPONENTIAL = Family("exponential", (positive("rate"),), _exponential_terms, lambda rate: POSITIVE)
INVERSE_GAMMA = Family(
    "inverse_gamma",
    (positive("alpha"), positive("beta")),
    _inverse_gamma_terms,
    lambda alpha, beta: POSITIVE,
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
