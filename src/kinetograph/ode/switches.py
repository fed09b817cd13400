"""Where a right-hand side switches at a time: found in its graph.

A comparison of the time with what depends on neither the time nor the solution, `t > x` say, gives
a time at which a step has to end. Others that only time and parameters decide, `t - x > 0` or
`kg.floor(t / x)`, cannot be turned into a time here, and the derivative by their parameters would
lack what the jump moves by: they are refused, unless the user gave the times.
"""

from collections.abc import Callable, Iterable, Iterator

from ..graph.array import Array
from ..graph.control.conditional import Cond
from ..graph.control.control import origin
from ..graph.functions.mathematics import stop_gradient
from ..graph.messages import describe
from ..graph.node import Apply, Data, Inner, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.source import place_text
from .right import Leaves

__all__ = ["switching_times"]

_ORDER = {ELEMENTWISE[name] for name in ("less", "less_equal", "greater", "greater_equal")}
_STAIRS = {
    ELEMENTWISE[name]
    for name in ("sign", "floor", "ceil", "rint", "trunc", "floor_divide", "remainder", "heaviside")
}


def switching_times(
    slopes: Callable[[Array, Leaves], Leaves], t: Array, y: Leaves, given: Iterable[Array]
) -> list[Array]:
    """The times that the right-hand side compares its time with.

    Raises
    ------
    ValueError
        If it switches at other times, and parameters that are not among those of the given times
        decide about them.
    """
    time, values = stop_gradient(t + 0), [stop_gradient(leaf + 0) for leaf in y]
    time.node.name = "t"
    outputs = [slope.node for slope in slopes(time, values)]
    stems = {time.node, *(leaf.node for leaf in values)}
    order = list(_outside_of_loops(ancestors(outputs, stop=stems.__contains__)))
    moving = _after(order, {time.node})
    solved = _after(order, {leaf.node for leaf in values})
    known = _parameters(array.node for array in given)
    found: dict[Node, Array] = {}
    for node in order:
        if not isinstance(node, Apply) or node.operation not in (*_ORDER, *_STAIRS):
            continue
        if node not in moving or node in solved:
            continue
        sides = [origin(parent) for parent in node.parents]
        others = [side for side in sides if side is not time.node]
        here = all(other.context is time.node.context for other in others)
        if node.operation in _ORDER and len(others) == 1 and others[0] not in moving and here:
            found[others[0]] = Array(others[0])
            continue
        unknown = _parameters([node]) - known - stems
        if unknown:
            names = ", ".join(sorted({describe(other) for other in unknown}))
            raise ValueError(
                f"solve: f switches by {describe(node)}{place_text()}, at times that {names} "
                "decides, and the derivative by it would lack what the switch moves by; give the "
                "times as jump_ts=[...], or compare t itself with them"
            )
    return list(found.values())


def _outside_of_loops(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, with those of branches."""
    for node in nodes:
        if isinstance(node, Cond):
            for branch in node.subgraphs:
                yield from _outside_of_loops(branch.nodes)
        yield node


def _after(order: Iterable[Node], stems: set[Node]) -> set[Node]:
    """The nodes that follow from others."""
    found = set(stems)
    for node in order:
        if origin(node) in found or any(origin(parent) in found for parent in node.parents):
            found.add(node)
    return found


def _parameters(nodes: Iterable[Node]) -> set[Node]:
    """What may have derivatives, of all that nodes are computed from."""

    def above(node: Node) -> tuple[Node, ...]:
        return (node.outer,) if isinstance(node, Inner) else node.parents

    return {
        node
        for node in ancestors(nodes, above=above)
        if not above(node) and node.dtype.kind == "f" and not isinstance(node, Data)
    }
