"""The exponential distribution."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from .declaration import declared
from .family import Family
from .moments import REACH, Moments, nodes, of_nodes
from .numbers import nan_unless, reals
from .parameter import positive
from .support import NONNEGATIVE
from .tails import Tails, above_zero, by_survival

__all__ = ["draw", "exponential"]


def _terms(x: Any, rate: Any, log_rate: Any = None) -> tuple[Any, ...]:
    return -rate * x, jnp.log(rate) if log_rate is None else log_rate


def draw(source: Source, rate: Any) -> Any:
    """Draw -log(u) / rate with u in (0, 1]."""
    (rate,) = reals(source, rate)
    return nan_unless((rate > 0) & jnp.isfinite(rate), -jnp.log(source.positive()) / rate)


@above_zero
def _tails(x: Any, rate: Any) -> Tails:
    return by_survival(-rate * x)


def _quantile(log_below: Any, log_above: Any, rate: Any) -> Any:
    return -log_above / rate


def _moments(rate: Any) -> Moments:
    return 1.0 / rate, 1.0 / rate**2


def _truncated_moments(lower: Any, upper: Any, rate: Any) -> Moments:
    lower = jnp.zeros_like(rate) if lower is None else lower
    if upper is None:
        return lower + 1.0 / rate, 1.0 / rate**2
    away, weights = nodes(jnp.minimum(upper - lower, REACH / rate))
    mean, variance = of_nodes(away, weights * jnp.exp(-rate[..., None] * away))
    return lower + mean, variance


EXPONENTIAL = Family(
    "exponential",
    (positive("rate"),),
    _terms,
    lambda rate: NONNEGATIVE,
    forms={"rate": (("log",),)},
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
    truncated_moments=_truncated_moments,
)


@declared(
    EXPONENTIAL,
    draws="Exponential numbers, with mean 1 / rate.",
    scipy="expon",
    aliases={"": "expon"},
    same={"rate": "beta lam"},
)
def exponential(rate: Any = 1.0):
    """A positive unknown that follows an exponential distribution.

        log p(x) = log(rate) - rate x,  x > 0

    Parameters
    ----------
    rate
        The inverse of the mean, above zero.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.exponential(0.5, name="x")
    """
