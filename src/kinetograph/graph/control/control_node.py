"""Nodes with subgraphs: the base class of conditionals, loops and batches."""

import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..node import Bundle, Call, Inner, Node, Operation

if TYPE_CHECKING:
    from ..lower import Scope
    from .contexts import ControlFlowContext
    from .liveness import Places
    from .subgraph import Subgraph

__all__ = ["Control", "Looping", "everything", "loops_in", "origin"]


class Control(Bundle):
    """A node with subgraphs, whose tensor is the list of its results.

    `contexts` are the contexts in which the subgraphs were built.
    """

    __slots__ = ("contexts", "subgraphs")
    computes = True
    kind_name = "node"

    def __init__(
        self,
        operation: Operation,
        parents: tuple[Node, ...],
        subgraphs: "Iterable[Subgraph]",
        contexts: "Iterable[ControlFlowContext]",
        attributes: Mapping[str, Any],
    ) -> None:
        super().__init__(operation, parents, attributes)
        self.subgraphs = tuple(subgraphs)
        self.contexts = tuple(contexts)
        self.claim_contexts()

    def claim_contexts(self) -> None:
        """Store a weak reference to this node in its contexts.

        The reference is weak, because contexts hold the inner nodes and must not keep this node
        alive.
        """
        for context in self.contexts:
            context._set("_owner_reference", weakref.ref(self))

    @property
    def title(self) -> str:
        """The name in messages."""
        return f"{self.kind_name} {self.contexts[0].name!r}"

    def call(self, place: int) -> Call:
        """The text form of a result: `cond_1(pred, x)`, `while_1(i=0, n).i`."""
        names = [self.input_name(i) for i in range(len(self.parents))]
        return Call(self.contexts[0].name, self.parents, tuple(names), self.result_name(place))

    def input_name(self, place: int) -> str:
        """The user's name of the variable that starts with a parent.

        Empty for captures.
        """
        return ""

    def result_name(self, place: int) -> str:
        """The suffix that selects a result in text.

        Empty if there is only one result.
        """
        return f"[{place}]" if len(self.subgraphs[-1].outputs) > 1 else ""

    def compute(self, tensors: list[Any], scope: "Scope") -> list[Any]:
        """Compute the tensors of the results from the tensors of the parents."""
        raise NotImplementedError

    def live_parents(self, places: "Places") -> Iterable[int]:
        """The parents on which derivatives of the results at these places depend."""
        return range(len(self.parents)) if places else ()

    def surely_reads(self, places: "Places | None") -> Iterable[int]:
        """The parents that certainly take part in the results at `places`."""
        return ()

    def static_text(self) -> str:
        """The settings that determine the results, besides parents and subgraphs."""
        return repr(sorted((k, str(v)) for k, v in self.attributes.items()))


class Looping(Control):
    """A node whose trips are counted."""

    __slots__ = ()


def loops_in(nodes: Iterable[Node]) -> Iterator[Looping]:
    """The loops among nodes and in their subgraphs, in a fixed order."""
    for node in nodes:
        if isinstance(node, Control):
            if isinstance(node, Looping):
                yield node
            for subgraph in node.subgraphs:
                yield from subgraph.loops


def everything(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes and all nodes of their subgraphs."""
    for node in nodes:
        yield node
        if isinstance(node, Control):
            for subgraph in node.subgraphs:
                yield from everything(subgraph.nodes)


def origin(node: Node) -> Node:
    """The outermost node that a captured node represents."""
    while isinstance(node, Inner) and node.role == "captured":
        node = node.outer
    return node
