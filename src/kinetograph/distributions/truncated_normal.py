"""Truncated normal numbers, by the inverse of the cdf."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import log_ndtr

from ..bits.quantile import upper_quantile
from ..bits.source import Source
from ..graph.node import Data, Node
from ..graph.source import place_text
from .generator import Generator
from .normal import HALF_LOG_2PI
from .numbers import clamped, nan_unless, possible, reals, unit_open
from .parameter import Parameter, positive
from .support import Interval

__all__ = ["TRUNCATED_NORMAL", "draw"]


def draw(source: Source, mean: Any, sd: Any, lower: Any, upper: Any) -> Any:
    """Draw normal numbers, given that they are in [lower, upper].

    With S(z) = P(Z > z) and the standardised bounds a and b, it is the z with S(z) = S(a) - u (S(a)
    - S(b)). It is computed in logarithms, from the bound that is nearer to the centre, and is
    accurate even for bounds far out. Bounds may be infinite.
    """
    mean, sd, lower, upper = reals(source, mean, sd, lower, upper)
    no_lower, no_upper = jnp.isneginf(lower), jnp.isposinf(upper)
    # Infinite bounds are left out, as their derivatives are NaN.
    a = (jnp.where(no_lower, 0, lower) - mean) / sd
    b = (jnp.where(no_upper, 0, upper) - mean) / sd
    turned = jnp.where(no_lower | no_upper, no_lower & ~no_upper, a + b < 0)
    near, far = jnp.where(turned, -b, a), jnp.where(turned, -a, b)
    # If the nearer bound is infinite, both are.
    log_near = jnp.where(no_lower & no_upper, 0, log_ndtr(-near))
    log_far = jnp.where(no_lower | no_upper, -jnp.inf, log_ndtr(-far))
    share = -jnp.expm1(log_far - log_near)
    z = _tail_quantile(log_near, share, unit_open(source))
    value = mean + sd * jnp.where(turned, -z, z)
    bounds = (lower <= upper) & (lower < jnp.inf) & (upper > -jnp.inf)
    return nan_unless(possible(mean, sd) & (sd > 0) & bounds, clamped(value, lower, upper))


@jax.custom_jvp
def _tail_quantile(log_near: Any, share: Any, u: Any) -> Any:
    """The z with P(Z > z) = exp(log_near) (1 - u share).

    Here u, share and 1 - u share are between 0 and 1.
    """
    log_limit = -80.0 if u.dtype == np.float32 else -600.0
    tail = jnp.exp(log_near) * (1 - u * share)
    above = tail > 0.5
    # Below the median the lower tail is the small one.
    lower = -jnp.expm1(log_near) + jnp.exp(log_near) * (u * share)
    limit = math.exp(log_limit)
    z = upper_quantile(jnp.clip(jnp.where(above, lower, tail), limit, 0.5))
    z = jnp.where(above, -z, z)

    def far_out(state: Any) -> Any:
        # Newton's method on the logarithm, which is almost a parabola there.
        log_tail = jnp.minimum(log_near + jnp.log1p(-u * share), log_limit)
        far = jnp.sqrt(-2 * log_tail - jnp.log(-4 * math.pi * log_tail))
        for _ in range(3):
            far = far + (log_ndtr(-far) - log_tail) / (far + 1 / far)
        return jnp.bool_(False), jnp.where(tail > limit, z, far)

    # A loop of at most one trip: unlike a branch, it is skipped in a batch if no row is far out.
    return lax.while_loop(lambda state: state[0], far_out, (jnp.any(tail <= limit), z))[1]


@_tail_quantile.defjvp
def _tail_quantile_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    log_near, share, u = primals
    z = _tail_quantile(log_near, share, u)
    log_tail = log_near + jnp.log1p(-u * share)
    slope = tangents[0] - u * tangents[1] / (1 - u * share)
    far = z > 12
    safe = jnp.where(far, 1, z)
    near = jnp.exp(jnp.where(far, 0, log_tail) + 0.5 * safe * safe + HALF_LOG_2PI)
    # S(z) / phi(z) far out: 1 / (z + 1 / (z + 2 / (z + 3 / z))).
    large = jnp.where(far, z, 1)
    ratio = jnp.where(far, 1 / (large + 1 / (large + 2 / (large + 3 / large))), near)
    return z, -ratio * slope


def _check(mean: Node, sd: Node, lower: Node, upper: Node) -> None:
    if not isinstance(lower, Data) or not isinstance(upper, Data):
        return
    if not np.all(np.less_equal(lower.value, upper.value)):
        raise ValueError(
            f"truncated_normal: lower must not be above upper, got lower = {lower.value}, "
            f"upper = {upper.value}{place_text()}"
        )


TRUNCATED_NORMAL = Generator(
    "truncated_normal",
    (
        Parameter("mean"),
        positive("sd"),
        Parameter("lower", Interval(-np.inf, np.inf, (True, False))),
        Parameter("upper", Interval(-np.inf, np.inf, (False, True))),
    ),
    draw=draw,
    check=_check,
)
