"""Unknowns whose draws results hold in addition to the targets.

Later computations (`kg.log_prior`, `kg.predict`, `kg.loo`) need the draws of all unknowns. A target
gives the draws of an unknown if it is the unknown, or rearranges its elements. The other unknowns
are in the group `unknowns` of the results.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..distributions.variable import Variable
from ..graph.errors import DimsError, ModelError
from ..graph.node import Apply, Data, Node
from ..graph.operations.indexing import READ
from ..graph.operations.shaping import CONCATENATE, RESHAPE
from .labels import Labelled, check_group
from .model import Model

__all__ = ["GROUP", "MOST", "rows_of_unknowns", "unknowns_beside"]

GROUP = "unknowns"  # the group of results
MOST = 10_000  # numbers of a draw up to which unknowns are kept by default
LEAD = ("chain", "draw")


def unknowns_beside(model: Model, targets: Iterable[Node], most: int | None) -> list[Variable]:
    """The unknowns whose draws cannot be read from the targets.

    The list is empty if the unknowns have more than `most` numbers together. An unknown is left out
    if its name or its dimensions clash with another unknown, because results could not hold both.
    """
    readable = {
        unknown
        for target in targets
        for unknown, _ in rows_of_unknowns(target, np.empty((0, *target.shape)))
    }
    unknowns = [v for v in model.component.unknowns if v not in readable and v.size]
    if most is not None and sum(v.size for v in unknowns) > most:
        return []
    members = [(model.name(v), model._axes[v], v.shape) for v in unknowns]
    if _fit(members):
        return unknowns
    fitting: list[Labelled] = []
    for member in members:
        if _fit([*fitting, member]):
            fitting.append(member)
    names = {name for name, _, _ in fitting}
    return [v for v in unknowns if model.name(v) in names]


def _fit(members: Sequence[Labelled]) -> bool:
    """Whether one group of results can hold these arrays."""
    try:
        check_group("draws", members, LEAD)
    except (DimsError, ModelError):
        return False
    return True


def rows_of_unknowns(node: Node, rows: np.ndarray) -> Iterator[tuple[Variable, Any]]:
    """The rows of the unknowns whose elements a node rearranges."""
    if isinstance(node, Variable):
        yield node, np.asarray(rows, node.dtype)
    elif not isinstance(node, Apply) or node.context is not None:
        return
    elif node.operation is RESHAPE:
        (inner,) = node.parents
        yield from rows_of_unknowns(inner, rows.reshape((len(rows), *inner.shape)))
    elif node.operation is CONCATENATE:
        axis = node.attributes["axis"] + 1
        ends = np.cumsum([part.shape[axis - 1] for part in node.parents])[:-1]
        for part, part_rows in zip(node.parents, np.split(rows, ends, axis), strict=True):
            yield from rows_of_unknowns(part, part_rows)
    elif node.operation is READ and len(node.parents) == 2:
        inner, places = node.parents
        if (
            isinstance(places, Data)
            and places.literal
            and inner.shape == node.shape == places.shape
        ):
            order = np.asarray(places.value)
            if np.array_equal(np.sort(order), np.arange(inner.shape[0])):
                yield from rows_of_unknowns(inner, rows[:, np.argsort(order)])
