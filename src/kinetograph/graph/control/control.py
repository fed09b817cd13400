"""Nodes with graphs inside: the base of conditionals, loops and batches."""

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
    """A node with subgraphs. Its tensor is the list of its results.

    `contexts` are those in which the subgraphs were built.
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
        """Tell the contexts which node they became, so that they can describe it.

        Weakly: contexts hold what is inside of the node and must not keep the node alive.
        """
        for context in self.contexts:
            context._set("_owner_reference", weakref.ref(self))

    @property
    def title(self) -> str:
        """How messages call it."""
        return f"{self.kind_name} {self.contexts[0].name!r}"

    def call(self, place: int) -> Call:
        """How a result is written: `cond_1(pred, x)`, `while_1(i=0, n).i`."""
        names = [self.input_name(i) for i in range(len(self.parents))]
        return Call(self.contexts[0].name, self.parents, tuple(names), self.result_name(place))

    def input_name(self, place: int) -> str:
        """How the user calls what a parent is the first value of; nothing for captures."""
        return ""

    def result_name(self, place: int) -> str:
        """What is written after the node to get one of its results; nothing for the only one."""
        return f"[{place}]" if len(self.subgraphs[-1].outputs) > 1 else ""

    def compute(self, tensors: list[Any], scope: "Scope") -> list[Any]:
        """The tensors of the results, given those of the parents."""
        raise NotImplementedError

    def live_parents(self, places: "Places") -> Iterable[int]:
        """The parents on which the results at these places depend, as far as derivatives go."""
        return range(len(self.parents)) if places else ()

    def surely_reads(self, places: "Places | None") -> Iterable[int]:
        """The parents that take part in those results, whatever happens inside."""
        return ()

    def static_text(self) -> str:
        """What, beside parents and subgraphs, the results depend on."""
        return repr(sorted((k, str(v)) for k, v in self.attributes.items()))


class Looping(Control):
    """A node whose trips are counted."""

    __slots__ = ()


def loops_in(nodes: Iterable[Node]) -> Iterator[Looping]:
    """The loops among nodes, and those inside of them, in a fixed order."""
    for node in nodes:
        if isinstance(node, Control):
            if isinstance(node, Looping):
                yield node
            for subgraph in node.subgraphs:
                yield from subgraph.loops


def everything(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes and those inside of them."""
    for node in nodes:
        yield node
        if isinstance(node, Control):
            for subgraph in node.subgraphs:
                yield from everything(subgraph.nodes)


def origin(node: Node) -> Node:
    """The node outside of all contexts that a captured node stands for."""
    while isinstance(node, Inner) and node.role == "captured":
        node = node.outer
    return node
