"""The tensors of `kg.while_loop`: its loop in JAX."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..faults import FAULT
from ..lower import Scope
from ..node import Apply, Bundle
from ..rewriting.participation import Tracked, carried_on, plain, read
from ..rewriting.rowwise import Rowwise
from ..trips import Trips
from .control_node import everything
from .differentiable_loop import Loop, run
from .liveness import Places
from .strategies import STRATEGIES

if TYPE_CHECKING:
    from .loops import While

__all__ = ["FOREVER", "LoweredLoop"]

FOREVER = 2**31 - 1


class LoweredLoop:
    """A loop as functions of a flat state.

    The state consists of the carried values, the verdict and the reports of inner loops.

    The verdict is the value of the predicate. It is part of the state if the predicate has effects,
    loops or faults inside: such a predicate must run exactly once more than the body. A tracked
    value is carried together with its token, and so is every loop variable that a tracked value can
    reach. Arrays that are filled row by row are not carried (see `rowwise`).
    """

    def __init__(self, node: "While", scope: Scope, live: Places) -> None:
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
                values[self.rowwise.carried_places.index(place)] = version
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
        rows = map(self._settled, self.rowwise.filled_places, written)
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
