"""The graph of observables, evaluated for blocks of draws.

The graph is built once for a space and a sampler. Values of a step that it needs in addition to the
draw and its records, such as momenta or the gradient, are stored with the draw. So an observable
costs a step only this copy, and the observables of all draws of a block are computed at once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..autograph.building import building
from ..autograph.convert import convert
from ..graph.array import Array
from ..graph.control.state import top_level
from ..graph.control.structure import flatten
from ..graph.errors import ModelError
from ..graph.lower import Environment, Scope, evaluate
from ..graph.node import Node, ancestors, next_serial
from ..graph.operations.operands import as_node
from ..graph.source import written_at
from ..kernels.contract import Space, Statistic
from ..kernels.step_checks import Given, refuse_effects, refuse_elsewhere
from ..kernels.tracing_checks import watched
from ..models.bound_density import Position
from .observable import NamedObservable, Observable, Step

__all__ = ["ObservableGraph"]

GRADIENT = ("", "gradient")
EVENT = ("", "event")


class ObservableGraph:
    """The observables of a sampler's steps in a space.

    Slots, hyper-parameters and records give the names, shapes and dtypes of their values.
    `schedules` are hyper-parameters that are computed from the number of the step, `event`.
    """

    def __init__(
        self,
        observables: Sequence[Observable],
        space: Space,
        slots: Any,
        hyper: Mapping[str, Any],
        records: Sequence[Statistic],
        schedules: Mapping[str, Node] | None = None,
        event: Node | None = None,
    ) -> None:
        self.inputs: dict[tuple[str, str], Node] = {}
        arrays, paths, structure = flatten(slots if isinstance(slots, dict) else {})
        first_serial = next_serial()
        with building():
            q = self._input("", "q", space.shape, space.dtype)
            potential = -self._input("", "log_density", space.shape[:-1], space.dtype)
            gradient = -self._input("", "gradient", space.shape, space.dtype)
            parts = {
                name: q[..., place].reshape((*space.shape[:-1], *shape))
                for name, (place, shape) in space.parts.items()
            }
            step = Step(
                q,
                potential,
                gradient,
                structure.fill(
                    self._input("slot", path, np.shape(x), x.dtype)
                    for path, x in zip(paths, arrays, strict=True)
                ),
                {
                    n: self._input("hyper", n, np.shape(v), v.dtype)
                    for n, v in hyper.items()
                    if hasattr(v, "dtype")
                }
                | {n: Array(node) for n, node in (schedules or {}).items()},
                {
                    s.name: self._input("record", s.name, s.shape, np.dtype(s.dtype))
                    for s in records
                },
                parts,
            )
            if event is not None:
                self.inputs[EVENT] = event
            self.results = [self._result(o, step) for o in observables]
            if top_level().entered:
                raise ModelError("observables: an observable cannot draw or change a state")
            allowed_inputs = set(self.inputs.values())
            for o, node in zip(observables, self.results, strict=True):
                where = f"observable {o.name}{written_at(o.function)}"
                refuse_elsewhere(where, [node], allowed_inputs, first_serial)
            refuse_effects("an observable", [*self.results, *top_level().effects.values()])
        self.statistics = tuple(
            Statistic(o.name, node.dtype.type, o.text, node.shape)
            for o, node in zip(observables, self.results, strict=True)
        )
        self._records = tuple(records)
        self._density = next(s.name for s in records if s.name in ("lp", "batch_lp"))
        used_nodes = set(ancestors(self.results))
        self._needed = tuple(
            key
            for key, node in self.inputs.items()
            if node in used_nodes and (key[0] in ("slot", "hyper") or key == GRADIENT)
        )

    @property
    def takes_gradient(self) -> bool:
        """Whether an observable is computed from the gradient."""
        return GRADIENT in self._needed

    @staticmethod
    def _result(observable: Observable, step: Step) -> Node:
        """The node of an observable's value."""
        where = f"observable {observable.name}{written_at(observable.function)}"
        label = f"observable {observable.name}"
        step = step._replace(
            slots=NamedObservable(step.slots, label, "slot"),
            hyper=NamedObservable(step.hyper, label, "hyper-parameter"),
            recorded=NamedObservable(step.recorded, label, "record"),
            parts=NamedObservable(step.parts, label, "unknown"),
        )
        with watched(None, where):
            value = convert(observable.function)(step)
        if value is None or isinstance(value, Mapping):
            raise TypeError(f"{where} returns {type(value).__name__}, not a number or an array")
        return as_node(value, where)

    def _input(self, kind: str, name: str, shape: tuple[int, ...], dtype: Any) -> Array:
        node = self.inputs[kind, name] = Given((), shape, np.dtype(dtype), name)
        return Array(node)

    def keep(
        self, position: Position, slots: Any, hyper: Mapping[str, Any]
    ) -> tuple[jax.Array, ...]:
        """The values of a step that are stored with its draw."""
        arrays, paths, _ = flatten(slots)
        by_path = dict(zip(paths, arrays, strict=True))

        def one(kind: str, name: str) -> Any:
            if (kind, name) == GRADIENT:
                return position.gradient
            return jnp.asarray(hyper[name] if kind == "hyper" else by_path[name])

        return tuple(one(*key) for key in self._needed)

    def values(
        self,
        q: Any,
        statistics: Any,
        needed_values: Sequence[Any],
        event: Any,
        active: Any,
    ) -> jax.Array:
        """The observables' values for a draw, as one vector.

        Loops make trips only if the draw is `active`.
        """
        values = dict(zip(self._needed, needed_values, strict=True))
        values["", "q"], values[EVENT] = q, event
        start = 0
        for record in self._records:
            part = statistics[start : start + record.size].reshape(record.shape)
            values["record", record.name] = part.astype(record.dtype)
            start += record.size
        values["", "log_density"] = values["record", self._density]
        environment: Environment = {
            node: values[key] for key, node in self.inputs.items() if key in values
        }
        evaluate(self.results, environment, scope=Scope(active=active))
        dtype = statistics.dtype
        return jnp.concatenate([jnp.ravel(environment[n]).astype(dtype) for n in self.results])
