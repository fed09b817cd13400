"""The skew normal distribution."""

import math
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..bits.source import Source
from ..graph.numerics.derivative_rules import by_forward
from ..graph.numerics.gaussian import log_ndtr
from ..graph.numerics.special import divide, hypot, log1mexp
from .declaration import declared
from .family import Family
from .inversion import LINE, continuous_quantile
from .moments import Moments
from .normal import HALF_LOG_2PI
from .numbers import nan_unless, possible, reals
from .parameter import Parameter, spread
from .tails import Tails, by_density, log_of_one

__all__ = ["draw", "skew_normal"]

LOG_2 = 0.6931471805599453
LOG_PI = 1.1447298858494002
# The trapezoidal rule in u for s = exp(u) times a length.
_STEP, _LOWEST, _HIGHEST = 0.125, -60.0, 42.0
_NODES = int((_HIGHEST - _LOWEST) / _STEP)
_TURNS = 8


def _terms(x: Any, location: Any, scale: Any, alpha: Any) -> tuple[Any, ...]:
    z = divide(x - location, scale)
    return -0.5 * z * z + log_ndtr(alpha * z), LOG_2 - jnp.log(scale) - HALF_LOG_2PI


def draw(source: Source, location: Any, scale: Any, alpha: Any) -> Any:
    """Draw from two standard normal numbers z and w.

    The result is delta |z| + sqrt(1 - delta**2) w, where alpha = delta / sqrt(1 - delta**2).

    Source: A. Azzalini, A class of distributions which includes the normal ones, Scandinavian
    Journal of Statistics 12 (1985) 171-178.
    """
    location, scale, alpha = reals(source, location, scale, alpha)
    length = jnp.sqrt(1 + alpha * alpha)
    first, second = source.part(0).normal(), source.part(1).normal()
    value = alpha / length * jnp.abs(first) + second / length
    return nan_unless(possible(location, scale) & jnp.isfinite(alpha), location + scale * value)


def _integral(h: Any, alpha: Any) -> Any:
    """An integral over s > 0.

    The integrand is exp(-h**2 (alpha s + s**2 / 2)) / (1 + (alpha + s)**2).
    """
    length = (1.0 + alpha) / (1.0 + h * (1.0 + alpha))

    def step(number: Any, total: Any) -> Any:
        for k in range(_TURNS):
            s = jnp.exp(_LOWEST + _STEP * (number * _TURNS + k)) * length
            x = alpha + s
            total = total + s * jnp.exp(-h * h * s * (alpha + 0.5 * s)) / (1.0 + x * x)
        return total

    start = jnp.zeros_like(h * alpha)
    return _STEP * lax.fori_loop(0, _NODES // _TURNS, step, start)


_log_integral = by_forward(lambda h, alpha: jnp.log(_integral(h, alpha)))


def _slanted(z: Any, alpha: Any) -> Tails:
    """The tails for alpha >= 0.

    By Owen's integral, P(Z <= -h) is 1 / pi times the integral of
    exp(-h**2 (1 + x**2) / 2) / (1 + x**2) over x > alpha. P(Z > h) = 2 P(N > h) - P(Z <= -h) with a
    normal N, where nothing cancels.
    """
    left, h = z < 0, jnp.abs(z)
    far = -0.5 * h * h * (1.0 + alpha * alpha) - LOG_PI + _log_integral(h, alpha)
    smaller = jnp.where(left, far, log_of_one(LOG_2 + log_ndtr(-h), far))
    larger = log1mexp(-jnp.minimum(smaller, -1e-300))
    return jnp.where(left, smaller, larger), jnp.where(left, larger, smaller)


def _both_tails(z: Any, alpha: Any) -> Tails:
    z, alpha = jnp.broadcast_arrays(z, alpha)
    turn = alpha < 0
    below, above = _slanted(jnp.where(turn, -z, z), jnp.where(turn, -alpha, alpha))
    return jnp.where(turn, above, below), jnp.where(turn, below, above)


def _standard_density(z: Any, alpha: Any) -> Any:
    return sum(_terms(z, jnp.zeros_like(z), jnp.ones_like(z), alpha))


# Derivatives from the density: those through |z| would be wrong at 0.
_standard_tails = by_density(_both_tails, _standard_density)


def _tails(x: Any, location: Any, scale: Any, alpha: Any) -> Tails:
    return _standard_tails((x - location) / scale, alpha)


def _quantile(log_below: Any, log_above: Any, location: Any, scale: Any, alpha: Any) -> Any:
    return location + scale * continuous_quantile(
        _standard_tails, LINE, log_below, log_above, alpha
    )


def _moments(location: Any, scale: Any, alpha: Any) -> Moments:
    delta = alpha / hypot(jnp.ones_like(alpha), alpha)
    variance = 1.0 - 2.0 / math.pi * delta * delta
    return location + scale * delta * math.sqrt(2 / math.pi), scale * scale * variance


SKEW_NORMAL = Family(
    "skew_normal",
    (Parameter("location"), spread("scale"), Parameter("alpha")),
    _terms,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    SKEW_NORMAL,
    draws="Skew normal numbers, with slant `alpha`.",
    scipy="skewnorm",
    same={"location": "loc mu xi", "scale": "omega sigma", "alpha": "a"},
)
def skew_normal(location: Any = 0.0, scale: Any = 1.0, alpha: Any = 0.0):
    """An unknown that follows a skew normal distribution.

        log p(x) = log(2) - z**2 / 2 - log(2 pi) / 2 - log(scale) + log iprobit(alpha z),
        z = (x - location) / scale

    Parameters
    ----------
    location, scale
        Mean and standard deviation (above zero) of the normal distribution for alpha = 0.
    alpha
        Slant, any real number; a positive one has the longer tail above.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.skew_normal(0, 1, 4, name="x")
    """
