"""`kg.debug`: evaluate a graph node by node, without compiling, and find the first bad value.

Branches and loops are gone through as Python would, so every value is looked at in the order in
which it is computed, and derivatives are those of the unrolled program.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from .array import Array
from .control.contexts import require_outside
from .control.effects import Effects
from .control.program import effects_of
from .control.state import Read
from .errors import ModelError, ShapeError
from .lower import Environment, Scope, evaluate
from .messages import describe, names_in_scope, site_text
from .node import Node, ancestors
from .precision import x64

__all__ = ["BadValues", "Evaluation", "debug", "value_text"]


def value_text(value: Any) -> str:
    """A number, or shape, range and first bad element of an array."""
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{array.item():.6g}" if array.dtype.kind == "f" else str(array.item())
    if not array.size:
        return f"shape {array.shape}"
    known = np.isfinite(array)
    low, high = (float(f(array[known])) if known.any() else np.nan for f in (np.min, np.max))
    text = f"shape {array.shape}, from {low:.6g} to {high:.6g}"
    bad = np.argwhere(~known)
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        text += f", {array[place]} at {list(place)}"
    return text


class BadValues:
    """Watches an evaluation for the first computed value that is not finite."""

    def __init__(self, scope: Scope, names: Mapping[int, str]) -> None:
        self.first: str | None = None
        self._scope, self._names = scope, dict(names)
        scope.watch = self._look

    def _look(self, node: Node, value: Any) -> None:
        if self.first is not None or node.dtype.kind != "f" or isinstance(value, jax.core.Tracer):
            return
        if not np.isfinite(np.asarray(value)).all():
            where = "".join(f", in {place}" for place in reversed(self._scope.trail))
            text = f"{describe(node, self._names)} = {value_text(value)}"
            self.first = f"{text}  {node.site or ''}".rstrip() + where


@dataclass
class Evaluation:
    """What outputs are worth; prints as a table.

    Attributes
    ----------
    values
        The values of the outputs, in order.
    first_bad
        The first value that is not finite: its expression, value, file and line, and in which trip
        of which loop. None where all are finite.
    trips
        The trips of each loop that was carried out, by its name.
    """

    values: list[np.ndarray]
    first_bad: str | None
    trips: dict[str, int] = field(default_factory=dict)
    _labels: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        width = max(map(len, self._labels), default=0)
        lines = [
            f"{label:<{width}}  {value_text(value)}"
            for label, value in zip(self._labels, self.values, strict=True)
        ]
        lines += [f"{name}: {count} trips" for name, count in self.trips.items()]
        if self.first_bad:
            lines.append(f"first value that is not finite: {self.first_bad}")
        return "\n".join(lines)

    __repr__ = __str__


def debug(
    outputs: Array | Iterable[Array], values: Mapping[Array, Any] | None = None
) -> Evaluation:
    """Evaluate arrays node by node, without compiling.

    Slow, and right: each node is computed on its own, and branches and loops run as Python's. Use
    it to find where a NaN comes from. Models have `model.debug(point)`.

    Parameters
    ----------
    outputs
        An array, or several.
    values
        The values of placeholders, unknowns and any other arrays; states have their initial values
        where none are given.

    Returns
    -------
    Evaluation
        With `values` and `first_bad`; prints as a table.

    Raises
    ------
    ModelError
        If the value of a placeholder or unknown is missing.
    ShapeError
        If a value has another shape than its array.
    CheckError
        If a `kg.check` fails; checks and prints are carried out as in a compiled function.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder(name="x")
    >>> y = kg.log(x) * 2
    >>> kg.debug(y, {x: 1.0}).values[0].tolist()
    0.0
    >>> kg.debug(y, {x: -1.0}).first_bad.split("  ")[0]
    'log(x) = nan'
    """
    arrays = [outputs] if isinstance(outputs, Array) else list(outputs)
    names = names_in_scope()
    nodes = [array.node for array in arrays]
    require_outside(nodes, "debug")
    environment: Environment = {}
    for array, value in (values or {}).items():
        given = np.asarray(value)
        if given.shape != array.shape:
            raise ShapeError(
                f"debug: {describe(array.node, names)} has shape {array.shape}, the given value "
                f"{given.shape}"
            )
        environment[array.node] = given.astype(array.dtype)

    def define(node: Node, environment: Environment) -> Any:
        if isinstance(node, Read):
            return node.cell.initial
        raise ModelError(
            f"debug: the value of {describe(node, names)}{site_text(node)} is needed; add it to "
            "values={array: value}"
        )

    strings = effects_of(nodes, environment)
    order = ancestors((*strings.values(), *nodes), environment.__contains__)
    effects = Effects.of(strings, order)
    scope = Scope(eager=True, effects=effects)
    bad = BadValues(scope, names)
    with x64():
        evaluate(sorted(order, key=lambda node: node.serial), environment, define, scope)
        if effects is not None:
            effects.raise_failed(environment[effects.last])
        found = [np.asarray(environment[node]) for node in nodes]
    trips = {loop.title: int(report.most) for loop, report in scope.trips.items()}
    return Evaluation(found, bad.first, trips, [describe(node, names) for node in nodes])
