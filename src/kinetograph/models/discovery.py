"""Which part of the graph is the model: from the targets to every statement that bears on them.

Starting from what targets and factors are computed from, the search goes from each unknown to the
likelihoods and factors stated below it, and up again from those. Data are known, so they separate:
nothing is reached through them. An unknown that no target, factor or likelihood depends on
integrates to one and is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..distributions.family import Distribution, Variable
from ..graph.node import Data, Node
from .statements import above

__all__ = ["Component", "discover"]


@dataclass
class Component:
    """The nodes of a model, in order of creation: parents before children."""

    unknowns: list[Variable]
    likelihoods: list[Distribution]
    observed: list[Data]  # what follows each likelihood
    factors: list[Node]
    nodes: list[Node]


def discover(roots: Iterable[Node]) -> Component:
    """The model around `roots`: targets, and factors of this model alone."""
    included: set[Node] = set()
    stated: dict[Node, Data | None] = {}
    pending = list(roots)
    while pending:
        unknowns = _include(pending, included)
        new = dict(pair for v in unknowns for pair in v.statements if pair[0] not in stated)
        stated.update(new)
        pending = list(new)
    order = sorted(stated.items(), key=lambda pair: pair[0].serial)
    pairs = [(d, y) for d, y in order if isinstance(d, Distribution) and y is not None]
    nodes = sorted(included, key=lambda n: n.serial)
    return Component(
        [n for n in nodes if isinstance(n, Variable)],
        [likelihood for likelihood, _ in pairs],
        [data for _, data in pairs],
        [node.parents[0] for node, data in order if data is None],
        nodes,
    )


def _include(roots: Iterable[Node], included: set[Node]) -> list[Variable]:
    """Add the roots and all above them; return the unknowns among the new nodes."""
    found: list[Variable] = []
    stack = [node for node in roots if node not in included]
    included.update(stack)
    while stack:
        node = stack.pop()
        if isinstance(node, Variable):
            found.append(node)
        for parent in above(node):
            if parent not in included:
                included.add(parent)
                stack.append(parent)
    return found
