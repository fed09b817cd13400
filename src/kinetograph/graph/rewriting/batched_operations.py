"""Independent operations of one kind, compiled as one operation."""

from collections.abc import Container, Hashable, Sequence

from ..node import Apply, Node

__all__ = ["Groups", "together"]

Groups = dict[Node, list[Apply]]


def together(order: Sequence[Node], computed: Container[Node]) -> tuple[list[Node], Groups]:
    """Sort nodes so that `alike` ones are neighbours; return their groups.

    Parents still come first. The depth of a node is the length of the longest chain of `alike`
    nodes that must be computed before it. Nodes of the same depth do not depend on one another.
    """
    kinds: dict[Apply, Hashable] = {}
    for node in order:
        if isinstance(node, Apply) and node.alike is not None and node not in computed:
            kinds[node] = node.alike
    if len(set(kinds.values())) == len(kinds):
        return list(order), {}
    depth: dict[Node, int] = {}
    members: dict[Hashable, list[Apply]] = {}
    for node in order:
        parents = () if node in computed else node.parents
        depth[node] = max((depth[p] + (p in kinds) for p in parents), default=0)
        if isinstance(node, Apply) and node in kinds:
            members.setdefault((depth[node], kinds[node]), []).append(node)
    # Within one depth, other nodes come first: `alike` nodes may need them.
    sorted_nodes = sorted(order, key=lambda node: (depth[node], node in kinds))
    groups: Groups = {node: group for group in members.values() if len(group) > 1 for node in group}
    return sorted_nodes, groups
