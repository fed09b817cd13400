"""Probabilities of intervals, and moments, of von Mises numbers on [-pi, pi].

    P(low <= T <= high) = integral of exp(kappa (cos t - 1)) dt / (2 pi exp(-kappa) I_0(kappa))

The integral uses Gauss-Legendre points, from `low` to where the density has fallen by exp(-REACH).
So even the smallest probability is accurate. [-pi, pi] has three parts; on each of them the
distance t from the mode, or from its periodic image, is monotonic. Nothing is subtracted.
"""

import math
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..graph.numerics.special import logaddexp
from .moments import REACH, Moments, nodes, of_nodes
from .tails import Tails

__all__ = ["log_parts", "moments_of_angles"]


def _nodes(low: Any, high: Any, kappa: Any) -> tuple[Any, Any]:
    """Distances beyond `low`, and weights times the relative density."""
    half = jnp.sin(0.5 * low)
    left = half * half + 0.5 * REACH / jnp.where(kappa > 0, kappa, 1e-300)
    end = 2.0 * jnp.arcsin(jnp.sqrt(jnp.minimum(left, 1.0)))
    # The result does not depend on where the range ends.
    t, weights = nodes(jnp.minimum(high, lax.stop_gradient(end)) - low)
    fall = jnp.sin(0.5 * t) * jnp.sin(low[..., None] + 0.5 * t)
    return t, weights * jnp.exp(-2.0 * kappa[..., None] * fall)


def _log_share(low: Any, high: Any, kappa: Any) -> Any:
    """The logarithm of the integral over [low, high].

    The ends satisfy 0 <= low <= high <= pi.
    """
    nonempty = high > low
    low, high = jnp.where(nonempty, low, 0.0), jnp.where(nonempty, high, 1.0)
    _, weights = _nodes(low, high, kappa)
    half = jnp.sin(0.5 * low)
    log_integral = jnp.log(jnp.sum(weights, -1)) - 2.0 * kappa * half * half
    return jnp.where(nonempty, log_integral, -jnp.inf)


def _turned(mu: Any) -> tuple[Any, Any]:
    """|mu| reduced to [0, pi], and whether mu was negative."""
    mu = mu - 2.0 * math.pi * lax.stop_gradient(jnp.round(mu / (2.0 * math.pi)))
    left = mu < 0
    return jnp.where(left, -mu, mu), left


def _log_parts(x: Any, mu: Any, kappa: Any) -> Tails:
    mu, left = _turned(mu)
    x = jnp.clip(jnp.where(left, -x, x), -math.pi, math.pi)
    x, mu, kappa = jnp.broadcast_arrays(x, mu, kappa)
    zero, half_turn, back = jnp.zeros_like(x), jnp.full_like(x, math.pi), math.pi - mu
    at = (
        jnp.clip(x - mu + 2.0 * math.pi, back, half_turn),  # from -pi on, away from the image
        jnp.clip(mu - x, zero, half_turn),  # towards the mode
        jnp.clip(x - mu, zero, back),  # away from the mode
    )
    low = (back, at[1], zero, at[0], zero, at[2])
    high = (at[0], half_turn, at[2], half_turn, at[1], back)
    share = _log_share(jnp.stack(low), jnp.stack(high), kappa)
    below = logaddexp(logaddexp(share[0], share[1]), share[2])
    above = logaddexp(logaddexp(share[3], share[4]), share[5])
    return jnp.where(left, above, below), jnp.where(left, below, above)


@jax.custom_jvp
def log_parts(x: Any, mu: Any, kappa: Any) -> Tails:
    """The logarithms of the integrals over [-pi, x] and [x, pi]."""
    return _log_parts(x, mu, kappa)


@log_parts.defjvp
def _log_parts_rule(primals: Any, tangents: Any) -> Any:
    """The derivatives by x and mu, computed from the density.

    At mu = 0 one part is empty, and differentiating the integral would miss its derivative.
    """
    x, mu, kappa = primals
    by_kappa = jax.jvp(lambda kappa: _log_parts(x, mu, kappa), (kappa,), (tangents[2],))[1]
    below, above = log_parts(x, mu, kappa)

    def log_density(t: Any) -> Any:
        half = jnp.sin(0.5 * (t - mu))
        return -2.0 * kappa * half * half

    at, end = log_density(x), log_density(jnp.full_like(x, math.pi))
    # The logarithm of the density at the ends, relative to that at x.
    gap = 2.0 * kappa * jnp.sin(0.5 * (x - math.pi) - mu) * jnp.sin(0.5 * (x + math.pi))
    more = jnp.where(gap < 0, -jnp.expm1(jnp.minimum(gap, 0.0)), jnp.expm1(-jnp.maximum(gap, 0.0)))

    def slopes(tail: Any) -> Any:
        some = jnp.isfinite(tail)
        tail = jnp.where(some, tail, 0.0)
        by_x = jnp.where(some, jnp.exp(at - tail), 0.0)
        by_mu = jnp.where(some, jnp.exp(jnp.maximum(at, end) - tail) * more, 0.0)
        return by_x * tangents[0] - by_mu * tangents[1]

    return (below, above), (by_kappa[0] + slopes(below), by_kappa[1] - slopes(above))


def moments_of_angles(mu: Any, kappa: Any) -> Moments:
    """The mean and the variance of the number from -pi to pi.

    These are not the circular mean and variance.
    """
    mu, left = _turned(mu)
    mu, kappa = jnp.broadcast_arrays(mu, kappa)
    zero, half_turn, back = jnp.zeros_like(mu), jnp.full_like(mu, math.pi), math.pi - mu

    def parts() -> Iterator[tuple[Any, Any]]:
        for side, low, high, start in (
            (1.0, back, half_turn, -half_turn),
            (-1.0, zero, half_turn, mu),
            (1.0, zero, back, mu),
        ):
            t, weights = _nodes(low, high, kappa)
            half = jnp.sin(0.5 * low)
            yield (
                start[..., None] + side * t,
                weights * jnp.exp(-2.0 * kappa * half * half)[..., None],
            )

    x, weights = zip(*parts(), strict=True)
    mean, variance = of_nodes(jnp.concatenate(x, -1), jnp.concatenate(weights, -1))
    return jnp.where(left, -mean, mean), variance
