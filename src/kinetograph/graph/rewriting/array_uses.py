"""The uses of an array in a loop, for `rowwise`."""

from collections.abc import Iterator, Sequence

from ..control.conditional import Cond
from ..control.control_node import Control, everything
from ..control.subgraph import Subgraph
from ..node import FORM, PART, Apply, Node
from ..operations.indexing import READS, WRITES

__all__ = ["ArrayUses", "outside_branches"]


class ArrayUses:
    """The uses of an array in a loop's body and its branches.

    Attributes
    ----------
    versions
        The array, and the arrays that writes and choices make of it.
    reads, writes
        The operations that read and write a part of the array by an index.
    chosen
        The versions that are inputs of branches.
    only_rows
        Whether the array has no other uses.
    """

    def __init__(self, body: Subgraph, array: Node) -> None:
        self.versions: set[Node] = {array}
        self.reads: list[Node] = []
        self.writes: list[Node] = []
        self.chosen: set[Node] = set()
        self.only_rows = True
        self._same: dict[Node, Node] = {}  # by another name of a version: the version
        self._users: dict[Node, list[Node]] = {}
        self._joined: dict[Node, set[int]] = {}  # the results of branches that are versions
        self._follow(body.nodes)

    def users(self, node: Node) -> list[Node]:
        """The operations on a version, under any of its names."""
        return self._users.get(node, [])

    def _name(self, node: Node, of: Node) -> None:
        self.versions.add(node)
        self._same[node] = self._same.get(of, of)

    def _follow(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if (
                isinstance(node, Apply)
                and node.operation is PART
                and node.parents[0] in self._joined
            ):
                if node.attributes["place"] in self._joined[node.parents[0]]:
                    self.versions.add(node)
                continue
            places = [i for i, parent in enumerate(node.parents) if parent in self.versions]
            if not places:
                continue
            if isinstance(node, Cond):
                self._branch(node, places)
                continue
            first = node.parents[0]
            operation = node.operation if isinstance(node, Apply) and places == [0] else None
            if operation is FORM:
                self._name(node, first)
                continue
            self._users.setdefault(self._same.get(first, first), []).append(node)
            if operation in READS:
                self.reads.append(node)
            elif operation in WRITES and node.dtype == first.dtype:
                self.writes.append(node)
                self.versions.add(node)
            else:
                self.only_rows = False

    def _branch(self, node: Cond, chosen: Sequence[int]) -> None:
        self.chosen |= {self._same.get(node.parents[i], node.parents[i]) for i in chosen}
        for subgraph, places in zip(node.subgraphs, node.places, strict=True):
            for inner, place in zip(subgraph.inputs, places, strict=True):
                if 1 + place in chosen:
                    self._name(inner, node.parents[1 + place])
            self._follow(subgraph.nodes)
        results = zip(*(subgraph.outputs for subgraph in node.subgraphs), strict=True)
        ends = [[output in self.versions for output in outputs] for outputs in results]
        self._joined[node] = {i for i, flags in enumerate(ends) if all(flags)}
        if any(any(flags) and not all(flags) for flags in ends):
            self.only_rows = False


def outside_branches(node: Node) -> Iterator[Node]:
    """The nodes inside of a node, except nodes inside of branches."""
    if isinstance(node, Control):
        for subgraph in node.subgraphs:
            if isinstance(node, Cond):
                for inner in subgraph.nodes:
                    yield from outside_branches(inner)
            else:
                yield from everything(subgraph.nodes)
