"""Vectors of numbers in increasing order: the law of ordered thresholds.

    p(x) proportional to prod_k p_k(x_k) for x_1 < ... < x_K

Elements with the same distribution p are independent draws that are sorted, and the constant is K!.
For elements with different distributions the constant is not computed; draws are repeated until
they are in order, for up to 10 elements.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import Source, event_source
from ..graph.array import Array
from ..graph.dims import check_dims_of_unknown, labels_of
from ..graph.node import Data, Node
from ..graph.source import place_text
from .bounds import small_terms
from .family import Family
from .support import Interval, Ordered, Support
from .variable import Variable, distribute

__all__ = ["Increasing", "increasing", "increasing_like"]

_MOST = 10  # elements with different distributions that are drawn
_ATTEMPTS = 200_000
_TRIED = 10_000  # draws of locations that decrease


@dataclass(frozen=True, eq=False, kw_only=True)
class Increasing(Family):
    """A family of vectors whose elements are in increasing order.

    Attributes
    ----------
    same
        Whether all elements have the same distribution.
    """

    base: Family
    same: bool

    def expression(self, parameters: list[str]) -> str:
        return f"{self.base.expression(parameters)}, ordered"


@cache
def increasing(base: Family, *axes: str) -> Increasing:
    """The family of ordered vectors.

    For each parameter of single numbers, `axes` has "1" if the elements differ in it, else "0". A
    last word "many" is for vectors that are too rarely in order to be drawn.
    """
    differ = [word == "1" for word in axes if word != "many"]
    same = not base.event_ndim and not any(differ)
    terms = partial(_terms, base, same, differ)
    return Increasing(
        name=f"{base.name} in order",
        key=f"increasing({', '.join((base.key, *axes))})",
        parameters=tuple(
            replace(parameter, event_ndim=parameter.event_ndim + differs)
            for parameter, differs in zip(base.parameters, differ, strict=True)
        ),
        terms=terms,
        **small_terms(base, terms),
        support=partial(_support, base),
        event_ndim=1,
        draw=None if base.draw is None or "many" in axes else partial(_draw, base, same, differ),
        base=base,
        same=same,
    )


def increasing_like(node: Variable, length: int, title: str, **place: Any) -> Array:
    """A vector of ordered elements with the prior of another unknown.

    Raises
    ------
    ValueError
        If the prior has whole numbers, or other bounds than 0.
    """
    ends: list[Any] = [getattr(node.support, end, None) for end in ("lower", "upper")]
    is_fixed = isinstance(node.support, Interval) and all(np.ndim(end) == 0 for end in ends)
    if not is_fixed or ends not in ([-np.inf, np.inf], [0.0, np.inf]):
        raise ValueError(
            f"{title} is of numbers that are {node.support.describe()}, but ordered numbers have "
            f"no bounds{place_text()}; use a distribution of all real numbers, such as "
            "kg.normal(0, 2)"
        )
    if node.distribution is None:
        names = check_dims_of_unknown(place["dims"], (length,), title)
        labels = labels_of(place["dims"])
        support = Ordered(positive=ends[0] == 0.0)
        return Array(Variable(support, (length,), node.dtype, place["name"], names, coords=labels))
    base, nodes = node.distribution.family, node.distribution.parents
    axes = [
        "1" if not base.event_ndim and len(each.shape) > parameter.event_ndim else "0"
        for parameter, each in zip(base.parameters, nodes, strict=True)
    ]
    differ = "1" in axes or base.event_ndim
    never = _is_never_ordered(base, nodes, axes, length)
    many = ["many"] if (differ and length > _MOST) or never else []
    family = increasing(base, *axes, *many)
    return distribute(family, tuple(map(Array, nodes)), event=(length,), **place)


def _is_never_ordered(
    base: Family, nodes: Sequence[Node], axes: Sequence[str], length: int
) -> bool:
    """Whether none of some draws is in order.

    It is False for increasing locations, which need no draws, and for unknown parameters.
    """
    are_literal = all(isinstance(node, Data) and node.literal for node in nodes)
    if base.draw is None or base.event_ndim or not are_literal:
        return False
    values = [node.value for node in nodes]  # type: ignore[attr-defined]
    if axes[0] == "0" or (np.diff(values[0], axis=-1) >= 0).all():
        return False
    zero = np.uint32(0)
    key = (zero, zero, zero, zero)
    source = event_source(key, (zero, zero), zero, (_TRIED, length), np.float32)
    return not bool(jnp.any(_in_order(base.draw(source, *map(np.float32, values)))))


def _support(base: Family, *parents: Any) -> Support:
    return Ordered(positive=getattr(base.support(*parents), "lower", -np.inf) == 0.0)


def _of_elements(base: Family, differ: list[bool], parameters: Any) -> list[Any]:
    """The parameters with an axis of the elements."""
    if base.event_ndim:
        return list(parameters)
    return [
        p if differs else jnp.expand_dims(p, -1 - parameter.event_ndim)
        for parameter, p, differs in zip(base.parameters, parameters, differ, strict=True)
    ]


def _terms(
    base: Family, same: bool, differ: list[bool], x: Any, *parameters: Any, small: bool = False
) -> tuple[Any, ...]:
    density = base.log_density(x, *_of_elements(base, differ, parameters), small=small)
    if base.event_ndim:
        return (density,)
    orders = jnp.asarray(math.lgamma(x.shape[-1] + 1) if same else 0.0, density.dtype)
    return jnp.sum(density, -1), orders


def _draw(base: Family, same: bool, differ: list[bool], source: Source, *parameters: Any) -> Any:
    """Draw sorted numbers, or repeat draws until they are in order."""
    assert base.draw is not None
    draw, of_elements = base.draw, _of_elements(base, differ, parameters)
    if same:
        return jnp.sort(draw(source, *of_elements), -1)

    def attempt(state: Any) -> Any:
        number, value = state
        key = source.row(number).key
        new = draw(Source(key, source.shape, source.dtype), *of_elements)
        return number + 1, jnp.where(_in_order(value), value, new)

    def going(state: Any) -> Any:
        number, value = state
        return (number < _ATTEMPTS) & ~jnp.all(_in_order(value))

    start = (np.uint32(0), jnp.full(source.shape, jnp.nan, source.dtype))
    value = lax.while_loop(going, attempt, start)[1]
    return jnp.where(_in_order(value), value, jnp.nan)


def _in_order(value: Any) -> Any:
    return jnp.all(value[..., 1:] > value[..., :-1], -1, keepdims=True)
