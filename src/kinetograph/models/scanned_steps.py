"""Linear recurrences whose steps are the trips of `kg.scan`.

last, x = kg.scan(lambda x, z: (rho * x + sd * z,) * 2, first, steps)
"""

from collections.abc import Sequence

from ..graph.control.scan import Scan
from ..graph.faults import has_faults
from ..graph.node import PART, Apply, Data, Node, Operation, within
from ..graph.rewriting.linear_steps import LinearSteps, linear_steps

__all__ = ["scanned_steps"]


def scanned_steps(node: Apply) -> LinearSteps | None:
    """The linear steps whose values a node has, or None."""
    if node.operation is not PART or not isinstance(scan := node.parents[0], Scan):
        return None
    if scan.reverse or scan.context is not None or not scan.length:
        return None
    outputs = scan.subgraphs[0].outputs
    value = outputs[node.attributes["place"]]
    carried = [i for i in range(scan.carried) if outputs[i] is value]
    if node.attributes["place"] < scan.carried or len(carried) != 1:
        return None
    with within(None):
        return linear_steps(value, _ScanParts(scan, carried[0]))


class _ScanParts:
    """The parts of a trip; see `StepParts`.

    They are nodes of the body.
    """

    def __init__(self, scan: Scan, place: int) -> None:
        (body,) = scan.subgraphs
        self._value, self._first = body.inputs[place], scan.parents[place]
        self._length = scan.length
        end = scan.carried + scan.rows
        outside = list(zip(body.inputs, scan.parents, strict=True))
        self._rows = dict(outside[scan.carried : end])
        self._wholes: dict[Node, Node | None] = dict(outside[scan.carried :])
        self._wholes |= {node: None for node in body.inputs[: scan.carried]}
        self._moving = self._above({self._value}, body.nodes)
        self._by_row = self._above(set(self._rows), body.nodes)
        for node in body.nodes:
            if node not in self._wholes:
                self._wholes[node] = self._computed(node)

    @staticmethod
    def _above(found: set[Node], nodes: Sequence[Node]) -> set[Node]:
        """The nodes that are computed from the nodes in `found`.

        `nodes` come parents first.
        """
        for node in nodes:
            if not found.isdisjoint(node.parents):
                found.add(node)
        return found

    def before(self, part: Node) -> Node | None:
        """The value before the first trip.

        None for parts that are not the value before.
        """
        return self._first if part is self._value else None

    def moves(self, part: Node) -> bool:
        """Whether a part depends on the value before."""
        return part in self._moving

    def inputs(self, part: Node) -> tuple[Operation, Sequence[Node]] | None:
        """The operation of a part, and its operands."""
        return (part.operation, part.parents) if isinstance(part, Apply) else None

    def whole(self, part: Node) -> Node | None:
        """A node of a part for all trips, if there is one."""
        wide = part in self._by_row
        return None if wide and part.shape != self._value.shape else self._wholes[part]

    def _computed(self, node: Node) -> Node | None:
        """The node outside that computes a node of all trips."""
        if isinstance(node, Data):
            return Data(node.value, literal=node.literal)
        wide = node in self._by_row
        parents = [self._wholes.get(parent) for parent in node.parents]
        if type(node) is not Apply or None in parents or has_faults(node):
            return None
        if wide and not self._is_by_element(node):
            return None
        shape = (self._length, *node.shape) if wide else node.shape
        known = tuple(parent for parent in parents if parent is not None)
        return Apply(node.operation, known, shape, node.dtype, node.attributes)

    def _is_by_element(self, node: Apply) -> bool:
        """Whether a node computes each element from elements of one place."""
        by_row = (parent for parent in node.parents if parent in self._by_row)
        return node.operation.elementwise and all(p.shape == node.shape for p in by_row)
