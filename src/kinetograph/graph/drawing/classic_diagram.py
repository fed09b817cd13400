"""The classic form of branches and loops as diagram and text."""

from collections.abc import Iterable

from ..control.contexts import ControlFlowContext
from ..expressions import atom
from ..messages import describe, names_in_scope
from ..node import Apply, Data, Node
from .classic import Classic, ClassicNode, FlowValue
from .diagram import Diagram, Edge, Group, Vertex
from .listing import listing

__all__ = ["classic_diagram", "describe_context", "read_classic"]


def read_classic(roots: Iterable[Node], names: dict[int, str]) -> Diagram:
    """The diagram of the roots and their ancestors, in the classic form."""
    classic = Classic(names)
    for value in classic.graph(list(roots), {}, None, ""):
        if value.text not in value.sources:  # an expression without a name
            classic.add(classic.number(), "", value, frame=None)
    return classic_diagram(classic)


def classic_diagram(classic: Classic) -> Diagram:
    """Convert the classic form to a diagram; frames become groups."""
    places = {node.name: i for i, node in enumerate(classic.nodes)}
    edges: dict[Edge, None] = {}
    for target, node in enumerate(classic.nodes):
        for source in (s for value in node.inputs for s in value.sources):
            name, _, output = (source, "", "") if source in places else source.rpartition(":")
            edges[Edge(places[name], target, output)] = None
    groups = [Group(*frame) for frame in classic.frames]
    return Diagram([_vertex(node) for node in classic.nodes], list(edges), groups)


def describe_context(context: ControlFlowContext) -> str:
    """The text of a context's conditional or loop, in the classic form."""
    owner = context._owner
    if owner is None:
        captured = [describe(node) for node in context.external_values]
        lines = [
            f"{context.title}: not finished, or no longer in use",
            *(f"  captures {c}" for c in captured),
        ]
        return "\n".join(lines)
    classic = Classic(names_in_scope())
    inputs = [FlowValue(atom(describe(node, classic.node_names))) for node in owner.parents]
    classic.control(owner, inputs, frame=None, prefix="")
    return listing(classic_diagram(classic))


def _vertex(node: ClassicNode) -> Vertex:
    origin = node.node
    leaf = origin is not None and not isinstance(origin, Apply)
    constant = isinstance(origin, Data) and origin.literal
    follows = getattr(origin, "distribution", None) is not None
    return Vertex(
        kind=origin.kind if leaf else "control" if node.op else "operation",  # type: ignore[union-attr]
        name=node.name,
        caption=node.op or ("" if leaf and not (follows or constant) else node.text),
        definition=f"~ {node.text}" if follows else node.text if leaf else f"= {node.text}",
        handle=node.name,
        shape=() if origin is None else origin.shape,
        dims=None if origin is None else origin.dims,
        group=node.frame,
    )
