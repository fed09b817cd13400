"""The graph of `init` or `step`: what `self` does while it is made, and its evaluation.

What `evaluate`, `noise` and `record` do beside giving values (counting gradients, advancing
streams, keeping records, handing on what the model's loops told) goes through hidden states, which
branches and loops thread in program order.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..autograph.building import building
from ..graph.array import Array
from ..graph.control.state import Cell, Versions, current_versions, top_level
from ..graph.errors import ModelError, ShapeError
from ..graph.functions.arranging import concatenate
from ..graph.lower import Environment, Scope, evaluate
from ..graph.messages import describe
from ..graph.node import Apply, Bundle, Data, Node, Operation, next_serial
from ..graph.operations.elementwise import astype, elementwise
from ..graph.operations.operands import as_node
from ..graph.source import here, site_of, written_at
from ..kernels.contract import Space
from ..kernels.elsewhere import Given, refuse_cells, refuse_effects, refuse_elsewhere
from ..kernels.frozen import watched
from ..kernels.target import Position, Target
from .inner import bound
from .noise import NamedNoise
from .points import Point
from .sampler import HERE, Sampler
from .scale import covariance_of, divided, gradient_of, times
from .schedules import scheduled

__all__ = ["POTENTIAL", "Session", "StepGraph", "build", "evaluates"]

ACCEPTANCE = "acceptance_rate"
RESERVED = ("lp", "batch_lp", "step_size", "chain", "draw", "n_grad", "n_value")


class _Evaluating(threading.local):
    target: Target | None = None  # of the step whose graph this thread evaluates


_EVALUATING = _Evaluating()


# The operations on the target, which are told it when the graph is evaluated. ---------------------


def _target() -> Target:
    target = _EVALUATING.target
    if target is None:
        raise ModelError("a sampler's step can be evaluated only inside of a run")
    return target


def _results(position: Position, found: Any) -> list[Any]:
    told = [jnp.stack([jnp.asarray(x, np.int32) for x in trips]) for trips in found]
    value, gradient = position.log_density, position.gradient
    potential = jnp.where(jnp.isnan(value), jnp.inf, -value)
    return [potential, -gradient, *([jnp.stack(told)] if told else [])]


def _evaluate(q: Any) -> list[Any]:
    target = _target()
    return _results(*target.evaluate(q, target.no_trips()))


def _evaluate_full(q: Any) -> list[Any]:
    target = _target()._replace(rows=None)
    return _results(*target.evaluate(q, target.no_trips()))


def _evaluate_with_covariance(q: Any, *, full: bool) -> list[Any]:
    target = _target()
    position, covariance, found = target.evaluate_with_covariance(q, target.no_trips(), full=full)
    return [*_results(position, found), covariance]


def _potential(q: Any) -> Any:
    return -_target().log_density(q)


EVALUATE = Operation("evaluate", _evaluate, ambient=True)
FULL = Operation("evaluate_full", _evaluate_full, ambient=True)
WITH_COVARIANCE = Operation("evaluate_with_covariance", _evaluate_with_covariance, ambient=True)
POTENTIAL = Operation("potential", _potential, ambient=True)


def evaluates(node: Node) -> bool:
    """Whether a node makes a point: its results are a potential, a gradient and more."""
    return isinstance(node, Bundle) and node.operation in (EVALUATE, FULL, WITH_COVARIANCE)


class _Cell(Cell):
    """A record: a hidden state that begins every transition with the same value."""

    __slots__ = ()

    def join(self, versions: Node, inside: Node) -> Node:
        """After a batch: as before it; what its rows record, those who made the batch read."""
        return current_versions().current(self)


class _Count(_Cell):
    """A number of evaluations."""

    __slots__ = ()

    def join(self, versions: Node, inside: Node) -> Node:
        """That before the batch, and what each row has added."""
        before = Array(current_versions().current(self))
        return (before + (Array(versions) - before).sum()).astype(self.initial.dtype).node


class _Told(_Cell):
    """What the model's loops have told."""

    __slots__ = ()

    def join(self, versions: Node, inside: Node) -> Node:
        """The largest of each."""
        return Array(versions).max(0).node


class Session:
    """The making of the graph of `init` or `step`."""

    def __init__(self, sampler: Sampler, space: Space, method: str) -> None:
        self.sampler, self.space = sampler, space
        site = written_at(getattr(sampler, method))
        self.where = f"{type(sampler).__name__}.{method}{site}"
        self.begun = next_serial()
        self.hyper: dict[str, Any] = {}
        self.schedules: dict[str, Node] = {}
        self.inputs: dict[str, Node] = {}
        self.records: dict[str, _Cell] = {}
        self.prefix = ""  # of the records of a sampler within,
        self.around: Session | None = None  # the session of the one around it,
        self.block: Any = None  # the block of unknowns that it moves, if not all,
        self.own_scale = False  # and whether its scale is not that of the one around
        self.of_walkers: list[_Cell] = []  # records that were made walker by walker
        self.gradients = _Count(np.zeros((), np.int32), "gradients", hidden=True)
        self.values = _Count(np.zeros((), np.int32), "values", hidden=True)
        self.trips = _Told(np.zeros((space.loops, 3), np.int32), "trips", hidden=True)
        key = self.input("key", (4,), np.dtype(np.uint32))
        event = self.input("event", (), np.dtype(np.uint32))
        self.noise = NamedNoise(key.node, event.node, space.dtype)
        self.iteration = Array(astype(event.node, np.dtype(np.int32)))
        self._hypers(self.iteration if method == "step" else Array(as_node(np.int32(0))))
        q = self.input("q", space.shape, space.dtype)
        lead = space.shape[:-1]
        log_density = self.input("log_density", lead, space.dtype)
        gradient = self.input("gradient", space.shape, space.dtype)
        self.start = self.point(q, -log_density, -gradient)

    def input(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        interval: tuple[int, int] | None = None,
    ) -> Array:
        self.inputs[name] = Given((), shape, dtype, name, interval=interval)
        return Array(self.inputs[name])

    def _hypers(self, iteration: Array) -> None:
        known = self.sampler.hypers(self.space)
        names = self.sampler.declared()
        size, dtype = self.space.shape[-1], self.space.dtype
        for name, value in self.sampler.values().items():
            if name in known:
                given = known[name]
                interval = names[name].interval
                self.hyper[name] = self.input(f"hyper {name}", given.shape, given.dtype, interval)
            elif callable(value) and not names[name].static:
                found = scheduled(value, iteration, size, dtype, names[name])
                self.hyper[name], self.schedules[name] = found, found.node
        for name, inner in self.sampler._inner().items():
            self.hyper[name] = bound(self, inner, name)

    @property
    def _scale(self) -> Any:
        return self.hyper.get("scale")

    def point(self, q: Any, potential: Any, gradient: Any) -> Point:
        """A point, from position and gradient in the model's coordinates."""
        scale = self._scale
        if scale is None:
            return Point(q, potential, gradient)
        return Point(divided(q, scale), potential, gradient_of(gradient, scale), (q, gradient))

    # What a step does.
    def _position(self, q: Any, what: str) -> Any:
        q = self.join(q) if isinstance(q, Mapping) else q
        node, shape = as_node(q, what), self.space.shape
        some = len(shape) == 2 and len(node.shape) in (1, 2) and node.shape[-1] == shape[-1]
        if node.shape != shape and not (some and node.shape[0] > 0):
            wanted = (
                f"the position has shape {shape}"
                if len(shape) == 1
                else f"walkers have positions of shape (any number, {shape[-1]})"
            )
            raise ShapeError(
                f"{what}: {wanted}, {describe(node)} has shape {node.shape}, at {site_of(here())}"
            )
        return Array(node if node.dtype == self.space.dtype else astype(node, self.space.dtype))

    def evaluate(self, q: Any) -> Point:
        """The point at q."""
        scaled, free = self._coordinates(q, "evaluate")
        return self._evaluated(scaled, free, Bundle(EVALUATE, (free.node,)))

    def evaluate_full(self, q: Any) -> Point:
        """The point at q, of all rows of the data."""
        scaled, free = self._coordinates(q, "evaluate_full")
        return self._evaluated(scaled, free, Bundle(FULL, (free.node,)))

    def evaluate_with_covariance(self, q: Any, full: bool) -> tuple[Point, Array]:
        """The point at q, and the covariance of the gradient."""
        scaled, free = self._coordinates(q, "evaluate_with_covariance")
        shape, scale = scaled.shape, self._scale
        whole = full or np.ndim(scale) == 2  # of which the diagonal mixes all of it
        bundle = Bundle(WITH_COVARIANCE, (free.node,), {"full": whole})
        place = 3 if self.space.loops else 2
        sizes = (*shape, shape[-1]) if whole else shape
        covariance = Array(bundle.part(place, sizes, self.space.dtype))
        if scale is not None:
            covariance = covariance_of(covariance, scale, full)
        return self._evaluated(scaled, free, bundle), covariance

    def _coordinates(self, q: Any, what: str) -> tuple[Array, Array]:
        """A position in the coordinates of the step, and in the model's own."""
        scaled, scale = self._position(q, what), self._scale
        return scaled, scaled if scale is None else times(scaled, scale)

    def _evaluated(self, scaled: Array, free: Array, bundle: Bundle) -> Point:
        """The point there, of an operation that evaluates it."""
        shape, dtype, scale = scaled.shape, self.space.dtype, self._scale
        potential = Array(bundle.part(0, shape[:-1], dtype))
        gradient = Array(bundle.part(1, shape, dtype))
        self._add(self.gradients, _points(shape))
        if self.space.loops:
            told = bundle.part(2, self.trips.initial.shape, np.dtype(np.int32))
            versions = current_versions()
            versions.assign(
                self.trips, elementwise("maximum", Array(versions.current(self.trips)), Array(told))
            )
        if scale is None:
            return Point(scaled, potential, gradient)
        return Point(scaled, potential, gradient_of(gradient, scale), (free, gradient))

    def potential(self, q: Any) -> Array:
        """The potential alone."""
        _, free = self._coordinates(q, "potential")
        if "n_value" in self.space.wanted:
            self._add(self.values, _points(free.shape))
        return Array(Apply(POTENTIAL, (free.node,), free.shape[:-1], self.space.dtype))

    def _add(self, cell: Cell, amount: Any) -> None:
        versions = current_versions()
        versions.assign(cell, elementwise("add", Array(versions.current(cell)), amount))

    def record(self, name: str, value: Any, always: bool) -> None:
        """Keep a value for the record."""
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"record: the name must be a word, got {name!r} at {site_of(here())}")
        if not always and name not in self.space.wanted:
            return
        if name in RESERVED:
            raise ValueError(f"record: {name!r} is something else in results; choose another name")
        node = as_node(value, f"record {name!r}")
        if name == ACCEPTANCE:
            self._check_acceptance(node)
        kind = node.dtype.kind
        dtype = self.space.dtype if kind == "f" else np.dtype(bool if kind == "b" else np.int64)
        cell = self.records.get(name)
        if cell is None:
            empty = np.full(node.shape, np.nan if kind == "f" else 0, dtype)
            cell = self.records[name] = _Cell(empty, name, hidden=True)
        known = cell.initial.dtype
        if node.shape != cell.initial.shape:
            raise ShapeError(
                f"record {name!r}: it has shape {cell.initial.shape} before, and {node.shape} at "
                f"{site_of(here())}"
            )
        if dtype.kind + known.kind not in ("bb", "ii", "ff", "if"):
            raise TypeError(
                f"record {name!r}: it is {known} before, and {dtype} at {site_of(here())}; let all "
                "be of one kind"
            )
        current_versions().assign(cell, astype(node, known))

    def _check_acceptance(self, node: Node) -> None:
        """Refuse what cannot be a probability, one for the step (or each walker)."""
        lead = self.space.shape[:-1]
        if node.shape not in ((), lead):
            raise ShapeError(
                f"record {ACCEPTANCE!r}: it is one number a step, got {describe(node)} of shape "
                f"{node.shape} at {site_of(here())}; write kg.mean(...) of it"
            )
        if isinstance(node, Data) and not np.all((node.value >= 0) & (node.value <= 1)):
            raise ValueError(
                f"record {ACCEPTANCE!r}: it is a probability, from 0 to 1, got {node.value} at "
                f"{site_of(here())}"
            )

    def parts(self, q: Any) -> dict[str, Array]:
        """The pieces of q by the names of the unknowns."""
        array = self._position(q, "parts")
        lead = array.shape[:-1]
        return {
            name: array[..., place].reshape((*lead, *shape)).copy()
            for name, (place, shape) in self.space.parts.items()
        }

    def join(self, parts: Any) -> Array:
        """The position that is made of such pieces."""
        known: Any = self.space.parts
        lead: tuple[int, ...] | None = None
        site = f" at {site_of(here())}"
        if not isinstance(parts, Mapping) or set(parts) != set(known):
            got = ", ".join(map(str, parts)) if isinstance(parts, Mapping) else type(parts).__name__
            raise ModelError(
                f"join: the parts of a position are a dictionary of {', '.join(known)}, got "
                f"{got or 'nothing'}{site}; begin with parts = self.parts(at.q)"
            )
        rows = []
        for name, (place, shape) in sorted(known.items(), key=lambda item: item[1][0].start):
            node = as_node(parts[name], f"join: {name}")
            if lead is None:  # of one position, or of any number of walkers
                more = len(self.space.shape) == 2 and len(node.shape) > len(shape)
                lead = node.shape[:1] if more else ()
            if node.shape != (*lead, *shape):
                raise ShapeError(
                    f"join: {name} has shape {(*lead, *shape)} on its free scale, "
                    f"{describe(node)} has shape {node.shape}{site}"
                )
            node = node if node.dtype == self.space.dtype else astype(node, self.space.dtype)
            rows.append(Array(node).reshape((*lead, place.stop - place.start)))
        return concatenate(rows, axis=-1)


def _points(shape: tuple[int, ...]) -> np.int32:
    """How many points positions of a shape are."""
    return np.int32(np.prod(shape[:-1], dtype=int))


@contextmanager
def _staging(session: Session) -> Iterator[None]:
    before, HERE.session = HERE.session, session
    try:
        yield
    finally:
        HERE.session = before


class StepGraph:
    """The graph of a method: inputs by name, results, and the states it goes through."""

    def __init__(self, session: Session, results: list[Node], versions: Versions) -> None:
        self.inputs = session.inputs
        self.results = results
        self.session = session
        own = {session.gradients, session.values, session.trips, *session.records.values()}
        own.update(session.of_walkers)
        refuse_cells(
            session.where, (c for c in versions.entered if c not in own and not _of_noise(c))
        )
        self.entered = {cell: node for cell, node in versions.entered.items() if cell in own}
        self.latest = {cell: versions.latest[cell] for cell in self.entered}
        ends = [*results, *self.latest.values()]
        given = {*self.inputs.values(), *self.entered.values()}
        refuse_elsewhere(session.where, ends, given, session.begun)
        refuse_effects(session.where, [*ends, *versions.effects.values()])

    def run(self, target: Target, values: Mapping[str, Any]) -> tuple[list[Any], dict[Cell, Any]]:
        """The tensors of the results, and of the states at the end."""
        environment: Environment = {node: values[name] for name, node in self.inputs.items()}
        for cell, node in self.entered.items():
            environment[node] = jnp.asarray(cell.initial)
        before, _EVALUATING.target = _EVALUATING.target, target
        try:
            scope = Scope()
            evaluate([*self.results, *self.latest.values()], environment, scope=scope)
        finally:
            _EVALUATING.target = before
        found = [environment[node] for node in self.results]
        for told in scope.trips.values():
            # A derivative taken in the step through a loop that had too little room is wrong.
            found = [
                jnp.where(told.overflowed, jnp.nan, x) if x.dtype.kind == "f" else x for x in found
            ]
        return found, {cell: environment[node] for cell, node in self.latest.items()}


def _of_noise(cell: Cell) -> bool:
    return hasattr(cell, "begin")


def build(
    sampler: Sampler, space: Space, method: str, body: Callable[[Session], list[Node]]
) -> StepGraph:
    """The graph of `init` or `step`: `body` gives the nodes of its results."""
    with building():
        session = Session(sampler, space, method)
        with _staging(session), watched(sampler, session.where):
            results = body(session)
        return StepGraph(session, results, top_level())
