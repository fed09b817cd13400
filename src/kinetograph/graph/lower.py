"""From nodes to tensors: evaluate a graph in an environment, parents first, each node once.

The environment maps nodes to tensors. Evaluated under a JAX trace it lowers the graph to XLA;
evaluated on concrete values, with `Scope(eager=True)`, it is a reference interpreter that goes node
by node and through branches and loops as Python does.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .alike import Groups, together
from .faults import FAULT, has_faults, report_fault
from .node import Apply, Bundle, Data, Node, ancestors
from .participation import read
from .sides import Sides
from .trips import NO_TRIPS, Capacity, Trips

if TYPE_CHECKING:
    from .control.control import Control, Looping
    from .control.effects import Effects
    from .control.liveness import Places
    from .control.subgraph import Subgraph
    from .culprits import Culprits

__all__ = [
    "Environment",
    "Instead",
    "Scope",
    "evaluate",
    "lower_node",
]

Environment = dict[Node, Any]


class Instead(NamedTuple):
    """How an operation is computed otherwise: by which function, and of what as its first operand.

    That is its own one where `operand` is None.
    """

    lower: Callable[..., Any]
    operand: Any = None


@dataclass
class Scope:
    """How a region is lowered.

    `modes` are the derivatives being taken around it, the innermost first. `anchors` are zeros that
    each of these perturbs: loops have them among their inputs, so that every derivative meets
    every loop, in order. `live` tells which results of branches and loops take part in them, None
    that all do. `active` is false where the region is computed for nothing, in a batch
    whose members do not all need it; loops do not turn there. `trips` collects, as tensors of this
    region, what its loops report. `effects` are checks and prints to be carried out, None for none;
    `indices` the numbers of those whose indices are looked at, None where nobody is told of faults.
    `instead` are operations that are computed in another way than their own.
    """

    modes: tuple[str, ...] = ()
    anchors: tuple[Any, ...] = ()
    live: "Mapping[Control, Places] | None" = None
    active: Any = None
    recorded: bool = False  # whether some reverse derivative is taken around
    capacity: Capacity = field(default_factory=Capacity)
    effects: "Effects | None" = None
    indices: Mapping[Node, int] | None = None
    instead: Mapping[Node, Instead] = field(default_factory=dict)
    eager: bool = False
    watch: "Culprits | None" = None  # is shown every tensor of an eager evaluation, in order
    trail: list[str] = field(default_factory=list)  # where an eager evaluation is: trips, branches
    trips: "dict[Looping, Trips]" = field(default_factory=dict)
    shared: Environment = field(default_factory=dict)  # tensors of this region found on the way

    def inside(self, **changed: Any) -> "Scope":
        """The scope of a region inside this one; its trips are its own."""
        return replace(self, trips={}, shared={}, **changed)

    @contextmanager
    def within(self, what: str) -> Iterator[None]:
        """Note where an eager evaluation is."""
        self.trail.append(what)
        try:
            yield
        finally:
            self.trail.pop()

    def derived(self, mode: str, anchor: Any) -> "Scope":
        """The scope of a region that is being differentiated."""
        return self.inside(
            modes=(mode, *self.modes),
            anchors=(anchor, *self.anchors),
            recorded=self.recorded or mode == "reverse",
        )

    def live_places(self, node: "Control") -> "Places | None":
        """The results of a node that take part in the derivatives; None for all."""
        return None if self.live is None else self.live.get(node, frozenset())

    def note(self, loop: "Looping", trips: Trips) -> None:
        """A loop of this region reports."""
        known = self.trips.get(loop)
        self.trips[loop] = trips if known is None else known.join(trips)

    def reporting(self, *subgraphs: "Subgraph") -> "tuple[Looping, ...]":
        """What reports from inside of these: loops, and faults of indices as the last."""
        loops = dict.fromkeys(loop for subgraph in subgraphs for loop in subgraph.loops)
        faults = self.indices is not None and any(s.has_faults for s in subgraphs)
        return (*loops, FAULT) if faults else tuple(loops)

    def reports(self, loops: "Sequence[Looping]") -> tuple[Trips, ...]:
        """What these loops report, to be handed out of a region."""
        found = []
        for loop in loops:
            trips = self.trips.get(loop, NO_TRIPS)
            most = jnp.asarray(trips.most, np.int64 if loop is FAULT else np.int32)
            found.append(Trips(most, *map(jnp.asarray, trips[1:])))
        return tuple(found)

    def receive(self, loops: "Sequence[Looping]", reports: Sequence[Any]) -> None:
        """Take over what came out of a region."""
        for loop, trips in zip(loops, reports, strict=True):
            self.note(loop, Trips(*trips))


def lower_node(
    node: "Apply | Bundle | Control",
    environment: Environment,
    scope: Scope,
    sides: Sides | None = None,
) -> Any:
    """The tensor of one operation, given its parents' tensors."""
    if sides is None or node not in sides.twins:
        return _lower_node(node, environment, scope, sides, node)
    results: list[Any] = []
    for one in (node, *sides.twins[node]):
        places = sides.places(one)
        assert places is not None
        live: dict[Any, Places] = {node: places}
        own = replace(scope, live=live, effects=None if results else scope.effects)
        found = _lower_node(node, environment, own, sides, one)
        results = [found[i] if i in places else r for i, r in enumerate(results)] or list(found)
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
    """The tensors of operations that are alike, computed as one operation with an axis more."""
    nodes = [node for node in nodes if node not in environment]
    first = nodes[0]
    rows = [[environment[p] for p in node.parents] for node in nodes]
    if sides is not None:
        rows = [sides.operands(node, row) for node, row in zip(nodes, rows, strict=True)]
    rows = [list(map(read, row)) for row in rows]
    tensors = [jnp.stack([jnp.asarray(t) for t in column]) for column in zip(*rows, strict=True)]
    attributes = first.attributes
    found = jax.vmap(lambda *row: first.operation.lower(*row, **attributes))(*tensors)
    # The place is a value at run time: then all are taken out by one and the same kernel.
    places = [lax.optimization_barrier(np.int32(i)) for i in range(len(nodes))]
    return {n: lax.dynamic_index_in_dim(found, i, 0, False) for n, i in zip(nodes, places)}


def _cast(tensor: Any, dtype: np.dtype) -> Any:
    return tensor if tensor.dtype == dtype else jnp.asarray(tensor).astype(dtype)


def evaluate(
    nodes: Iterable[Node],
    environment: Environment,
    define: Callable[[Node, Environment], Any] | None = None,
    scope: Scope | None = None,
) -> Environment:
    """Add the tensors of `nodes`, and of all they need, to the environment.

    `define` gives the tensors of nodes that are neither operations nor data nor already present.
    """
    scope = Scope() if scope is None else scope
    nodes = tuple(nodes)
    order = ancestors(nodes, stop=environment.__contains__)
    # Gradients come first: they compute what they differentiate, loops above all, on the way.
    first = [] if scope.eager else [n for n in order if isinstance(n, Bundle) and n.early]
    if first:
        order = ancestors((*first, *order), stop=environment.__contains__)
    new = [n for n in order if n not in environment]
    sides = Sides.among(new, nodes, environment, scope.modes, scope.live)
    if sides is not None:
        sides.prepare(
            environment,
            lambda needed: evaluate(needed, environment, define, scope),
            lambda node, values: lower_node(node, values, replace(scope, watch=None)),
        )
    groups: Groups = {}
    if not first and not scope.eager and scope.watch is None:
        order, groups = together(order, environment)
    for node in order:
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
        elif not node.size:  # whatever it is, it has one value
            environment[node] = jnp.zeros(node.shape, node.dtype)
        elif define is not None:
            environment[node] = define(node, environment)
        else:
            raise KeyError(node)
        if scope.watch is not None:
            scope.watch.seen(node, environment)
    if sides is not None:
        for node in sides.masked():
            environment.pop(node, None)
    environment.update((node, read(environment[node])) for node in nodes)
    return environment
