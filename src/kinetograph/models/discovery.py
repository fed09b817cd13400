"""Which part of the graph is the model: from the targets to every statement that bears on them.

Starting from what targets and factors are computed from, the search goes from each unknown to the
likelihoods and factors stated below it, and up again from those. Data are known, so they separate:
nothing is reached through them. An unknown that no target, factor or likelihood depends on
integrates to one and is left out.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from ..distributions.variable import Distribution, Variable
from ..graph.node import Data, Node
from .held import statements_of

__all__ = ["Component", "above", "discover", "unknowns_above"]


@dataclass
class Component:
    """The nodes of a model, in order of creation: parents before children."""

    unknowns: list[Variable]
    likelihoods: list[Distribution]
    observed: list[Data]  # what follows each likelihood
    factors: list[Node]
    nodes: list[Node]
    fixed: list[Variable] = field(default_factory=list)  # unknowns that have been given values,
    cut: list[Variable] = field(default_factory=list)  # of which these follow no distribution
    discrete: list[Variable] = field(default_factory=list)  # unknowns to be summed out


def discover(roots: Iterable[Node]) -> Component:
    """The model around `roots`: targets, and factors of this model alone."""
    included: set[Node] = set()
    stated: dict[Node, Data | None] = {}
    pending = list(roots)
    while pending:
        unknowns = unknowns_above(pending, included)
        new = dict(pair for v in unknowns for pair in statements_of(v) if pair[0] not in stated)
        stated.update(new)
        pending = list(new)
    order = sorted(stated.items(), key=lambda pair: pair[0].serial)
    pairs = [(d, y) for d, y in order if isinstance(d, Distribution) and y is not None]
    nodes = sorted(included, key=lambda n: n.serial)
    unknowns = [n for n in nodes if isinstance(n, Variable)]
    return Component(
        [v for v in unknowns if v.dtype.kind == "f"],
        [likelihood for likelihood, _ in pairs],
        [data for _, data in pairs],
        [node.parents[0] for node, data in order if data is None],
        nodes,
        discrete=[v for v in unknowns if v.dtype.kind != "f" and v.size],
    )


def unknowns_above(
    nodes: Iterable[Node], seen: set[Node] | None = None, cut: Container[Node] = ()
) -> list[Variable]:
    """All unknowns that the nodes are computed from, and those that they follow in turn.

    What was `seen` is passed over, and what is new joins it. Nothing is above what is `cut`.
    """
    seen = set() if seen is None else seen
    stack = [node for node in dict.fromkeys(nodes) if node not in seen]
    seen.update(stack)
    found: list[Variable] = []
    while stack:
        node = stack.pop()
        if isinstance(node, Variable):
            found.append(node)
        for parent in () if node in cut else above(node):
            if parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return found


def above(node: Node) -> Iterator[Node]:
    """What a node is computed from; of an unknown, also what it follows."""
    yield from node.parents
    if isinstance(node, Variable) and node.distribution is not None:
        yield node.distribution
