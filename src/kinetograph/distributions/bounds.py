"""Bounds as the last parameters of a family, for truncation and censoring."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.node import Data, Node
from ..graph.operations.elementwise import elementwise
from ..graph.operations.operands import as_node
from .family import Family
from .parameter import Parameter
from .support import Interval, Support, WholeNumbers
from .tails import Tails

__all__ = [
    "split_bounds",
    "before_atom",
    "bound_parameters",
    "check_base",
    "inward",
    "known_bounds",
    "small_terms",
    "tails_at",
    "within_support",
]

_CHOICES = {"lower": ("maximum", np.maximum), "upper": ("minimum", np.minimum)}


def bound_parameters(base: Family, sides: tuple[str, ...]) -> tuple[Parameter, ...]:
    """The parameters of the base family, and one parameter for each bound."""
    kind: Support = WholeNumbers(-(2**53)) if base.discrete else Interval(closed=True)
    return (*base.parameters, *(Parameter(side, kind) for side in sides))


def split_bounds(sides: tuple[str, ...], parameters: Any) -> tuple[Any, dict[str, Any]]:
    """Split parameters: the base family's, and the bounds by side."""
    count = len(parameters) - len(sides)
    return parameters[:count], dict(zip(sides, parameters[count:], strict=True))


def small_terms(base: Family, terms: Callable[..., Any]) -> dict[str, Any]:
    """The arguments `small_terms` and `sizes` of a derived family.

    They are missing if the base family has no `small_terms`. The function `terms` takes the keyword
    `small`.
    """
    if base.small_terms is None:
        return {}
    return {"small_terms": partial(terms, small=True), "sizes": base.sizes}


def check_base(base: Family, sides: tuple[str, ...], *nodes: Node) -> None:
    """Run the check of the base family."""
    if base.check is not None:
        base.check(*split_bounds(sides, nodes)[0])


def known_bounds(bounds: Mapping[str, Node]) -> dict[str, Any]:
    """Bounds for a support: numbers where they are literals, else nodes."""
    return {s: b.value if isinstance(b, Data) and b.literal else b for s, b in bounds.items()}


def within_support(support: Any, side: str, bound: Node) -> Node:
    """The bound, moved to the end of the support if beyond it."""
    end = getattr(support, side, -np.inf if side == "lower" else np.inf)
    if not isinstance(end, Node) and np.all(np.isinf(end)):
        return bound
    name, choose = _CHOICES[side]
    if isinstance(bound, Data) and not isinstance(end, Node):
        value = choose(bound.value, end)
        return bound if np.array_equal(value, bound.value) else as_node(value.astype(bound.dtype))
    return elementwise(name, bound, as_node(end))


def inward(base: Family, bounds: Mapping[str, Any]) -> dict[str, Any]:
    """The bounds, rounded inward to whole numbers for a discrete family."""
    if not base.discrete:
        return dict(bounds)
    rounded: dict[str, Callable[[Any], Any]] = {"lower": jnp.ceil, "upper": jnp.floor}
    return {side: rounded[side](bound) for side, bound in bounds.items()}


def before_atom(base: Family, x: Any) -> Any:
    """The number y with P(X > y) = P(X >= x).

    It is x, or below the atom of the family if x is the atom.
    """
    return x if base.atom is None else jnp.where(x == base.atom, base.atom - 1.0, x)


def tails_at(base: Family, bounds: Mapping[str, Any], parameters: Any) -> dict[str, Tails]:
    """The two log tails at each bound, by side.

    At a lower bound a these are log P(X < a) and log P(X >= a), at an upper bound b log P(X <= b)
    and log P(X > b). At an infinite bound they are the limits.
    """
    pairs = zip(parameters, base.parameters, strict=True)
    batches = [jnp.shape(t)[: jnp.ndim(t) - p.event_ndim] for t, p in pairs]
    shape = jnp.broadcast_shapes(*map(jnp.shape, bounds.values()), *batches)
    # Both bounds together need only one program.
    ends = jnp.stack([jnp.broadcast_to(bound, shape) for bound in bounds.values()])
    low = jnp.array([side == "lower" for side in bounds]).reshape(-1, *[1] * len(shape))
    # A finite number without a derivative replaces an infinite bound.
    finite = jnp.isfinite(lax.stop_gradient(ends))
    x = jnp.where(finite, ends, 0.0)
    if base.discrete:
        x = jnp.where(low, jnp.ceil(x) - 1.0, x)
    x = jnp.where(low, before_atom(base, x), x)
    below, above = base.log_tails(*base.still(~finite, x, *parameters))
    negative = ends < 0
    below = jnp.where(finite, below, jnp.where(negative, -jnp.inf, 0.0))
    above = jnp.where(finite, above, jnp.where(negative, 0.0, -jnp.inf))
    return {side: (below[k], above[k]) for k, side in enumerate(bounds)}
