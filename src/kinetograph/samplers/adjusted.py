"""Whether a step moves by values of the potential, and whether it takes the gradient.

By values move a Metropolis test, a slice, a weight. Schemes without one use the gradient alone, in
which noise of a known kind can be borne; others propose without it. A step's graph tells: the new
position, or a slot on which a later one depends, is computed from a value of the potential;
something other than the new point's own gradient is computed from a gradient.
"""

from collections.abc import Callable, Iterable, Sequence

from ..graph.control.conditional import Cond
from ..graph.control.control import Control
from ..graph.control.loops import While
from ..graph.control.scan import Scan
from ..graph.control.subgraph import Subgraph
from ..graph.derivative import Derivative
from ..graph.node import PART, Apply, Inner, Node, ancestors
from .session import POTENTIAL, StepGraph, evaluates

__all__ = ["ends_with_value", "moves_by_values", "takes_gradient"]

# Whether a node is a source of what is followed, whatever it is computed from.
Source = Callable[[Node], bool]


def takes_gradient(graph: StepGraph) -> bool:
    """Whether the step computes anything from a gradient but that of the point it ends at."""
    ends = [*graph.results[:2], *graph.results[3:], *graph.latest.values()]
    found = _reached(ancestors(ends), {graph.inputs["gradient"]}, _is_gradient)
    return any(node in found for node in ends)


def ends_with_value(graph: StepGraph) -> bool:
    """Whether the point a step ends at is evaluated for its potential alone.

    Then it is a point that the step evaluates itself, and nothing is computed from the gradient
    there, in this step or, from the gradient it begins with, in the next one.
    """
    end, begin = graph.results[2], graph.inputs["gradient"]
    gradient = end if _is_gradient(end) or not end.parents else end.parents[0]
    if not _is_gradient(gradient):
        return False
    others = [*graph.results[:2], *graph.results[3:], *graph.latest.values()]
    found = _reached(ancestors(others), {begin, gradient}, lambda node: False)
    return not any(node in found for node in others)


def _is_gradient(node: Node) -> bool:
    """The gradient of a point, or its covariance: what is no potential and tells of no loops."""
    if not (isinstance(node, Apply) and node.operation is PART):
        return False
    (whole,), place = node.parents, node.attributes["place"]
    return evaluates(whole) and place > 0 and node.dtype.kind == "f"


def _is_value(node: Node) -> bool:
    """The potential of a point, or alone."""
    if isinstance(node, Apply) and node.operation is PART:
        return node.attributes["place"] == 0 and evaluates(node.parents[0])
    return isinstance(node, Apply) and node.operation is POTENTIAL


def moves_by_values(graph: StepGraph, slots: Sequence[str]) -> bool:
    """Whether positions depend on values of the potential; `slots` are named in the step's order.

    The results of the step are the position, the log density, the gradient and the slots.
    """
    marked = {graph.inputs["log_density"]}
    while True:
        found = _reached(ancestors([*graph.results, *graph.latest.values()]), marked, _is_value)
        if graph.results[0] in found:
            return True
        kept = {
            graph.inputs[f"slot {name}"]
            for name, node in zip(slots, graph.results[3:], strict=True)
            if node in found
        }
        if kept <= marked:
            return False
        marked |= kept


def _reached(nodes: Iterable[Node], marked: Iterable[Node], source: Source) -> set[Node]:
    """The nodes, parents first, that are computed from marked ones or from sources."""
    found = set(marked)
    places: dict[Node, set[int]] = {}
    for node in nodes:
        if isinstance(node, Control) and not isinstance(node, Derivative):
            places[node] = _places(node, found, source)
        elif isinstance(node, Apply) and node.operation is PART:
            (whole,), place = node.parents, node.attributes["place"]
            if source(node) or whole in found or place in places.get(whole, ()):
                found.add(node)
        elif any(parent in found for parent in node.parents) or source(node):
            found.add(node)
    return found


def _places(node: Control, found: set[Node], source: Source) -> set[int]:
    """Which results of branches and loops are reached."""
    if isinstance(node, Cond):
        count = len(node.subgraphs[0].outputs)
        if node.parents[0] in found:
            return set(range(count))
        reached = [_outputs(part, _arriving(part, found), source) for part in node.subgraphs]
        return set[int]().union(*reached)
    body, carried = node.subgraphs[-1], node.carried if isinstance(node, (While, Scan)) else 0
    outside = _arriving(body, found)
    changed = {i for i in range(carried) if body.outputs[i] is not body.inputs[i]}
    own: set[int] = set()
    while True:
        inputs = outside | {body.inputs[i] for i in own}
        results = _outputs(body, inputs, source)
        if isinstance(node, While) and _judges(node, own, found, source):
            results = results | changed | {node.trips_place, node.trips_place + 1}
        more = {i for i in results if i < carried} | {
            i for i in range(carried) if body.inputs[i] in outside
        }
        if more <= own:
            return results | own
        own |= more


def _judges(node: While, carried: set[int], found: set[Node], source: Source) -> bool:
    """Whether the loop's predicate is reached, and with it how often the loop turns."""
    predicate = node.subgraphs[0]
    inputs = _arriving(predicate, found) | {predicate.inputs[i] for i in carried}
    return bool(_outputs(predicate, inputs, source))


def _arriving(part: Subgraph, found: set[Node]) -> set[Node]:
    return {n for n in part.inputs if isinstance(n, Inner) and n.outer in found}


def _outputs(part: Subgraph, inputs: set[Node], source: Source) -> set[int]:
    reached = _reached(part.nodes, inputs, source)
    return {i for i, node in enumerate(part.outputs) if node in reached}
