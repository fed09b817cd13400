"""The node of `kg.while_loop`; `lowered_loop` has its loop in JAX.

The node is functional. Its inputs are the loop variables, the versions of states that predicate or
body assign, and captured values. Its results are the last values of the loop variables and states,
the number of trips, and whether the bound ended the loop.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..lower import Scope
from ..node import Node, Operation
from ..rewriting.participation import plain, read
from ..rewriting.rowwise import Rowwise
from ..trips import LoopPlan, Trips
from .contexts import WhileContext
from .control_node import Looping
from .differentiable_loop import REVERSE
from .forms import Growth
from .liveness import Places
from .loop_handle import LoopHandle
from .lowered_loop import FOREVER, LoweredLoop
from .rollback import aside
from .subgraph import Subgraph
from .tensor_tuples import bytes_of

if TYPE_CHECKING:
    from ..forms.representations import Forms

__all__ = ["GRADS", "While"]

GRADS = ("auto", "stack", "checkpoint", "forward", "none")
STACK_BYTES = 2**28  # the largest stack that "auto" uses
FINAL_BYTES = 2**22  # the largest one if it needs a row for every trip that the bound allows


class While(Looping):
    """A loop: predicate and body over loop variables, states and captures.

    Parents: the loop variables, the carried states, the captures and, if it is not a number known
    at build time, the bound. Results: the loop variables, the carried states, trips, truncated.
    """

    __slots__ = ("bound", "carried", "grad", "judging", "on_limit", "variables")
    kind_name = "while loop"
    tracks = True

    def __init__(
        self,
        context: WhileContext,
        carried: Sequence[Node],
        captures: Sequence[Node],
        predicate: Subgraph,
        body: Subgraph,
        *,
        variables: int,
        judging: Sequence[int],
        bound: int | Node | None,
        grad: str,
        on_limit: str,
    ) -> None:
        bounds = (bound,) if isinstance(bound, Node) else ()
        parents = (*carried, *captures, *bounds)
        super().__init__(WHILE, parents, (predicate, body), (context,), {})
        self.variables = variables
        self.carried = len(carried)
        self.judging = tuple(judging)  # the carried states that the predicate assigns
        self.bound = None if isinstance(bound, Node) else bound
        self.grad = grad
        self.on_limit = on_limit

    @property
    def bounded(self) -> bool:
        """Whether there is a bound, either a number or a node."""
        return self.bound is not None or len(self.parents) > self.carried + self._captures

    @property
    def _captures(self) -> int:
        return len(self.subgraphs[1].inputs) - self.carried

    @property
    def loop(self) -> LoopHandle:
        """The number of trips and the truncation, as arrays."""
        return LoopHandle(self)

    @property
    def trips_place(self) -> int:
        """The place of the number of trips among the results."""
        return self.carried

    def static_text(self) -> str:
        """The settings that determine the results, besides parents and subgraphs."""
        return f"{self.variables} {self.judging} {self.bound} {self.grad} {self.on_limit}"

    def input_name(self, place: int) -> str:
        """The name of the variable that starts with a parent.

        Empty for captures.
        """
        return self.variable_name(place) if place < self.carried else ""

    def result_name(self, place: int) -> str:
        """The suffix that selects a result in text."""
        if place < self.carried:
            return f".{self.variable_name(place)}"
        return ".trips" if place == self.carried else ".truncated"

    def variable_name(self, place: int) -> str:
        """The user's name of a loop variable."""
        return self.subgraphs[1].inputs[place].label()

    def live_variables(self, places: Places | None) -> tuple[Places, Places]:
        """The carried values and captures on which derivatives depend.

        `places` are the places of the differentiated results; None for all.
        """
        predicate, body = self.subgraphs
        count = self.carried
        live = frozenset(range(count) if places is None else places) & frozenset(range(count))
        while True:
            live_judged = (1 + i for i, place in enumerate(self.judging) if place in live)
            reached = body.live_inputs(live) | predicate.live_inputs(frozenset(live_judged))
            if live >= (reached_variables := {i for i in reached if i < count}):
                kinds = self.subgraphs[1].inputs
                carried = frozenset(i for i in live if kinds[i].dtype.kind == "f")
                return carried, frozenset(i - count for i in reached if i >= count)
            live |= reached_variables

    def live_parents(self, places: Places) -> Iterable[int]:
        """The loop variables and captures on which derivatives depend."""
        if self.grad == "none":
            return ()
        carried, captures = self.live_variables(places)
        return (*carried, *(self.carried + i for i in captures))

    def compute(self, tensors: list[Any], scope: Scope) -> list[Any]:
        """Compute the results of the loop."""
        if REVERSE not in scope.modes or self.grad == "forward":
            tensors = list(map(read, tensors))
        elif self.grad == "none":
            tensors = list(map(plain, tensors))
        carried, outer_values = tensors[: self.carried], tensors[self.carried :]
        captures, bound = (
            outer_values[: self._captures],
            list(map(plain, outer_values[self._captures :])),
        )
        limit = bound[0] if bound else FOREVER if self.bound is None else self.bound
        if scope.eager:
            return self._interpret(carried, captures, int(limit), scope)
        live = self.live_variables(scope.live_places(self))[0] if scope.modes else frozenset()
        if scope.modes and (self.grad == "none" or not live):
            carried, captures = (
                [lax.stop_gradient(plain(tensor)) for tensor in part]
                for part in (carried, captures)
            )
            scope = replace(scope, modes=(), anchors=(), live=None, recorded=False)
        return LoweredLoop(self, scope, live).results(carried, captures, limit)

    def form(self, place: int, kind: str, forms: "Forms") -> Node | None:
        """Another form of a last loop variable, or None."""
        predicate, body = self.subgraphs
        (context,) = self.contexts
        assert isinstance(context, WhileContext)
        count = self.carried
        with aside(self):
            growth = place < count and Growth.of(self, place, kind, forms, always=self.judging)
            if not growth:
                return None
            captures = growth.arriving("captured")
            captured_inputs = [*body.inputs[count:], *captures]
            bound = self.parents[-1] if len(self.parents) > count + self._captures else self.bound
            node = While(
                context,
                growth.starts,
                [*self.parents[count : count + self._captures], *(n.outer for n in captures)],
                Subgraph([*growth.entering(predicate), *captured_inputs], predicate.outputs),
                Subgraph([*growth.entering(body), *captured_inputs], growth.leaving),
                variables=growth.variables,
                judging=[growth.place(i) for i in self.judging],
                bound=bound,
                grad=self.grad,
                on_limit=self.on_limit,
            )
        return node.part(growth.variables, growth.wanted.shape, growth.wanted.dtype)

    def _interpret(
        self, carried: list[Any], captures: list[Any], limit: int, scope: Scope
    ) -> list[Any]:
        """Run the loop eagerly, as Python would."""
        predicate, body = self.subgraphs
        if self.grad == "none":
            carried, captures = (list(map(lax.stop_gradient, part)) for part in (carried, captures))

        def judge(carried: list[Any]) -> tuple[bool, list[Any]]:
            verdict, *versions = predicate.compute((*carried, *captures), scope)
            for place, version in zip(self.judging, versions, strict=True):
                carried[place] = version
            return bool(verdict), carried

        trips = 0
        continues, carried = judge(list(carried))
        while continues and trips < limit:
            with scope.within(f"trip {trips} of {self.title}"):
                carried = list(body.compute((*carried, *captures), scope))
                continues, carried = judge(carried)
            trips += 1
        truncated = continues and trips >= limit
        error = np.bool_(truncated and self.on_limit == "error")
        scope.note(self, Trips(np.int32(trips), error, np.bool_(False)))
        return [*carried, jnp.int32(trips), jnp.asarray(truncated)]

    def plan(self, scope: Scope, types: Sequence[Any], trips: int | None = None) -> LoopPlan:
        """The strategy and buffer of the backward pass.

        `types` are tensors of the carried values. `trips` is the number of rows of the arrays that
        are filled row by row; None if there are none.
        """
        width = bytes_of(types)
        capacity = scope.capacity.of(self)
        if trips is not None:
            return LoopPlan("stack", trips, trips * width, "arrays go row by row")
        if self.grad == "checkpoint":
            return LoopPlan("checkpoint", 0, 0, "requested: runs the loop again, in segments")
        if self.grad == "forward":
            return LoopPlan("forward", 0, 0, "requested: propagates a tangent of every input")
        if scope.capacity.final:
            return self._final_plan(width)
        if self.grad == "stack":
            rows = max(self.bound, 1) if self.bound is not None else capacity
            doubled = "requested; room is doubled when a run needs more"
            reason = doubled if self.bound is None else "room for all trips"
            return LoopPlan("stack", rows, rows * width, reason)
        rows = capacity if self.bound is None else min(self.bound, capacity)
        if rows * width > STACK_BYTES:
            return LoopPlan("checkpoint", 0, 0, f"a stack would take {rows * width} bytes")
        has_room_for_all = self.bound is not None and rows == self.bound
        reason = (
            "the bound is small" if has_room_for_all else "room is doubled when a run needs more"
        )
        return LoopPlan("stack", max(rows, 1), rows * width, reason)

    def goes_row_by_row(self, scope: Scope, rowwise: Rowwise) -> bool:
        """Whether the rows of all possible trips fit into memory."""
        if rowwise.trips is None or REVERSE not in scope.modes:
            return True
        if self.grad not in ("auto", "stack"):
            return False
        inputs = self.subgraphs[1].inputs
        kinds = [
            jax.ShapeDtypeStruct(inputs[i].shape, inputs[i].dtype) for i in rowwise.carried_places
        ]
        full_capacity = scope.capacity.final and self.grad != "stack"
        limit = FINAL_BYTES if full_capacity else STACK_BYTES
        return rowwise.trips * bytes_of(kinds) <= limit

    def _final_plan(self, width: int) -> LoopPlan:
        """The plan for a run that cannot be repeated.

        It is a stack for all trips if that is small enough, otherwise checkpoints.
        """
        if self.bound is not None:
            rows, largest = max(self.bound, 1), STACK_BYTES if self.grad == "stack" else FINAL_BYTES
            if rows * width <= largest:
                return LoopPlan("stack", rows, rows * width, "room for all trips")
        return LoopPlan("checkpoint", 0, 0, "the number of trips is unknown, or too large")


WHILE = Operation("while", lambda *tensors: None)
