"""Which part of the graph is the model: from the targets to every likelihood that bears on them.

Starting from what targets and factors are computed from, the search goes down from each unknown to
the data observed below it, and up again from those. Data are known, so they separate: nothing is
reached through them. An unknown that no target, factor or likelihood depends on integrates to one
and is left out.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from ..distributions.family import Distribution, Variable
from ..graph.node import Data, Node

__all__ = ["Component", "discover"]


@dataclass
class Component:
    """The nodes of a model, in order of creation: parents before children."""

    unknowns: list[Variable]
    likelihoods: list[Distribution]
    nodes: list[Node]
    # The observed data, which a likelihood knows only weakly: they must outlive this search.
    held: tuple[Node, ...] = ()


def _above(node: Node) -> Iterator[Node]:
    yield from node.parents
    if isinstance(node, Variable) and node.distribution is not None:
        yield node.distribution


def _below(node: Node) -> Iterator[Node]:
    if isinstance(node, Distribution):
        target = node.target
        if isinstance(target, Variable) and target.observed_by is None:
            yield target
        return
    if not isinstance(node, Data):
        yield from node.children


def discover(roots: Iterable[Node], without: Collection[Distribution] = ()) -> Component:
    """The model around `roots` (targets and factors), `without` some likelihoods."""
    included: set[Node] = set()
    searched: set[Node] = set()
    likelihoods: list[Distribution] = []
    held: list[Node] = []
    pending = list(roots)
    while pending:
        unknowns = _include(pending, included)
        pending = []
        stack: list[Node] = [v for v in unknowns if v not in searched]
        searched.update(stack)
        while stack:
            node = stack.pop()
            for child in _below(node):
                if child in searched:
                    continue
                searched.add(child)
                stack.append(child)
                data = _observed(child)
                if isinstance(child, Distribution) and data is not None and child not in without:
                    likelihoods.append(child)
                    held.append(data)
                    pending.append(child)
    nodes = sorted(included, key=lambda n: n.serial)
    return Component(
        [n for n in nodes if isinstance(n, Variable)],
        sorted(likelihoods, key=lambda n: n.serial),
        nodes,
        tuple(held),
    )


def _observed(node: Node) -> Data | None:
    """The data that a likelihood belongs to; None for other nodes."""
    target = node.target if isinstance(node, Distribution) else None
    return target if isinstance(target, Data) and target._owned is node else None


def _include(roots: Iterable[Node], included: set[Node]) -> list[Variable]:
    """Add the roots and all above them; return the unknowns among the new nodes."""
    found: list[Variable] = []
    stack = [node for node in roots if node not in included]
    included.update(stack)
    while stack:
        node = stack.pop()
        if isinstance(node, Variable):
            found.append(node)
        for parent in _above(node):
            if parent not in included:
                included.add(parent)
                stack.append(parent)
    return found
