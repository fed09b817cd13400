"""The session that builds the graph of `init` or `step`.

A `Session` implements the methods that a sampler calls as `self.evaluate`, `self.record` and so on.
Their side effects (counting gradients, advancing streams, keeping records, passing on the numbers
of trips of the model's loops) go through hidden states, which branches and loops thread in program
order.
"""

import threading
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..graph.array import Array
from ..graph.control.state import Cell, current_versions
from ..graph.errors import ModelError, ShapeError
from ..graph.functions.arranging import concatenate
from ..graph.messages import describe
from ..graph.node import Apply, Bundle, Data, Node, Operation, next_serial
from ..graph.operations.elementwise import astype, elementwise
from ..graph.operations.operands import as_node
from ..graph.source import here, site_of, written_at
from ..kernels.contract import Space
from ..kernels.step_checks import Given
from ..models.bound_density import BoundDensity, Position
from .inner import bound
from .noise import NamedNoise, warn_of_one_number
from .points import Point
from .sampler import Sampler
from .scale import covariance_of, divided, gradient_of, times
from .schedules import scheduled

__all__ = ["POTENTIAL", "Session", "evaluates"]

ACCEPTANCE = "acceptance_rate"
RESERVED = ("lp", "batch_lp", "step_size", "chain", "draw", "n_grad", "n_value")


class _Evaluating(threading.local):
    density: BoundDensity | None = None  # of the step whose graph this thread evaluates


EVALUATING = _Evaluating()


# Operations on the log density, which `EVALUATING` has when the graph is evaluated. ------------


def _density() -> BoundDensity:
    density = EVALUATING.density
    if density is None:
        raise ModelError("a sampler's step can be evaluated only inside of a run")
    return density


def _results(position: Position, trips_of_loops: Any) -> list[Any]:
    """The potential, the gradient and the loops' numbers of trips, if any."""
    rows = [jnp.stack([jnp.asarray(x, np.int32) for x in trips]) for trips in trips_of_loops]
    value, gradient = position.log_density, position.gradient
    potential = jnp.where(jnp.isnan(value), jnp.inf, -value)
    return [potential, -gradient, *([jnp.stack(rows)] if rows else [])]


def _evaluate(q: Any) -> list[Any]:
    density = _density()
    return _results(*density.evaluate(q, density.no_trips()))


def _evaluate_full(q: Any) -> list[Any]:
    density = _density()._replace(rows=None)
    return _results(*density.evaluate(q, density.no_trips()))


def _evaluate_with_covariance(q: Any, *, full: bool) -> list[Any]:
    density = _density()
    position, covariance, trips = density.evaluate_with_covariance(q, density.no_trips(), full=full)
    return [*_results(position, trips), covariance]


def _potential(q: Any) -> Any:
    return -_density().log_density(q)


EVALUATE = Operation("evaluate", _evaluate, ambient=True)
FULL = Operation("evaluate_full", _evaluate_full, ambient=True)
WITH_COVARIANCE = Operation("evaluate_with_covariance", _evaluate_with_covariance, ambient=True)
POTENTIAL = Operation("potential", _potential, ambient=True)


def evaluates(node: Node) -> bool:
    """Whether a node evaluates a point: potential, gradient and more."""
    return isinstance(node, Bundle) and node.operation in (EVALUATE, FULL, WITH_COVARIANCE)


class _Cell(Cell):
    """A record: a hidden state that each transition initialises."""

    __slots__ = ()

    def join(self, versions: Node, inside: Node) -> Node:
        """The value before a batch.

        The code that made the batch reads the records of its rows.
        """
        return current_versions().current(self)


class _Count(_Cell):
    """A number of evaluations."""

    __slots__ = ()

    def join(self, versions: Node, inside: Node) -> Node:
        """The number before the batch plus the additions of its rows."""
        before = Array(current_versions().current(self))
        return (before + (Array(versions) - before).sum()).astype(self.initial.dtype).node


class _Trips(_Cell):
    """The numbers of trips of the model's loops."""

    __slots__ = ()

    def join(self, versions: Node, inside: Node) -> Node:
        """The largest number of each loop in the rows of a batch."""
        return Array(versions).max(0).node


class Session:
    """The construction of the graph of `init` or `step`."""

    def __init__(self, sampler: Sampler, space: Space, method: str) -> None:
        self.sampler, self.space = sampler, space
        site = written_at(getattr(sampler, method))
        self.where = f"{type(sampler).__name__}.{method}{site}"
        self.begun = next_serial()
        self.hyper: dict[str, Any] = {}
        self.schedules: dict[str, Node] = {}
        self.inputs: dict[str, Node] = {}
        self.records: dict[str, _Cell] = {}
        # The next four are set for an inner sampler.
        self.prefix = ""  # of the names of its records
        self.around: Session | None = None  # the session of the outer sampler
        self.block: Any = None  # the block of unknowns that it moves, if not all of them
        self.own_scale = False  # whether it has a scale that is not the outer sampler's
        self.of_walkers: list[_Cell] = []  # records that were made for each walker
        self.gradients = _Count(np.zeros((), np.int32), "gradients", hidden=True)
        self.values = _Count(np.zeros((), np.int32), "values", hidden=True)
        self.trips = _Trips(np.zeros((space.loops, 3), np.int32), "trips", hidden=True)
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
        """Make an input of the graph."""
        self.inputs[name] = Given((), shape, dtype, name, interval=interval)
        return Array(self.inputs[name])

    def _hypers(self, iteration: Array) -> None:
        """Make the arrays of the hyper-parameters, and bind the inner samplers."""
        arguments = self.sampler.hypers(self.space)
        names = self.sampler.declared()
        size, dtype = self.space.shape[-1], self.space.dtype
        for name, value in self.sampler.values().items():
            if name in arguments:
                argument = arguments[name]
                interval = names[name].interval
                self.hyper[name] = self.input(
                    f"hyper {name}", argument.shape, argument.dtype, interval
                )
            elif callable(value) and not names[name].static:
                value = scheduled(value, iteration, size, dtype, names[name])
                self.hyper[name], self.schedules[name] = value, value.node
        for name, inner in self.sampler._inner().items():
            self.hyper[name] = bound(self, inner, name)

    @property
    def _scale(self) -> Any:
        return self.hyper.get("scale")

    def point(self, q: Any, potential: Any, gradient: Any) -> Point:
        """A point, made of position and gradient in the model's coordinates."""
        scale = self._scale
        if scale is None:
            return Point(q, potential, gradient)
        return Point(divided(q, scale), potential, gradient_of(gradient, scale), (q, gradient))

    # The methods that a sampler calls.
    def _position(self, q: Any, title: str) -> Any:
        q = self.join(q) if isinstance(q, Mapping) else q
        node, shape = as_node(q, title), self.space.shape
        some = len(shape) == 2 and len(node.shape) in (1, 2) and node.shape[-1] == shape[-1]
        if node.shape != shape and not (some and node.shape[0] > 0):
            expected = (
                f"the position has shape {shape}"
                if len(shape) == 1
                else f"walkers have positions of shape (any number, {shape[-1]})"
            )
            raise ShapeError(
                f"{title}: {expected}, {describe(node)} has shape {node.shape}, "
                f"at {site_of(here())}"
            )
        return Array(node if node.dtype == self.space.dtype else astype(node, self.space.dtype))

    def evaluate(self, q: Any) -> Point:
        """The point at q."""
        scaled, free = self._coordinates(q, "evaluate")
        return self._evaluated(scaled, free, Bundle(EVALUATE, (free.node,)))

    def evaluate_full(self, q: Any) -> Point:
        """The point at q, evaluated with all rows of the data."""
        scaled, free = self._coordinates(q, "evaluate_full")
        return self._evaluated(scaled, free, Bundle(FULL, (free.node,)))

    def evaluate_with_covariance(self, q: Any, full: bool) -> tuple[Point, Array]:
        """The point at q, and the covariance of the gradient."""
        scaled, free = self._coordinates(q, "evaluate_with_covariance")
        shape, scale = scaled.shape, self._scale
        # With a matrix as scale the diagonal depends on all elements of the covariance.
        needs_matrix = full or np.ndim(scale) == 2
        bundle = Bundle(WITH_COVARIANCE, (free.node,), {"full": needs_matrix})
        index = 3 if self.space.loops else 2
        sizes = (*shape, shape[-1]) if needs_matrix else shape
        covariance = Array(bundle.part(index, sizes, self.space.dtype))
        if scale is not None:
            covariance = covariance_of(covariance, scale, full)
        return self._evaluated(scaled, free, bundle), covariance

    def _coordinates(self, q: Any, title: str) -> tuple[Array, Array]:
        """A position in the step's coordinates and in the model's coordinates."""
        scaled, scale = self._position(q, title), self._scale
        warn_of_one_number(scaled.node)
        return scaled, scaled if scale is None else times(scaled, scale)

    def _evaluated(self, scaled: Array, free: Array, bundle: Bundle) -> Point:
        """The point of an evaluating node; counts its gradients and trips."""
        shape, dtype, scale = scaled.shape, self.space.dtype, self._scale
        potential = Array(bundle.part(0, shape[:-1], dtype))
        gradient = Array(bundle.part(1, shape, dtype))
        self._add(self.gradients, _points(shape))
        if self.space.loops:
            trips = bundle.part(2, self.trips.initial.shape, np.dtype(np.int32))
            versions = current_versions()
            versions.assign(
                self.trips,
                elementwise("maximum", Array(versions.current(self.trips)), Array(trips)),
            )
        if scale is None:
            return Point(scaled, potential, gradient)
        return Point(scaled, potential, gradient_of(gradient, scale), (free, gradient))

    def potential(self, q: Any) -> Array:
        """The potential at q."""
        _, free = self._coordinates(q, "potential")
        if "n_value" in self.space.wanted:
            self._add(self.values, _points(free.shape))
        return Array(Apply(POTENTIAL, (free.node,), free.shape[:-1], self.space.dtype))

    def _add(self, cell: Cell, amount: Any) -> None:
        versions = current_versions()
        versions.assign(cell, elementwise("add", Array(versions.current(cell)), amount))

    def record(self, name: str, value: Any, always: bool) -> None:
        """Record a value."""
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(
                f"record: the name must be an identifier, got {name!r} at {site_of(here())}"
            )
        if not always and name not in self.space.wanted:
            return
        if name in RESERVED:
            raise ValueError(f"record: the name {name!r} is reserved in results; choose another")
        node = as_node(value, f"record {name!r}")
        if name == ACCEPTANCE:
            self._check_acceptance(node)
        kind = node.dtype.kind
        dtype = self.space.dtype if kind == "f" else np.dtype(bool if kind == "b" else np.int64)
        cell = self.records.get(name)
        if cell is None:
            empty = np.full(node.shape, np.nan if kind == "f" else 0, dtype)
            cell = self.records[name] = _Cell(empty, name, hidden=True)
        recorded_dtype = cell.initial.dtype
        if node.shape != cell.initial.shape:
            raise ShapeError(
                f"record {name!r}: it had shape {cell.initial.shape} before, and has {node.shape} "
                f"at {site_of(here())}"
            )
        if dtype.kind + recorded_dtype.kind not in ("bb", "ii", "ff", "if"):
            raise TypeError(
                f"record {name!r}: it was {recorded_dtype} before, and is {dtype} at "
                f"{site_of(here())}; record values of one kind"
            )
        current_versions().assign(cell, astype(node, recorded_dtype))

    def _check_acceptance(self, node: Node) -> None:
        """Refuse an acceptance rate that is not one probability for each walker."""
        lead = self.space.shape[:-1]
        if node.shape not in ((), lead):
            raise ShapeError(
                f"record {ACCEPTANCE!r}: it must be one number for a step, got {describe(node)} of "
                f"shape {node.shape} at {site_of(here())}; write kg.mean(...) of it"
            )
        if isinstance(node, Data) and not np.all((node.value >= 0) & (node.value <= 1)):
            raise ValueError(
                f"record {ACCEPTANCE!r}: it must be a probability, from 0 to 1, got {node.value} "
                f"at {site_of(here())}"
            )

    def parts(self, q: Any) -> dict[str, Array]:
        """The parts of q by the names of the unknowns."""
        array = self._position(q, "parts")
        lead = array.shape[:-1]
        return {
            name: array[..., place].reshape((*lead, *shape)).copy()
            for name, (place, shape) in self.space.parts.items()
        }

    def join(self, parts: Any) -> Array:
        """The position that consists of such parts."""
        unknowns: Any = self.space.parts
        lead: tuple[int, ...] | None = None
        site = f" at {site_of(here())}"
        if not isinstance(parts, Mapping) or set(parts) != set(unknowns):
            got = ", ".join(map(str, parts)) if isinstance(parts, Mapping) else type(parts).__name__
            raise ModelError(
                f"join: the parts of a position must be a dictionary of {', '.join(unknowns)}, got "
                f"{got or 'nothing'}{site}; begin with parts = self.parts(at.q)"
            )
        rows = []
        for name, (place, shape) in sorted(unknowns.items(), key=lambda item: item[1][0].start):
            node = as_node(parts[name], f"join: {name}")
            if lead is None:  # the first part decides: one position, or a number of walkers
                has_walkers = len(self.space.shape) == 2 and len(node.shape) > len(shape)
                lead = node.shape[:1] if has_walkers else ()
            if node.shape != (*lead, *shape):
                raise ShapeError(
                    f"join: {name} has shape {(*lead, *shape)} on its free scale, "
                    f"{describe(node)} has shape {node.shape}{site}"
                )
            node = node if node.dtype == self.space.dtype else astype(node, self.space.dtype)
            rows.append(Array(node).reshape((*lead, place.stop - place.start)))
        return concatenate(rows, axis=-1)


def _points(shape: tuple[int, ...]) -> np.int32:
    """The number of points in an array of positions."""
    return np.int32(np.prod(shape[:-1], dtype=int))
