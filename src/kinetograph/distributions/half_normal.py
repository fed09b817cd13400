"""The positive half of a normal distribution."""

import math
from typing import Any

import jax.numpy as jnp
from jax.scipy.special import erf

from ..bits.source import Source
from ..graph.numerics.gaussian import erfinv, log_ndtr
from ..graph.numerics.special import divide
from .declaration import declared
from .family import Family
from .moments import Moments
from .normal import HALF_LOG_2PI, truncated_moments
from .numbers import nan_unless, possible, reals
from .parameter import spread
from .support import NONNEGATIVE
from .tails import Tails, above_zero, by_survival, normal_quantile

__all__ = ["draw", "half_normal"]

LOG_2 = 0.6931471805599453


def _terms(x: Any, sd: Any) -> tuple[Any, ...]:
    z = divide(x, sd)
    return -0.5 * z * z, LOG_2 - HALF_LOG_2PI - jnp.log(sd)


def draw(source: Source, sd: Any) -> Any:
    """Draw sd |z| with a standard normal z."""
    (sd,) = reals(source, sd)
    z = source.normal()
    # Not jnp.abs: with it XLA compiles the quantile for half a minute.
    return nan_unless(possible(0, sd), sd * jnp.where(z < 0, -z, z))


@above_zero
def _tails(x: Any, sd: Any) -> Tails:
    z = x / sd
    small = z < 1.0
    near = jnp.log(erf(jnp.where(small, z, 0.5) / math.sqrt(2)))
    below, above = by_survival(math.log(2) + log_ndtr(-z))
    return jnp.where(small, near, below), above


def _quantile(log_below: Any, log_above: Any, sd: Any) -> Any:
    near = log_below < -1.0
    small = math.sqrt(2) * erfinv(jnp.exp(jnp.where(near, log_below, -1.0)))
    above = log_above - math.log(2)
    return sd * jnp.where(near, small, normal_quantile(jnp.log1p(-jnp.exp(above)), above))


def _moments(sd: Any) -> Moments:
    return math.sqrt(2 / math.pi) * sd, (1 - 2 / math.pi) * sd * sd


def _truncated_moments(lower: Any, upper: Any, sd: Any) -> Moments:
    return truncated_moments(0.0 if lower is None else lower, upper, 0.0, sd)


HALF_NORMAL = Family(
    "half_normal",
    (spread("sd"),),
    _terms,
    lambda sd: NONNEGATIVE,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
    truncated_moments=_truncated_moments,
)


@declared(
    HALF_NORMAL,
    draws="|z| of normal numbers z with mean 0 and standard deviation `sd`.",
    scipy="halfnorm",
    same={"sd": "scale sigma"},
)
def half_normal(sd: Any = 1.0):
    """A positive unknown: the absolute value of a normal with mean 0.

        log p(x) = log(2) - (x / sd)**2 / 2 - log(sd) - log(2 pi) / 2,  x > 0

    Parameters
    ----------
    sd
        Standard deviation of the whole normal, above zero.

    Examples
    --------
    >>> import kinetograph as kg
    >>> sigma = kg.half_normal(1, name="sigma")
    """
