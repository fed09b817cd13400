"""The uniform distribution of whole numbers."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.node import Data, Node
from ..graph.source import place_text
from .count_numbers import LEAST, integers
from .declaration import declared
from .family import Family
from .generator import WHOLE
from .moments import Moments
from .parameter import whole
from .support import Support, WholeNumbers
from .tails import Tails
from .uniform import known_bound

__all__ = ["discrete_uniform", "draw"]


def _support(low: Node, high: Node) -> Support:
    return WholeNumbers(known_bound(low), known_bound(high))


def _terms(x: Any, low: Any, high: Any) -> tuple[Any, ...]:
    inside = (x >= low) & (x <= high)
    return jnp.where(inside, 0.0, -jnp.inf), -jnp.log(high - low + 1.0)


def _check(low: Node, high: Node) -> None:
    if not isinstance(low, Data) or not isinstance(high, Data):
        return
    try:
        above = np.greater(low.value, high.value)
    except ValueError:  # the common shape of the bounds raises the error
        return
    if np.any(above):
        raise ValueError(
            f"discrete_uniform: min must not be above max, got min = {low.value}, "
            f"max = {high.value}{place_text()}"
        )


def draw(source: Source, min: Any, max: Any) -> Any:
    """Draw whole numbers; impossible bounds give the least 64-bit number."""
    return integers(source, min, jnp.asarray(max).astype(np.int64) + 1)


def _tails(x: Any, low: Any, high: Any) -> Tails:
    count = high - low + 1.0
    here = jnp.clip(x - low + 1.0, 0.0, count)
    return jnp.log(here / count), jnp.log((count - here) / count)


def _quantile(log_below: Any, log_above: Any, low: Any, high: Any) -> Any:
    count = high - low + 1.0
    near = log_below <= log_above
    # The number of values in the tail, rounded up; k values have the share k / count.
    below = jnp.ceil(count * jnp.exp(log_below) * (1 - 1e-14))
    above = count - jnp.floor(count * jnp.exp(log_above) * (1 + 1e-14))
    return low + jnp.clip(jnp.where(near, below, above), 1.0, count) - 1.0


def _moments(low: Any, high: Any) -> Moments:
    span = high - low
    return low + 0.5 * span, span * (span + 2.0) / 12.0


def _truncated_moments(lower: Any, upper: Any, low: Any, high: Any) -> Moments:
    return _moments(low if lower is None else lower, high if upper is None else upper)


DISCRETE_UNIFORM = Family(
    "discrete_uniform",
    (whole("min", LEAST), whole("max", LEAST)),
    _terms,
    _support,
    check=_check,
    dtype=WHOLE,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
    truncated_moments=_truncated_moments,
)


@declared(
    DISCRETE_UNIFORM,
    draws="Whole numbers min, ..., max, all equally likely.",
    scipy="randint",
    aliases={"": "randint"},
    advice={"high": "max= is possible itself: give max=high, or max=high - 1 for SciPy's high"},
    same={"min": "low lower", "max": "upper"},
)
def discrete_uniform(min: Any, max: Any):
    """A whole number from `min` to `max`, both included, all equally likely.

        log p(x) = -log(max - min + 1),  x = min .. max

    Parameters
    ----------
    min, max
        The smallest and the largest number.

    Raises
    ------
    ValueError
        If the bounds are known and are not whole numbers, or `min` is above `max`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> density = kg.log_density(kg.discrete_uniform(1, 6), [3, 1, 6])
    """
