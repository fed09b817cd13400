"""The node of a conditional: index, captures, and one subgraph per branch.

Only the branch that is taken is computed, has effects and draws random numbers. In a batch whose
members take different branches, all branches are computed and the results are selected. JAX then
stops the gradient of a branch that is not taken at its inputs, so that a NaN in it cannot spread to
the gradients of the branch that is taken.
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
from ..rewriting.participation import Tracked, read
from .contexts import CondContext
from .control_node import Control
from .forms import arriving, leaving
from .liveness import Places
from .rollback import aside
from .subgraph import Subgraph

if TYPE_CHECKING:
    from ..forms.representations import Forms

__all__ = ["Cond"]


class Cond(Control):
    """A predicate or index, captured values, and one subgraph per branch."""

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
        """The settings that determine the results, besides parents and subgraphs."""
        return str(self.places)

    def live_parents(self, places: Places) -> Iterable[int]:
        """The captures that take part in derivatives in at least one branch."""
        return {
            1 + capture_places[i]
            for subgraph, capture_places in zip(self.subgraphs, self.places, strict=True)
            for i in subgraph.live_inputs(places)
        }

    def form(self, place: int, kind: str, forms: "Forms") -> Node | None:
        """Another form of a result, or None.

        It is made from the forms of that result in all branches.
        """
        with aside(self):
            candidates = [forms(subgraph.outputs[place], kind) for subgraph in self.subgraphs]
            branch_forms = [
                leaving(node, self.subgraphs[0].outputs[place].dtype) for node in candidates if node
            ]
            if (
                len(branch_forms) < len(candidates)
                or len({node.shape for node in branch_forms}) > 1
            ):
                return None
            captures = {node: i for i, node in enumerate(self.parents[1:])}
            branches, places = [], []
            for subgraph, capture_places, node in zip(
                self.subgraphs, self.places, branch_forms, strict=True
            ):
                new_inputs = arriving([node], subgraph.inputs)
                branches.append(Subgraph((*subgraph.inputs, *new_inputs), [node]))
                new_places = (
                    captures.setdefault(inner.outer, len(captures)) for inner in new_inputs
                )
                places.append((*capture_places, *new_places))
            contexts = [c for c in self.contexts if isinstance(c, CondContext)]
            node = Cond(self.parents[0], list(captures), branches, contexts, places)
        return node.part(0, branch_forms[0].shape, branch_forms[0].dtype)

    def compute(self, tensors: list[Any], scope: Scope) -> list[Any]:
        """Compute the results of the branch that is taken."""
        index, *captures = read(tensors[0]), *tensors[1:]
        live = scope.live_places(self)
        if scope.eager:
            chosen = int(np.clip(int(index), 0, len(self.subgraphs) - 1))
            inputs = [captures[place] for place in self.places[chosen]]
            return list(map(read, self.subgraphs[chosen].compute(inputs, scope)))
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
                is_taken = choice == number
                active = is_taken if scope.active is None else is_taken & scope.active
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
        """The branches that certainly read each capture.

        A capture that a branch reads only in some cases is left out.
        """
        readers: dict[int, set[int]] = {}
        uncertain: set[int] = set()
        for number, capture_places in enumerate(self.places):
            subgraph = self.subgraphs[number]
            surely = subgraph.surely_read(live)
            for i, place in enumerate(capture_places):
                if i in surely or subgraph.inputs[i] in subgraph.outputs:
                    readers.setdefault(place, set()).add(number)
                else:
                    uncertain.add(place)
        return {place: numbers for place, numbers in readers.items() if place not in uncertain}

    def surely_reads(self, places: Places | None) -> Iterable[int]:
        """The captures that all branches read."""
        branch_count = len(self.subgraphs)
        return {
            1 + place
            for place, readers in self._readers(places).items()
            if len(readers) == branch_count
        }


COND = Operation("cond", lambda *tensors: None)
