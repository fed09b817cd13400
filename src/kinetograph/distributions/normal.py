"""The normal distribution."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.special import divide
from .declaration import declared
from .family import Family
from .moments import REACH, Moments, nodes, of_nodes
from .numbers import nan_unless, possible, reals
from .parameter import Parameter, spread
from .tails import Tails, normal_quantile, normal_tails

__all__ = ["draw", "normal", "terms", "truncated_moments"]

HALF_LOG_2PI = 0.9189385332046727


def terms(x: Any, mean: Any, sd: Any) -> tuple[Any, ...]:
    """The terms of the log density."""
    z = divide(x - mean, sd)
    return -0.5 * z * z, -jnp.log(sd) - HALF_LOG_2PI


def draw(source: Source, mean: Any, sd: Any) -> Any:
    """Draw mean + sd z with a standard normal z."""
    mean, sd = reals(source, mean, sd)
    return nan_unless(possible(mean, sd), mean + sd * source.normal())


def _tails(x: Any, mean: Any, sd: Any) -> Tails:
    return normal_tails((x - mean) / sd)


def _quantile(log_below: Any, log_above: Any, mean: Any, sd: Any) -> Any:
    return mean + sd * normal_quantile(log_below, log_above)


def _moments(mean: Any, sd: Any) -> Moments:
    return mean, sd * sd


def standard_moments_between(low: Any, high: Any) -> Moments:
    """The moments of a standard normal number between two bounds.

    The bounds may be infinite. The density is integrated outward from its largest value between the
    bounds, relative to that value.
    """
    top = jnp.clip(0.0, low, high)
    far = jnp.abs(top)
    reach = 2.0 * REACH / (far + jnp.sqrt(far * far + 2.0 * REACH))
    x, weights = [], []
    for side, length in ((1.0, high - top), (-1.0, top - low)):
        away, share = nodes(jnp.minimum(length, reach))
        x.append(side * away)
        weights.append(share * jnp.exp(-(far[..., None] + 0.5 * away) * away))
    mean, variance = of_nodes(jnp.concatenate(x, -1), jnp.concatenate(weights, -1))
    return top + mean, variance


def truncated_moments(lower: Any, upper: Any, mean: Any, sd: Any) -> Moments:
    """The mean and the variance between two bounds; None means no bound."""
    ends = []
    for bound, nowhere in ((lower, -jnp.inf), (upper, jnp.inf)):
        bound = jnp.asarray(nowhere if bound is None else bound)
        some = jnp.isfinite(bound)
        ends.append(jnp.where(some, (jnp.where(some, bound, mean) - mean) / sd, bound))
    first, second = standard_moments_between(*jnp.broadcast_arrays(*ends))
    return mean + sd * first, sd * sd * second


NORMAL = Family(
    "normal",
    (Parameter("mean"), spread("sd")),
    terms,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
    truncated_moments=truncated_moments,
)


@declared(
    NORMAL,
    draws="Normal numbers.",
    scipy="norm",
    aliases={
        "": "gaussian norm",
        "(0, 1)": "stdnormal",
        "(mean, sd, truncation=(lower, upper))": "truncatednormal",
    },
    same={"mean": "loc mu", "sd": "scale sigma"},
)
def normal(mean: Any = 0.0, sd: Any = 1.0):
    """A normal (Gaussian) unknown.

        log p(x) = -((x - mean) / sd)**2 / 2 - log(sd) - log(2 pi) / 2

    Parameters
    ----------
    mean, sd
        Location, and standard deviation above zero; numbers or arrays, broadcast together.
    truncation, censoring
        Pairs of bounds, numbers or arrays, with None for no bound. Truncation to [a, b] gives the
        conditional distribution on [a, b], log p(x) - log P(a <= X <= b), which is exact even far
        out in a tail. With censoring, data at a bound say that the number is at the bound or beyond
        it: log P(X <= a) or log P(X >= b). With censoring="interval", data are pairs (last axis)
        that enclose the number. The number is known exactly if both agree; an infinite end means no
        bound on that side.

    Raises
    ------
    ValueError
        If `sd` is known and not positive, or the truncation has probability 0.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.normal(0, [1.0, 2.0, 3.0], name="x").shape
    (3,)
    >>> positive = kg.normal(0, 1, truncation=(0, None), name="positive")
    >>> seen = kg.observe([1.3, 5.0], kg.normal(positive, 1, censoring=(None, 5.0)))
    """
