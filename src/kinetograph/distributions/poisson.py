"""The Poisson distribution of counts, by rate or by log rate."""

from typing import Any

import jax.numpy as jnp

from ..graph.array import Array
from ..graph.gammas import bd0, gammaln
from .deviance import deviance_of_log, log_peak, weighted_log
from .family import Family, Parameter, distribute
from .support import NATURALS, Interval

__all__ = ["poisson"]


def _rate_terms(x: Any, rate: Any, log_rate: Any = None) -> tuple[Any, ...]:
    if log_rate is not None:
        return _log_rate_terms(x, log_rate)
    return -bd0(x, rate), log_peak(x)


def _small_rate_terms(x: Any, rate: Any, log_rate: Any = None) -> tuple[Any, ...]:
    if log_rate is not None:
        return _small_log_rate_terms(x, log_rate)
    return x * jnp.log(jnp.where(x == 0, 1.0, rate)) - rate, -gammaln(x + 1.0)


def _log_rate_terms(x: Any, log_rate: Any) -> tuple[Any, ...]:
    return -deviance_of_log(x, log_rate), log_peak(x)


def _small_log_rate_terms(x: Any, log_rate: Any) -> tuple[Any, ...]:
    return weighted_log(x, log_rate) - jnp.exp(log_rate), -gammaln(x + 1.0)


POISSON = Family(
    "poisson",
    (Parameter("rate", Interval(0.0, closed=True)),),
    _rate_terms,
    lambda rate: NATURALS,
    discrete=True,
    forms={"rate": (("log",),)},
    small_terms=_small_rate_terms,
    sizes=("x",),
)
POISSON_LOG = Family(
    "poisson_log_rate",
    (Parameter("log_rate"),),
    _log_rate_terms,
    lambda log_rate: NATURALS,
    discrete=True,
    small_terms=_small_log_rate_terms,
    sizes=("x",),
)


def poisson(
    rate: Any = None,
    *,
    log_rate: Any = None,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """The number of independent events.

        log p(x) = x log(rate) - rate - log(x!),  x = 0, 1, ...

    Parameters
    ----------
    rate
        The expected number, not negative. Made by `kg.exp`, also times an exposure, it is as exact
        as by `log_rate`.
    log_rate
        Instead of `rate`: its logarithm, any real number.
    shape, dims, name
        Shape of the counts (default: the parameter's), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If `rate` is known and negative.
    TypeError
        If not exactly one of `rate` and `log_rate` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> log_rate = kg.normal(0, 1, name="log_rate")
    >>> y = kg.data([3, 0, 1])
    >>> likelihood = kg.observe(y, kg.poisson(log_rate=log_rate))
    """
    if (rate is None) == (log_rate is None):
        raise TypeError("poisson: give one of rate= and log_rate=")
    family, argument = (POISSON, rate) if log_rate is None else (POISSON_LOG, log_rate)
    return distribute(family, (argument,), shape=shape, dims=dims, name=name)
