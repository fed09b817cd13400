"""`kg.debug`: evaluate a graph node by node, without compiling, and find who made a bad value.

Branches and loops are gone through as Python would, so every value is looked at in the order in
which it is computed, and derivatives are those of the unrolled program.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .array import Array, Computed
from .control.contexts import require_outside
from .control.effects import Effects
from .control.program import effects_of
from .control.state import Read
from .culprits import Culprits
from .errors import ModelError, ShapeError
from .lower import Environment, Scope, evaluate
from .messages import describe, names_in_scope, site_text
from .node import Node, ancestors
from .precision import x64
from .source import place_text
from .text import in_words, value_text

__all__ = ["Evaluation", "debug"]


@dataclass
class Evaluation:
    """What outputs are worth; prints as a table.

    Attributes
    ----------
    values
        The values of the outputs, in order.
    first_bad
        Where a result that is not finite began: the operation that made the first bad value out of
        better ones, or whose derivative is the first bad one; its expression, value, file and line,
        and in which trip of which loop (the first is trip 0). None where all results are finite.
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


def _array(given: Any, what: str) -> Array:
    if isinstance(given, Array):
        return given
    raise TypeError(f"debug: {what} must be an array of the graph, got {given!r:.60}")


def debug(
    outputs: Computed | Iterable[Computed], values: Mapping[Array, Any] | None = None
) -> Evaluation:
    """Evaluate arrays node by node, without compiling.

    Slow, and right: each node is computed on its own, and branches and loops run as Python's. Use
    it to find where a NaN comes from: constants and values on the way may be infinite, and only
    results that are not finite are followed back. Models have `model.debug(point)`.

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
    TypeError
        If something is no array of the graph.
    CheckError
        If a `kg.check` fails; checks and prints are carried out as in a compiled function.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder(name="x")
    >>> y = kg.log(x) * 2
    >>> kg.debug(y, {x: 1.0}).values[0].tolist()
    0.0
    >>> str(kg.debug(y, {x: -1.0}).first_bad).split("  ")[0]
    'log(x) = nan'
    """
    arrays: Any = [outputs] if isinstance(outputs, Array) else outputs
    if not isinstance(arrays, Iterable):
        arrays = [arrays]
    arrays = [_array(array, "what is evaluated") for array in arrays]
    names = names_in_scope()
    nodes = [array.node for array in arrays]
    require_outside(nodes, "debug")
    environment: Environment = {}
    if not isinstance(values, (Mapping, type(None))):
        raise TypeError(
            f"debug: values are given as {{array: value}}, got {in_words(values)}{place_text()}"
        )
    for array, value in (values or {}).items():
        array = _array(array, "a key of values={array: value}")
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
    culprits = Culprits(scope, names)
    with x64():
        evaluate(sorted(order, key=lambda node: node.serial), environment, define, scope)
        if effects is not None:
            effects.raise_failed(environment[effects.last])
        found = [np.asarray(environment[node]) for node in nodes]
    trips = {loop.title: int(report.most) for loop, report in scope.trips.items()}
    first_bad = next(filter(None, map(culprits.of, nodes, (environment[n] for n in nodes))), None)
    return Evaluation(found, first_bad, trips, [describe(node, names) for node in nodes])
