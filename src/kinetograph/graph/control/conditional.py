"""A conditional as a node: an index, what its branches capture, and a subgraph for each of them.

Only the branch that is taken is computed, has effects and draws random numbers. In a batch whose
members take different branches all of them are computed and the results selected; JAX then cuts off
the gradient of a branch that is not taken at its inputs, so that it cannot poison others with NaN.
"""

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..lower import Scope
from ..node import Node, Operation
from ..participation import Tracked, read
from .contexts import CondContext
from .control import Control
from .forms import arriving, leaving
from .liveness import Places
from .rollback import aside
from .subgraph import Subgraph

if TYPE_CHECKING:
    from ..forms.representations import Forms

__all__ = ["Cond"]


class Cond(Control):
    """A predicate or an index, the captured values, and a subgraph for each branch."""

    __slots__ = ("places",)
    kind_name = "cond"
    tracks = True

    def __init__(
        self,
        index: Node,
        captures: Sequence[Node],
        branches: Sequence[Subgraph],
        contexts: Sequence[CondContext],
        places: Sequence[tuple[int, ...]],
    ) -> None:
        super().__init__(COND, (index, *captures), branches, contexts, {})
        self.places = tuple(places)  # which captures each branch reads

    def static_text(self) -> str:
        """What, beside parents and subgraphs, the results depend on."""
        return str(self.places)

    def live_parents(self, places: Places) -> Iterable[int]:
        """The captures that take part in some branch."""
        return {
            1 + own[i]
            for subgraph, own in zip(self.subgraphs, self.places, strict=True)
            for i in subgraph.live_inputs(places)
        }

    def form(self, place: int, kind: str, forms: "Forms") -> Node | None:
        """Another form of a result: that of each branch."""
        with aside(self):
            results = [forms(subgraph.outputs[place], kind) for subgraph in self.subgraphs]
            found = [
                leaving(node, self.subgraphs[0].outputs[place].dtype) for node in results if node
            ]
            if len(found) < len(results) or len({node.shape for node in found}) > 1:
                return None
            captures = {node: i for i, node in enumerate(self.parents[1:])}
            branches, places = [], []
            for subgraph, own, node in zip(self.subgraphs, self.places, found, strict=True):
                more = arriving([node], subgraph.inputs)
                branches.append(Subgraph((*subgraph.inputs, *more), [node]))
                others = (captures.setdefault(inner.outer, len(captures)) for inner in more)
                places.append((*own, *others))
            contexts = [c for c in self.contexts if isinstance(c, CondContext)]
            node = Cond(self.parents[0], list(captures), branches, contexts, places)
        return node.part(0, found[0].shape, found[0].dtype)

    def compute(self, tensors: list[Any], scope: Scope) -> list[Any]:
        """The results of the branch that is taken."""
        index, *captures = read(tensors[0]), *tensors[1:]
        live = scope.live_places(self)
        if scope.eager:
            taken = int(np.clip(int(index), 0, len(self.subgraphs) - 1))
            inputs = [captures[place] for place in self.places[taken]]
            return list(map(read, self.subgraphs[taken].compute(inputs, scope)))
        loops = scope.reporting(*self.subgraphs)
        choice = jnp.clip(jnp.asarray(index, np.int64), 0, len(self.subgraphs) - 1).astype(np.int32)

        if any(isinstance(t, Tracked) for t in captures):
            readers = self._readers(live)
            captures = [
                read(t, functools.reduce(operator.or_, (choice == n for n in readers[place])))
                if isinstance(t, Tracked) and place in readers
                else t
                for place, t in enumerate(captures)
            ]

        def branch(number: int) -> Callable[..., Any]:
            subgraph, places = self.subgraphs[number], self.places[number]

            def compute(choice: Any, captures: Sequence[Any]) -> Any:
                taken = choice == number
                active = taken if scope.active is None else taken & scope.active
                inner = scope.inside(active=active)
                inputs = [captures[place] for place in places]
                results = subgraph.compute(inputs, inner, live)
                return tuple(map(read, results)), inner.reports(loops)

            return compute

        branches = [branch(number) for number in range(len(self.subgraphs))]
        results, reports = lax.switch(choice, branches, choice, captures)
        scope.receive(loops, reports)
        return list(results)

    def _readers(self, live: Places | None) -> dict[int, set[int]]:
        """The branches that read a capture, of those that are read in any case where they are."""
        readers: dict[int, set[int]] = {}
        unsure: set[int] = set()
        for number, own in enumerate(self.places):
            subgraph = self.subgraphs[number]
            surely = subgraph.surely_read(live)
            for i, place in enumerate(own):
                if i in surely or subgraph.inputs[i] in subgraph.outputs:
                    readers.setdefault(place, set()).add(number)
                else:
                    unsure.add(place)
        return {place: numbers for place, numbers in readers.items() if place not in unsure}

    def surely_reads(self, places: Places | None) -> Iterable[int]:
        """The captures that all branches read."""
        every = len(self.subgraphs)
        return {1 + place for place, own in self._readers(places).items() if len(own) == every}


COND = Operation("cond", lambda *tensors: None)
