"""Live nodes: the nodes on which the derivative of given outputs depends.

The other results of branches and loops are computed, too, but they are constants of the derivative.
Their cotangents are zero. If an intermediate derivative is not finite (such as that of the square
root of a residual that has become 0), zero times this derivative would be NaN instead of zero.

Integers and booleans have no derivative, so nothing is live through them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..node import PART, Apply, Node
from .control_node import Control

__all__ = ["Live", "Places", "live"]

Places = frozenset[int]


class Live(NamedTuple):
    """The live nodes, and the live results of nodes with several results."""

    nodes: set[Node]
    results: Mapping[Control, Places]


def live(nodes: Sequence[Node], outputs: Iterable[Node]) -> Live:
    """The live ones among `nodes`, which are ordered with parents first."""
    live_nodes = {node for node in outputs if _has_derivative(node)}
    places: dict[Control, set[int]] = {}
    for node in reversed(nodes):
        if isinstance(node, Control):
            reached = node.live_parents(frozenset(places.get(node, ())))
            parents: Iterable[Node] = (node.parents[i] for i in reached)
        elif node not in live_nodes:
            continue
        elif isinstance(node, Apply) and node.operation is PART:
            (bundle,) = parents = node.parents
            if isinstance(bundle, Control):
                places.setdefault(bundle, set()).add(node.attributes["place"])
                continue
        else:
            parents = node.parents
        live_nodes.update(filter(_has_derivative, parents))
    return Live(live_nodes, {node: frozenset(live_places) for node, live_places in places.items()})


def _has_derivative(node: Node) -> bool:
    return node.dtype.kind in "fV"  # V: an operation with several results
