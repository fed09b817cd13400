"""The kernel of a `kg.Sampler`: its graphs, evaluated in a JAX trace.

The graphs of `init` and `step` are built once for each space.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..autograph.convert import convert
from ..graph.array import Array
from ..graph.control.structure import LEAF, Structure, flatten
from ..graph.errors import ModelError, ShapeError
from ..graph.messages import describe, site_text
from ..graph.node import Node
from ..graph.operations.elementwise import astype
from ..graph.operations.operands import as_node
from ..graph.trips import Trips
from ..kernels.contract import Info, KernelState, Moment, Space, Statistic, TransitionKernel
from ..kernels.noise import Noise
from ..models.bound_density import Position
from .acceptance import divergences
from .arguments import check_arguments
from .dependencies import ends_with_value, moves_by_values, takes_gradient
from .points import Point
from .sampler import Sampler
from .session import ACCEPTANCE, Session
from .step_graph import StepGraph, build
from .tuned_names import tuned_names

__all__ = ["StagedKernel"]


class StagedKernel(TransitionKernel):
    """The kernel of a `kg.Sampler` on a space."""

    def __init__(self, sampler: Sampler, space: Space) -> None:
        self.sampler, self.space = sampler, space
        self.title = type(sampler).__name__
        # Shape and dtype of each array of a slot, and the structure of each slot.
        self._slots: dict[str, tuple[tuple[int, ...], np.dtype]] = {}
        self._patterns: dict[str, Structure] = {}
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
                f"{self.title}: to tune step_size, its step must record {ACCEPTANCE!r}; "
                "write self.record('acceptance_rate', ...), or give tune=()"
            )

    @property
    def graphs(self) -> tuple[StepGraph, StepGraph]:
        """The graphs of `init` and of `step`."""
        return self._init, self._step

    @property
    def session(self) -> Session:
        """The session in which the graph of `step` was built."""
        return self._step.session

    @property
    def draw(self) -> Callable[[Noise], Sequence[Any]] | None:  # type: ignore[override]
        """The random arrays of a step that depend on its noise alone."""
        return self._step.draw if self._step.noise else None

    @cached_property
    def tuned_within(self) -> tuple[str, ...]:
        """The hyper-parameters of inner samplers that warm-up tunes.

        A step size is tuned only if the inner sampler's acceptance rate is recorded.
        """
        return tuple(
            name
            for name in tuned_names(self.sampler)
            if "." in name
            and (name.endswith(".scale") or _acceptance(name) in self.session.records)
        )

    @cached_property
    def moves_by_values(self) -> bool:  # type: ignore[override]  # derived from the graphs
        """Whether new positions depend on values of the potential.

        If not, they depend on gradients at most.
        """
        return moves_by_values(self._step, list(self._slots))

    @cached_property
    def takes_gradient(self) -> bool:  # type: ignore[override]  # derived from the graphs
        """Whether a step uses gradients.

        If not, the gradient at the final point is not needed.
        """
        return takes_gradient(self._step)

    @cached_property
    def ends_with_value(self) -> bool:  # type: ignore[override]  # derived from the graphs
        """Whether a step's final point is evaluated for its potential alone."""
        return ends_with_value(self._step)

    def _stage_init(self) -> StepGraph:
        def body(session: Session) -> list[Node]:
            check_arguments(self.sampler, "init")
            slots = convert(self.sampler.init)(session.start)
            self._patterns, nodes = self._checked_slots(slots, "init")
            self._slots = {name: (n.shape, n.dtype) for name, n in nodes.items()}
            return list(nodes.values())

        graph = build(self.sampler, self.space, "init", body)
        if graph.session.records:
            raise ModelError(
                f"{self.title}.init records {', '.join(graph.session.records)}; only step can "
                "record values"
            )
        return graph

    def _checked_slots(
        self, slots: Any, method: str
    ) -> tuple[dict[str, Structure], dict[str, Node]]:
        """The structure of each slot, and the arrays of all slots."""
        if slots is None:
            slots = {}
        if not isinstance(slots, Mapping):
            raise TypeError(
                f"{self.title}.{method}: slots must be a dictionary of arrays, got "
                f"{type(slots).__name__}"
            )
        patterns, nodes = {}, {}
        for name, value in slots.items():
            if not isinstance(name, str) or not name.isidentifier() or name == "at":
                raise TypeError(f"{self.title}.{method}: {name!r} cannot be the name of a slot")
            arrays, paths = [value], [name]
            if _is_named_tuple(value):
                arrays, paths, patterns[name] = flatten(value, name)
            elif _holds_arrays(value):
                raise TypeError(
                    f"{self.title}.{method}: slot {name!r} is a {type(value).__name__}, but a slot "
                    "must be one array, or a named tuple of arrays; give each of its arrays a name "
                    "(for a point keep q: self.evaluate(q) makes the point again)"
                )
            else:
                patterns[name] = LEAF
            for path, array in zip(paths, arrays, strict=True):
                node = as_node(array, f"{self.title}.{method}, slot {path}")
                is_wider = (
                    node.dtype.kind == "f" and node.dtype.itemsize > self.space.dtype.itemsize
                )
                dtype = self.space.dtype if is_wider else node.dtype
                nodes[path] = node if node.dtype == dtype else astype(node, dtype)
        return patterns, nodes

    def _filled(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """The slots, made of the arrays of all slots."""
        values = iter(arrays.values())
        return {name: pattern.take(values) for name, pattern in self._patterns.items()}

    def _stage_step(self) -> StepGraph:
        def body(session: Session) -> list[Node]:
            slots = self._filled(
                {
                    name: session.input(f"slot {name}", shape, dtype)
                    for name, (shape, dtype) in self._slots.items()
                }
            )
            step = convert(self.sampler.step)
            check_arguments(self.sampler, "step", slots)
            result = step(session.start, **slots)
            point, after = self._checked_step(result)
            q, gradient = point.free
            results = [q, -point.potential, -gradient]
            return [as_node(x) for x in results] + after

        return build(self.sampler, self.space, "step", body)

    def _checked_step(self, result: Any) -> tuple[Point, list[Node]]:
        """The point and the arrays of the slots that a step returns."""
        where = f"{self.title}.step"
        names = ", ".join(self._patterns)
        if isinstance(result, Point):
            result = (result, {})
        if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], Point)):
            expected = "the new point and a dictionary of slots" if names else "the new point"
            raise TypeError(
                f"{where} must return {expected}, where the point is `at` or comes from "
                f"self.evaluate; got {_kind_of(result)}"
            )
        point, slots = result
        if np.shape(point.q) != self.space.shape:
            raise ShapeError(
                f"{where}: the new point has positions of shape {np.shape(point.q)}; expected all "
                f"{self.space.shape[0]} walkers, {self.space.shape}"
            )
        patterns, nodes = self._checked_slots(slots, "step")
        for name in self._patterns:
            if name not in patterns:
                raise ModelError(
                    f"{where} does not return the slot {name!r}; return it with the point"
                )
        for name, pattern in patterns.items():
            if name not in self._patterns:
                raise ModelError(
                    f"{where} returns {name!r}, which is not a slot: init returns {names or 'none'}"
                )
            if pattern != self._patterns[name]:
                raise TypeError(
                    f"{where}: slot {name!r} is {self._patterns[name]} from init, got {pattern}"
                )
        for name, node in nodes.items():
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
        """The values of the graphs' inputs, without the slots."""
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
        results, _ = self._init.run(moment.density, given)
        return self._filled(dict(zip(self._slots, results, strict=True)))

    def step(self, moment: Moment, state: KernelState) -> tuple[KernelState, Info]:
        """Make a transition."""
        values = self._values(moment, state.position)
        for name, slot in state.slots.items():
            arrays, paths, _ = flatten(slot, name)
            values |= {f"slot {path}": array for path, array in zip(paths, arrays, strict=True)}
        given = {name: values[name] for name in self._step.inputs}
        results, states = self._step.run(moment.density, given, moment.drawn)
        position = Position(*results[:3])
        slots = self._filled(dict(zip(self._slots, results[3:], strict=True)))
        session = self._step.session
        trips = state.trips
        if session.trips in states:
            rows = states[session.trips]
            trips = moment.density.join(trips, [Trips(r[0], r[1] > 0, r[2] > 0) for r in rows])
        recorded = [states[cell] for cell in session.records.values()]
        dtype = self.space.dtype
        parts = [jnp.ravel(x).astype(dtype) for x in (position.log_density, *recorded)]
        by_name = dict(zip(session.records, recorded, strict=True))
        diverging = [jnp.any(by_name[name]) for name in divergences(by_name)]
        info = Info(
            acceptance=jnp.mean(by_name[ACCEPTANCE])
            if ACCEPTANCE in by_name
            else jnp.ones((), dtype),
            gradients=states.get(session.gradients, jnp.int32(0)),
            diverging=reduce(or_, diverging) if diverging else jnp.array(False),
            statistics=jnp.concatenate(parts),
            values=states.get(session.values, 0),
            within={
                name: _mean(by_name[_acceptance(name)])
                for name in self.tuned_within
                if not name.endswith(".scale")
            },
        )
        return KernelState(position, slots, trips), info


def _acceptance(name: str) -> str:
    """The record of the acceptance rate that tunes an inner step size."""
    return "_".join([*name.split(".")[:-1], ACCEPTANCE])


def _mean(acceptance: Any) -> Any:
    """The mean over the walkers that moved; NaN if there are none."""
    has_moved = ~jnp.isnan(acceptance)
    return jnp.sum(jnp.where(has_moved, acceptance, 0)) / jnp.sum(has_moved)


def _kind_of(value: Any) -> str:
    """The kind of a value, for a message."""
    if isinstance(value, tuple) and not isinstance(value, Point):
        return f"a tuple of {', '.join(map(_kind_of, value)) or 'nothing'}"
    return "an array" if isinstance(value, Array) else type(value).__name__


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields") and not isinstance(value, Point)


def _holds_arrays(value: Any) -> bool:
    return not isinstance(value, Array) and any(isinstance(x, Array) for x in flatten(value)[0])
