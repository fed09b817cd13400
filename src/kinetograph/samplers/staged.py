"""From `init` and `step` in plain Python to a kernel: their graphs, evaluated in a JAX trace.

The graph of a step is made once for a space. What `evaluate`, `noise` and `record` do beside
giving values (counting gradients, advancing streams, keeping records, handing on what the model's
loops told) goes through hidden states, which branches and loops thread in program order.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..autograph.building import building
from ..autograph.convert import convert
from ..graph.array import Array
from ..graph.control.state import Cell, Versions, current_versions, top_level
from ..graph.elementwise import as_node, astype, elementwise
from ..graph.errors import ModelError, ShapeError
from ..graph.inputs import placeholder
from ..graph.lower import Environment, Scope, Trips, evaluate
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Bundle, Node, Operation
from ..graph.source import here, site_of
from ..kernels.contract import Info, Moment, Space, State, Statistic
from ..kernels.target import Position, Target
from .hyper import declared
from .noise import NamedNoise
from .sampler import HERE, Point, Sampler

__all__ = ["StagedKernel"]

ACCEPTANCE, DIVERGING = "acceptance_rate", "diverging"
RESERVED = ("lp", "step_size", "chain", "draw")


class _Evaluating(threading.local):
    target: Target | None = None  # of the step whose graph this thread evaluates


_EVALUATING = _Evaluating()


# The operations on the target, which are told it when the graph is evaluated. ---------------------


def _target() -> Target:
    target = _EVALUATING.target
    if target is None:
        raise ModelError("a sampler's step can be evaluated only inside of a run")
    return target


def _evaluate(q: Any) -> list[Any]:
    target = _target()
    position, found = target.evaluate(q, target.no_trips())
    told = [jnp.stack([jnp.asarray(x, np.int32) for x in trips]) for trips in found]
    value, gradient = position.log_density, position.gradient
    potential = jnp.where(jnp.isnan(value), jnp.inf, -value)
    return [potential, -gradient, *([jnp.stack(told)] if told else [])]


def _potential(q: Any) -> Any:
    return -_target().log_density(q)


EVALUATE = Operation("evaluate", _evaluate)
POTENTIAL = Operation("potential", _potential)


class _Cell(Cell):
    """A hidden state that begins every transition with the same value."""

    __slots__ = ()


class Session:
    """The making of the graph of `init` or `step`."""

    def __init__(self, sampler: Sampler, space: Space) -> None:
        self.sampler, self.space = sampler, space
        self.hyper: dict[str, Any] = {}
        self.inputs: dict[str, Node] = {}
        self.records: dict[str, _Cell] = {}
        self.gradients = _Cell(np.zeros((), np.int32), "gradients", hidden=True)
        self.trips = _Cell(np.zeros((space.loops, 3), np.int32), "trips", hidden=True)
        key = self._input("key", (4,), np.dtype(np.uint32))
        event = self._input("event", (), np.dtype(np.uint32))
        self.noise = NamedNoise(key.node, event.node, space.dtype)
        self.iteration = Array(astype(event.node, np.dtype(np.int32)))
        self._hypers()
        q = self._input("q", space.shape, space.dtype)
        lead = space.shape[:-1]
        log_density = self._input("log_density", lead, space.dtype)
        gradient = self._input("gradient", space.shape, space.dtype)
        self.start = self._point(q, -log_density, -gradient)

    def _input(self, name: str, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        array = placeholder(shape, dtype, name=name)
        self.inputs[name] = array.node
        return array

    def _hypers(self) -> None:
        known = self.sampler.hypers(self.space)
        for name, value in self.sampler._values.items():
            if name in known:
                given = known[name]
                self.hyper[name] = self._input(f"hyper {name}", given.shape, given.dtype)
            elif callable(value) and not declared(type(self.sampler))[name].static:
                self.hyper[name] = convert(value)(self.iteration)

    @property
    def _scale(self) -> Any:
        return self.hyper.get("scale")

    def _point(self, q: Any, potential: Any, gradient: Any) -> Point:
        """A point, from position and gradient in the model's coordinates."""
        scale = self._scale
        if scale is None:
            return Point(q, potential, gradient)
        return Point(q / scale, potential, gradient * scale, (q, gradient))

    # What a step does.
    def _position(self, q: Any, what: str) -> Any:
        node = as_node(q, what)
        if node.shape != self.space.shape:
            raise ShapeError(
                f"{what}: the position has shape {self.space.shape}, {describe(node)} has shape "
                f"{node.shape}, at {site_of(here())}"
            )
        return Array(node if node.dtype == self.space.dtype else astype(node, self.space.dtype))

    def evaluate(self, q: Any) -> Point:
        """The point at q."""
        scaled, scale = self._position(q, "evaluate"), self._scale
        free = scaled if scale is None else scaled * scale
        shape, dtype = self.space.shape, self.space.dtype
        bundle = Bundle(EVALUATE, (free.node,))
        potential = Array(bundle.part(0, shape[:-1], dtype))
        gradient = Array(bundle.part(1, shape, dtype))
        walkers = int(np.prod(shape[:-1], dtype=int))
        self._add(self.gradients, np.int32(walkers))
        if self.space.loops:
            told = bundle.part(2, self.trips.initial.shape, np.dtype(np.int32))
            versions = current_versions()
            versions.assign(
                self.trips, elementwise("maximum", Array(versions.current(self.trips)), Array(told))
            )
        if scale is None:
            return Point(scaled, potential, gradient)
        return Point(scaled, potential, gradient * scale, (free, gradient))

    def potential(self, q: Any) -> Array:
        """The potential alone."""
        scaled, scale = self._position(q, "potential"), self._scale
        free = scaled if scale is None else scaled * scale
        return Array(Apply(POTENTIAL, (free.node,), self.space.shape[:-1], self.space.dtype))

    def _add(self, cell: Cell, amount: Any) -> None:
        versions = current_versions()
        versions.assign(cell, elementwise("add", Array(versions.current(cell)), amount))

    def record(self, name: str, value: Any) -> None:
        """Keep a value for the record."""
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"record: the name must be a word, got {name!r} at {site_of(here())}")
        if name in RESERVED:
            raise ValueError(f"record: {name!r} is something else in results; choose another name")
        node = as_node(value, "record")
        kind = node.dtype.kind
        dtype = self.space.dtype if kind == "f" else np.dtype(bool if kind == "b" else np.int64)
        cell = self.records.get(name)
        if cell is None:
            empty = np.full(node.shape, np.nan if kind == "f" else 0, dtype)
            cell = self.records[name] = _Cell(empty, name, hidden=True)
        if node.shape != cell.initial.shape or dtype != cell.initial.dtype:
            raise ShapeError(
                f"record {name!r}: it was recorded as {cell.initial.dtype} of shape "
                f"{cell.initial.shape} before, and is {dtype} of shape {node.shape} at "
                f"{site_of(here())}"
            )
        current_versions().assign(cell, astype(node, dtype))

    def parts(self, q: Any) -> dict[str, Array]:
        """Views of q by the names of the unknowns."""
        array = self._position(q, "parts")
        lead = self.space.shape[:-1]
        return {
            name: array[..., place].reshape((*lead, *shape))
            for name, (place, shape) in self.space.parts.items()
        }


@contextmanager
def _staging(session: Session) -> Iterator[None]:
    before, HERE.session = HERE.session, session
    try:
        yield
    finally:
        HERE.session = before


class _Graph:
    """The graph of a method: inputs by name, results, and the states it goes through."""

    def __init__(self, session: Session, results: list[Node], versions: Versions) -> None:
        self.inputs = session.inputs
        self.results = results
        self.session = session
        own = {session.gradients, session.trips, *session.records.values()}
        for cell in versions.entered:
            if cell not in own and not _of_noise(cell):
                raise _foreign(session.sampler, cell)
        self.entered = {cell: node for cell, node in versions.entered.items() if cell in own}
        self.latest = {cell: versions.latest[cell] for cell in self.entered}

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
            found = [jnp.where(told.short, jnp.nan, x) if x.dtype.kind == "f" else x for x in found]
        return found, {cell: environment[node] for cell, node in self.latest.items()}


def _of_noise(cell: Cell) -> bool:
    return hasattr(cell, "begin")


def _foreign(sampler: Sampler, cell: Cell) -> ModelError:
    title = type(sampler).__name__
    if cell.hidden:
        return ModelError(
            f"{title}: a draw of kg.RandomStreams in a step would be the same in all chains; use "
            "self.noise, whose methods are the same"
        )
    return ModelError(
        f"{title}: the state {cell.title} is not a chain's own; keep it as a slot: give it from "
        "init, take it in step and return it"
    )


def _build(session: Session, body: Callable[[], list[Node]]) -> _Graph:
    with building(), _staging(session):
        results = body()
        return _Graph(session, results, top_level())


class StagedKernel:
    """The kernel of a `kg.Sampler` on a space."""

    turns = None

    def __init__(self, sampler: Sampler, space: Space) -> None:
        self.sampler, self.space = sampler, space
        self.title = type(sampler).__name__
        self._slots: dict[str, tuple[tuple[int, ...], np.dtype]] = {}
        self._init = self._stage_init()
        self._step = self._stage_step()
        records = self._step.session.records
        self.statistics = (
            Statistic("lp", float, "joint log density of the free state", space.shape[:-1]),
            *(
                Statistic(name, cell.initial.dtype.type, "", cell.initial.shape)
                for name, cell in records.items()
            ),
        )
        if "step_size" in sampler.tune and ACCEPTANCE not in records:
            raise ModelError(
                f"{self.title}: to have step_size tuned its step must record {ACCEPTANCE!r}; "
                "write self.record('acceptance_rate', ...), or give tune=()"
            )

    def _stage_init(self) -> _Graph:
        session = Session(self.sampler, self.space)

        def body() -> list[Node]:
            slots = convert(self.sampler.init)(session.start)
            nodes = self._checked_slots(slots, "init")
            self._slots = {name: (n.shape, n.dtype) for name, n in nodes.items()}
            return list(nodes.values())

        graph = _build(session, body)
        if session.records:
            raise ModelError(
                f"{self.title}.init records {', '.join(session.records)}; only step can"
            )
        return graph

    def _checked_slots(self, slots: Any, method: str) -> dict[str, Node]:
        if slots is None:
            slots = {}
        if not isinstance(slots, Mapping):
            raise TypeError(
                f"{self.title}.{method}: slots are a dictionary of arrays, got "
                f"{type(slots).__name__}"
            )
        nodes = {}
        for name, value in slots.items():
            if not isinstance(name, str) or not name.isidentifier() or name == "at":
                raise TypeError(f"{self.title}.{method}: {name!r} cannot be the name of a slot")
            node = as_node(value, f"{self.title}.{method}, slot {name}")
            kind = self.space.dtype if node.dtype.kind == "f" else node.dtype
            nodes[name] = node if node.dtype == kind else astype(node, kind)
        return nodes

    def _stage_step(self) -> _Graph:
        session = Session(self.sampler, self.space)
        slots = {
            name: session._input(f"slot {name}", shape, dtype)
            for name, (shape, dtype) in self._slots.items()
        }

        def body() -> list[Node]:
            step = convert(self.sampler.step)
            found = step(session.start, **slots)
            point, after = self._checked_step(found)
            free = point.free or (point.q, point.gradient)
            results = [free[0], -point.potential, -free[1]]
            return [as_node(x) for x in results] + after

        return _build(session, body)

    def _checked_step(self, found: Any) -> tuple[Point, list[Node]]:
        where = f"{self.title}.step"
        names = ", ".join(self._slots)
        if isinstance(found, Point):
            found = (found, {})
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], Point)):
            expected = "the new point and a dictionary of slots" if names else "the new point"
            raise TypeError(
                f"{where} must return {expected}, where the point is `at` or comes from "
                f"self.evaluate; got {_said(found)}"
            )
        point, slots = found
        nodes = self._checked_slots(slots, "step")
        for name in self._slots:
            if name not in nodes:
                raise ModelError(f"{where} forgets the slot {name!r}; return it with the point")
        for name, node in nodes.items():
            if name not in self._slots:
                raise ModelError(
                    f"{where} returns {name!r}, which is no slot: init gives {names or 'none'}"
                )
            shape, dtype = self._slots[name]
            if node.shape != shape:
                raise ShapeError(
                    f"{where}: slot {name!r} has shape {shape} from init, and {describe(node)}"
                    f"{site_text(node)} has shape {node.shape}"
                )
            if node.dtype != dtype:
                if not np.can_cast(node.dtype, dtype, "same_kind"):
                    raise TypeError(
                        f"{where}: slot {name!r} is {dtype} from init, and {describe(node)}"
                        f"{site_text(node)} is {node.dtype}"
                    )
                nodes[name] = astype(node, dtype)
        return point, [nodes[name] for name in self._slots]

    def _values(self, moment: Moment, position: Position) -> dict[str, Any]:
        values = {
            "key": moment.noise.key,
            "event": jnp.asarray(moment.noise.event, np.uint32),
            **position._asdict(),
        }
        return values | {f"hyper {name}": value for name, value in moment.hyper.items()}

    def init(self, moment: Moment, position: Position) -> dict[str, Any]:
        """The slots at a starting point."""
        values = self._values(moment, position)
        given = {name: values[name] for name in self._init.inputs}
        found, _ = self._init.run(moment.target, given)
        return dict(zip(self._slots, found, strict=True))

    def step(self, moment: Moment, state: State) -> tuple[State, Info]:
        """A transition."""
        values = self._values(moment, state.position)
        values |= {f"slot {name}": value for name, value in state.slots.items()}
        given = {name: values[name] for name in self._step.inputs}
        found, states = self._step.run(moment.target, given)
        position = Position(*found[:3])
        slots = dict(zip(self._slots, found[3:], strict=True))
        session = self._step.session
        trips = state.trips
        if session.trips in states:
            rows = states[session.trips]
            trips = moment.target.join(trips, [Trips(r[0], r[1] > 0, r[2] > 0) for r in rows])
        recorded = [states[cell] for cell in session.records.values()]
        dtype = self.space.dtype
        parts = [jnp.ravel(x).astype(dtype) for x in (position.log_density, *recorded)]
        by_name = dict(zip(session.records, recorded, strict=True))
        info = Info(
            acceptance=jnp.mean(by_name[ACCEPTANCE])
            if ACCEPTANCE in by_name
            else jnp.ones((), dtype),
            gradients=states.get(session.gradients, jnp.int32(0)),
            diverging=jnp.any(by_name[DIVERGING]) if DIVERGING in by_name else jnp.array(False),
            statistics=jnp.concatenate(parts),
        )
        return State(position, slots, trips), info


def _said(found: Any) -> str:
    if isinstance(found, tuple):
        return f"a tuple of {', '.join(type(x).__name__ for x in found) or 'nothing'}"
    return type(found).__name__
