"""Independent numbers of several distributions, bound to vectors along the last axis."""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.node import Node
from .family import Family
from .mixture import split_parts
from .moments import Moments
from .parameter import Parameter
from .support import Interval, Support, WholeNumbers

__all__ = ["Joint", "joint"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Joint(Family):
    """A family of vectors made of families of numbers."""

    parts: tuple[Family, ...]

    def expression(self, parameters: list[str]) -> str:
        texts = [
            part.expression(part_texts)
            for _, part, part_texts in split_parts(self.parts, parameters)
        ]
        return f"joint({', '.join(texts)})"


@cache
def joint(*parts: Family) -> Joint:
    """The family of vectors whose k-th number follows the k-th part."""
    parameters = [
        Parameter(f"{p.name}_{k}", p.support, p.event_ndim, p.integer, p.drawn)
        for k, part in enumerate(parts)
        for p in part.parameters
    ]
    return Joint(
        name="joint",
        key=f"joint({', '.join(part.key for part in parts)})",
        parameters=tuple(parameters),
        terms=partial(_terms, parts),
        support=partial(_support, parts),
        event_ndim=1,
        event_shape=lambda *shapes: (len(parts),),
        dtype=parts[0].dtype,
        check=partial(_check, parts),
        draw=partial(_draw, parts) if all(p.draw for p in parts) else None,
        moments=partial(_moments, parts) if all(p.moments for p in parts) else None,
        parts=parts,
    )


def _terms(parts: tuple[Family, ...], x: Any, *parameters: Any) -> tuple[Any, ...]:
    return tuple(
        part.log_density(x[..., k], *arguments)
        for k, part, arguments in split_parts(parts, parameters)
    )


def _support(parts: tuple[Family, ...], *nodes: Node) -> Support:
    supports: list[Any] = [
        part.support(*arguments) for _, part, arguments in split_parts(parts, nodes)
    ]

    def along(ends: list[Any]) -> np.ndarray:
        return np.stack(np.broadcast_arrays(*ends), -1)

    low, high = along([s.lower for s in supports]), along([s.upper for s in supports])
    if isinstance(supports[0], WholeNumbers):
        return WholeNumbers(low, high)
    edges = (along([np.asarray(s.edges[side]) for s in supports]) for side in (0, 1))
    return Interval(low, high, tuple(edges))  # type: ignore[arg-type]


def _check(parts: tuple[Family, ...], *nodes: Node) -> None:
    for _, part, arguments in split_parts(parts, nodes):
        if part.check is not None:
            part.check(*arguments)


def _moments(parts: tuple[Family, ...], *parameters: Any, event: tuple[int, ...]) -> Moments:
    each = [
        part.mean_and_variance((), *arguments)
        for _, part, arguments in split_parts(parts, parameters)
    ]
    mean, variance = zip(*each, strict=True)
    return (
        jnp.stack(jnp.broadcast_arrays(*mean), -1),
        jnp.stack(jnp.broadcast_arrays(*variance), -1),
    )


def _draw(parts: tuple[Family, ...], source: Source, *parameters: Any) -> Any:
    shape = source.shape[:-1]
    drawn = []
    for k, part, arguments in split_parts(parts, parameters):
        assert part.draw is not None
        drawn.append(part.draw(Source(source.part(k).key, shape, source.dtype), *arguments))
    return jnp.stack(drawn, -1)
