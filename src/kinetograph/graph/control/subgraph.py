"""Graphs inside nodes: the branches of a conditional, the predicate and body of a loop."""

import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jax import lax

from ..faults import has_faults
from ..node import Bundle, Call, Inner, Node, Operation, ancestors
from ..participation import Tracked
from .contexts import ControlFlowContext
from .liveness import Live, Places, live

if TYPE_CHECKING:
    from ..lower import Scope

__all__ = ["Control", "Looping", "Subgraph", "everything", "loops_in", "origin"]


class Subgraph:
    """Nodes that are computed from inputs, inside of another node.

    The node that owns the subgraph says what the inputs receive.
    """

    def __init__(self, inputs: Iterable[Node], outputs: Iterable[Node]) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        given = set(self.inputs)
        self.nodes = tuple(ancestors(self.outputs, stop=given.__contains__))  # parents first
        for node in self.nodes:
            if node.context is not None:
                node.check_inside()
        self.loops = tuple(loops_in(self.nodes))
        self._live: dict[Places, Live] = {}  # found so far
        self._surely: dict[Places | None, Places] = {}

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name != "has_faults"}
        return {**kept, "_live": {}, "_surely": {}}

    @cached_property
    def has_faults(self) -> bool:
        """Whether there are indices inside that are looked at when the program runs."""
        return any(map(has_faults, everything(self.nodes)))

    def live(self, places: Places | None) -> Live:
        """What the outputs at these places (None: at all) are computed from."""
        if places is None:
            places = frozenset(range(len(self.outputs)))
        if places not in self._live:
            self._live[places] = live(self.nodes, [self.outputs[place] for place in places])
        return self._live[places]

    def live_inputs(self, places: Places) -> Places:
        """The places of the inputs that those outputs depend on, as far as derivatives go."""
        found = self.live(places).nodes
        return frozenset(i for i, node in enumerate(self.inputs) if node in found)

    def compute(
        self, tensors: Iterable[Any], scope: "Scope", places: Places | None = None
    ) -> tuple[Any, ...]:
        """The tensors of the outputs, given those of the inputs.

        `places` are the outputs that take part in derivatives; None for all. What is tracked and
        only passed on stays tracked.
        """
        from ..lower import evaluate

        given = dict(zip(self.inputs, tensors, strict=True))
        environment = dict(given)
        scope = replace(scope, live=self.live(places).results if scope.modes else None)
        evaluate(self.outputs, environment, scope=scope)
        tensors = (
            tracked if isinstance(tracked := given.get(node), Tracked) else environment[node]
            for node in self.outputs
        )
        # Of exactly the promised type: JAX distinguishes "weak" ones.
        return tuple(
            Tracked(lax.convert_element_type(t.value, node.dtype), t.token)
            if isinstance(t, Tracked)
            else lax.convert_element_type(t, node.dtype)
            for node, t in zip(self.outputs, tensors, strict=True)
        )

    def surely_read(self, places: Places | None) -> Places:
        """The places of the inputs that the computation of those outputs reads in any case."""
        from ..sides import surely_read

        if places not in self._surely:
            live, results = self.live(places)
            outputs = [node for node in self.outputs if node in live]
            found = surely_read([node for node in self.nodes if node in live], outputs, results)
            self._surely[places] = frozenset(
                i for i, node in enumerate(self.inputs) if node in found
            )
        return self._surely[places]

    def passed_on(self, tracked: Iterable[int], carried: int) -> set[int]:
        """Of the first inputs, which a loop carries, those that can be a tracked one, unread."""
        found = set(tracked)
        places = {node: i for i, node in enumerate(self.inputs)}
        while True:
            more = {i for i in range(carried) if places.get(self.outputs[i]) in found}
            if found >= more:
                return {i for i in found if i < carried}
            found |= more


class Control(Bundle):
    """A node with subgraphs. Its tensor is the list of its results.

    `contexts` are those in which the subgraphs were built.
    """

    __slots__ = ("contexts", "subgraphs")

    def __init__(
        self,
        operation: Operation,
        parents: tuple[Node, ...],
        subgraphs: Iterable[Subgraph],
        contexts: Iterable[ControlFlowContext],
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

    kind_name = "node"
    tracks = False  # whether it tells which of its operands took part

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

    def live_parents(self, places: Places) -> Iterable[int]:
        """The parents on which the results at these places depend, as far as derivatives go."""
        return range(len(self.parents)) if places else ()

    def surely_reads(self, places: Places | None) -> Iterable[int]:
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
