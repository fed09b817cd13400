"""Truncated distributions: conditional on a number between two bounds.

    log p(x | a <= x <= b) = log p(x) - log P(a <= X <= b)

There is a derived family for bounds below, above and on both sides, so that no tail is evaluated at
infinity. The probability between the bounds is computed from the side on which nothing cancels; see
`tails`.
"""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import Source
from ..graph.array import Array
from ..graph.node import Data, Node
from ..graph.operations.operands import as_node
from ..graph.source import place_text
from ..graph.value_texts import brief, shown
from .bounds import (
    bound_parameters,
    check_base,
    inward,
    known_bounds,
    small_terms,
    split_bounds,
    tails_at,
    within_support,
)
from .family import Family
from .moments import Moments
from .numbers import clamped, unit_open
from .support import Interval, Support, WholeNumbers
from .tails import Tails, between

__all__ = ["Truncated", "truncate", "truncated"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Truncated(Family):
    """A truncated family, with the bounds as its last parameters."""

    base: Family
    sides: tuple[str, ...]

    def expression(self, parameters: list[str]) -> str:
        base_parameters, bounds = split_bounds(self.sides, parameters)
        text = ", ".join(bounds.get(side, "None") for side in ("lower", "upper"))
        return f"{self.base.name}({', '.join(base_parameters)}, truncation=({text}))"


@cache
def truncated(base: Family, sides: tuple[str, ...]) -> Truncated:
    """The family truncated on the given sides: "lower", "upper" or both."""
    where = " and ".join({"lower": "below", "upper": "above"}[side] for side in sides)
    return Truncated(
        name=f"{base.name} truncated {where}",
        key=f"truncated({base.key}, {', '.join(sides)})",
        parameters=bound_parameters(base, sides),
        terms=partial(_terms, base, sides),
        **small_terms(base, partial(_terms, base, sides)),
        support=partial(_support, base, sides),
        dtype=base.dtype,
        draw=partial(_draw, base, sides),
        check=partial(check_base, base, sides),
        tails=partial(_tails, base, sides),
        quantile=partial(_quantile, base, sides),
        moments=partial(_moments, base, sides) if base.truncated_moments else None,
        atom=base.atom,
        base=base,
        sides=sides,
    )


def truncate(
    family: Family, nodes: tuple[Node, ...], truncation: Any
) -> tuple[Family, tuple[Node, ...]]:
    """The truncated family and its parameters for `truncation=(lower, upper)`.

    Raises
    ------
    TypeError
        If `truncation` is not a pair, or the family has no tails.
    ValueError
        If known bounds exclude the whole support.
    """
    pair = tuple(truncation) if isinstance(truncation, (tuple, list)) else ()
    if len(pair) != 2:
        hint, bound = "", brief(truncation)
        if isinstance(truncation, (int, float, np.number, Array)):
            hint = f"; ({bound}, None) excludes smaller numbers, (None, {bound}) larger ones"
        raise TypeError(
            f"{family.name}: truncation must be a pair (lower, upper), with None for a missing "
            f"bound, got {shown(truncation)}{place_text()}{hint}"
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
        f"{family.name}: truncation={truncation!r} has probability 0: the lower bound must "
        f"be below the upper one, and the interval must overlap the support{place_text()}"
    )


def _within(support: Any, side: str, bound: Node, family: Family, truncation: Any) -> Node:
    """The bound, moved to the end of the support if beyond it.

    Raises
    ------
    ValueError
        If it excludes the whole support.
    """
    opposite = getattr(support, *(("upper", np.inf) if side == "lower" else ("lower", -np.inf)))
    if isinstance(bound, Data) and not isinstance(opposite, Node):
        gap = (opposite - bound.value) * (1 if side == "lower" else -1)
        if np.any(gap < 0) or (not family.discrete and np.any(gap == 0)):
            raise ValueError(_empty(family, truncation))
    return within_support(support, side, bound)


def _support(base: Family, sides: tuple[str, ...], *parents: Node) -> Support:
    base_parameters, bounds = split_bounds(sides, parents)
    support = base.support(*base_parameters)
    ends = {"lower": support.lower, "upper": support.upper}  # type: ignore[attr-defined]
    bound_values = known_bounds(bounds)
    if base.discrete:
        return WholeNumbers(**(ends | bound_values))
    assert isinstance(support, Interval)
    edges = dict(zip(("lower", "upper"), support.edges, strict=True))
    for side, bound in bound_values.items():
        # A truncation bound belongs to the interval; a bound of the support keeps its edge.
        is_cut = np.True_ if isinstance(bound, Node) else np.not_equal(bound, ends[side])
        edges[side] = edges[side] | is_cut if not isinstance(ends[side], Node) else np.True_
    return Interval(**(ends | bound_values), closed=(edges["lower"], edges["upper"]))


class _Cut:
    """The tails at both bounds.

    `low` has the two log tails at the lower bound, `high` those at the upper bound.
    """

    def __init__(self, base: Family, sides: tuple[str, ...], parameters: Any) -> None:
        self.base_parameters, bounds = split_bounds(sides, parameters)
        self.bounds = inward(base, bounds)
        tails = tails_at(base, self.bounds, self.base_parameters)
        self.low = tails.get("lower", (-jnp.inf, 0.0))
        self.high = tails.get("upper", (0.0, -jnp.inf))
        if len(tails) == 2:
            self.log_probability = between(self.low, self.high)
        else:
            self.log_probability = self.low[1] if "lower" in tails else self.high[0]

    def holds(self, x: Any) -> Any:
        """Whether x is between the bounds."""
        inside: Any = True
        if "lower" in self.bounds:
            inside = x >= self.bounds["lower"]
        if "upper" in self.bounds:
            inside = inside & (x <= self.bounds["upper"])
        return inside


def _terms(
    base: Family, sides: tuple[str, ...], x: Any, *parameters: Any, small: bool = False
) -> tuple[Any, ...]:
    cut = _Cut(base, sides, parameters)
    inside = cut.holds(lax.stop_gradient(x))
    density = base.log_density(*base.still(~inside, x, *cut.base_parameters), small=small)
    density = jnp.where(inside, density, -jnp.inf)
    empty = jnp.isneginf(cut.log_probability)  # then the density is -inf as well
    return density, -jnp.where(empty, 0.0, cut.log_probability)


def _tails(base: Family, sides: tuple[str, ...], x: Any, *parameters: Any) -> Tails:
    cut = _Cut(base, sides, parameters)
    still = lax.stop_gradient(x)
    below = still < cut.bounds["lower"] if "lower" in sides else jnp.zeros_like(still, bool)
    above = still >= cut.bounds["upper"] if "upper" in sides else jnp.zeros_like(still, bool)
    tails = base.log_tails(*base.still(below | above, x, *cut.base_parameters))
    log_below = tails[0] if "lower" not in sides else between(cut.low, tails)
    log_above = tails[1] if "upper" not in sides else between(tails, cut.high)
    log_below = jnp.where(below, -jnp.inf, jnp.where(above, 0.0, log_below - cut.log_probability))
    log_above = jnp.where(above, -jnp.inf, jnp.where(below, 0.0, log_above - cut.log_probability))
    return jnp.minimum(log_below, 0.0), jnp.minimum(log_above, 0.0)


def _quantile(
    base: Family, sides: tuple[str, ...], log_below: Any, log_above: Any, *parameters: Any
) -> Any:
    cut = _Cut(base, sides, parameters)
    assert base.quantile is not None
    below = jnp.logaddexp(cut.low[0], log_below + cut.log_probability)
    above = jnp.logaddexp(cut.high[1], log_above + cut.log_probability)
    value = base.quantile(jnp.minimum(below, 0.0), jnp.minimum(above, 0.0), *cut.base_parameters)
    low, high = cut.bounds.get("lower", -jnp.inf), cut.bounds.get("upper", jnp.inf)
    return clamped(value, low, high)


def _moments(base: Family, sides: tuple[str, ...], *parameters: Any) -> Moments:
    base_parameters, bounds = split_bounds(sides, parameters)
    bounds = inward(base, bounds)
    assert base.truncated_moments is not None
    return base.truncated_moments(bounds.get("lower"), bounds.get("upper"), *base_parameters)


def _draw(base: Family, sides: tuple[str, ...], source: Source, *parameters: Any) -> Any:
    """Draw the quantile of a uniform number.

    It is computed from the side on which nothing cancels.
    """
    u = unit_open(source)
    parameters = tuple(jnp.asarray(p, source.dtype) for p in parameters)
    return _quantile(base, sides, jnp.log(u), jnp.log1p(-u), *parameters)
