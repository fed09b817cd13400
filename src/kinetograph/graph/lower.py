"""Evaluation of a graph: from nodes to tensors.

Each node is evaluated once, parents before children. The environment maps nodes to tensors. Under a
JAX trace, the evaluation lowers the graph to XLA. On concrete values, with `Scope(eager=True)`, it
is a reference interpreter that computes node by node and runs branches and loops as Python does.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .faults import FAULT, has_faults, report_fault
from .node import Apply, Bundle, Data, Node, ancestors
from .rewriting.batched_operations import Groups, together
from .rewriting.participation import read
from .rewriting.stacked_steps import StackedSteps, stacked_steps, with_steps
from .rewriting.where_derivatives import Sides
from .trips import NO_TRIPS, Capacity, Trips

if TYPE_CHECKING:
    from .bad_values import Culprits
    from .control.control_node import Control, Looping
    from .control.effects import Effects
    from .control.liveness import Places
    from .control.subgraph import Subgraph

__all__ = [
    "Environment",
    "Instead",
    "Scope",
    "evaluate",
    "lower_node",
]

Environment = dict[Node, Any]


class Instead(NamedTuple):
    """A replacement for an operation: its function and its first operand.

    The first operand stays as it is if `operand` is None.
    """

    lower: Callable[..., Any]
    operand: Any = None


@dataclass
class Scope:
    """The settings with which a region of the graph is lowered.

    `modes` are the derivatives taken around the region, the innermost first. Each of these
    derivatives perturbs one of the zeros in `anchors`. Loops have the anchors among their inputs,
    so that every derivative passes through every loop, in order. `live` has the results of
    branches and loops that take part in the derivatives; with None, all do. `active` is false for
    the rows of a batch that do not need the region; loops make no trips there. `trips` collects the
    reports of the region's loops, as tensors of this region. `effects` are the checks and prints to
    run, None for none. `indices` numbers the nodes whose indices are checked; with None, faults are
    not reported. `instead` has replacements for operations.
    """

    modes: tuple[str, ...] = ()
    anchors: tuple[Any, ...] = ()
    live: "Mapping[Control, Places] | None" = None
    active: Any = None
    recorded: bool = False  # whether a reverse derivative is taken around the region
    capacity: Capacity = field(default_factory=Capacity)
    effects: "Effects | None" = None
    indices: Mapping[Node, int] | None = None
    instead: Mapping[Node, Instead] = field(default_factory=dict)
    eager: bool = False
    watch: "Culprits | None" = None  # checks every tensor of an eager evaluation, in order
    trail: list[str] = field(default_factory=list)  # present trips and branches, if eager
    trips: "dict[Looping, Trips]" = field(default_factory=dict)
    shared: Environment = field(default_factory=dict)  # tensors that gradients computed, too

    def inside(self, **changed: Any) -> "Scope":
        """The scope of a region inside this one, with separate trips."""
        return replace(self, trips={}, shared={}, **changed)

    @contextmanager
    def within(self, place: str) -> Iterator[None]:
        """Note the place of an eager evaluation: a trip or a branch."""
        self.trail.append(place)
        try:
            yield
        finally:
            self.trail.pop()

    def derived(self, mode: str, anchor: Any) -> "Scope":
        """The scope of a region inside, which is differentiated."""
        return self.inside(
            modes=(mode, *self.modes),
            anchors=(anchor, *self.anchors),
            recorded=self.recorded or mode == "reverse",
        )

    def live_places(self, node: "Control") -> "Places | None":
        """The results of a node that take part in derivatives."""
        return None if self.live is None else self.live.get(node, frozenset())

    def note(self, loop: "Looping", trips: Trips) -> None:
        """Add the report of a loop in this region."""
        earlier = self.trips.get(loop)
        self.trips[loop] = trips if earlier is None else earlier.join(trips)

    def reporting(self, *subgraphs: "Subgraph") -> "tuple[Looping, ...]":
        """The loops inside subgraphs, and last `FAULT` if indices are checked."""
        loops = dict.fromkeys(loop for subgraph in subgraphs for loop in subgraph.loops)
        faults = self.indices is not None and any(s.has_faults for s in subgraphs)
        return (*loops, FAULT) if faults else tuple(loops)

    def reports(self, loops: "Sequence[Looping]") -> tuple[Trips, ...]:
        """The reports of loops, as tensors to pass out of a region."""
        reports = []
        for loop in loops:
            trips = self.trips.get(loop, NO_TRIPS)
            most = jnp.asarray(trips.most, np.int64 if loop is FAULT else np.int32)
            reports.append(Trips(most, *map(jnp.asarray, trips[1:])))
        return tuple(reports)

    def receive(self, loops: "Sequence[Looping]", reports: Sequence[Any]) -> None:
        """Add the reports that came out of a region."""
        for loop, trips in zip(loops, reports, strict=True):
            self.note(loop, Trips(*trips))


def lower_node(
    node: "Apply | Bundle | Control",
    environment: Environment,
    scope: Scope,
    sides: Sides | None = None,
) -> Any:
    """Compute the tensor of one operation from its parents' tensors."""
    if sides is None or node not in sides.twins:
        return _lower_node(node, environment, scope, sides, node)
    results: list[Any] = []
    for twin in (node, *sides.twins[node]):
        places = sides.places(twin)
        assert places is not None
        live: dict[Any, Places] = {node: places}
        inner = replace(scope, live=live, effects=None if results else scope.effects)
        tensors = _lower_node(node, environment, inner, sides, twin)
        results = [tensors[i] if i in places else r for i, r in enumerate(results)] or list(tensors)
    return results


def _lower_node(
    node: "Apply | Bundle | Control",
    environment: Environment,
    scope: Scope,
    sides: Sides | None,
    one: Any,
) -> Any:
    tensors = [environment[parent] for parent in node.parents]
    instead = scope.instead.get(node)
    if instead is not None and instead.operand is not None:
        tensors[0] = instead.operand
    if sides is not None:
        tensors = sides.operands(one, tensors)
    if not (node.tracks and scope.modes):
        tensors = list(map(read, tensors))
    if node.computes:
        return node.compute(tensors, scope)
    attributes = node.attributes
    casts = attributes.get("casts")
    if casts is not None:
        attributes = {k: v for k, v in attributes.items() if k != "casts"}
        tensors = [_cast(t, dtype) for t, dtype in zip(tensors, casts, strict=True)]
    if scope.indices is not None and has_faults(node):
        report_fault(node, tensors, scope)  # type: ignore[arg-type]
    if instead is not None:
        return instead.lower(*tensors, **attributes)
    watch = scope.watch
    if watch is None:
        return node.operation.lower(*tensors, **attributes)
    tensors = watch.operands(node, tensors, scope.modes)
    return watch.result(node, node.operation.lower(*tensors, **attributes), scope.modes)


def _lower_alike(
    nodes: "Sequence[Apply]", environment: Environment, sides: Sides | None
) -> Environment:
    """Compute equal operations on different operands as one batched operation."""
    nodes = [node for node in nodes if node not in environment]
    first = nodes[0]
    rows = [[environment[p] for p in node.parents] for node in nodes]
    if sides is not None:
        rows = [sides.operands(node, row) for node, row in zip(nodes, rows, strict=True)]
    rows = [list(map(read, row)) for row in rows]
    tensors = [jnp.stack([jnp.asarray(t) for t in column]) for column in zip(*rows, strict=True)]
    attributes = first.attributes
    results = jax.vmap(lambda *row: first.operation.lower(*row, **attributes))(*tensors)
    # The index is a value at run time, so that XLA uses the same kernel for all results.
    indices = [lax.optimization_barrier(np.int32(i)) for i in range(len(nodes))]
    return {n: lax.dynamic_index_in_dim(results, i, 0, False) for n, i in zip(nodes, indices)}


def _cast(tensor: Any, dtype: np.dtype) -> Any:
    return tensor if tensor.dtype == dtype else jnp.asarray(tensor).astype(dtype)


def evaluate(
    nodes: Iterable[Node],
    environment: Environment,
    define: Callable[[Node, Environment], Any] | None = None,
    scope: Scope | None = None,
) -> Environment:
    """Add the tensors of `nodes` and of their ancestors to the environment.

    `define` gives the tensors of nodes that are not operations, not data and not yet present.
    """
    scope = Scope() if scope is None else scope
    nodes = tuple(nodes)
    order = ancestors(nodes, stop=environment.__contains__)
    # Gradients come first, because they also compute the values of the differentiated subgraph,
    # above all of its loops.
    first = [] if scope.eager else [n for n in order if isinstance(n, Bundle) and n.early]
    if first:
        order = ancestors((*first, *order), stop=environment.__contains__)
    new = [n for n in order if n not in environment]
    sides = Sides.among(new, nodes, environment, scope.modes, scope.live)
    groups: Groups = {}
    steps: list[StackedSteps] = []
    if not first and not scope.eager and scope.watch is None:
        order, groups = together(order, environment)
        if not groups:
            guards = {} if sides is None else sides.guards
            steps = stacked_steps(new, nodes, environment, scope.instead.keys(), guards)
    if sides is not None:
        sides.leave({node for each in steps for node in each.replaced})
        sides.prepare(
            environment,
            lambda needed: evaluate(needed, environment, define, scope),
            lambda node, values: lower_node(node, values, replace(scope, watch=None)),
        )
    for node in with_steps(nodes, environment, steps) if steps else order:
        if isinstance(node, StackedSteps):
            environment.update(node.compute(environment))
            continue
        if node in environment:
            continue
        if node in groups:
            environment.update(_lower_alike(groups[node], environment, sides))
        elif isinstance(node, (Apply, Bundle)):
            environment[node] = lower_node(node, environment, scope, sides)
            if scope.shared:
                environment.update((n, t) for n, t in scope.shared.items() if n not in environment)
                scope.shared.clear()
        elif scope.effects is not None and node in scope.effects.before:
            before = scope.effects.before[node]
            evaluate((before,), environment, define, scope)
            environment[node] = environment[before]
        elif isinstance(node, Data):
            environment[node] = jnp.asarray(node.value)
        elif not node.size:  # an empty array has only one possible value
            environment[node] = jnp.zeros(node.shape, node.dtype)
        elif define is not None:
            environment[node] = define(node, environment)
        else:
            raise KeyError(node)
        if scope.watch is not None:
            scope.watch.inspect(node, environment)
    if sides is not None:
        for node in sides.masked():
            environment.pop(node, None)
    environment.update((node, read(environment[node])) for node in nodes)
    return environment
