"""The Laplace (double exponential) distribution."""

import math
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.special import absolute, divide
from .declaration import declared
from .family import Family
from .moments import Moments
from .numbers import nan_unless, possible, reals, signed
from .parameter import Parameter, spread
from .tails import Tails

__all__ = ["draw", "laplace"]

LOG_2 = 0.6931471805599453


def _terms(x: Any, mu: Any, sigma: Any) -> tuple[Any, ...]:
    return -absolute(divide(x - mu, sigma)), -jnp.log(sigma) - LOG_2


def draw(source: Source, mu: Any, sigma: Any) -> Any:
    """Draw mu +- sigma e with a standard exponential e."""
    mu, sigma = reals(source, mu, sigma)
    u, v = source.uniforms()
    return nan_unless(possible(mu, sigma), mu + sigma * signed(v, -jnp.log(1 - u)))


def _tails(x: Any, mu: Any, sigma: Any) -> Tails:
    z = (x - mu) / sigma
    left = z < 0
    tail = -jnp.where(left, -z, z) - math.log(2)
    rest = jnp.log1p(-jnp.exp(tail))
    return jnp.where(left, tail, rest), jnp.where(left, rest, tail)


def _quantile(log_below: Any, log_above: Any, mu: Any, sigma: Any) -> Any:
    left = log_below <= log_above
    z = math.log(2) + jnp.where(left, log_below, log_above)
    return mu + sigma * jnp.where(left, z, -z)


def _moments(mu: Any, sigma: Any) -> Moments:
    return mu, 2.0 * sigma * sigma


LAPLACE = Family(
    "laplace",
    (Parameter("mu"), spread("sigma")),
    _terms,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    LAPLACE,
    draws="Laplace numbers, with density exp(-|x - mu| / sigma) / (2 sigma).",
    scipy="laplace",
    aliases={"": "doubleexponential"},
    same={"mu": "loc", "sigma": "b scale"},
)
def laplace(mu: Any = 0.0, sigma: Any = 1.0):
    """An unknown that follows a Laplace distribution.

        log p(x) = -abs(x - mu) / sigma - log(2 sigma)

    Parameters
    ----------
    mu, sigma
        Median, and scale (above zero); the standard deviation is sqrt(2) sigma.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.laplace(0, 1, name="x")
    """
