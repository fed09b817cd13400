"""Unknown first values of a loop over time, as noises.

    x = [kg.normal(0, 1), kg.normal(0, 1)]
    for t in range(2, n):
        x.append(kg.normal(a * x[t - 1] + b * x[t - 2], s))

They may also be the elements of a vector.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import jax.numpy as jnp

from ..distributions.variable import Variable
from ..graph.node import Apply, Node
from ..graph.operations.indexing import SLICE
from .hierarchies import is_real
from .linear_rows import (
    BEFORE,
    NOISE,
    ONE,
    ZERO,
    NotLinearSeries,
    SeriesExpression,
    SeriesRows,
    at_step,
    with_noise,
)
from .normal_vector import SystemNoise

if TYPE_CHECKING:
    from .linear_nodes import System

__all__ = ["FirstValue", "element_of", "first_noises", "first_unknowns", "laws_of"]


class FirstValue(NamedTuple):
    """The value of an unknown at one of the first steps."""

    step: int
    states: tuple[int, ...]  # whose values before the next steps are this value
    series: SeriesExpression | None = None  # its row at the step is the value

    def at(self, step: int) -> SeriesExpression:
        """The expression at the same or a later step.

        Raises
        ------
        NotLinearSeries
            If no state keeps the value.
        """
        lag = step - self.step - 1
        if 0 <= lag < len(self.states):
            key = BEFORE, self.states[lag]
            return SeriesExpression(frozenset({key}), lambda _: SeriesRows({key: 1.0}, 0.0))
        series = self.series
        if lag != -1 or series is None:
            raise NotLinearSeries
        return series._replace(rows=lambda e: at_step(series.rows(e), step))


def element_of(node: Node) -> tuple[Node, int]:
    """The array that has a node as an element, and the place.

    A number is its own array.
    """
    if isinstance(node, Apply) and node.operation is SLICE:
        (array,), template = node.parents, node.attributes["template"]
        if len(array.shape) == 1 and len(template) == 1 and isinstance(template[0], int):
            return array, template[0]
    return node, 0


def first_unknowns(starts: Mapping[int, Node], steps: int) -> tuple[Variable, ...]:
    """The normal unknowns whose elements are the first values; perhaps none."""
    if any(step not in starts for step in range(steps)):
        return ()
    elements = [element_of(starts[step]) for step in range(steps)]
    unknowns = tuple(array for array in dict.fromkeys(array for array, _ in elements))
    normal = tuple(u for u in unknowns if isinstance(u, Variable) and _is_normal(u))
    every = [(unknown, place) for unknown in normal for place in range(unknown.size)]
    return normal if every == elements else ()


def laws_of(system: "System", node: Node, step: int) -> tuple[SeriesExpression, SeriesExpression]:
    """The mean and the standard deviation of an element of an unknown."""
    unknown, place = element_of(node)
    distribution = unknown.distribution  # type: ignore[attr-defined]
    mean, sd = (
        _element(system, distribution.arguments[name], place, step) for name in ("mean", "sd")
    )
    return mean, sd


def first_noises(
    system: "System",
    unknowns: tuple[Variable, ...],
    laws: Sequence[tuple[SeriesExpression, SeriesExpression]],
) -> SeriesExpression:
    """The values of the first steps, as noises.

    They are elements of a noise that has none for these steps, if there is one.
    """
    late = next((noise for noise in system.noises if noise.first == len(laws)), None)
    if late is None:
        means, sds = map(list, zip(*laws, strict=True))
        mean, sd = system.started(ZERO, means), system.started(ONE, sds)
        return system.noise(SystemNoise(unknowns, 0), mean, sd)
    if not system.noise_unknowns.isdisjoint(unknowns):
        raise NotLinearSeries
    key = NOISE, [*system.noises].index(late)
    series = system.started(system.noises[late], [with_noise(key, *law) for law in laws])
    whole = SystemNoise((*unknowns, *late.unknowns), 0)
    noises = system.noises.items()
    system.noises = dict(
        (whole, series) if noise == late else (noise, row) for noise, row in noises
    )
    return series


def _element(system: "System", node: Node, place: int, step: int) -> SeriesExpression:
    if node.shape in ((), (1,)):
        return system.number(node, step)
    if system.moves(node):
        raise NotLinearSeries
    system.constants[node] = None
    return SeriesExpression(frozenset(), lambda e: SeriesRows({}, jnp.asarray(e[node])[place]))


def _is_normal(unknown: Variable) -> bool:
    distribution = unknown.distribution
    if distribution is None or not is_real(unknown) or len(unknown.shape) > 1:
        return False
    return distribution.family.key == "normal"
