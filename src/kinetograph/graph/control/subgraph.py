"""Graphs inside nodes: the branches of a conditional, the predicate and body of a loop."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

from jax import lax

from ..faults import has_faults
from ..lower import Scope, evaluate
from ..node import Node, ancestors
from ..participation import Tracked
from ..sides import surely_read
from .control import everything, loops_in
from .liveness import Live, Places, live

__all__ = ["Subgraph"]


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
        self, tensors: Iterable[Any], scope: Scope, places: Places | None = None
    ) -> tuple[Any, ...]:
        """The tensors of the outputs, given those of the inputs.

        `places` are the outputs that take part in derivatives; None for all. What is tracked and
        only passed on stays tracked.
        """
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
