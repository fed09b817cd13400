"""Whether a step moves by the values of the potential: by a Metropolis test, a slice, a weight.

Schemes without one use its gradient alone, in which noise of a known kind can be borne. A step's
graph tells: the new position, or a slot on which a later one depends, is computed from a value of
the potential.
"""

from collections.abc import Iterable, Sequence

from ..graph.control.branches import Cond
from ..graph.control.loops import While
from ..graph.control.scan import Scan
from ..graph.control.subgraph import Control, Subgraph
from ..graph.derivatives import Derivative
from ..graph.node import PART, Apply, Inner, Node, ancestors
from .session import POTENTIAL, StepGraph, evaluates

__all__ = ["moves_by_values"]


def moves_by_values(graph: StepGraph, slots: Sequence[str]) -> bool:
    """Whether positions depend on values of the potential; `slots` are named in the step's order.

    The results of the step are the position, the log density, the gradient and the slots.
    """
    marked = {graph.inputs["log_density"]}
    while True:
        found = _reached(ancestors([*graph.results, *graph.latest.values()]), marked)
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


def _reached(nodes: Iterable[Node], marked: Iterable[Node]) -> set[Node]:
    """The nodes, parents first, that are computed from marked ones or values of the potential."""
    found = set(marked)
    places: dict[Node, set[int]] = {}
    for node in nodes:
        if isinstance(node, Control) and not isinstance(node, Derivative):
            places[node] = _places(node, found)
        elif isinstance(node, Apply) and node.operation is PART:
            (whole,), place = node.parents, node.attributes["place"]
            value = place == 0 and evaluates(whole)  # of a point: its potential
            if value or whole in found or place in places.get(whole, ()):
                found.add(node)
        elif any(parent in found for parent in node.parents) or (
            isinstance(node, Apply) and node.operation is POTENTIAL
        ):
            found.add(node)
    return found


def _places(node: Control, found: set[Node]) -> set[int]:
    """Which results of branches and loops are reached."""
    if isinstance(node, Cond):
        count = len(node.subgraphs[0].outputs)
        if node.parents[0] in found:
            return set(range(count))
        reached = [_outputs(part, _arriving(part, found)) for part in node.subgraphs]
        return set[int]().union(*reached)
    body, carried = node.subgraphs[-1], node.carried if isinstance(node, (While, Scan)) else 0
    outside = _arriving(body, found)
    changed = {i for i in range(carried) if body.outputs[i] is not body.inputs[i]}
    own: set[int] = set()
    while True:
        inputs = outside | {body.inputs[i] for i in own}
        results = _outputs(body, inputs)
        if isinstance(node, While) and _judges(node, own, found):
            results = results | changed | {node.trips_place, node.trips_place + 1}
        more = {i for i in results if i < carried} | {
            i for i in range(carried) if body.inputs[i] in outside
        }
        if more <= own:
            return results | own
        own |= more


def _judges(node: While, carried: set[int], found: set[Node]) -> bool:
    """Whether the loop's predicate is reached, and with it how often the loop turns."""
    predicate = node.subgraphs[0]
    inputs = _arriving(predicate, found) | {predicate.inputs[i] for i in carried}
    return bool(_outputs(predicate, inputs))


def _arriving(part: Subgraph, found: set[Node]) -> set[Node]:
    return {n for n in part.inputs if isinstance(n, Inner) and n.outer in found}


def _outputs(part: Subgraph, inputs: set[Node]) -> set[int]:
    reached = _reached(part.nodes, inputs)
    return {i for i, node in enumerate(part.outputs) if node in reached}
