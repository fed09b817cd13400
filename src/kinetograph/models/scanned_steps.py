"""Linear recurrences whose steps are the trips of `kg.scan`.

last, x = kg.scan(lambda x, z: (rho * x + sd * z,) * 2, first, steps)
"""

from collections.abc import Sequence

from ..graph.control.scan import Scan
from ..graph.faults import has_faults
from ..graph.node import PART, Apply, Data, Node, Operation, within
from ..graph.rewriting.alike import are_equal
from ..graph.rewriting.linear_steps import LinearSteps, linear_steps

__all__ = ["ScanParts", "result_of", "scanned_steps"]


def scanned_steps(node: Apply) -> LinearSteps | None:
    """The linear steps whose values a node has, or None."""
    scan_and_result = result_of(node)
    if scan_and_result is None:
        return None
    scan, value = scan_and_result
    with within(None):
        for place in range(scan.carried):
            steps = linear_steps(value, _ValueParts(scan, place))
            if steps is not None:
                return steps
    return None


def result_of(node: Apply) -> tuple[Scan, Node] | None:
    """The scan of a node, and the result in its body."""
    if node.operation is not PART or not isinstance(scan := node.parents[0], Scan):
        return None
    place = node.attributes["place"]
    if scan.reverse or scan.context is not None or not scan.length or place < scan.carried:
        return None
    return scan, scan.subgraphs[0].outputs[place]


class ScanParts:
    """The parts of a body without carried values, for all trips."""

    def __init__(self, scan: Scan) -> None:
        (body,) = scan.subgraphs
        self.length, self.nodes = scan.length, body.nodes
        outside = list(zip(body.inputs, scan.parents, strict=True))
        self._by_row = self.above(set(body.inputs[scan.carried : scan.carried + scan.rows]))
        self._wholes: dict[Node, Node | None] = dict(outside[scan.carried :])
        self._wholes |= {node: None for node in body.inputs[: scan.carried]}
        for node in body.nodes:
            if node not in self._wholes:
                self._wholes[node] = self._computed(node)

    def above(self, sources: set[Node]) -> set[Node]:
        """The nodes that are computed from `sources`, with these nodes."""
        for node in self.nodes:
            if not sources.isdisjoint(node.parents):
                sources.add(node)
        return sources

    def whole(self, part: Node) -> Node | None:
        """A node of a part for all trips, if there is one."""
        return self._wholes[part]

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
        shape = (self.length, *node.shape) if wide else node.shape
        operands = tuple(parent for parent in parents if parent is not None)
        return Apply(node.operation, operands, shape, node.dtype, node.attributes)

    def _is_by_element(self, node: Apply) -> bool:
        """Whether a node computes each element from elements of one place."""
        by_row = (parent for parent in node.parents if parent in self._by_row)
        return node.operation.elementwise and all(p.shape == node.shape for p in by_row)


class _ValueParts(ScanParts):
    """The parts of one carried value; see `StepParts`."""

    def __init__(self, scan: Scan, place: int) -> None:
        super().__init__(scan)
        (body,) = scan.subgraphs
        self._value, self._first = body.inputs[place], scan.parents[place]
        self._next = body.outputs[place]
        self._moving = self.above({self._value})

    def is_state(self, part: Node) -> bool:
        """Whether a part is the value that the next trip reads."""
        return are_equal(part, self._next)

    def before(self, part: Node) -> Node | None:
        """The value before the first trip.

        None for parts that are not the value before.
        """
        return self._first if part is self._value else None

    def moves(self, part: Node) -> bool:
        """Whether a part depends on the value before."""
        return part in self._moving

    def constant(self, part: Node) -> Node | None:
        """A node outside for a part, if all trips have the same."""
        return None if part in self._by_row else super().whole(part)

    def inputs(self, part: Node) -> tuple[Operation, Sequence[Node]] | None:
        """The operation of a part, and its operands."""
        return (part.operation, part.parents) if isinstance(part, Apply) else None

    def whole(self, part: Node) -> Node | None:
        """A node of a part for all trips.

        It has the axes of the value, or is a single value.
        """
        wide = part in self._by_row
        return None if wide and part.shape != self._value.shape else super().whole(part)
