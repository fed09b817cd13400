"""Log probabilities below and above a point, for truncation and censoring.

The `tails` of a family are log P(X <= x) and log P(X > x). The smaller one is accurate even far
out.
"""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..bits.quantile import upper_quantile
from ..graph.numerics.derivative_rules import derivative
from ..graph.numerics.gaussian import log_ndtr, mills
from ..graph.numerics.special import log1mexp

__all__ = [
    "Tails",
    "above_zero",
    "below_by",
    "between",
    "by_density",
    "by_survival",
    "log_of_one",
    "normal_quantile",
    "normal_tails",
    "of_counts",
    "turned",
]

Tails = tuple[Any, Any]


def log_of_one(larger: Any, smaller: Any) -> Any:
    """log(exp(larger) - exp(smaller)), which is -inf where they agree."""
    finite = jnp.isfinite(smaller)
    gap = larger - jnp.where(finite, smaller, larger - 1.0)
    apart = gap > 0
    rest = jnp.where(finite, log1mexp(jnp.where(apart, gap, 1.0)), 0.0)
    return jnp.where(apart, larger + rest, -jnp.inf)


def between(low: Tails, high: Tails) -> Any:
    """log P(a < X <= b), from the tails at both ends.

    It uses the tails on the side where they are small.
    """
    (below_low, above_low), (below_high, above_high) = low, high
    left = below_high <= above_high
    larger, smaller = jnp.where(left, below_high, above_low), jnp.where(left, below_low, above_high)
    return log_of_one(larger, smaller)


def by_density(tails: Callable[..., Tails], log_density: Callable[..., Any]) -> Any:
    """The tails, with derivatives by x computed from the density."""

    def plain(x: Any, *parameters: Any) -> Tails:
        below, above, _ = jnp.broadcast_arrays(*tails(x, *parameters), x)
        return below, above

    with_derivative = jax.custom_jvp(plain)

    @with_derivative.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        x, *parameters = primals
        still = lax.stop_gradient(x)
        _, by_parameters = jax.jvp(
            lambda *p: plain(still, *p), tuple(parameters), tuple(tangents[1:])
        )
        density = log_density(x, *parameters)

        def slope(tail: Any) -> Any:
            finite = jnp.isfinite(tail)
            return jnp.where(finite, jnp.exp(density - jnp.where(finite, tail, 0.0)), 0.0)

        below, above = with_derivative(x, *parameters)
        change = tangents[0]
        changes = by_parameters[0] + change * slope(below), by_parameters[1] - change * slope(above)
        return (below, above), changes

    return with_derivative


def normal_tails(z: Any) -> Tails:
    """The tails of the standard normal distribution."""
    return log_ndtr(z), log_ndtr(-z)


@derivative(lambda log_tail: -1.0 / mills(-_tail_quantile(log_tail)))
def _tail_quantile(log_tail: Any) -> Any:
    """The standard normal quantile of an upper tail of at most 1/2."""
    limit = -80.0 if log_tail.dtype.itemsize == 4 else -600.0
    near = upper_quantile(jnp.exp(jnp.maximum(log_tail, limit)))
    tail = jnp.minimum(jnp.where(jnp.isfinite(log_tail), log_tail, limit), limit)
    # Newton's method on the logarithm, which is almost a parabola there.
    far = jnp.sqrt(-2 * tail - jnp.log(-4 * math.pi * tail))
    for _ in range(3):
        far = far + (log_ndtr(-far) - tail) / (far + 1 / far)
    far = jnp.where(jnp.isneginf(log_tail), jnp.inf, far)
    return jnp.where(log_tail > limit, near, far)


def normal_quantile(log_below: Any, log_above: Any) -> Any:
    """The quantile of the standard normal distribution with these tails."""
    left = log_below <= log_above
    z = _tail_quantile(jnp.minimum(jnp.where(left, log_below, log_above), -math.log(2)))
    return jnp.where(left, -z, z)


def below_by(tails: Callable[..., Tails], inside: Callable[[Any], Any]) -> Callable[..., Tails]:
    """Extend tails for x `inside` to any x.

    The other x are below the support.
    """

    @wraps(tails)
    def everywhere(x: Any, *parameters: Any) -> Tails:
        here = inside(x)
        below, above = tails(jnp.where(here, x, 1.0), *parameters)
        return jnp.where(here, below, -jnp.inf), jnp.where(here, above, 0.0)

    return everywhere


def above_zero(tails: Callable[..., Tails]) -> Callable[..., Tails]:
    """Extend tails for x > 0 to any x."""
    return below_by(tails, lambda x: x > 0)


def of_counts(tails: Callable[..., Tails]) -> Callable[..., Tails]:
    """Extend tails for whole x >= 0 to any whole x."""
    return below_by(tails, lambda x: x >= 0)


def by_survival(above: Any) -> Tails:
    """The tails from log P(X > x).

    It must be accurate near 0 as well.
    """
    negative = above < 0
    below = jnp.where(negative, log1mexp(jnp.where(negative, -above, 1.0)), -jnp.inf)
    return below, above


def turned(tails: Tails) -> Tails:
    """Exchange the tails, as for -X or 1 / X."""
    below, above = tails
    return above, below
