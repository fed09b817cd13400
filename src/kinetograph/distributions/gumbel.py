"""The Gumbel distribution of a largest value."""

import math
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.derivative_rules import derivative
from ..graph.numerics.log_links import log_icloglog
from ..graph.numerics.special import divide
from .declaration import declared
from .family import Family
from .moments import Moments
from .numbers import nan_unless, possible, reals, unit_open
from .parameter import Parameter, spread
from .tails import Tails

__all__ = ["draw", "gumbel"]

EULER = 0.5772156649015329


@derivative(lambda z: jnp.expm1(-z))
def _peak(z: Any) -> Any:
    """-z - exp(-z), with an exact derivative at its maximum."""
    return -z - jnp.exp(-z)


def _terms(x: Any, location: Any, scale: Any) -> tuple[Any, ...]:
    z = divide(x - location, scale)
    z = jnp.maximum(z, jnp.finfo(z.dtype).min)  # at -infinity the result is not inf - inf
    return _peak(z), -jnp.log(scale)


def draw(source: Source, location: Any, scale: Any) -> Any:
    """Draw location - scale log(e) with a standard exponential e."""
    location, scale = reals(source, location, scale)
    log_e = jnp.log(-jnp.log1p(-unit_open(source)))
    return nan_unless(possible(location, scale), location - scale * log_e)


def _tails(x: Any, location: Any, scale: Any) -> Tails:
    z = (x - location) / scale
    return -jnp.exp(-z), log_icloglog(-z)


def _quantile(log_below: Any, log_above: Any, location: Any, scale: Any) -> Any:
    tiny = log_above < -40.0
    log_e = jnp.where(tiny, log_above, jnp.log(-jnp.where(tiny, -1.0, log_below)))
    return location - scale * log_e


def _moments(location: Any, scale: Any) -> Moments:
    return location + EULER * scale, math.pi**2 / 6 * scale * scale


GUMBEL = Family(
    "gumbel",
    (Parameter("location"), spread("scale")),
    _terms,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    GUMBEL,
    draws="Gumbel numbers with mode `location`, a limit of largest values.",
    scipy="gumbel_r",
    same={"location": "loc mu", "scale": "beta"},
)
def gumbel(location: Any = 0.0, scale: Any = 1.0):
    """An unknown that follows a Gumbel distribution, the limit of largest values.

        log p(x) = -z - exp(-z) - log(scale),  z = (x - location) / scale

    Parameters
    ----------
    location, scale
        Mode, and scale (above zero); the mean is location + 0.5772 scale.

    Examples
    --------
    >>> import kinetograph as kg
    >>> flood = kg.gumbel(3, 0.5, name="flood")
    """
