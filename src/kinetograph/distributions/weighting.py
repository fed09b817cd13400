"""Weighted distributions: log densities multiplied by known weights.

    log p_w(y) = w log p(y),   0 for w = 0

Only data can follow one. Numbers are drawn from p: weights say how much an observation counts.
"""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax.numpy as jnp

from ..graph.array import Array
from .bounds import check_base, small_terms
from .family import Family
from .parameter import Parameter
from .support import NONNEGATIVE
from .variable import Variable, distribute

__all__ = ["Weighted", "weighted", "with_weights"]

_LAST = ("power",)


@dataclass(frozen=True, eq=False, kw_only=True)
class Weighted(Family):
    """A family with a log density that is multiplied by weights."""

    base: Family

    def expression(self, parameters: list[str]) -> str:
        return self.base.expression(parameters[:-1])


def with_weights(distribution: Array, weights: Any) -> Array:
    """A distribution with a weight for each number."""
    node = distribution.node
    assert isinstance(node, Variable)
    assert node.distribution is not None
    parents = tuple(map(Array, node.distribution.parents))
    family = weighted(node.distribution.family)
    return distribute(family, (*parents, weights), shape=node.shape, dims=node.dims)


@cache
def weighted(base: Family) -> Weighted:
    """The family whose log density is multiplied by its last parameter."""
    return Weighted(
        name=f"{base.name} with weights",
        key=f"weighted({base.key})",
        parameters=(*base.parameters, Parameter("power", NONNEGATIVE)),
        terms=partial(_terms, base),
        **small_terms(base, partial(_terms, base)),
        forms=base.forms,
        support=lambda *nodes: base.support(*nodes[:-1]),
        event_ndim=base.event_ndim,
        event_shape=lambda *shapes: base.event_shape(*shapes[:-1]),
        dtype=base.dtype,
        draw=None if base.draw is None else partial(_draw, base),
        check=partial(check_base, base, _LAST),
        base=base,
    )


def _terms(base: Family, x: Any, *parameters: Any, small: bool = False, **forms: Any) -> Any:
    *of_base, weights = parameters
    without = weights == 0.0
    still_forms = base.still_forms(without, forms)
    density = base.log_density(*base.still(without, x, *of_base), small=small, **still_forms)
    return (jnp.where(without, 0.0, weights * density),)


def _draw(base: Family, source: Any, *parameters: Any) -> Any:
    assert base.draw is not None
    return base.draw(source, *parameters[:-1])
