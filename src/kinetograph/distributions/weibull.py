"""The Weibull distribution."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.deviance import weighted_log
from ..graph.numerics.gammas import gammaln, log_quotient
from ..graph.numerics.log_links import log_icloglog
from ..graph.numerics.special import power, xlogy
from .declaration import declared
from .family import Family
from .moments import Moments
from .numbers import nan_unless, reals, unit_open
from .parameter import positive
from .support import POSITIVE, powers
from .tails import Tails, above_zero

__all__ = ["draw", "log_share", "weibull"]

# Riemann's zeta function minus 1, at 2, 3, ...
_ZETAS = (
    0.6449340668482264,
    0.2020569031595943,
    0.08232323371113819,
    0.03692775514336993,
    0.01734306198444914,
    0.008349277381922827,
    0.00407735619794434,
    0.002008392826082214,
    0.0009945751278180853,
    0.0004941886041194646,
    0.0002460865533080483,
    0.0001227133475784891,
    6.124813505870483e-05,
    3.058823630702049e-05,
    1.528225940865187e-05,
    7.637197637899763e-06,
)
# log Gamma(1 + 2 t) - 2 log Gamma(1 + t) in powers of t (Abramowitz and Stegun, 6.1.33).
_SPREAD = [
    (-1.0) ** n * (1.0 + zeta) * (2.0**n - 2.0) / n for n, zeta in enumerate(_ZETAS, start=2)
]


def log_share(x: Any, scale: Any, log_x: Any, log_scale: Any) -> Any:
    """log(x / scale), from the logarithms if one is given."""
    if log_x is None and log_scale is None:
        return log_quotient(x, scale)
    log_x = jnp.log(x) if log_x is None else log_x
    return log_x - (jnp.log(scale) if log_scale is None else log_scale)


def _terms(
    x: Any, alpha: Any, scale: Any, log_x: Any = None, log_scale: Any = None
) -> tuple[Any, ...]:
    constant = jnp.log(alpha) - (jnp.log(scale) if log_scale is None else log_scale)
    if log_x is not None:
        return _by_log(alpha, log_share(x, scale, log_x, log_scale)), constant
    # At 0 the logarithm is infinite even if the density is finite.
    zero = x == 0
    log_z = log_share(jnp.where(zero, scale, x), scale, None, log_scale)
    z = jnp.where(zero, x, scale) / scale
    plain = xlogy(alpha - 1.0, z) - power(z, alpha)
    return jnp.where(zero, plain, _by_log(alpha, log_z)), constant


def _by_log(alpha: Any, log_z: Any) -> Any:
    return weighted_log(alpha - 1.0, log_z) - jnp.exp(alpha * log_z)


def draw(source: Source, alpha: Any, scale: Any) -> Any:
    """Draw scale e**(1 / alpha) with a standard exponential e."""
    alpha, scale = reals(source, alpha, scale)
    log_e = jnp.log(-jnp.log1p(-unit_open(source)))
    valid = (alpha > 0) & jnp.isfinite(alpha) & (scale > 0) & jnp.isfinite(scale)
    return nan_unless(valid, scale * jnp.exp(log_e / alpha))


@above_zero
def _tails(x: Any, alpha: Any, scale: Any) -> Tails:
    power = alpha * log_quotient(x, scale)
    return log_icloglog(power), -jnp.exp(power)


def _quantile(log_below: Any, log_above: Any, alpha: Any, scale: Any) -> Any:
    tiny = log_below < -40.0
    log_e = jnp.where(tiny, log_below, jnp.log(-jnp.where(tiny, -1.0, log_above)))
    return scale * jnp.exp(log_e / alpha)


def _log_spread(t: Any) -> Any:
    """log Gamma(1 + 2 t) - 2 log Gamma(1 + t).

    For small t it is a series.
    """
    small = t < 0.05
    near = jnp.where(small, t, 0.0)
    series = near * near * jnp.polyval(jnp.asarray(_SPREAD[::-1], near.dtype), near)
    far = jnp.where(small, 1.0, t)
    return jnp.where(small, series, gammaln(1.0 + 2.0 * far) - 2.0 * gammaln(1.0 + far))


def _moments(alpha: Any, scale: Any) -> Moments:
    mean = scale * jnp.exp(gammaln(1.0 + 1.0 / alpha))
    return mean, mean * mean * jnp.expm1(_log_spread(1.0 / alpha))


WEIBULL = Family(
    "weibull",
    (positive("alpha"), positive("scale")),
    _terms,
    lambda alpha, scale: powers(POSITIVE, alpha),
    forms={"x": (("log",),), "scale": (("log",),)},
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    WEIBULL,
    draws="Weibull numbers of shape `alpha`.",
    scipy="weibull_min",
    aliases={"(2, kg.sqrt(2) * sigma)": "rayleigh"},
    same={"alpha": "c concentration", "scale": "beta sigma"},
)
def weibull(alpha: Any, scale: Any = 1.0):
    """A positive unknown that follows a Weibull distribution.

        log p(x) = log(alpha / scale) + (alpha - 1) log(x / scale) - (x / scale)**alpha,  x > 0

    Parameters
    ----------
    alpha, scale
        Shape and scale, both above zero; alpha = 1 is the exponential of mean `scale`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> lifetime = kg.weibull(1.5, 10, name="lifetime")
    """
