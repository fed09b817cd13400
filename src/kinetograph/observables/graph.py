"""The graph of observables: made once for a space and a sampler, evaluated after each step."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..autograph.building import building
from ..autograph.convert import convert
from ..graph.array import Array
from ..graph.control.state import top_level
from ..graph.elementwise import as_node
from ..graph.errors import ModelError
from ..graph.inputs import placeholder
from ..graph.lower import Environment, evaluate
from ..graph.node import Node
from ..kernels.contract import Space, Statistic
from ..kernels.target import Position
from .observable import Observable, Step

__all__ = ["ObservableGraph"]


class ObservableGraph:
    """Observables of steps in a space, with slots, hyper-parameters and records as these are."""

    def __init__(
        self,
        observables: Sequence[Observable],
        space: Space,
        slots: Any,
        hyper: Mapping[str, Any],
        records: Sequence[Statistic],
    ) -> None:
        self.inputs: dict[tuple[str, str], Node] = {}
        named = slots if isinstance(slots, dict) else {}
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
                {n: self._input("slot", n, np.shape(v), v.dtype) for n, v in named.items()},
                {n: self._input("hyper", n, np.shape(v), v.dtype) for n, v in hyper.items()},
                {
                    s.name: self._input("record", s.name, s.shape, np.dtype(s.dtype))
                    for s in records
                },
                parts,
            )
            self.results = [as_node(convert(o.function)(step), o.name) for o in observables]
            if top_level().entered:
                raise ModelError("observables: an observable cannot draw or change a state")
        self.statistics = tuple(
            Statistic(o.name, node.dtype.type, o.text, node.shape)
            for o, node in zip(observables, self.results, strict=True)
        )
        self._records = tuple(records)

    def _input(self, kind: str, name: str, shape: tuple[int, ...], dtype: Any) -> Array:
        array = placeholder(shape, np.dtype(dtype), name=name)
        self.inputs[kind, name] = array.node
        return array

    def __call__(
        self, position: Position, slots: Any, hyper: Mapping[str, Any], statistics: Any
    ) -> jax.Array:
        """Their values, one after the other."""
        values = {("", name): value for name, value in position._asdict().items()}
        values |= {("hyper", name): value for name, value in hyper.items()}
        if isinstance(slots, dict):
            values |= {("slot", name): value for name, value in slots.items()}
        place = 0
        for record in self._records:
            part = statistics[place : place + record.size].reshape(record.shape)
            values["record", record.name] = part.astype(record.dtype)
            place += record.size
        environment: Environment = {node: values[key] for key, node in self.inputs.items()}
        evaluate(self.results, environment)
        dtype = statistics.dtype
        return jnp.concatenate([jnp.ravel(environment[n]).astype(dtype) for n in self.results])
