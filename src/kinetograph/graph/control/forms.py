"""Other forms of the results of branches, batches and loops.

An example is the log odds of a buffer of probabilities that a loop fills. The form is a node of the
same kind, which computes the form inside from the same parents. A loop whose variable has a form
carries that form, beginning with the form of the variable's first value:

    p = 0; while ...: p[t] = ilogit(eta[t])     its log odds: q = -inf; while ...: q[t] = eta[t]

See `graph.forms.representations`.
"""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..node import FormOf, Inner, Node, ancestors, within
from ..operations.elementwise import astype
from .control_node import everything
from .effects import Effect
from .subgraph import Subgraph

if TYPE_CHECKING:
    from ..forms.representations import Forms
    from .loops import While
    from .scan import Scan

__all__ = ["Growth", "arriving", "of_type", "leaving"]


def of_type(node: Node, dtype: np.dtype) -> Node:
    """The node, converted to a type in its own context."""
    if node.dtype == dtype:
        return node
    with within(node.context):
        return astype(node, dtype)


def leaving(form: Node, dtype: np.dtype) -> Node:
    """The form of a value that leaves a branch or loop.

    The form node itself is left out, so that a value that is only passed on is recognised.
    """
    return of_type(form.parents[0] if isinstance(form, FormOf) else form, dtype)


def arriving(
    outputs: Iterable[Node], inputs: Iterable[Node], role: str = "captured"
) -> list[Inner]:
    """The captured nodes of a subgraph's outputs, without its inputs."""
    given = set(inputs)
    above = ancestors(outputs, stop=given.__contains__)
    return [n for n in above if isinstance(n, Inner) and n.role == role and n not in given]


class Growth:
    """A loop that carries variables of a loop and their forms.

    `wanted` is the form of one of the loop's results. The new loop carries the variables that this
    form needs; `starts` holds the first values of all carried nodes.
    """

    wanted: Node

    def __init__(self, loop: "Scan | While", forms: "Forms") -> None:
        self._loop, self._forms = loop, forms
        self._body, self._count = loop.subgraphs[-1], loop.carried
        self._forms_of: dict[tuple[int, str], Inner | None] = {}  # as they enter a trip
        self._after: list[Node] = []  # as they leave the trip
        self._carried_places: list[int] = []

    @staticmethod
    def of(
        loop: "Scan | While", place: int, kind: str, forms: "Forms", always: Iterable[int] = ()
    ) -> "Growth | None":
        """Return the growth for a form of a result, or None.

        It is None if the result has no such form. The variables at the places `always` are carried
        in any case.
        """
        growth = Growth(loop, forms)
        wanted = growth._find(place, kind)
        if wanted is None:
            return None
        growth.wanted = wanted
        return growth if growth._keep(always) else None

    def _find(self, place: int, kind: str) -> Node | None:
        forms = self._forms
        forms_outside, growing_outside = forms.cache, forms.growing
        entering = {
            n: partial(self._entering, i) for i, n in enumerate(self._body.inputs[: self._count])
        }
        # Forms that are found inside of the loop are valid for this growth only.
        forms.cache, forms.growing = dict(forms_outside), {**growing_outside, **entering}
        try:
            if place < self._count:
                form = self._entering(place, kind)
            else:
                form = forms(self._body.outputs[place], kind)
            return form if form is not None and self._leaves() else None
        finally:
            forms.cache, forms.growing = forms_outside, growing_outside

    def _entering(self, place: int, kind: str) -> Node | None:
        """The inner node for a variable's form.

        None if the variable's first value has no such form.
        """
        key = place, kind
        if key not in self._forms_of:
            inner, start = self._body.inputs[place], self._forms(self._loop.parents[place], kind)
            self._forms_of[key] = None
            if start is not None and start.shape == inner.shape and inner.context is not None:
                start, name = of_type(start, inner.dtype), f"{kind}({inner.label()})"
                self._forms_of[key] = inner.context.argument(start, "loop variable", name)
        return self._forms_of[key]

    def _leaves(self) -> bool:
        """Find the forms at the end of a trip.

        They may need forms of further variables. False if one of them does not exist.
        """
        done = 0
        while done < len(self._forms_of):
            (place, kind), inner = list(self._forms_of.items())[done]
            done += 1
            if inner is not None:
                after = self._forms(self._body.outputs[place], kind)
                if after is None or after.shape != inner.shape:
                    return False
                self._after.append(leaving(after, inner.dtype))
        return True

    @property
    def _inners(self) -> list[Inner]:
        return [inner for inner in self._forms_of.values() if inner is not None]

    def _keep(self, always: Iterable[int]) -> bool:
        """Find the variables that are carried.

        False if the new loop would repeat an effect.
        """
        carried = set(always)
        predicates = self._loop.subgraphs[:-1]
        needed = [self.wanted, *self._after, *(n for p in predicates for n in p.outputs)]
        inputs = {n for s in self._loop.subgraphs for n in s.inputs} | set(self._inners)
        while True:
            roots = [*needed, *(self._body.outputs[i] for i in carried)]
            reached = ancestors(roots, stop=inputs.__contains__)
            reached_set = set(reached)
            variables = [{s.inputs[i] for s in self._loop.subgraphs} for i in range(self._count)]
            more = {
                i
                for i, inputs_of_variable in enumerate(variables)
                if not reached_set.isdisjoint(inputs_of_variable)
            }
            if more <= carried:
                self._carried_places = sorted(carried)
                return not any(isinstance(n, Effect) for n in everything(reached))
            carried |= more

    def place(self, place: int) -> int:
        """The place of an old variable in the new loop."""
        return self._carried_places.index(place)

    @property
    def variables(self) -> int:
        """The number of carried variables of the old loop.

        The forms come after these variables.
        """
        return len(self._carried_places)

    @property
    def starts(self) -> list[Node]:
        parents = self._loop.parents
        return [
            *(parents[i] for i in self._carried_places),
            *(inner.outer for inner in self._inners),
        ]

    def entering(self, subgraph: Subgraph) -> list[Node]:
        """The carried nodes as they enter the predicate or the body."""
        return [*(subgraph.inputs[i] for i in self._carried_places), *self._inners]

    @property
    def leaving(self) -> list[Node]:
        """The carried nodes as they leave the body."""
        return [*(self._body.outputs[i] for i in self._carried_places), *self._after]

    def arriving(self, role: str) -> list[Inner]:
        """The nodes that enter in addition to the old loop's inputs."""
        existing = (*self._body.inputs, *self._inners)
        return arriving([*self._after, self.wanted], existing, role)
