"""The von Mises distribution of angles."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import i0e, i1e

from ..bits.rejection import first_accepted
from ..bits.source import Source
from ..graph.numerics.derivative_rules import derivative
from .declaration import declared
from .family import Family
from .inversion import newton_quantile
from .numbers import nan_unless, reals
from .parameter import Parameter, spread
from .support import Interval
from .tails import Tails
from .von_mises_shares import log_parts, moments_of_angles

__all__ = ["draw", "von_mises"]

LOG_2PI = 1.8378770664093453
_EXCESS = (
    1 / 2,
    1 / 8,
    1 / 8,
    25 / 128,
    13 / 32,
    1073 / 1024,
)  # of powers of 1 / kappa
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(32)


def _shortfall(kappa: Any) -> Any:
    """1 - I_1(kappa) / I_0(kappa), by a series for large kappa."""
    far = kappa > 1000.0
    inverse = 1.0 / jnp.where(far, kappa, 1000.0)
    series = jnp.polyval(jnp.asarray((*_EXCESS[::-1], 0.0), inverse.dtype), inverse)
    near = jnp.where(far, 1.0, kappa)
    return jnp.where(far, series, (i0e(near) - i1e(near)) / i0e(near))


@derivative(lambda kappa: -_shortfall(kappa))
def _log_i0e(kappa: Any) -> Any:
    """log(I_0(kappa)) - kappa."""
    return jnp.log(i0e(kappa))


def _terms(x: Any, mu: Any, kappa: Any) -> tuple[Any, ...]:
    half = jnp.sin(0.5 * (x - mu))
    inside = (x >= -math.pi) & (x <= math.pi)
    return jnp.where(inside, -2.0 * kappa * half * half, -jnp.inf), -LOG_2PI - _log_i0e(kappa)


def draw(source: Source, mu: Any, kappa: Any) -> Any:
    """Draw by Best and Fisher's rejection from a wrapped Cauchy distribution.

    Source: D. J. Best, N. I. Fisher, Efficient simulation of the von Mises distribution, Applied
    Statistics 28 (1979) 152-157.
    """
    mu, kappa = reals(source, mu, kappa)
    valid = jnp.isfinite(mu) & (kappa >= 0) & jnp.isfinite(kappa)
    k = lax.stop_gradient(jnp.where(valid, kappa, 1.0))
    # For the Cauchy proposal: rho, and without cancellation r - 1, r = (1 + rho**2) / (2 rho).
    small = k < 1e-4
    safe = jnp.where(small, 1.0, k)
    tau = 1 + jnp.sqrt(1 + 4 * safe * safe)
    rho = (tau - jnp.sqrt(2 * tau)) / (2 * safe)
    wide = 1 / jnp.maximum(k, 1e-30) + k - 1
    beyond = jnp.where(small, wide, (1 - rho) ** 2 / (2 * rho))

    def propose(source: Source, attempt: Any, k: Any, beyond: Any) -> tuple[Any, Any]:
        u, v = source.uniforms(attempt)
        turn = 2 * u - 1
        sine = jnp.sin(0.5 * math.pi * turn)
        # 1 - f, where f = (1 + r z) / (r + z) is the cosine of the proposal and z = cos(pi turn)
        gap = beyond * 2 * sine * sine / (beyond + 2 - 2 * sine * sine)
        c = k * (beyond + gap)
        angle = 2 * jnp.arcsin(jnp.sqrt(jnp.clip(0.5 * gap, 0.0, 1.0)))
        return jnp.where(turn < 0, -angle, angle), jnp.log1p(-v) <= jnp.log(c) + 1 - c

    none = np.asarray(np.nan, source.dtype)
    level = k == 0
    angle = first_accepted(source, propose, [k, beyond], valid & ~level, none)
    angle = jnp.where(level, math.pi * (2 * source.uniform() - 1), angle)
    angle = _follow(angle, jnp.broadcast_to(jnp.where(valid, kappa, 1.0), angle.shape))
    full = mu + angle
    turns = jnp.floor((full + math.pi) / (2 * math.pi))
    return nan_unless(valid, jnp.clip(full - 2 * math.pi * turns, -math.pi, math.pi))


@jax.custom_jvp
def _follow(angle: Any, kappa: Any) -> Any:
    """The angle, with the derivative of its quantile by kappa.

    It is -(dF / d kappa) / f.
    """
    return angle


@_follow.defjvp
def _follow_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    angle, kappa = primals
    side, t = jnp.sign(angle), jnp.abs(angle)
    root = jnp.sqrt(jnp.maximum(kappa, 1e-30))
    # Integrate from the mode to the angle, or from the angle as far as the density matters.
    outward = t * root > 2
    low, high = (
        jnp.where(outward, t, 0.0),
        jnp.where(outward, jnp.minimum(math.pi, t + 16 / root), t),
    )
    mean, total = 1 - _shortfall(kappa), jnp.zeros_like(t)
    for point, weight in zip(0.5 * (_POINTS + 1), 0.5 * _WEIGHTS, strict=True):
        s = low + (high - low) * point
        exponent = 2 * kappa * jnp.sin(0.5 * (t - s)) * jnp.sin(0.5 * (t + s))
        total = total + weight * (jnp.cos(s) - mean) * jnp.exp(exponent)
    slope = (high - low) * total * jnp.where(outward, 1.0, -1.0)
    return angle, tangents[0] + side * slope * tangents[1]


def _tails(x: Any, mu: Any, kappa: Any) -> Tails:
    below, above = log_parts(x, mu, kappa)
    left, constant = below <= above, LOG_2PI + _log_i0e(kappa)
    tail = jnp.where(left, below, above) - constant
    rest = jnp.log1p(-jnp.exp(tail))
    return jnp.where(left, tail, rest), jnp.where(left, rest, tail)


def _log_density(x: Any, mu: Any, kappa: Any) -> Any:
    return sum(_terms(x, mu, kappa))


def _quantile(log_below: Any, log_above: Any, mu: Any, kappa: Any) -> Any:
    start = lax.stop_gradient(mu - 2.0 * math.pi * jnp.round(mu / (2.0 * math.pi)))
    return newton_quantile(_tails, _log_density, math.pi, log_below, log_above, start, mu, kappa)


VON_MISES = Family(
    "von_mises",
    (Parameter("mu"), spread("kappa")),
    _terms,
    lambda mu, kappa: Interval(-math.pi, math.pi, closed=True),
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=moments_of_angles,
)


@declared(
    VON_MISES,
    draws="Angles from -pi to pi around `mu`, with concentration `kappa`.",
    scipy="vonmises",
    same={"mu": "loc", "kappa": "concentration"},
)
def von_mises(mu: Any = 0.0, kappa: Any = 1.0):
    """An angle from -pi to pi that follows a von Mises distribution.

        log p(x) = kappa cos(x - mu) - log(2 pi I_0(kappa)),  -pi <= x <= pi

    Parameters
    ----------
    mu, kappa
        Mean direction, any angle, and concentration, above zero.
    truncation, censoring
        Pairs of bounds, None where there is none; see `kg.normal`. The angle is a number from -pi
        to pi for any mu, and so are the bounds: an angle beyond pi continues from -pi.

    Notes
    -----
    An unknown angle cannot cross -pi or pi, so mu should be far from them. For an angle on the
    whole circle use two normal unknowns, as in `kg.arctan2(a, b)`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.uniform(-3.14, 3.14, name="mu")
    >>> likelihood = kg.observe(kg.data([0.3, -0.2]), kg.von_mises(mu, 4.0))
    """
