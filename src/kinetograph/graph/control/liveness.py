"""Which results take part in a derivative: those that the differentiated outputs are computed from.

Other results of branches and loops are computed, too, but are constants of the derivative. The
cotangent of such a result is zero, and where the derivative of what it is computed from is not
finite (the square root of a residual that has become 0), zero times that would not be zero.

Whole numbers and truth values have no derivative, so nothing is live through them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..node import PART, Apply, Node
from .control import Control

__all__ = ["Live", "Places", "live"]

Places = frozenset[int]


class Live(NamedTuple):
    """What takes part: nodes, and which results of those with several."""

    nodes: set[Node]
    results: Mapping[Control, Places]


def live(nodes: Sequence[Node], outputs: Iterable[Node]) -> Live:
    """What the outputs are computed from among `nodes`, which come parents first."""
    found = {node for node in outputs if _has_derivative(node)}
    places: dict[Control, set[int]] = {}
    for node in reversed(nodes):
        if isinstance(node, Control):
            reached = node.live_parents(frozenset(places.get(node, ())))
            parents: Iterable[Node] = (node.parents[i] for i in reached)
        elif node not in found:
            continue
        elif isinstance(node, Apply) and node.operation is PART:
            (whole,) = parents = node.parents
            if isinstance(whole, Control):
                places.setdefault(whole, set()).add(node.attributes["place"])
                continue
        else:
            parents = node.parents
        found.update(filter(_has_derivative, parents))
    return Live(found, {node: frozenset(own) for node, own in places.items()})


def _has_derivative(node: Node) -> bool:
    return node.dtype.kind in "fV"  # V: an operation with several results
