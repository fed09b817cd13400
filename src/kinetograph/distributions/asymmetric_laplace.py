"""The asymmetric Laplace distribution, of quantile regression."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.special import divide
from .declaration import declared
from .family import Family
from .moments import Moments
from .numbers import nan_unless, possible, reals
from .parameter import Parameter, positive, spread
from .tails import Tails

__all__ = ["asymmetric_laplace", "draw"]


def _terms(x: Any, mu: Any, sigma: Any, kappa: Any) -> tuple[Any, ...]:
    z = divide(x - mu, sigma)
    # The mean of both one-sided slopes at 0.
    slope = jnp.where(z > 0, -kappa, jnp.where(z < 0, 1.0 / kappa, 0.5 * (1.0 / kappa - kappa)))
    return z * slope, -jnp.log(sigma) - _log_sum(kappa)


def _log_sum(kappa: Any) -> Any:
    """log(kappa + 1 / kappa)."""
    log_kappa = jnp.log(kappa)
    return jnp.logaddexp(log_kappa, -log_kappa)


def draw(source: Source, mu: Any, sigma: Any, kappa: Any) -> Any:
    """Draw one-sided exponential numbers on either side of mu.

    The number is mu + sigma e / kappa or mu - sigma e kappa, where e is standard exponential.
    """
    mu, sigma, kappa = reals(source, mu, sigma, kappa)
    u, v = source.uniforms()
    e = -jnp.log1p(-u)
    right = v * (1 + kappa * kappa) < 1
    value = mu + sigma * jnp.where(right, e / kappa, -e * kappa)
    return nan_unless(possible(mu, sigma) & (kappa > 0) & jnp.isfinite(kappa), value)


def _sides(kappa: Any) -> Tails:
    """Logarithms of the probabilities below and above mu."""
    log_square = 2.0 * jnp.log(kappa)
    return -jnp.logaddexp(0.0, -log_square), -jnp.logaddexp(0.0, log_square)


def _tails(x: Any, mu: Any, sigma: Any, kappa: Any) -> Tails:
    z = (x - mu) / sigma
    left, (below, above) = z < 0, _sides(kappa)
    tail = jnp.where(left, below + z / kappa, above - z * kappa)
    rest = jnp.log1p(-jnp.exp(tail))
    return jnp.where(left, tail, rest), jnp.where(left, rest, tail)


def _quantile(log_below: Any, log_above: Any, mu: Any, sigma: Any, kappa: Any) -> Any:
    below, above = _sides(kappa)
    z = jnp.where(log_below < below, (log_below - below) * kappa, (above - log_above) / kappa)
    return mu + sigma * z


def _moments(mu: Any, sigma: Any, kappa: Any) -> Moments:
    right, left = sigma / kappa, sigma * kappa
    return mu + (right - left), right * right + left * left


ASYMMETRIC_LAPLACE = Family(
    "asymmetric_laplace",
    (Parameter("mu"), spread("sigma"), positive("kappa")),
    _terms,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    ASYMMETRIC_LAPLACE,
    draws="Asymmetric Laplace numbers with mode `mu`.",
    aliases={"": "asymmetriclaplacequantile skewdoubleexponential"},
    advice={"b": "give sigma=1 / b", "q": "give kappa=kg.sqrt(q / (1 - q))"},
    same={"mu": "loc", "sigma": "scale", "kappa": "asymmetry"},
)
def asymmetric_laplace(mu: Any = 0.0, sigma: Any = 1.0, kappa: Any = 1.0):
    """An unknown that follows an asymmetric Laplace distribution.

        log p(x) = -z kappa (x >= mu) or z / kappa (x < mu) - log(sigma (kappa + 1 / kappa)),
        z = (x - mu) / sigma

    Parameters
    ----------
    mu, sigma
        Mode, and scale above zero.
    kappa
        Asymmetry, above zero: below 1 the tail above is the longer one. mu is the quantile of
        the probability kappa**2 / (1 + kappa**2).

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.asymmetric_laplace(0, 1, 0.5, name="x")
    """
