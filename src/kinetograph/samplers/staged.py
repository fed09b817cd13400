"""The kernel of a sampler that is written in plain Python: its graphs, in a JAX trace.

The graphs of `init` and `step` are made once for a space.
"""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..autograph.convert import convert
from ..graph.array import Array
from ..graph.control.structure import flatten
from ..graph.elementwise import as_node, astype
from ..graph.errors import ModelError, ShapeError
from ..graph.lower import Trips
from ..graph.messages import describe, site_text
from ..graph.node import Node
from ..kernels.contract import Info, Moment, Space, State, Statistic
from ..kernels.target import Position
from .arguments import check_arguments
from .points import Point
from .sampler import Sampler
from .session import ACCEPTANCE, Session, StepGraph, build

__all__ = ["StagedKernel"]

DIVERGING = "diverging"


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

    @property
    def graphs(self) -> tuple[StepGraph, StepGraph]:
        """Those of `init` and of `step`."""
        return self._init, self._step

    @property
    def session(self) -> Session:
        """In which the graph of `step` was made."""
        return self._step.session

    def _stage_init(self) -> StepGraph:
        def body(session: Session) -> list[Node]:
            check_arguments(self.sampler, "init")
            slots = convert(self.sampler.init)(session.start)
            nodes = self._checked_slots(slots, "init")
            self._slots = {name: (n.shape, n.dtype) for name, n in nodes.items()}
            return list(nodes.values())

        graph = build(self.sampler, self.space, "init", body)
        if graph.session.records:
            raise ModelError(
                f"{self.title}.init records {', '.join(graph.session.records)}; only step can"
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
            if _holds_arrays(value):
                raise TypeError(
                    f"{self.title}.{method}: slot {name!r} is a {type(value).__name__}, and a slot "
                    "is one array; give each of its arrays a name of its own (of a point: q, from "
                    "which self.evaluate(q) makes it again)"
                )
            node = as_node(value, f"{self.title}.{method}, slot {name}")
            kind = self.space.dtype if node.dtype.kind == "f" else node.dtype
            nodes[name] = node if node.dtype == kind else astype(node, kind)
        return nodes

    def _stage_step(self) -> StepGraph:
        def body(session: Session) -> list[Node]:
            slots = {
                name: session.input(f"slot {name}", shape, dtype)
                for name, (shape, dtype) in self._slots.items()
            }
            step = convert(self.sampler.step)
            check_arguments(self.sampler, "step", slots)
            found = step(session.start, **slots)
            point, after = self._checked_step(found)
            q, gradient = point.free
            results = [q, -point.potential, -gradient]
            return [as_node(x) for x in results] + after

        return build(self.sampler, self.space, "step", body)

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
        if np.shape(point.q) != self.space.shape:
            raise ShapeError(
                f"{where}: the new point is of positions of shape {np.shape(point.q)}; all "
                f"{self.space.shape[0]} walkers are expected, {self.space.shape}"
            )
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
    if isinstance(found, tuple) and not isinstance(found, Point):
        return f"a tuple of {', '.join(map(_said, found)) or 'nothing'}"
    return "an array" if isinstance(found, Array) else type(found).__name__


def _holds_arrays(value: Any) -> bool:
    return not isinstance(value, Array) and any(isinstance(x, Array) for x in flatten(value)[0])
