"""The node of `kg.while_loop`, and its derivatives.

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

from ..faults import FAULT
from ..lower import Scope
from ..node import Apply, Bundle, Node, Operation
from ..rewriting.participation import Tracked, carried_on, plain, read
from ..rewriting.rowwise import Rowwise
from ..trips import LoopPlan, Trips
from .contexts import WhileContext
from .control_node import Looping, everything
from .differentiable_loop import REVERSE, Loop, run
from .forms import Growth
from .liveness import Places
from .loop_handle import LoopHandle
from .rollback import aside
from .strategies import STRATEGIES
from .subgraph import Subgraph
from .tensor_tuples import bytes_of

if TYPE_CHECKING:
    from ..forms.representations import Forms

__all__ = ["GRADS", "While"]

GRADS = ("auto", "stack", "checkpoint", "forward", "none")
FOREVER = 2**31 - 1
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
        return _Lowered(self, scope, live).results(carried, captures, limit)

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
        kinds = [jax.ShapeDtypeStruct(inputs[i].shape, inputs[i].dtype) for i in rowwise.kept]
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


class _Lowered:
    """A loop as functions of a flat state.

    The state consists of the carried values, the verdict and the reports of inner loops.

    The verdict is the value of the predicate. It is part of the state if the predicate has effects,
    loops or faults inside: such a predicate must run exactly once more than the body. A tracked
    value is carried together with its token, and so is every loop variable that a tracked value can
    reach. Arrays that are filled row by row are not carried (see `rowwise`).
    """

    def __init__(self, node: While, scope: Scope, live: Places) -> None:
        self.node, self.scope, self.live = node, scope, live
        self.predicate, self.body = node.subgraphs
        self.live_judged = frozenset(1 + i for i, place in enumerate(node.judging) if place in live)
        self.carries_verdict = bool(node.judging or scope.reporting(self.predicate))

    def results(self, carried: list[Any], captures: list[Any], limit: Any) -> list[Any]:
        node, scope = self.node, self.scope
        carried, captures = self._with_known_participation(carried, captures, limit)
        leaves, self.captures = jax.tree.flatten(captures)
        outer = (*leaves, *scope.anchors)
        self.captured = len(leaves)
        inputs = [*carried, *captures]
        tracked = [i for i, t in enumerate(inputs) if isinstance(t, Tracked)]
        rowwise = Rowwise(node, {*tracked, *node.judging}, node.bound)
        if not node.goes_row_by_row(scope, rowwise):
            rowwise = Rowwise(node, most=0)
        self.rowwise = rowwise
        self.inner = scope.reporting(self.predicate, self.body)
        self.tracked = self.body.passed_on(tracked, node.carried) & self.live
        self.width = len(rowwise.origins) + len(self.tracked)
        first, rows = rowwise.enter([self._settled(i, t) for i, t in enumerate(inputs)])
        values, verdict, reports = self._judged(scope, first, outer, None)
        state = (*values, *verdict, *reports)
        plan = node.plan(scope, [jnp.asarray(plain(v)) for v in first], rowwise.trips)
        places = [i for i in rowwise.origins for _ in range(1 + (i in self.tracked))]
        sizes: list[int] = []
        loop = Loop(
            self._turn,
            self._more,
            plan.rows,
            rowwise.types,
            strategy=STRATEGIES[plan.strategy],
            most=FOREVER if node.bound is None else max(node.bound, 1),
            note=sizes.append,
            live=tuple(i < self.width and places[i] in self.live for i in range(len(state))),
            ambient=any(
                isinstance(n, (Apply, Bundle)) and n.operation.ambient
                for n in everything([*self.predicate.nodes, *self.body.nodes])
            ),
        )
        bound = limit
        limit = jnp.clip(jnp.asarray(limit), 0, FOREVER).astype(np.int32)
        if scope.active is not None:
            limit = jnp.where(scope.active, limit, 0)
        state, trips, written = run(loop, limit, state, outer, tuple(rows), scope.modes)
        truncated = jnp.asarray(False)
        if node.bounded:
            going = self._more(tuple(map(lax.stop_gradient, state)), outer)
            truncated = (trips >= jnp.asarray(bound, np.int32)) & going
        overflowed = jnp.asarray(False)
        if scope.recorded:
            # In the forward pass of an enclosing loop nothing is stored yet.
            stored_bytes = max(sizes, default=plan.bytes)
            if sizes or node not in scope.capacity.plans:
                scope.capacity.plans[node] = plan._replace(bytes=stored_bytes)
            if plan.strategy == "stack" and node.bound != plan.rows and stored_bytes > 0:
                overflowed = trips > plan.rows
        error = truncated if node.on_limit == "error" else jnp.asarray(False)
        if scope.active is not None:
            error = error & scope.active
        scope.note(node, Trips(trips, error, overflowed))
        flat = state[self.width + len(verdict) :]
        scope.receive(self.inner, [flat[i : i + 3] for i in range(0, len(flat), 3)])
        carried = [self._settled(i, t) for i, t in enumerate(carried)]
        return [*rowwise.leave(carried, self._values(state), written, trips), trips, truncated]

    def _settled(self, place: int, tensor: Any) -> Any:
        """A tensor whose gradient is stopped if it is not live."""
        if place >= self.node.carried or place in self.live or not self.scope.modes:
            return tensor
        return lax.stop_gradient(plain(tensor))

    def _with_known_participation(
        self, carried: list[Any], captures: list[Any], limit: Any
    ) -> tuple[list[Any], list[Any]]:
        """Read tracked inputs whose participation is known before the loop.

        Returns carried values and captures.

        An input that every trip reads takes part if the loop makes at least one trip.
        """
        inputs = [*carried, *captures]
        if self.carries_verdict or not any(isinstance(t, Tracked) for t in inputs):
            return carried, captures
        scope = self.scope.inside(modes=(), anchors=(), active=None)
        (first_verdict,) = self.predicate.compute(
            [lax.stop_gradient(plain(t)) for t in inputs], scope
        )
        first_verdict = first_verdict & (jnp.asarray(limit) > 0)
        if self.scope.active is not None:
            first_verdict = first_verdict & self.scope.active
        results = self.scope.live_places(self.node)
        for i in self.body.surely_read(self.live):
            is_wanted = i < len(carried) and (results is None or i in results)
            inputs[i] = read(inputs[i], np.bool_(True) if is_wanted else first_verdict)
        return inputs[: len(carried)], inputs[len(carried) :]

    def _values(self, state: Any) -> list[Any]:
        """Unpack the carried values from the state."""
        remaining = iter(state)
        return [
            Tracked(next(remaining), next(remaining)) if i in self.tracked else next(remaining)
            for i in self.rowwise.origins
        ]

    def _captured(self, outer: Any) -> list[Any]:
        return jax.tree.unflatten(self.captures, outer[: self.captured])  # type: ignore[no-any-return]

    def _judge(self, scope: Scope, carried: Sequence[Any], outer: Any, live: Places | None) -> Any:
        """Compute the verdict of the predicate, and the states that it assigns."""
        inputs = (*self.rowwise.variables(carried), *self._captured(outer))
        return self.predicate.compute(inputs, scope, live)

    def _judged(
        self, scope: Scope, carried: Sequence[Any], outer: Sequence[Any], earlier_reports: Any
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Run the predicate if needed, and join inner loops' reports.

        The predicate runs here only if its verdict is carried.

        `earlier_reports` are reports of the inner loops before the predicate. Returns the flat
        carried values, the verdict (empty if it is not carried) and the flat reports.
        """
        values, verdict = list(carried), []
        inner = scope.inside()
        if self.carries_verdict:
            answer, *versions = self._judge(inner, carried, outer, self.live_judged)
            verdict = [answer]
            for place, version in zip(self.node.judging, versions, strict=True):
                values[self.rowwise.kept.index(place)] = version
        if earlier_reports is not None:
            inner.receive(self.inner, earlier_reports)
        places = zip(self.rowwise.origins, values, strict=True)
        values = [carried_on(t, i in self.tracked) for i, t in places]
        return (
            jax.tree.leaves(values),
            verdict,
            [x for trips in inner.reports(self.inner) for x in trips],
        )

    def _turn(
        self, modes: Any, alive: Any, state: Any, outer: Any, row: Any
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        values_before = self._values(state)
        variables, instead = self.rowwise.begin(values_before, row)
        scope = self.scope.inside(
            modes=modes, anchors=outer[self.captured :], active=alive, instead=instead
        )
        outputs = self.body.compute((*variables, *self._captured(outer)), scope, self.live)
        carried, written = self.rowwise.end(values_before, outputs)
        flat = state[self.width + self.carries_verdict :]
        reports = [flat[i : i + 3] for i in range(0, len(flat), 3)]
        scope.receive(self.inner, reports)
        inner_reports = scope.reports(self.inner)
        values, verdict, joined = self._judged(scope, carried, outer, inner_reports)
        rows = map(self._settled, self.rowwise.filled, written)
        return (*values, *verdict, *joined), tuple(rows)

    def _more(self, state: Any, outer: Any) -> Any:
        if self.carries_verdict:
            verdict = state[self.width]
        else:
            # The predicate contains no loops here, so computing it once more than needed is cheap.
            # The derivative rules call it when the tracers outside the loop are no longer valid.
            scope = self.scope.inside(modes=(), anchors=(), active=None)
            (verdict,) = self._judge(scope, self._values(state), outer, None)
        # End the loop after an overflow, because gradients may be wrong, and after a fault.
        reports = state[self.width + self.carries_verdict :]
        for overflowed in reports[2::3]:
            verdict = verdict & ~overflowed
        if FAULT in self.inner:
            verdict = verdict & (reports[-3] == 0)
        return verdict
