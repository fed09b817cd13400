"""What is seen of a number beyond a bound is the bound, or of any number the interval it is in.

    log p(y) = log P(X <= a) for y <= a,   log P(X >= b) for y >= b,   log p(y) between
    log p([l, h]) = log P(l < X <= h),   log p(l) where both agree

Source: J. F. Lawless, Statistical Models and Methods for Lifetime Data, 2nd edition, 2.2 and 2.3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import Source
from ..graph.node import Data, Node
from ..graph.numerics.derivative_rules import by_forward
from ..graph.operations.elementwise import as_node
from ..graph.source import place_text
from .family import Family
from .parameter import Parameter
from .support import Interval, Pairs, Support, WholeNumbers
from .tails import Tails, between

__all__ = ["Censored", "censor", "censored", "interval_censored"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Censored(Family):
    """A family with bounds as its last parameters, or of pairs of bounds; data alone follow it."""

    base: Family
    sides: tuple[str, ...]

    def expression(self, parameters: list[str]) -> str:
        count = len(parameters) - len(self.sides)
        bounds = dict(zip(self.sides, parameters[count:], strict=True))
        text = f"({bounds.get('lower', 'None')}, {bounds.get('upper', 'None')})"
        own = self.base.expression(parameters[:count])
        return f"{own[:-1]}, censoring={text if self.sides else repr('interval')})"


def censor(
    family: Family, nodes: tuple[Node, ...], censoring: Any
) -> tuple[Family, tuple[Node, ...]]:
    """The family and the parameters of `censoring=(lower, upper)` or `"interval"`.

    Raises
    ------
    TypeError
        If it is neither, or the family has no tails.
    ValueError
        If the lower bound is known not to be below the upper one.
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
            f"{family.name}: censoring must be a pair (lower, upper), with None where there is no "
            f'bound, or "interval", got {censoring!r}{place_text()}'
        )
    bounds = {
        side: as_node(bound, f"{family.name}: censoring")
        for side, bound in zip(("lower", "upper"), pair, strict=True)
        if bound is not None
    }
    if not bounds:
        return family, nodes
    known = [np.asarray(b.value) for b in bounds.values() if isinstance(b, Data)]
    if len(known) == 2 and np.any(known[0] >= known[1]):
        raise ValueError(
            f"{family.name}: censoring={censoring!r}: the lower bound must be below the upper "
            f"one{place_text()}"
        )
    return censored(family, tuple(bounds)), (*nodes, *bounds.values())


@cache
def censored(base: Family, sides: tuple[str, ...]) -> Censored:
    """The family with a bound on these `sides`, "lower" or "upper" or both."""
    where = " and ".join({"lower": "below", "upper": "above"}[side] for side in sides)
    kind: Support = WholeNumbers(-(2**53)) if base.discrete else Interval(closed=True)
    return Censored(
        name=f"{base.name} censored {where}",
        key=f"censored({base.key}, {', '.join(sides)})",
        parameters=(*base.parameters, *(Parameter(side, kind) for side in sides)),
        terms=_selected(partial(_log_density, base, sides)),
        support=partial(_support, base, sides),
        dtype=base.dtype,
        draw=None if base.draw is None else partial(_draw, base, sides),
        check=partial(_check, base, sides),
        base=base,
        sides=sides,
    )


@cache
def interval_censored(base: Family) -> Censored:
    """The family of which pairs are seen, between which a number lies."""
    return Censored(
        name=f"{base.name} censored to intervals",
        key=f"censored({base.key}, interval)",
        parameters=base.parameters,
        terms=_interval_terms(base),
        support=lambda *nodes: Pairs(base.support(*nodes)),
        event_ndim=1,
        event_shape=lambda *shapes: (2,),
        check=base.check,
        base=base,
        sides=(),
    )


def _apart(sides: tuple[str, ...], parameters: Any) -> tuple[Any, dict[str, Any]]:
    count = len(parameters) - len(sides)
    return parameters[:count], dict(zip(sides, parameters[count:], strict=True))


def _support(base: Family, sides: tuple[str, ...], *parents: Node) -> Support:
    own, bounds = _apart(sides, parents)
    support = base.support(*own)
    ends = {"lower": support.lower, "upper": support.upper}  # type: ignore[attr-defined]
    known = {s: b.value if isinstance(b, Data) and b.literal else b for s, b in bounds.items()}
    if base.discrete:
        return WholeNumbers(**(ends | known))
    edges = zip(("lower", "upper"), support.edges, strict=True)  # type: ignore[attr-defined]
    closed = {side: np.True_ if side in known else edge for side, edge in edges}
    return Interval(**(ends | known), closed=(closed["lower"], closed["upper"]))


def _check(base: Family, sides: tuple[str, ...], *nodes: Node) -> None:
    if base.check is not None:
        base.check(*_apart(sides, nodes)[0])


def _selected(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """The function, element by element, as the one term of a log density.

    Where it selects, what is left out may be infinite, as a density at the edge of its support is:
    forward, its derivative is left out, too, and not multiplied by 0.
    """
    known = by_forward(function)
    return lambda *tensors: (known(*jnp.broadcast_arrays(*tensors)),)


def _log_density(base: Family, sides: tuple[str, ...], x: Any, *parameters: Any) -> Any:
    own, bounds = _apart(sides, parameters)
    low, high = bounds.get("lower", -jnp.inf), bounds.get("upper", jnp.inf)
    at_low, at_high = x <= low, x >= high
    result = base.log_density(x, *own)
    if "lower" in bounds:
        bound = jnp.where(at_low, low, lax.stop_gradient(x))
        result = jnp.where(at_low, base.log_tails(bound, *own)[0], result)
    if "upper" in bounds:
        bound = jnp.where(at_high, high, lax.stop_gradient(x))
        before = 1.0 if base.discrete else 0.0
        result = jnp.where(at_high, base.log_tails(bound - before, *own)[1], result)
    return jnp.where((x < low) | (x > high), -jnp.inf, result)


def _draw(base: Family, sides: tuple[str, ...], source: Source, *parameters: Any) -> Any:
    own, bounds = _apart(sides, parameters)
    assert base.draw is not None
    value = base.draw(source, *own)
    return jnp.clip(value, bounds.get("lower"), bounds.get("upper"))


def _interval_terms(base: Family) -> Callable[..., tuple[Any, ...]]:
    known = _selected(partial(_log_of_interval, base))
    return lambda x, *parameters: known(x[..., 0], x[..., 1], *parameters)


def _log_of_interval(base: Family, low: Any, high: Any, *parameters: Any) -> Any:
    exact = low == high
    density = base.log_density(jnp.where(exact, low, _finite(low, high)), *parameters)
    shift = 1.0 if base.discrete else 0.0
    ends = _tails(base, low, high, parameters, -shift), _tails(base, high, low, parameters, 0.0)
    return jnp.where(exact, density, between(*ends))


def _finite(x: Any, other: Any) -> Any:
    """x where it is finite, or the other end, which is finite then."""
    return jnp.where(jnp.isfinite(x), x, other)


def _tails(base: Family, x: Any, other: Any, parameters: Any, shift: float) -> Tails:
    below, above = base.log_tails(_finite(x, other) + shift, *parameters)
    some = jnp.isfinite(x)
    below = jnp.where(some, below, jnp.where(x > 0, 0.0, -jnp.inf))
    return below, jnp.where(some, above, jnp.where(x > 0, -jnp.inf, 0.0))
