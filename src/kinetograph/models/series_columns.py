"""Unknown numbers of a loop over time.

for t in range(1, n):
    x.append(kg.normal(rho * x[t - 1], sd))
"""

from collections.abc import Collection, Container, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.variable import Distribution, Variable
from ..graph.node import Apply, Node
from ..graph.operations.shaping import STACK, stack
from ..graph.rewriting.alike import Column
from ..graph.rewriting.gaps import all_steps
from ..graph.rewriting.step_columns import ColumnOperation, StepColumns
from .hierarchies import is_real

if TYPE_CHECKING:
    from .density import Density

__all__ = ["SeriesColumns", "alike_numbers", "steps_of_numbers"]


class SeriesColumns(StepColumns):
    """The columns of a loop.

    A column of normal unknowns, which are among `numbers`, is computed from the columns of means
    and standard deviations.
    """

    def __init__(self, column: Column, numbers: Container[Node]) -> None:
        self._numbers = numbers
        super().__init__(column, ())

    def _kind_of(self, column: Column) -> Any:
        kind = super()._kind_of(column)
        if kind is not None or not all(node in self._numbers for node in column):
            return kind
        laws = [law for law in map(_normal_law, column) if law is not None]
        return ColumnOperation(tuple(zip(*(law.parents for law in laws), strict=True)))


def steps_of_numbers(node: Node, numbers: Collection[Node]) -> tuple[Node | None, np.ndarray]:
    """The numbers of all steps of a loop, and places among them.

    Numbers of other steps may have no data.
    """
    column = node.parents
    if not numbers or not isinstance(node, Apply) or node.operation is not STACK:
        return None, np.arange(0)
    if len(column) < 2 or column[-1] not in numbers or len({*column}) < len(column):
        return None, np.arange(0)
    steps = all_steps(column, _parents, numbers)
    if steps is None or steps == column:
        return None, np.arange(0)
    places = {number: i for i, number in enumerate(steps)}
    return stack(steps), np.array([places[number] for number in column])


def _parents(node: Node) -> Sequence[Node]:
    """The parents of a node, or the parameters of a number."""
    law = _normal_law(node)
    return node.parents if law is None else law.parents


def alike_numbers(density: "Density") -> list[set[Variable]]:
    """The normal unknowns that are single numbers, in groups of alike distributions."""
    groups = () if density.batches is None else density.batches.groups
    targets = ([term.target for term in group.terms] for group in groups)
    return [
        {v for v in group if isinstance(v, Variable) and _normal_law(v) is not None}
        for group in targets
    ]


def _normal_law(node: Node) -> Distribution | None:
    """The distribution of a normal unknown that is a number."""
    if not isinstance(node, Variable) or node.shape != () or not is_real(node):
        return None
    distribution = node.distribution
    return (
        distribution if distribution is not None and distribution.family.key == "normal" else None
    )
