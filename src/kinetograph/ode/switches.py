"""Times at which a right-hand side switches, found in its graph.

A comparison of the time with a value that depends on neither the time nor the solution, such as
`t > x`, gives a time at which a step has to end. Other expressions of time and parameters, such as
`t - x > 0` or `kg.floor(t / x)`, are not solved for the time here. Without a stop there the
derivative by the parameters would ignore that the switch moves with them. So such expressions raise
an error, unless the user gave the times.
"""

from collections.abc import Callable, Iterable, Iterator

from ..graph.array import Array
from ..graph.control.conditional import Cond
from ..graph.control.control_node import origin
from ..graph.functions.mathematics import stop_gradient
from ..graph.messages import describe
from ..graph.node import Apply, Data, Inner, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.source import place_text
from .right_hand_side import Leaves

__all__ = ["switching_times"]

_ORDER = {ELEMENTWISE[name] for name in ("less", "less_equal", "greater", "greater_equal")}
_STEP_FUNCTIONS = {
    ELEMENTWISE[name]
    for name in ("sign", "floor", "ceil", "rint", "trunc", "floor_divide", "remainder", "heaviside")
}


def switching_times(
    slopes: Callable[[Array, Leaves], Leaves], t: Array, y: Leaves, given: Iterable[Array]
) -> list[Array]:
    """The times with which the right-hand side compares its time.

    Raises
    ------
    ValueError
        If the right-hand side switches at times that depend on other parameters, and no given time
        depends on these parameters.
    """
    time, values = stop_gradient(t + 0), [stop_gradient(leaf + 0) for leaf in y]
    time.node.name = "t"
    outputs = [slope.node for slope in slopes(time, values)]
    stems = {time.node, *(leaf.node for leaf in values)}
    order = list(_outside_of_loops(ancestors(outputs, stop=stems.__contains__)))
    after_time = _descendants(order, {time.node})
    after_solution = _descendants(order, {leaf.node for leaf in values})
    given_parameters = _parameters(array.node for array in given)
    times: dict[Node, Array] = {}
    for node in order:
        if not isinstance(node, Apply) or node.operation not in (*_ORDER, *_STEP_FUNCTIONS):
            continue
        if node not in after_time or node in after_solution:
            continue
        sides = [origin(parent) for parent in node.parents]
        other_sides = [side for side in sides if side is not time.node]
        same_context = all(side.context is time.node.context for side in other_sides)
        if (
            node.operation in _ORDER
            and len(other_sides) == 1
            and other_sides[0] not in after_time
            and same_context
        ):
            times[other_sides[0]] = Array(other_sides[0])
            continue
        parameters = _parameters([node]) - given_parameters - stems
        if parameters:
            names = ", ".join(sorted({describe(parameter) for parameter in parameters}))
            raise ValueError(
                f"solve: f switches by {describe(node)}{place_text()}, at times that depend on "
                f"{names}, and the derivative would ignore how they move; give the times as "
                "jump_ts=[...], or compare t itself with them"
            )
    return list(times.values())


def _outside_of_loops(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, including the nodes in branches but not those in loops."""
    for node in nodes:
        if isinstance(node, Cond):
            for branch in node.subgraphs:
                yield from _outside_of_loops(branch.nodes)
        yield node


def _descendants(order: Iterable[Node], stems: set[Node]) -> set[Node]:
    """The stems, and the nodes that are computed from them.

    `order` lists the nodes so that each follows its parents.
    """
    descendants = set(stems)
    for node in order:
        if origin(node) in descendants or any(
            origin(parent) in descendants for parent in node.parents
        ):
            descendants.add(node)
    return descendants


def _parameters(nodes: Iterable[Node]) -> set[Node]:
    """The inputs, from which the nodes are computed, that may have derivatives."""

    def above(node: Node) -> tuple[Node, ...]:
        return (node.outer,) if isinstance(node, Inner) else node.parents

    return {
        node
        for node in ancestors(nodes, above=above)
        if not above(node) and node.dtype.kind == "f" and not isinstance(node, Data)
    }
