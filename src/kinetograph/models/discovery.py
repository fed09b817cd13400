"""The part of the graph that forms the model around its targets.

The search starts from the ancestors of targets and factors. From each unknown it goes to the
likelihoods and factors that depend on it, and from those up again. Data are known, so they
separate: the search does not go through them. An unknown on which no target, factor or likelihood
depends integrates to one and is left out.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from ..distributions.variable import Distribution, Variable
from ..graph.node import Data, Node
from .statement_store import statements_of

__all__ = ["Component", "above", "discover", "unknowns_above"]


@dataclass
class Component:
    """The nodes of a model, in order of creation: parents before children."""

    unknowns: list[Variable]
    likelihoods: list[Distribution]
    observed: list[Data]  # the data of each likelihood
    factors: list[Node]
    nodes: list[Node]
    fixed: list[Variable] = field(default_factory=list)  # unknowns with given values
    cut: list[Variable] = field(default_factory=list)  # fixed unknowns without distributions
    discrete: list[Variable] = field(default_factory=list)  # unknowns that are marginalised


def discover(roots: Iterable[Node]) -> Component:
    """The component around `roots`: targets, and factors of this model alone."""
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
    nodes: Iterable[Node], visited: set[Node] | None = None, cut: Container[Node] = ()
) -> list[Variable]:
    """All unknowns that the nodes depend on, directly or through other unknowns.

    Nodes in `visited` are skipped, and new nodes are added to it. The search does not go above the
    nodes in `cut`.
    """
    visited = set() if visited is None else visited
    stack = [node for node in dict.fromkeys(nodes) if node not in visited]
    visited.update(stack)
    unknowns: list[Variable] = []
    while stack:
        node = stack.pop()
        if isinstance(node, Variable):
            unknowns.append(node)
        for parent in () if node in cut else above(node):
            if parent not in visited:
                visited.add(parent)
                stack.append(parent)
    return unknowns


def above(node: Node) -> Iterator[Node]:
    """The parents of a node, and the distribution of an unknown."""
    yield from node.parents
    if isinstance(node, Variable) and node.distribution is not None:
        yield node.distribution
