"""The positive half of a Cauchy distribution."""

import math
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.special import cospi, sinpi
from .cauchy import LOG_PI, log1p_square
from .declaration import declared
from .family import Family
from .moments import Moments
from .numbers import nan_unless, possible, reals
from .parameter import spread
from .support import NONNEGATIVE
from .tails import Tails, above_zero

__all__ = ["draw", "half_cauchy"]

LOG_2 = 0.6931471805599453


def _terms(x: Any, scale: Any) -> tuple[Any, ...]:
    return -log1p_square(x, scale), LOG_2 - LOG_PI - jnp.log(scale)


def draw(source: Source, scale: Any) -> Any:
    """Draw scale / tan(pi u / 2) with u in (0, 1]."""
    (scale,) = reals(source, scale)
    distance = 1 / jnp.tan((math.pi / 2) * source.positive())
    return nan_unless(possible(0, scale), scale * distance)


@above_zero
def _tails(x: Any, scale: Any) -> Tails:
    z = x / scale
    return jnp.log(2 / jnp.pi * jnp.arctan(z)), jnp.log(2 / jnp.pi * jnp.arctan(1 / z))


def _quantile(log_below: Any, log_above: Any, scale: Any) -> Any:
    left = log_below <= log_above
    half = 0.5 * jnp.exp(jnp.where(left, log_below, log_above))
    z = sinpi(half) / cospi(half)
    return scale * jnp.where(left, z, 1 / z)


def _moments(scale: Any) -> Moments:
    endless = jnp.full_like(scale, jnp.inf)
    return endless, endless


HALF_CAUCHY = Family(
    "half_cauchy",
    (spread("scale"),),
    _terms,
    lambda scale: NONNEGATIVE,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    HALF_CAUCHY,
    draws="|z| of Cauchy numbers z with median 0; their own median is `scale`.",
    scipy="halfcauchy",
    same={"scale": "beta sigma"},
)
def half_cauchy(scale: Any = 1.0):
    """A positive unknown: the absolute value of a Cauchy with location 0.

        log p(x) = log(2) - log(1 + (x / scale)**2) - log(pi scale),  x > 0

    Parameters
    ----------
    scale
        Median, above zero.

    Examples
    --------
    >>> import kinetograph as kg
    >>> tau = kg.half_cauchy(5, name="tau")
    """
