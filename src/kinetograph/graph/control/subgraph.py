"""Graphs inside nodes, such as branches and bodies of loops."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

from jax import lax

from ..faults import has_faults
from ..lower import Scope, evaluate
from ..node import Node, ancestors
from ..rewriting.participation import Tracked
from ..rewriting.where_derivatives import surely_read
from .control_node import everything, loops_in
from .liveness import Live, Places, live

__all__ = ["Subgraph"]


class Subgraph:
    """Nodes inside another node that are computed from inputs.

    The node that owns the subgraph passes the tensors of the inputs.
    """

    def __init__(self, inputs: Iterable[Node], outputs: Iterable[Node]) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        input_set = set(self.inputs)
        self.nodes = tuple(ancestors(self.outputs, stop=input_set.__contains__))  # parents first
        for node in self.nodes:
            if node.context is not None:
                node.check_inside()
        self.loops = tuple(loops_in(self.nodes))
        self._live: dict[Places, Live] = {}  # a cache, like `_surely`
        self._surely: dict[Places | None, Places] = {}

    def __getstate__(self) -> dict[str, Any]:
        attributes = {name: value for name, value in self.__dict__.items() if name != "has_faults"}
        return {**attributes, "_live": {}, "_surely": {}}

    @cached_property
    def has_faults(self) -> bool:
        """Whether there are indices inside that are checked when the program runs."""
        return any(map(has_faults, everything(self.nodes)))

    def live(self, places: Places | None) -> Live:
        """The live nodes for the outputs at `places`.

        None means all outputs.
        """
        if places is None:
            places = frozenset(range(len(self.outputs)))
        if places not in self._live:
            self._live[places] = live(self.nodes, [self.outputs[place] for place in places])
        return self._live[places]

    def live_inputs(self, places: Places) -> Places:
        """The inputs on which derivatives of the outputs depend.

        Inputs and outputs are given by their places.
        """
        live_nodes = self.live(places).nodes
        return frozenset(i for i, node in enumerate(self.inputs) if node in live_nodes)

    def compute(
        self, tensors: Iterable[Any], scope: Scope, places: Places | None = None
    ) -> tuple[Any, ...]:
        """Compute the tensors of the outputs from the tensors of the inputs.

        `places` are the outputs that take part in derivatives; None for all. A tracked input that
        is itself an output stays tracked.
        """
        input_tensors = dict(zip(self.inputs, tensors, strict=True))
        environment = dict(input_tensors)
        scope = replace(scope, live=self.live(places).results if scope.modes else None)
        evaluate(self.outputs, environment, scope=scope)
        tensors = (
            tracked
            if isinstance(tracked := input_tensors.get(node), Tracked)
            else environment[node]
            for node in self.outputs
        )
        # Convert to exactly the type of the node, because JAX distinguishes "weak" types.
        return tuple(
            Tracked(lax.convert_element_type(t.value, node.dtype), t.token)
            if isinstance(t, Tracked)
            else lax.convert_element_type(t, node.dtype)
            for node, t in zip(self.outputs, tensors, strict=True)
        )

    def surely_read(self, places: Places | None) -> Places:
        """The inputs that computing the outputs always reads.

        Inputs and outputs are given by their places.
        """
        if places not in self._surely:
            live, results = self.live(places)
            outputs = [node for node in self.outputs if node in live]
            nodes_read = surely_read(
                [node for node in self.nodes if node in live], outputs, results
            )
            self._surely[places] = frozenset(
                i for i, node in enumerate(self.inputs) if node in nodes_read
            )
        return self._surely[places]

    def passed_on(self, tracked: Iterable[int], carried: int) -> set[int]:
        """The carried inputs that may hold an unread tracked value.

        The first `carried` inputs are the carried values of a loop.
        """
        tracked_inputs = set(tracked)
        places = {node: i for i, node in enumerate(self.inputs)}
        while True:
            receiving = {i for i in range(carried) if places.get(self.outputs[i]) in tracked_inputs}
            if tracked_inputs >= receiving:
                return {i for i in tracked_inputs if i < carried}
            tracked_inputs |= receiving
