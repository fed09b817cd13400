"""The positive half of a normal distribution."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.array import Array
from ..graph.special import divide
from .family import Family
from .normal import HALF_LOG_2PI
from .numbers import nan_unless, possible, reals
from .parameter import spread
from .support import NONNEGATIVE
from .variable import distribute
from .words import with_words

__all__ = ["draw", "half_normal"]

LOG_2 = 0.6931471805599453


def _terms(x: Any, sd: Any) -> tuple[Any, ...]:
    z = divide(x, sd)
    return -0.5 * z * z, LOG_2 - HALF_LOG_2PI - jnp.log(sd)


def draw(source: Source, sd: Any) -> Any:
    """sd |z|."""
    (sd,) = reals(source, sd)
    z = source.normal()
    # Not jnp.abs, for which XLA's compiler takes half a minute on the quantile.
    return nan_unless(possible(0, sd), sd * jnp.where(z < 0, -z, z))


HALF_NORMAL = Family("half_normal", (spread("sd"),), _terms, lambda sd: NONNEGATIVE, draw=draw)


@with_words
def half_normal(
    sd: Any = 1.0, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """A positive unknown: the absolute value of a normal with mean 0.

        log p(x) = log(2) - (x / sd)**2 / 2 - log(sd) - log(2 pi) / 2,  x > 0

    Parameters
    ----------
    sd
        Standard deviation of the whole normal, above zero.
    shape, dims, name
        As for `normal`.

    Raises
    ------
    ValueError
        If `sd` is known and not positive.

    Examples
    --------
    >>> import kinetograph as kg
    >>> sigma = kg.half_normal(1, name="sigma")
    """
    return distribute(HALF_NORMAL, (sd,), shape=shape, dims=dims, name=name)
