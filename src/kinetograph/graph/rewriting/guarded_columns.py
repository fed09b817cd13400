"""Columns of `where`, whose sides have derivatives only where they are taken.

The sides of all pieces are computed as one batch. So the operations that lead to a column of
`where` are copied for one piece, and `where_derivatives` inserts its choices into the copies.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from ..node import Apply, Node, Placeholder, ancestors, within
from ..operations.elementwise import WHERE
from .alike import lowered
from .where_derivatives import Sides

__all__ = ["GuardedColumn", "is_where", "places_below"]

# The inputs of a place; None if its tensor is given.
Inputs = Callable[[Any], Sequence[Any] | None]


def is_where(node: Node) -> bool:
    """Whether a node is a choice between two sides."""
    return isinstance(node, Apply) and node.operation is WHERE


def places_below(place: Hashable, inputs: Inputs) -> Iterator[Any]:
    """A place and all places that it is computed from, inputs first."""
    visited = set()
    pending = [(place, False)]
    while pending:
        place, done = pending.pop()
        if done:
            yield place
        elif place not in visited:
            visited.add(place)
            pending.append((place, True))
            pending += ((p, False) for p in inputs(place) or ())


class GuardedColumn:
    """The computation of one piece of a column of `where`.

    Attributes
    ----------
    leaves
        The places whose tensors are given, in the order of the arguments.
    guards
        Whether a derivative needs a choice.
    """

    def __init__(self, place: Hashable, inputs: Inputs, example: Callable[[Any], Node]) -> None:
        copies: dict[Any, Node] = {}
        self.leaves: list[Any] = []
        with within(None):
            for each in places_below(place, inputs):
                needs, node = inputs(each), example(each)
                if needs is None:
                    self.leaves.append(each)
                    copies[each] = Placeholder((), node.shape, node.dtype)
                else:
                    assert isinstance(node, Apply)
                    parents = tuple(copies[p] for p in needs)
                    copies[each] = Apply(
                        node.operation, parents, node.shape, node.dtype, node.attributes
                    )
        self._root = copies[place]
        self._given = [copies[leaf] for leaf in self.leaves]
        self._order = ancestors([self._root], set(self._given).__contains__)
        self.guards = self._sides() is not None

    def _sides(self) -> Sides | None:
        new = [node for node in self._order if isinstance(node, Apply)]
        return Sides.among(new, [self._root], {}, (), None)

    def __call__(self, *tensors: Any) -> Any:
        """The tensor of one piece, from the tensors of the leaves."""
        tensors_of: dict[Node, Any] = dict(zip(self._given, tensors, strict=True))
        sides = self._sides()

        def compute(nodes: Iterable[Node]) -> None:
            for node in ancestors(nodes, tensors_of.__contains__):
                if node not in tensors_of:
                    parents = [tensors_of[p] for p in node.parents]
                    parents = parents if sides is None else sides.operands(node, parents)
                    tensors_of[node] = lowered(node)(*parents)

        if sides is not None:
            sides.prepare(
                tensors_of,
                compute,
                lambda node, values: lowered(node)(*(values[p] for p in node.parents)),
            )
        compute([self._root])
        return tensors_of[self._root]
