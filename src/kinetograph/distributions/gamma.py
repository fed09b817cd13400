"""The gamma distribution."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.deviance import deviance_of_log, log_peak, weighted_log
from ..graph.numerics.gammas import gammaln
from ..graph.numerics.incomplete import log_gamma_tails
from ..graph.numerics.special import xlogy
from .declaration import declared
from .family import Family
from .gamma_numbers import follow, gamma_parts
from .inversion import POSITIVE_LINE, continuous_quantile
from .moments import Moments
from .numbers import nan_unless, reals
from .parameter import positive
from .support import POSITIVE, powers
from .tails import Tails, above_zero

__all__ = ["draw", "gamma", "log_gamma_tails_of", "quantile", "small_terms", "terms"]


def terms(
    x: Any, alpha: Any, rate: Any, log_x: Any = None, log_rate: Any = None
) -> tuple[Any, ...]:
    log_rate = jnp.log(rate) if log_rate is None else log_rate
    constant = log_peak(alpha) + jnp.log(alpha)
    if log_x is not None:
        return -deviance_of_log(alpha, log_x + log_rate) - log_x, constant
    # At 0 the single terms are infinite even if the density is finite.
    plain = sum(small_terms(x, alpha, rate, log_rate=log_rate))
    log_x = jnp.log(jnp.where(x == 0, 1.0, x))
    careful = -deviance_of_log(alpha, log_x + log_rate) - log_x + constant
    return (jnp.where(x == 0, plain, careful),)


def small_terms(
    x: Any, alpha: Any, rate: Any, log_x: Any = None, log_rate: Any = None
) -> tuple[Any, ...]:
    weight = alpha - 1.0
    power = xlogy(weight, x) if log_x is None else weighted_log(weight, log_x)
    log_rate = jnp.log(rate) if log_rate is None else log_rate
    return power - rate * x, alpha * log_rate, -gammaln(alpha)


def draw(source: Source, alpha: Any, rate: Any) -> Any:
    """Draw by Marsaglia and Tsang's rejection; see `gamma_numbers`."""
    alpha, rate = reals(source, alpha, rate)
    large, log_boost = gamma_parts(source, alpha, 0, 1)
    value = large * jnp.exp(log_boost)
    value = follow(value, jnp.log(large) + log_boost, alpha)
    return nan_unless((rate > 0) & jnp.isfinite(rate), value / rate)


@above_zero
def _tails(x: Any, alpha: Any, rate: Any) -> Tails:
    return log_gamma_tails(alpha, rate * x)


def quantile(log_below: Any, log_above: Any, alpha: Any, rate: Any) -> Any:
    return (
        continuous_quantile(log_gamma_tails_of, POSITIVE_LINE, log_below, log_above, alpha) / rate
    )


def log_gamma_tails_of(x: Any, alpha: Any) -> Tails:
    """The log tails of a gamma number of rate 1."""
    return log_gamma_tails(alpha, x)


def _moments(alpha: Any, rate: Any) -> Moments:
    return alpha / rate, alpha / rate / rate


GAMMA = Family(
    "gamma",
    (positive("alpha"), positive("rate")),
    terms,
    lambda alpha, rate: powers(POSITIVE, alpha),
    forms={"x": (("log",),), "rate": (("log",),)},
    small_terms=small_terms,
    sizes=("alpha",),
    draw=draw,
    tails=_tails,
    quantile=quantile,
    moments=_moments,
)


# Parameters of other libraries, with the advice for each.
MOMENTS = dict.fromkeys(
    ("mu", "mean", "sigma", "sd"), "give alpha=(mu / sigma)**2, rate=mu / sigma**2"
)


@declared(
    GAMMA,
    draws="Gamma numbers, with mean alpha / rate.",
    scipy="gamma",
    advice=MOMENTS,
    same={"alpha": "a concentration", "rate": "beta"},
)
def gamma(alpha: Any, rate: Any = 1.0):
    """A positive unknown that follows a gamma distribution.

        log p(x) = alpha log(rate) - log Gamma(alpha) + (alpha - 1) log(x) - rate x,  x > 0

    Parameters
    ----------
    alpha, rate
        Shape, and rate (the inverse of the scale), both above zero; the mean is alpha / rate.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.gamma(2, 0.1, name="x")
    """
