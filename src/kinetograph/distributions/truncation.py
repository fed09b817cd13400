"""A distribution given that its number lies between two bounds.

    log p(x | a <= x <= b) = log p(x) - log P(a <= X <= b)

A family is derived for each side that has a bound, so that nothing is taken at infinity.
Source: the probability between the bounds from the side on which nothing cancels, see `tails`.
"""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import Source
from ..graph.node import Data, Node
from ..graph.operations.elementwise import as_node, elementwise
from ..graph.source import place_text
from .family import Family
from .moments import Moments
from .numbers import clamped, unit_open
from .parameter import Parameter
from .support import Interval, Support, WholeNumbers
from .tails import Tails, between

__all__ = ["Truncated", "truncate", "truncated"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Truncated(Family):
    """A family with bounds as its last parameters."""

    base: Family
    sides: tuple[str, ...]

    def expression(self, parameters: list[str]) -> str:
        *own, bounds = _apart(self, parameters)
        text = ", ".join("None" if b is None else b for b in bounds)
        return f"{self.base.name}({', '.join(own)}, truncation=({text}))"


def _apart(family: Truncated, parameters: Any) -> list[Any]:
    """The parameters of the family that is truncated, and then both bounds or None."""
    count = len(parameters) - len(family.sides)
    bounds = dict(zip(family.sides, parameters[count:], strict=True))
    return [*parameters[:count], (bounds.get("lower"), bounds.get("upper"))]


@cache
def truncated(base: Family, sides: tuple[str, ...]) -> Truncated:
    """The family with a bound on these `sides`, "lower" or "upper" or both."""
    where = " and ".join({"lower": "below", "upper": "above"}[side] for side in sides)
    kind: Support = WholeNumbers(-(2**53)) if base.discrete else Interval(closed=True)
    return Truncated(
        name=f"{base.name} truncated {where}",
        key=f"truncated({base.key}, {', '.join(sides)})",
        parameters=(*base.parameters, *(Parameter(side, kind) for side in sides)),
        terms=partial(_terms, base, sides),
        support=partial(_support, base, sides),
        dtype=base.dtype,
        draw=partial(_draw, base, sides),
        check=partial(_check, base, sides),
        tails=partial(_tails, base, sides),
        quantile=partial(_quantile, base, sides),
        moments=partial(_moments, base, sides) if base.truncated_moments else None,
        base=base,
        sides=sides,
    )


def truncate(
    family: Family, nodes: tuple[Node, ...], truncation: Any
) -> tuple[Family, tuple[Node, ...]]:
    """The family and the parameters of `truncation=(lower, upper)`.

    Raises
    ------
    TypeError
        If that is no pair, or the family has no tails.
    ValueError
        If known bounds leave nothing of the support.
    """
    pair = tuple(truncation) if isinstance(truncation, (tuple, list)) else ()
    if len(pair) != 2:
        raise TypeError(
            f"{family.name}: truncation must be a pair (lower, upper), with None where there is no "
            f"bound, got {truncation!r}{place_text()}"
        )
    if family.tails is None or family.quantile is None:
        raise TypeError(
            f"{family.name}: cannot be truncated, as its probability between two bounds is not "
            f"known{place_text()}"
        )
    sides, bounds = [], []
    for side, bound in zip(("lower", "upper"), pair, strict=True):
        if bound is None or (isinstance(bound, (int, float)) and np.isinf(bound)):
            if bound is not None and (bound > 0) == (side == "lower"):
                raise ValueError(_empty(family, truncation))
            continue
        sides.append(side)
        bounds.append(as_node(bound, f"{family.name}: truncation"))
    if not sides:
        return family, nodes
    support = family.support(*nodes)
    bounds = [
        _within(support, side, bound, family, truncation)
        for side, bound in zip(sides, bounds, strict=True)
    ]
    if len(bounds) == 2 and all(isinstance(b, Data) for b in bounds):
        low, high = (np.asarray(b.value) for b in bounds if isinstance(b, Data))
        if np.any(low > high) or (not family.discrete and np.any(low == high)):
            raise ValueError(_empty(family, truncation))
    return truncated(family, tuple(sides)), (*nodes, *bounds)


def _empty(family: Family, truncation: Any) -> str:
    return (
        f"{family.name}: truncation={truncation!r} leaves nothing of the distribution: the lower "
        f"bound must be below the upper one, and both in reach of it{place_text()}"
    )


def _within(support: Any, side: str, bound: Node, family: Family, truncation: Any) -> Node:
    """The bound, moved to that of the support if it lies beyond."""
    lower, upper = getattr(support, "lower", -np.inf), getattr(support, "upper", np.inf)
    end, other = (lower, upper) if side == "lower" else (upper, lower)
    if isinstance(bound, Data) and not isinstance(other, Node):
        gap = (other - bound.value) * (1 if side == "lower" else -1)
        if np.any(gap < 0) or (not family.discrete and np.any(gap == 0)):
            raise ValueError(_empty(family, truncation))
    if not isinstance(end, Node) and np.all(np.isinf(end)):
        return bound
    choose = np.maximum if side == "lower" else np.minimum
    if isinstance(bound, Data) and not isinstance(end, Node):
        value = choose(bound.value, end)
        if np.array_equal(value, bound.value):
            return bound
        return as_node(value.astype(bound.dtype))
    return elementwise("maximum" if side == "lower" else "minimum", bound, as_node(end))


def _support(base: Family, sides: tuple[str, ...], *parents: Node) -> Support:
    count = len(parents) - len(sides)
    own = base.support(*parents[:count])
    ends = {"lower": own.lower, "upper": own.upper}  # type: ignore[attr-defined]
    bounds = dict(zip(sides, parents[count:], strict=True))
    known = {side: _known(node) for side, node in bounds.items()}
    if base.discrete:
        return WholeNumbers(**(ends | known))
    assert isinstance(own, Interval)
    edges = dict(zip(("lower", "upper"), own.edges, strict=True))
    for side, bound in known.items():
        # A bound of its own belongs to it; at the support's it is as it was.
        moved = np.True_ if isinstance(bound, Node) else np.not_equal(bound, ends[side])
        edges[side] = edges[side] | moved if not isinstance(ends[side], Node) else np.True_
    return Interval(**(ends | known), closed=(edges["lower"], edges["upper"]))


def _known(node: Node) -> Node | np.ndarray:
    return node.value if isinstance(node, Data) and node.literal else node


def _check(base: Family, sides: tuple[str, ...], *nodes: Node) -> None:
    if base.check is not None:
        base.check(*nodes[: len(nodes) - len(sides)])


class _Cut:
    """The tails at both bounds, as tensors."""

    def __init__(self, base: Family, sides: tuple[str, ...], inside: Any, rest: Any) -> None:
        count = len(rest) - len(sides)
        self.base, self.own = base, rest[:count]
        self.bounds = dict(zip(sides, rest[count:], strict=True))
        self.low = self._tails("lower", inside, -1.0 if base.discrete else 0.0)
        self.high = self._tails("upper", inside, 0.0)
        if len(self.bounds) == 2:
            self.log_probability = between(self.low, self.high)
        else:
            self.log_probability = self.low[1] if "lower" in self.bounds else self.high[0]

    def _tails(self, side: str, inside: Any, shift: float) -> Tails:
        nowhere = (-jnp.inf, 0.0) if side == "lower" else (0.0, -jnp.inf)
        bound = self.bounds.get(side)
        if bound is None:
            return nowhere
        some = jnp.isfinite(bound)
        tails = self.base.log_tails(jnp.where(some, bound, inside) + shift, *self.own)
        below, above = (jnp.where(some, t, n) for t, n in zip(tails, nowhere, strict=True))
        return below, above

    def holds(self, x: Any) -> Any:
        """Whether x lies between the bounds."""
        inside: Any = True
        if "lower" in self.bounds:
            inside = x >= self.bounds["lower"]
        if "upper" in self.bounds:
            inside = inside & (x <= self.bounds["upper"])
        return inside


def _terms(base: Family, sides: tuple[str, ...], x: Any, *parameters: Any) -> tuple[Any, ...]:
    cut = _Cut(base, sides, lax.stop_gradient(x), parameters)
    density = base.log_density(x, *cut.own)
    return (jnp.where(cut.holds(x), density - cut.log_probability, -jnp.inf),)


def _tails(base: Family, sides: tuple[str, ...], x: Any, *parameters: Any) -> Tails:
    still = lax.stop_gradient(x)
    cut = _Cut(base, sides, still, parameters)
    whole = base.log_tails(x, *cut.own)
    log_below = whole[0] if "lower" not in sides else between(cut.low, whole)
    log_above = whole[1] if "upper" not in sides else between(whole, cut.high)
    lower, upper = cut.bounds.get("lower", -jnp.inf), cut.bounds.get("upper", jnp.inf)
    below, above = x < lower, x >= upper
    log_below = jnp.where(below, -jnp.inf, jnp.where(above, 0.0, log_below - cut.log_probability))
    log_above = jnp.where(above, -jnp.inf, jnp.where(below, 0.0, log_above - cut.log_probability))
    return jnp.minimum(log_below, 0.0), jnp.minimum(log_above, 0.0)


def _quantile(
    base: Family, sides: tuple[str, ...], log_below: Any, log_above: Any, *parameters: Any
) -> Any:
    cut = _Cut(base, sides, 1.0, parameters)
    assert base.quantile is not None
    below = jnp.logaddexp(cut.low[0], log_below + cut.log_probability)
    above = jnp.logaddexp(cut.high[1], log_above + cut.log_probability)
    value = base.quantile(jnp.minimum(below, 0.0), jnp.minimum(above, 0.0), *cut.own)
    low, high = cut.bounds.get("lower", -jnp.inf), cut.bounds.get("upper", jnp.inf)
    return clamped(value, low, high)


def _moments(base: Family, sides: tuple[str, ...], *parameters: Any) -> Moments:
    count = len(parameters) - len(sides)
    bounds = dict(zip(sides, parameters[count:], strict=True))
    assert base.truncated_moments is not None
    return base.truncated_moments(bounds.get("lower"), bounds.get("upper"), *parameters[:count])


def _draw(base: Family, sides: tuple[str, ...], source: Source, *parameters: Any) -> Any:
    """The quantile of a uniform number, from the side on which nothing cancels."""
    u = unit_open(source)
    parameters = tuple(jnp.asarray(p, source.dtype) for p in parameters)
    return _quantile(base, sides, jnp.log(u), jnp.log1p(-u), *parameters)
