"""Running averages of a chain: moments of its draws in constant memory.

After each block its rows are added to the averages, one by one. The averages are part of the
chain's state, so they do not depend on how the chain is divided into blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.array import Array
from ..graph.errors import ModelError, ShapeError
from ..graph.messages import describe, site_text
from ..graph.node import Node
from ..kernels.contract import Statistic
from ..kernels.moments import Moments
from ..models.model import Model
from ..observables.average import Average

__all__ = ["Averages", "averaged_targets"]


def averaged_targets(model: Model, averages: Sequence[Average]) -> tuple[Node, ...]:
    """The targets of the model among the averaged quantities.

    Raises
    ------
    ModelError
        If an array is not a target of the model.
    """
    nodes = [a.quantity.node for a in averages if isinstance(a.quantity, Array)]
    for node in nodes:
        if node not in model.targets:
            raise ModelError(
                f"averages: {describe(node)}{site_text(node)} is not a target of the model, which "
                f"has {', '.join(model.target_names)}; name it there, as in "
                "kg.model(..., name=array)"
            )
    return tuple(n for n in model.targets if n in nodes)


@dataclass(frozen=True)
class ValueSource:
    """The place of a quantity's values: a target, or columns of statistics."""

    average: Average
    node: Node | None
    column: int
    shape: tuple[int, ...]  # with the axes of the walkers
    shape_of_one: tuple[int, ...]  # without the axes of the walkers


class Averages:
    """The averages of a program, by name."""

    def __init__(
        self,
        model: Model,
        averages: Sequence[Average],
        targets: Sequence[Node],
        statistics: Sequence[Statistic],
        walkers: tuple[int, ...],
    ) -> None:
        self.targets = tuple(targets)
        self.sources: dict[str, ValueSource] = {}
        ends = np.cumsum([0, *(s.size for s in statistics)])
        columns = {s.name: (s, int(end)) for s, end in zip(statistics, ends, strict=False)}
        for average in averages:
            quantity = average.quantity
            if isinstance(quantity, Array):
                name, node = model.name(quantity.node), quantity.node
                source = ValueSource(average, node, 0, (*walkers, *node.shape), node.shape)
            else:
                name = quantity.name
                statistic, column = columns[name]
                shape = statistic.shape
                shape_of_one = shape[1:] if walkers and shape[:1] == walkers else shape
                source = ValueSource(average, None, column, shape, shape_of_one)
            if name in self.sources:
                raise ValueError(f"averages: {name!r} is given twice")
            if average.covariance and not source.shape_of_one:
                raise ShapeError(
                    f"averages: {name} is one number, whose covariance is its variance; give it "
                    "without kg.observables.covariance"
                )
            self.sources[name] = source

    def start(self) -> dict[str, Moments]:
        """Moments before any draw."""
        return {
            name: Moments.start(np.empty(s.shape), covariance=s.average.covariance)
            for name, s in self.sources.items()
        }

    def add(
        self, averages: Mapping[str, Moments], count: Any, targets: Sequence[Any], statistics: Any
    ) -> dict[str, Moments]:
        """The moments after the first `count` rows are added."""

        def value(source: ValueSource, row: Any) -> Any:
            if source.node is not None:
                return targets[self.targets.index(source.node)][row]
            size = int(np.prod(source.shape, dtype=int))
            return statistics[row, source.column : source.column + size].reshape(source.shape)

        def with_row(row: Any, moments: dict[str, Moments]) -> dict[str, Moments]:
            return {
                name: moments[name].add(jnp.asarray(value(source, row), float))
                for name, source in self.sources.items()
            }

        added: dict[str, Moments] = lax.fori_loop(0, count, with_row, dict(averages))
        return added

    def text(self) -> str:
        """A description of the averages by which programs are distinguished."""

        def place(source: ValueSource) -> str:
            if source.node is not None:
                return f"target {self.targets.index(source.node)}"
            return f"column {source.column}"

        return "; ".join(
            f"{name} {s.average.covariance} {s.shape} {place(s)}"
            for name, s in self.sources.items()
        )
