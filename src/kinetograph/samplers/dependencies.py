"""Whether a step depends on values of the potential and on gradients.

Metropolis tests, slices and weights use values of the potential. Schemes without them use gradients
alone, and can work with noisy gradients; some samplers propose without gradients. The graph of a
step shows which case it is. A step moves by values if the new position, or a slot from which a
later position is computed, depends on a value of the potential. A step takes the gradient if
anything but the gradient of the new point depends on a gradient.
"""

from collections.abc import Callable, Iterable, Sequence

from ..graph.control.conditional import Cond
from ..graph.control.control_node import Control
from ..graph.control.loops import While
from ..graph.control.scan import Scan
from ..graph.control.subgraph import Subgraph
from ..graph.derivative import Derivative
from ..graph.node import PART, Apply, Inner, Node, ancestors
from .session import POTENTIAL, evaluates
from .step_graph import StepGraph

__all__ = ["ends_with_value", "moves_by_values", "takes_gradient"]

# Whether a node is a source, such as a gradient, from which dependencies are followed.
Source = Callable[[Node], bool]


def takes_gradient(graph: StepGraph) -> bool:
    """Whether the step uses a gradient.

    The gradient at the final point does not count unless something else is computed from it.
    """
    outputs = [*graph.results[:2], *graph.results[3:], *graph.latest.values()]
    reached = _reached(ancestors(outputs), {graph.inputs["gradient"]}, _is_gradient)
    return any(node in reached for node in outputs)


def ends_with_value(graph: StepGraph) -> bool:
    """Whether a step's final point is evaluated for its potential alone.

    That is so if the step itself evaluates the point and nothing is computed from its gradient,
    neither in this step nor in the next one, which begins with that gradient.
    """
    end, begin = graph.results[2], graph.inputs["gradient"]
    gradient = end if _is_gradient(end) or not end.parents else end.parents[0]
    if not _is_gradient(gradient):
        return False
    other_outputs = [*graph.results[:2], *graph.results[3:], *graph.latest.values()]
    reached = _reached(ancestors(other_outputs), {begin, gradient}, lambda node: False)
    return not any(node in reached for node in other_outputs)


def _is_gradient(node: Node) -> bool:
    """Whether a node is a point's gradient, or the gradient's covariance."""
    if not (isinstance(node, Apply) and node.operation is PART):
        return False
    (whole,), place = node.parents, node.attributes["place"]
    return evaluates(whole) and place > 0 and node.dtype.kind == "f"


def _is_value(node: Node) -> bool:
    """Whether a node is a potential, of a point or alone."""
    if isinstance(node, Apply) and node.operation is PART:
        return node.attributes["place"] == 0 and evaluates(node.parents[0])
    return isinstance(node, Apply) and node.operation is POTENTIAL


def moves_by_values(graph: StepGraph, slots: Sequence[str]) -> bool:
    """Whether positions depend on values of the potential.

    The results of the step are the position, the log density, the gradient and the slots, in the
    order of the names `slots`.
    """
    marked = {graph.inputs["log_density"]}
    while True:
        reached = _reached(ancestors([*graph.results, *graph.latest.values()]), marked, _is_value)
        if graph.results[0] in reached:
            return True
        marked_slots = {
            graph.inputs[f"slot {name}"]
            for name, node in zip(slots, graph.results[3:], strict=True)
            if node in reached
        }
        if marked_slots <= marked:
            return False
        marked |= marked_slots


def _reached(nodes: Iterable[Node], marked: Iterable[Node], source: Source) -> set[Node]:
    """The nodes that are computed from marked nodes or from sources.

    `nodes` lists parents before children.
    """
    reached = set(marked)
    places: dict[Node, set[int]] = {}
    for node in nodes:
        if isinstance(node, Control) and not isinstance(node, Derivative):
            places[node] = _places(node, reached, source)
        elif isinstance(node, Apply) and node.operation is PART:
            (bundle,), index = node.parents, node.attributes["place"]
            if source(node) or bundle in reached or index in places.get(bundle, ()):
                reached.add(node)
        elif any(parent in reached for parent in node.parents) or source(node):
            reached.add(node)
    return reached


def _places(node: Control, reached: set[Node], source: Source) -> set[int]:
    """The indices of a branch's or a loop's results that are reached."""
    if isinstance(node, Cond):
        count = len(node.subgraphs[0].outputs)
        if node.parents[0] in reached:
            return set(range(count))
        result_sets = [_outputs(part, _arriving(part, reached), source) for part in node.subgraphs]
        return set[int]().union(*result_sets)
    body, carried = node.subgraphs[-1], node.carried if isinstance(node, (While, Scan)) else 0
    outside = _arriving(body, reached)
    changed = {i for i in range(carried) if body.outputs[i] is not body.inputs[i]}
    reached_variables: set[int] = set()
    while True:
        inputs = outside | {body.inputs[i] for i in reached_variables}
        results = _outputs(body, inputs, source)
        if isinstance(node, While) and _judges(node, reached_variables, reached, source):
            results = results | changed | {node.trips_place, node.trips_place + 1}
        reached_now = {i for i in results if i < carried} | {
            i for i in range(carried) if body.inputs[i] in outside
        }
        if reached_now <= reached_variables:
            return results | reached_variables
        reached_variables |= reached_now


def _judges(node: While, carried: set[int], reached: set[Node], source: Source) -> bool:
    """Whether the loop's predicate, and so the number of trips, is reached."""
    predicate = node.subgraphs[0]
    inputs = _arriving(predicate, reached) | {predicate.inputs[i] for i in carried}
    return bool(_outputs(predicate, inputs, source))


def _arriving(part: Subgraph, reached: set[Node]) -> set[Node]:
    """The captures of a subgraph that are reached."""
    return {n for n in part.inputs if isinstance(n, Inner) and n.outer in reached}


def _outputs(part: Subgraph, inputs: set[Node], source: Source) -> set[int]:
    """The indices of a subgraph's outputs that are reached from its inputs."""
    reached = _reached(part.nodes, inputs, source)
    return {i for i, node in enumerate(part.outputs) if node in reached}
