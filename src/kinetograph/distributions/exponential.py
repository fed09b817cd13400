"""The exponential distribution."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.array import Array
from .family import Family
from .numbers import nan_unless, reals
from .parameter import positive
from .support import NONNEGATIVE
from .variable import distribute
from .words import with_words

__all__ = ["draw", "exponential"]


def _terms(x: Any, rate: Any, log_rate: Any = None) -> tuple[Any, ...]:
    return -rate * x, jnp.log(rate) if log_rate is None else log_rate


def draw(source: Source, rate: Any) -> Any:
    """-log(u) / rate for u in (0, 1]."""
    (rate,) = reals(source, rate)
    return nan_unless((rate > 0) & jnp.isfinite(rate), -jnp.log(source.positive()) / rate)


EXPONENTIAL = Family(
    "exponential",
    (positive("rate"),),
    _terms,
    lambda rate: NONNEGATIVE,
    forms={"rate": (("log",),)},
    draw=draw,
)


@with_words
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
