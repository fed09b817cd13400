"""Branches, written as the sides of `where`.

    cond(t < s, lambda: a, lambda: 2 * b)        where(t < s, a, 2 * b)

Both branches have to be operations on arrays without indices that can fall outside of their axes,
because both sides of a `where` are computed.
"""

from collections.abc import Iterable, Mapping

from ..control.conditional import Cond
from ..control.subgraph import Subgraph
from ..faults import has_faults
from ..node import PART, Apply, Data, Inner, Node, ancestors, within
from ..operations.elementwise import where
from .alike import is_operation

__all__ = ["branches_as_sides", "written_again"]


def branches_as_sides(roots: Iterable[Node]) -> dict[Node, Node]:
    """Nodes without branches, by the nodes that they replace."""
    order = ancestors(roots)
    replacements: dict[Node, Node] = {}
    if not any(isinstance(node, Cond) for node in order):
        return replacements
    with within(None):
        written_again(order, replacements)
    return replacements


def written_again(order: Iterable[Node], replacements: dict[Node, Node]) -> None:
    """Write nodes again whose parents are in `replacements`, and results of branches."""
    for node in order:
        if node in replacements:
            continue
        written = _choice(node, replacements) if _is_choice(node) else _copy(node, replacements)
        if written is not None and written is not node:
            written._place = node._place
            replacements[node] = written


def _is_choice(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation is PART and isinstance(node.parents[0], Cond)


def _copy(node: Node, replacements: Mapping[Node, Node]) -> Node | None:
    """The node with other parents; None where these cannot be replaced."""
    if not any(p in replacements for p in node.parents):
        return node
    if not isinstance(node, Apply) or not is_operation(node):
        return None
    parents = tuple(replacements.get(p, p) for p in node.parents)
    return Apply(node.operation, parents, node.shape, node.dtype, node.attributes)


def _choice(node: Node, replacements: Mapping[Node, Node]) -> Node | None:
    """A result of a conditional as a `where`, or None."""
    (choice,) = node.parents
    assert isinstance(choice, Cond)
    assert isinstance(node, Apply)
    predicate = replacements.get(choice.parents[0], choice.parents[0])
    if predicate.dtype.kind != "b" or len(choice.subgraphs) != 2:
        return None
    place = node.attributes["place"]
    no, yes = (_result(part, part.outputs[place], replacements) for part in choice.subgraphs)
    if no is None or yes is None:
        return None
    chosen = where(predicate, yes, no)
    return chosen if (chosen.shape, chosen.dtype) == (node.shape, node.dtype) else None


def _result(part: Subgraph, result: Node, outside: Mapping[Node, Node]) -> Node | None:
    """A result of a branch, computed outside of it, or None."""
    replacements: dict[Node, Node] = {}
    for node in ancestors([result]):
        written: Node | None = None
        if isinstance(node, Inner):
            written = outside.get(node.outer, node.outer)
        elif node.context is None:
            written = outside.get(node, node)
        elif isinstance(node, Data):
            written = Data(node.value, literal=True) if node.literal else None
        elif _is_choice(node):
            written = _choice(node, replacements)
        elif isinstance(node, Apply) and is_operation(node) and not has_faults(node):
            parents = tuple(replacements[p] for p in node.parents)
            written = Apply(node.operation, parents, node.shape, node.dtype, node.attributes)
        if written is None:
            return None
        replacements[node] = written
    return replacements[result]
