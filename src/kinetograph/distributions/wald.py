"""The Wald or inverse Gaussian distribution of first-passage times."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.gaussian import erfcx, log_ndtr
from ..graph.numerics.special import divide
from .declaration import declared
from .family import Family
from .inversion import POSITIVE_LINE, continuous_quantile
from .moments import Moments
from .normal import HALF_LOG_2PI
from .numbers import nan_unless, reals
from .parameter import positive
from .support import POSITIVE
from .tails import Tails, above_zero, log_of_one

__all__ = ["draw", "wald"]

LOG_2 = 0.6931471805599453
ROOT_HALF = 0.7071067811865476


def _terms(x: Any, mu: Any, lam: Any, log_x: Any = None) -> tuple[Any, ...]:
    z = divide(x - mu, mu)
    log_x = jnp.log(x) if log_x is None else log_x
    return -0.5 * divide(lam * z, x) * z - 1.5 * log_x, 0.5 * jnp.log(lam) - HALF_LOG_2PI


def draw(source: Source, mu: Any, lam: Any) -> Any:
    """Draw one of the two roots of a squared normal number.

    Source: J. R. Michael, W. R. Schucany, R. W. Haas, Generating random variates using
    transformations with multiple roots, The American Statistician 30 (1976) 88-90.
    """
    mu, lam = reals(source, mu, lam)
    z, u = source.normal_and_uniform()
    w = 0.5 * mu / lam * z * z
    # The smaller root divided by the mean, 1 + w - sqrt(w (2 + w)), without cancellation.
    ratio = 1 / (1 + w + jnp.sqrt(w * (2 + w)))
    value = jnp.where(u * (1 + ratio) <= 1, mu * ratio, mu / ratio)
    valid = (mu > 0) & jnp.isfinite(mu) & (lam > 0) & jnp.isfinite(lam)
    return nan_unless(valid, value)


@above_zero
def _tails(x: Any, mu: Any, lam: Any) -> Tails:
    root = jnp.sqrt(lam / x)
    a, b = root * (x / mu - 1.0), root * (x / mu + 1.0)
    # exp(2 lam / mu) P(Z > b) for a normal Z, by Mills' ratio.
    other = jnp.log(0.5 * erfcx(b * ROOT_HALF)) - 0.5 * a * a
    right = a > 0
    near = jnp.where(right, a, 0.5 * b) * ROOT_HALF
    ratios = jnp.log(0.5 * (erfcx(near) - erfcx(b * ROOT_HALF))) - 0.5 * a * a
    left = jnp.where(right, -1.0, a)
    above = jnp.where(right, ratios, log_of_one(log_ndtr(-left), jnp.minimum(other, -LOG_2)))
    below = jnp.logaddexp(log_ndtr(a), other)
    return jnp.minimum(below, 0.0), jnp.minimum(above, 0.0)


def _quantile(log_below: Any, log_above: Any, mu: Any, lam: Any) -> Any:
    return mu * continuous_quantile(
        lambda x, ratio: _tails(x, jnp.ones_like(x), ratio),
        POSITIVE_LINE,
        log_below,
        log_above,
        lam / mu,
    )


def _moments(mu: Any, lam: Any) -> Moments:
    return mu, mu * mu * (mu / lam)


WALD = Family(
    "wald",
    (positive("mu"), positive("lam")),
    _terms,
    lambda mu, lam: POSITIVE,
    forms={"x": (("log",),)},
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    WALD,
    draws="Inverse Gaussian numbers, with mean `mu` and variance mu**3 / lam.",
    scipy="invgauss",
    aliases={"": "inversegaussian"},
    advice={
        "phi": "give lam=mu * phi",
        "loc": "give mu=, the mean; a shift is loc + kg.wald(...)",
        "scale": "give lam=scale, and mu=mu * scale for SciPy's mu",
    },
    same={"lam": "concentration"},
)
def wald(mu: Any, lam: Any = 1.0):
    """A positive unknown that follows a Wald (inverse Gaussian) distribution.

        log p(x) = -lam (x - mu)**2 / (2 mu**2 x) + (log(lam) - 3 log(x) - log(2 pi)) / 2,  x > 0

    Parameters
    ----------
    mu, lam
        Mean and shape, both above zero; the variance is mu**3 / lam. It is the time that a
        Brownian motion of drift v takes to the height a, with mu = a / v and lam = a**2.

    Examples
    --------
    >>> import kinetograph as kg
    >>> time = kg.wald(1.5, 3, name="time")
    """
