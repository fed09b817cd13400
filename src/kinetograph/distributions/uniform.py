"""The uniform distribution on an interval."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.messages import index_text
from ..graph.node import Data, Node
from ..graph.source import place_text
from .declaration import declared
from .family import Family
from .moments import Moments
from .numbers import clamped, nan_unless, reals
from .parameter import Parameter
from .support import Interval, Support
from .tails import Tails

__all__ = ["draw", "known_bound", "uniform"]


def known_bound(node: Node) -> Node | np.ndarray:
    """A bound of a support: its known value, or else the node."""
    return node.value if isinstance(node, Data) and node.literal else node


def _support(low: Node, high: Node) -> Support:
    return Interval(known_bound(low), known_bound(high), closed=True)


def _terms(x: Any, low: Any, high: Any) -> tuple[Any, ...]:
    inside = (x >= low) & (x <= high)
    return jnp.where(inside, 0.0, -jnp.inf), -jnp.log(high - low)


def _check(low: Node, high: Node) -> None:
    if not isinstance(low, Data) or not isinstance(high, Data):
        return
    try:
        lows, highs = np.broadcast_arrays(low.value, high.value)
    except ValueError:  # shapes that do not fit raise another error later
        return
    with np.errstate(over="ignore"):
        endless = ~np.isfinite(np.subtract(highs, lows, dtype=float))
    for wrong, text in (
        (lows >= highs, "min must be below max"),
        (endless, "max - min must be finite"),
    ):
        if np.any(wrong):
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise ValueError(
                f"uniform: {text}, got min {lows[place]:g} and max {highs[place]:g}"
                f"{index_text(place)}{place_text()}"
            )


def draw(source: Source, min: Any, max: Any) -> Any:
    """Draw min + (max - min) u, below max even after rounding.

    The number is min if both agree.
    """
    low, high = reals(source, min, max)
    value = low + (high - low) * source.uniform()
    span = high - low
    within = clamped(value, low, jnp.nextafter(high, low))
    return nan_unless((span >= 0) & jnp.isfinite(span), within)


def _tails(x: Any, low: Any, high: Any) -> Tails:
    # An infinite value on the unselected side of a `jnp.where` makes the derivative NaN.
    above, below = x > low, x < high
    share = jnp.where(above & below, x - low, 1.0) / (high - low)
    rest = jnp.where(above & below, high - x, 1.0) / (high - low)
    left = jnp.where(below, jnp.log(share), 0.0)
    right = jnp.where(above, jnp.log(rest), 0.0)
    return jnp.where(above, left, -jnp.inf), jnp.where(below, right, -jnp.inf)


def _quantile(log_below: Any, log_above: Any, low: Any, high: Any) -> Any:
    share, rest = jnp.exp(log_below), jnp.exp(log_above)
    near = log_below <= log_above
    return jnp.where(near, low + (high - low) * share, high - (high - low) * rest)


def moments(low: Any, high: Any) -> Moments:
    """The mean and the variance of uniform numbers between two bounds."""
    span = high - low
    return low + 0.5 * span, span * span / 12.0


def _truncated_moments(lower: Any, upper: Any, low: Any, high: Any) -> Moments:
    return moments(low if lower is None else lower, high if upper is None else upper)


UNIFORM = Family(
    "uniform",
    (Parameter("min"), Parameter("max")),
    _terms,
    _support,
    check=_check,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=moments,
    truncated_moments=_truncated_moments,
)


@declared(
    UNIFORM,
    draws="Numbers in [min, max), all equally likely.",
    scipy="uniform",
    advice={
        "loc": "give min=loc, max=loc + scale",
        "scale": "give min=loc, max=loc + scale",
    },
    same={"min": "alpha low lower", "max": "beta high upper"},
)
def uniform(min: Any = 0.0, max: Any = 1.0):
    """An unknown that is equally likely everywhere between two bounds.

        log p(x) = -log(max - min),  min <= x <= max

    Parameters
    ----------
    min, max
        The bounds, numbers or arrays; they may themselves be unknown.

    Raises
    ------
    ValueError
        If the bounds are known and `min` is not below `max`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> p = kg.uniform(0, 10, name="p")
    """
