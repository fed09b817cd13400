"""The function `kg.debug`: evaluation node by node, to find bad values.

Nothing is compiled. Branches and loops run as in Python, so every value is checked in the order in
which it is computed, and derivatives are derivatives of the unrolled program.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .array import Array, Computed
from .bad_values import Culprits
from .control.contexts import require_outside
from .control.effects import Effects
from .control.program import effects_of
from .control.state import Read
from .errors import ModelError, ShapeError
from .lower import Environment, Scope, evaluate
from .messages import describe, names_in_scope, site_text
from .node import Node, ancestors
from .precision import x64
from .public import public
from .source import place_text
from .value_texts import in_words, shown, value_text

__all__ = ["DebugEvaluation", "debug"]


@dataclass
class DebugEvaluation:
    """The values of outputs, and the first bad value among them.

    Attributes
    ----------
    values
        The values of the outputs, in order.
    first_bad
        The origin of a result that is not finite: the operation that computed the first bad value
        from better ones, or whose derivative is the first bad one. The text has its expression,
        value, file and line, and the trip of each loop around it (the first is trip 0). None if
        all results are finite.
    trips
        The trips of each loop that ran, by its name.
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


def _array(value: Any, role: str) -> Array:
    if isinstance(value, Array):
        return value
    raise TypeError(f"debug: {role} must be an array of the graph, got {shown(value)}")


@public
def debug(
    outputs: Computed | Iterable[Computed], values: Mapping[Array, Any] | None = None
) -> DebugEvaluation:
    """Evaluate arrays node by node, without compiling.

    This is slow, but shows each step: each node is computed on its own, and branches and loops run
    as in Python. Use it to find the origin of a NaN. Constants and intermediate values may be
    infinite; only results that are not finite are traced back to their origin. Models have
    `model.debug(point)`.

    Parameters
    ----------
    outputs
        An array, or several.
    values
        The values of placeholders, unknowns and any other arrays. A state without a given value
        has its initial value.

    Returns
    -------
    DebugEvaluation
        With `values` and `first_bad`; prints as a table.

    Raises
    ------
    ModelError
        If the value of a placeholder or unknown is missing.
    ShapeError
        If a value has another shape than its array.
    TypeError
        If an output or a key of `values` is not an array of the graph.
    CheckError
        If a `kg.check` fails; checks and prints run as in a compiled function.

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
    arrays = [_array(array, "an output") for array in arrays]
    names = names_in_scope()
    nodes = [array.node for array in arrays]
    require_outside(nodes, "debug")
    environment: Environment = {}
    if not isinstance(values, (Mapping, type(None))):
        raise TypeError(
            f"debug: values must be a dictionary {{array: value}}, got {in_words(values)}"
            f"{place_text()}"
        )
    for array, value in (values or {}).items():
        array = _array(array, "a key of values={array: value}")
        tensor = np.asarray(value)
        if tensor.shape != array.shape:
            raise ShapeError(
                f"debug: {describe(array.node, names)} has shape {array.shape}, the given value "
                f"{tensor.shape}"
            )
        environment[array.node] = tensor.astype(array.dtype)

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
        results = [np.asarray(environment[node]) for node in nodes]
    trips = {loop.title: int(report.most) for loop, report in scope.trips.items()}
    first_bad = next(filter(None, map(culprits.of, nodes, (environment[n] for n in nodes))), None)
    return DebugEvaluation(results, first_bad, trips, [describe(node, names) for node in nodes])
