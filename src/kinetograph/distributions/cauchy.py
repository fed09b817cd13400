"""The Cauchy distribution."""

import math
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.derivative_rules import derivatives
from ..graph.numerics.special import cospi, icauchit, sinpi
from .declaration import declared
from .family import Family
from .moments import Moments
from .numbers import nan_unless, possible, reals, signed
from .parameter import Parameter, spread
from .tails import Tails

__all__ = ["cauchy", "draw", "log1p_square"]

LOG_PI = 1.1447298858494002


def _is_far(z: Any) -> Any:
    """Whether z**2 is near overflow, and 1 + z is z."""
    return jnp.abs(z) > float(jnp.finfo(z.dtype).max) ** (1 / 3)


def _slopes(primals: Any, tangents: Any) -> Any:
    """The derivatives of log(1 + z**2) by x and by scale.

    With z = x / scale they are d = 2 z / (1 + z**2) / scale and -z d. There is one division, by a
    number of moderate size.
    """
    x, scale = primals
    far, inverse = jnp.abs(x) > 2.0**30 * scale, 1.0 / scale  # where 1 + z**2 is z**2
    z = jnp.where(far, 0.0, x) / scale
    by_x = jnp.where(far, 1.0, z * inverse) / jnp.where(far, x, 1.0 + z * z)
    by_scale = -jnp.where(far, inverse, z * by_x)
    return 2.0 * (by_x * tangents[0] + by_scale * tangents[1])


@derivatives(_slopes)
def log1p_square(x: Any, scale: Any) -> Any:
    """log(1 + (x / scale)**2), without overflow of square or ratio."""
    z = x / scale
    far, over = _is_far(z), jnp.isinf(z)
    # If the ratio overflows, |x| is above 4, and its logarithm is log |x| - log scale.
    size = jnp.where(over, jnp.abs(x) - 1.0, jnp.where(far, jnp.abs(z), z * z))
    both = jnp.where(over, 2.0 * jnp.log(scale), 0.0)
    return jnp.where(far, 2.0, 1.0) * jnp.log1p(size) - both


def _terms(x: Any, location: Any, scale: Any) -> tuple[Any, ...]:
    return -log1p_square(x - location, scale), -jnp.log(scale) - LOG_PI


def draw(source: Source, location: Any, scale: Any) -> Any:
    """Draw Cauchy numbers, accurate in both tails.

    They are location +- scale / tan(pi u / 2) with u in (0, 1].
    """
    location, scale = reals(source, location, scale)
    u, v = source.uniforms()
    distance = signed(v, 1 / jnp.tan((math.pi / 2) * (1 - u)))
    return nan_unless(possible(location, scale), location + scale * distance)


def _tails(x: Any, location: Any, scale: Any) -> Tails:
    z = (x - location) / scale
    return jnp.log(icauchit(z)), jnp.log(icauchit(-z))


def _quantile(log_below: Any, log_above: Any, location: Any, scale: Any) -> Any:
    left = log_below <= log_above
    p = jnp.exp(jnp.where(left, log_below, log_above))
    z = cospi(p) / sinpi(p)
    return location + scale * jnp.where(left, -z, z)


def _moments(location: Any, scale: Any) -> Moments:
    """Return NaN: neither the mean nor the variance exists."""
    nowhere = jnp.full_like(location * scale, jnp.nan)
    return nowhere, nowhere


CAUCHY = Family(
    "cauchy",
    (Parameter("location"), spread("scale")),
    _terms,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    CAUCHY,
    draws="Cauchy numbers with median `location`.",
    scipy="cauchy",
    same={"location": "alpha loc mu", "scale": "beta sigma"},
)
def cauchy(location: Any = 0.0, scale: Any = 1.0):
    """A Cauchy unknown.

        log p(x) = -log(1 + z**2) - log(pi scale),  z = (x - location) / scale

    Parameters
    ----------
    location, scale
        Median, and half the distance between the quartiles (above zero).

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.cauchy(0, 2.5, name="x")
    """
