"""Other forms of what branches, batches and loops give, such as the log odds of a buffer of
probabilities that a loop fills.

Each is a node of the same kind, which computes the form inside from the same parents. A loop whose
variable has a form carries that form, beginning with that of the variable's first value:

    p = 0; while ...: p[t] = ilogit(eta[t])     its log odds: q = -inf; while ...: q[t] = eta[t]

See `graph.forms.representations`.
"""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..node import FormOf, Inner, Node, ancestors, within
from ..operations.elementwise import astype
from .control import everything
from .effects import Effect
from .subgraph import Subgraph

if TYPE_CHECKING:
    from ..forms.representations import Forms
    from .loops import While
    from .scan import Scan

__all__ = ["Growth", "arriving", "of_type", "leaving"]


def of_type(node: Node, dtype: np.dtype) -> Node:
    """The node, converted where it stands."""
    if node.dtype == dtype:
        return node
    with within(node.context):
        return astype(node, dtype)


def leaving(form: Node, dtype: np.dtype) -> Node:
    """The form of what leaves a branch or loop; what is only passed on is to be seen as such."""
    return of_type(form.parents[0] if isinstance(form, FormOf) else form, dtype)


def arriving(
    outputs: Iterable[Node], inputs: Iterable[Node], role: str = "captured"
) -> list[Inner]:
    """What comes from outside for the outputs of a subgraph, beside its inputs."""
    given = set(inputs)
    found = ancestors(outputs, stop=given.__contains__)
    return [n for n in found if isinstance(n, Inner) and n.role == role and n not in given]


class Growth:
    """What a loop computes whose variables are some of a given one's, and forms of them.

    `wanted` is the form of one of its results. The variables that go on to be carried are those it
    needs; the first values of all are `starts`.
    """

    wanted: Node

    def __init__(self, loop: "Scan | While", forms: "Forms") -> None:
        self._loop, self._forms = loop, forms
        self._body, self._count = loop.subgraphs[-1], loop.carried
        self._forms_of: dict[tuple[int, str], Inner | None] = {}  # on entering a trip
        self._after: list[Node] = []  # on leaving it
        self._kept: list[int] = []

    @staticmethod
    def of(
        loop: "Scan | While", place: int, kind: str, forms: "Forms", always: Iterable[int] = ()
    ) -> "Growth | None":
        """For a form of one of the results; None where that has none. Some places stay `always`."""
        growth = Growth(loop, forms)
        wanted = growth._find(place, kind)
        if wanted is None:
            return None
        growth.wanted = wanted
        return growth if growth._keep(always) else None

    def _find(self, place: int, kind: str) -> Node | None:
        forms = self._forms
        known, growing = forms.known, forms.growing
        own = {
            n: partial(self._entering, i) for i, n in enumerate(self._body.inputs[: self._count])
        }
        # What is found inside holds for this growth alone.
        forms.known, forms.growing = dict(known), {**growing, **own}
        try:
            if place < self._count:
                found = self._entering(place, kind)
            else:
                found = forms(self._body.outputs[place], kind)
            return found if found is not None and self._leaves() else None
        finally:
            forms.known, forms.growing = known, growing

    def _entering(self, place: int, kind: str) -> Node | None:
        """What stands inside for the form of a variable; None if its first value has none."""
        key = place, kind
        if key not in self._forms_of:
            own, start = self._body.inputs[place], self._forms(self._loop.parents[place], kind)
            self._forms_of[key] = None
            if start is not None and start.shape == own.shape and own.context is not None:
                start, name = of_type(start, own.dtype), f"{kind}({own.label()})"
                self._forms_of[key] = own.context.argument(start, "loop variable", name)
        return self._forms_of[key]

    def _leaves(self) -> bool:
        """Find the forms with which a trip ends; for these, others may have to be carried."""
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
        """Find the variables to be carried; False if the loop would do what must be done once."""
        kept = set(always)
        predicates = self._loop.subgraphs[:-1]
        needed = [self.wanted, *self._after, *(n for p in predicates for n in p.outputs)]
        given = {n for s in self._loop.subgraphs for n in s.inputs} | set(self._inners)
        while True:
            roots = [*needed, *(self._body.outputs[i] for i in kept)]
            reached = ancestors(roots, stop=given.__contains__)
            found = set(reached)
            variables = [{s.inputs[i] for s in self._loop.subgraphs} for i in range(self._count)]
            more = {i for i, own in enumerate(variables) if not found.isdisjoint(own)}
            if more <= kept:
                self._kept = sorted(kept)
                return not any(isinstance(n, Effect) for n in everything(reached))
            kept |= more

    def place(self, place: int) -> int:
        """Where a variable of the loop stands among those of this one."""
        return self._kept.index(place)

    @property
    def variables(self) -> int:
        """How many of the loop's variables are carried: the forms come after these."""
        return len(self._kept)

    @property
    def starts(self) -> list[Node]:
        parents = self._loop.parents
        return [*(parents[i] for i in self._kept), *(inner.outer for inner in self._inners)]

    def entering(self, subgraph: Subgraph) -> list[Node]:
        """What is carried, as it enters the predicate or the body."""
        return [*(subgraph.inputs[i] for i in self._kept), *self._inners]

    @property
    def leaving(self) -> list[Node]:
        """What is carried, as it leaves the body."""
        return [*(self._body.outputs[i] for i in self._kept), *self._after]

    def arriving(self, role: str) -> list[Inner]:
        """What comes in beside what the loop has."""
        known = (*self._body.inputs, *self._inners)
        return arriving([*self._after, self.wanted], known, role)
