"""Censored distributions: numbers observed as a bound or as an interval.

A number beyond a bound is observed as that bound. With interval censoring each number is observed
as an interval that contains it.

    log p(y) = log P(X <= a) for y <= a,   log P(X >= b) for y >= b,   log p(y) otherwise
    log p([l, h]) = log P(l < X <= h),   log p(l) if l = h

Source: J. F. Lawless, Statistical Models and Methods for Lifetime Data, 2nd edition, 2.2 and 2.3.
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
from ..graph.value_texts import brief, in_words
from .bounds import (
    before_atom,
    bound_parameters,
    check_base,
    known_bounds,
    small_terms,
    split_bounds,
    tails_at,
    within_support,
)
from .family import Family
from .support import Interval, Pairs, Support, WholeNumbers
from .tails import between

__all__ = ["Censored", "censor", "censored", "interval_censored"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Censored(Family):
    """A censored family.

    Its last parameters are the bounds. With interval censoring there are none, and an observation
    is a pair of numbers. Only data can follow a censored family.
    """

    base: Family
    sides: tuple[str, ...]

    def expression(self, parameters: list[str]) -> str:
        count = len(parameters) - len(self.sides)
        bounds = dict(zip(self.sides, parameters[count:], strict=True))
        text = f"({bounds.get('lower', 'None')}, {bounds.get('upper', 'None')})"
        base_text = self.base.expression(parameters[:count])
        return f"{base_text[:-1]}, censoring={text if self.sides else repr('interval')})"


def censor(
    family: Family, nodes: tuple[Node, ...], censoring: Any
) -> tuple[Family, tuple[Node, ...]]:
    """Return the censored family and its parameters.

    `censoring` is a pair (lower, upper) or "interval".

    Raises
    ------
    TypeError
        If `censoring` is something else, or the family has no tails.
    ValueError
        If both bounds are known and the lower bound is not below the upper one.
    """
    if family.tails is None:
        raise TypeError(
            f"{family.name}: cannot be censored, as its probability beyond a bound is not "
            f"known{place_text()}"
        )
    if isinstance(censoring, str) and censoring == "interval":
        return interval_censored(family), nodes
    pair = tuple(censoring) if isinstance(censoring, (tuple, list)) else ()
    if len(pair) != 2:
        raise TypeError(
            f"{family.name}: censoring must be a pair (lower, upper), with None for a missing "
            f'bound, or "interval", got {in_words(censoring)}{place_text()}{_advice(censoring)}'
        )
    bounds = {
        side: as_node(bound, f"{family.name}: censoring")
        for side, bound in zip(("lower", "upper"), pair, strict=True)
        if bound is not None
    }
    if not bounds:
        return family, nodes
    for side, bound in bounds.items():
        if isinstance(bound, Data) and _are_flags(family, bound):
            raise TypeError(
                f"{family.name}: the {side} bound of censoring= has the values "
                f"{' and '.join(map(str, np.unique(bound.value)))}{place_text()}, which look like "
                "flags; a bound is the number at which a value is censored"
                f"{_advice(np.asarray(bound.value), side)}"
            )
    known_bounds = [np.asarray(b.value) for b in bounds.values() if isinstance(b, Data)]
    if len(known_bounds) == 2 and np.any(known_bounds[0] >= known_bounds[1]):
        raise ValueError(
            f"{family.name}: censoring={censoring!r}: the lower bound must be below the upper "
            f"one{place_text()}"
        )
    support = family.support(*nodes)
    inner_bounds = (within_support(support, side, bound) for side, bound in bounds.items())
    return censored(family, tuple(bounds)), (*nodes, *inner_bounds)


def _are_flags(family: Family, bound: Data) -> bool:
    """Whether a bound says which values are censored.

    Such a bound has truth values, or the whole numbers 0 and 1; counts can have the bounds 0 and 1.
    """
    kind, values = bound.dtype.kind, set(np.unique(bound.value).tolist())
    return kind == "b" or (kind in "iu" and not family.discrete and values == {0, 1})


def _advice(censoring: Any, side: str = "") -> str:
    """The right form of censoring given as flags or a side.

    `side` is the side of a pair that holds the flags.
    """
    if isinstance(censoring, (int, float, np.number, Array)):
        bound = brief(censoring)
        return (
            f"; write (None, {bound}) if larger numbers are observed as {bound}, ({bound}, None) "
            "if smaller ones are"
        )
    side_name = isinstance(censoring, str) and censoring in ("left", "right")
    column = not isinstance(censoring, str) and np.ndim(censoring) == 1 and len(censoring) != 2
    if not side_name and not column:
        return ""
    left = isinstance(censoring, str) and censoring == "left"
    bound = side or ("lower" if left else "upper")
    side = "(bounds, None)" if bound == "lower" else "(None, bounds)"
    infinity = "-np.inf" if bound == "lower" else "np.inf"
    return (
        f"; give the {bound} bound of each number as censoring={side}, with "
        f"bounds = np.where(is_censored, data, {infinity})"
    )


@cache
def censored(base: Family, sides: tuple[str, ...]) -> Censored:
    """The family censored on the given sides: "lower", "upper" or both."""
    where = " and ".join({"lower": "below", "upper": "above"}[side] for side in sides)
    return Censored(
        name=f"{base.name} censored {where}",
        key=f"censored({base.key}, {', '.join(sides)})",
        parameters=bound_parameters(base, sides),
        terms=partial(_terms, base, sides),
        **small_terms(base, partial(_terms, base, sides)),
        support=partial(_support, base, sides),
        dtype=base.dtype,
        draw=None if base.draw is None else partial(_draw, base, sides),
        check=partial(check_base, base, sides),
        base=base,
        sides=sides,
    )


@cache
def interval_censored(base: Family) -> Censored:
    """The family of pairs (low, high) that contain the number."""
    return Censored(
        name=f"{base.name} censored to intervals",
        key=f"censored({base.key}, interval)",
        parameters=base.parameters,
        terms=partial(_interval_terms, base),
        **small_terms(base, partial(_interval_terms, base)),
        support=lambda *nodes: Pairs(base.support(*nodes)),
        event_ndim=1,
        event_shape=lambda *shapes: (2,),
        check=base.check,
        base=base,
        sides=(),
    )


def _support(base: Family, sides: tuple[str, ...], *parents: Node) -> Support:
    base_parameters, bounds = split_bounds(sides, parents)
    support = base.support(*base_parameters)
    ends = {"lower": support.lower, "upper": support.upper}  # type: ignore[attr-defined]
    ends |= known_bounds(bounds)
    if base.discrete:
        return WholeNumbers(**ends)
    edges = zip(("lower", "upper"), support.edges, strict=True)  # type: ignore[attr-defined]
    closed = {side: np.True_ if side in bounds else edge for side, edge in edges}
    return Interval(**ends, closed=(closed["lower"], closed["upper"]))


def _terms(
    base: Family, sides: tuple[str, ...], x: Any, *parameters: Any, small: bool = False
) -> tuple[Any, ...]:
    base_parameters, bounds = split_bounds(sides, parameters)
    value = lax.stop_gradient(x)
    low, high = bounds.get("lower", -jnp.inf), bounds.get("upper", jnp.inf)
    at_low, at_high = value <= low, value >= high
    beyond = at_low | at_high
    density = base.log_density(*base.still(beyond, x, *base_parameters), small=small)
    above = jnp.ceil(high) - 1.0 if base.discrete else high  # P(X >= high) = P(X > above)
    above = before_atom(base, above)
    bound = jnp.where(at_low, low, jnp.where(at_high, above, value))
    below, above = base.log_tails(*base.still(~beyond, bound, *base_parameters))
    result = jnp.where(at_low, below, jnp.where(at_high, above, density))
    return (jnp.where((value < low) | (value > high), -jnp.inf, result),)


def _draw(base: Family, sides: tuple[str, ...], source: Source, *parameters: Any) -> Any:
    base_parameters, bounds = split_bounds(sides, parameters)
    assert base.draw is not None
    value = base.draw(source, *base_parameters)
    return jnp.clip(value, bounds.get("lower"), bounds.get("upper"))


def _interval_terms(base: Family, x: Any, *parameters: Any, small: bool = False) -> tuple[Any, ...]:
    low, high = x[..., 0], x[..., 1]
    exact = low == high
    inside = jnp.where(exact, low, jnp.where(jnp.isfinite(low), low, high))
    density = base.log_density(*base.still(~exact, inside, *parameters), small=small)
    wide = base.still(exact, low, *parameters)[1:]
    ends = tails_at(base, {"lower": low, "upper": high}, wide)
    return (jnp.where(exact, density, between(ends["lower"], ends["upper"])),)
