"""The logistic distribution."""

import math
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.special import divide, log_expit, softplus
from .declaration import declared
from .family import Family
from .moments import Moments
from .numbers import nan_unless, possible, reals, unit_open
from .parameter import Parameter, spread
from .tails import Tails

__all__ = ["draw", "logistic"]


def _terms(x: Any, location: Any, scale: Any) -> tuple[Any, ...]:
    z = divide(x - location, scale)
    least = jnp.finfo(z.dtype).min
    z = jnp.maximum(z, least)  # -inf would give inf - inf
    return jnp.where(z > least, -z - 2.0 * softplus(-z), -jnp.inf), -jnp.log(scale)


def draw(source: Source, location: Any, scale: Any) -> Any:
    """Draw location + scale log(u / (1 - u)), u uniform."""
    location, scale = reals(source, location, scale)
    u = unit_open(source)
    value = location + scale * (jnp.log(u) - jnp.log1p(-u))
    return nan_unless(possible(location, scale), value)


def _tails(x: Any, location: Any, scale: Any) -> Tails:
    z = (x - location) / scale
    return log_expit(z), log_expit(-z)


def _quantile(log_below: Any, log_above: Any, location: Any, scale: Any) -> Any:
    return location + scale * (log_below - log_above)


def _moments(location: Any, scale: Any) -> Moments:
    return location, math.pi**2 / 3 * scale * scale


LOGISTIC = Family(
    "logistic",
    (Parameter("location"), spread("scale")),
    _terms,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    LOGISTIC,
    draws="Logistic numbers with mean `location`.",
    scipy="logistic",
    same={"location": "loc mu", "scale": "s sigma"},
)
def logistic(location: Any = 0.0, scale: Any = 1.0):
    """An unknown that follows a logistic distribution.

        log p(x) = -z - 2 log(1 + exp(-z)) - log(scale),  z = (x - location) / scale

    Parameters
    ----------
    location, scale
        Mean, and scale (above zero); the standard deviation is pi scale / sqrt(3).

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.logistic(0, 1, name="x")
    """
