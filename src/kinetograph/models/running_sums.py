"""Running sums of independent normal steps.

    f = m + sd * kg.cumsum(z),  f = kg.cumsum(kg.normal(drift, sd, 100))

The sum may also be written as a loop, `x = x + sd * z[t]`, and a stack of its values.

Another value may precede the steps, as in kg.cumsum(kg.concatenate([[m], sd * z])), or the sums, as
in kg.concatenate([[m], m + sd * kg.cumsum(z)]).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Variable
from ..graph.node import Apply, Data, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE, elementwise
from ..graph.operations.reductions import CUMULATIVE
from ..graph.operations.shaping import CONCATENATE, STACK
from ..graph.rewriting.alike import equal_literals
from ..graph.rewriting.stacked_steps import plan_steps
from .gaussian_laws import SumLaw
from .hierarchies import is_real
from .normal_observations import Line, line_of
from .normal_vector import GaussianVector, Users, used
from .vector_laws import signed, usable

__all__ = ["running_sums", "summed_steps"]

_MULTIPLY, _ADD = ELEMENTWISE["multiply"], ELEMENTWISE["add"]


class RunningSum(NamedTuple):
    """A running sum along an axis."""

    total: Apply
    axis: int
    first: Node | None  # the value before the steps
    steps: Node


def running_sums(nodes: Iterable[Node]) -> list[RunningSum]:
    """The running sums among nodes."""
    operations = [node for node in nodes if isinstance(node, Apply)]
    return [*filter(None, map(_cumulative, operations)), *filter(None, map(_stacked, operations))]


def _cumulative(total: Apply) -> RunningSum | None:
    """The sum that a call of `kg.cumsum` is."""
    if total.operation is not CUMULATIVE["cumsum"] or total.attributes["flat"]:
        return None
    axis = total.attributes["axis"]
    return RunningSum(total, axis, *_parts(total.parents[0], axis))


def _stacked(total: Apply) -> RunningSum | None:
    """The sum whose values are stacked along the first axis."""
    if total.operation is not STACK or total.attributes["axis"] != 0:
        return None
    plan = plan_steps(total)
    found = None if plan is None else plan.running_sum
    if plan is None or found is None or len(plan.first) > 1:
        return None
    continued = plan.first in ((), (found.before,)) or equal_literals((found.before, *plan.first))
    if not continued:
        return None
    arrays = [plan.array(column) for column in found.steps]
    steps = arrays[0]
    for array in arrays[1:]:
        steps = steps and array and elementwise("add", steps, array)
    return None if steps is None else RunningSum(total, 0, found.before, steps)


def summed_steps(
    unknown: Variable, sums: Iterable[RunningSum], users: Users
) -> GaussianVector | None:
    """The vector of an unknown whose elements are steps of a sum."""
    follows = unknown.distribution
    if follows is None or follows.family.key != "normal" or not is_real(unknown):
        return None
    pairs = ((each, _line(each, unknown)) for each in sums)
    found, line = next(((each, line) for each, line in pairs if line is not None), (None, None))
    if found is None or line is None:
        return None
    mean, sd = (follows.arguments[name] for name in ("mean", "sd"))
    columns = found.axis == 0 and len(unknown.shape) == 2
    f, scale, location = _around(found, unknown, users)
    if found.first is None:
        f = _joined(f, unknown, found.axis, users)
    parameters = (mean, sd, *line.nodes, *(() if scale is None else (scale,)))

    def law(_: tuple[int, ...], *values: Any) -> SumLaw:
        value = dict(zip(parameters, values, strict=True))

        def rows(array: Any) -> Any:
            array = jnp.broadcast_to(array, unknown.shape)
            return array.T if columns else array

        factor = 1.0 if scale is None else value[scale]
        slope = factor * line.slope(value)
        drift = factor * line.constant(value) + slope * value[mean]
        scales = signed(slope * value[sd])
        return SumLaw(*map(rows, (drift, scales, value[mean], usable(value[sd]))))

    return GaussianVector(unknown, columns, parameters, law, f, location, markov=True)


def _line(found: RunningSum, unknown: Variable) -> Line | None:
    """The steps of a sum as a line of an unknown."""
    axis, first, steps = found.axis, found.first, found.steps
    dimensions = len(unknown.shape)
    if steps.shape != unknown.shape or unknown.shape[axis] < 2:
        return None
    line = line_of(steps, unknown)
    if line is None or not (axis == dimensions - 1 or (axis, dimensions) == (0, 2)):
        return None
    others = [*line.nodes, *([] if first is None else [first])]
    return None if unknown in ancestors(others) else line


def _around(
    found: RunningSum, unknown: Variable, users: Users
) -> tuple[Node, Node | None, Node | None]:
    """The numbers that the data are about, scale and location."""
    total, axis, first, _ = found

    def varies(node: Node | None) -> bool:
        shape = () if node is None else node.shape
        return np.broadcast_shapes(shape, (1,) * len(unknown.shape))[axis] > 1

    if first is not None and not _is_zero(first):
        return total, None, first
    product, scale = used(_MULTIPLY, total, unknown, users)
    if varies(scale):
        product, scale = total, None
    f, location = used(_ADD, product, unknown, users)
    if first is not None and varies(location):
        f, location = product, None
    return f, scale, location


def _joined(f: Node, unknown: Variable, axis: int, users: Users) -> Node:
    """The array with a value before f, if there is one."""
    uses = users.get(f, [])
    first, rest = _parts(uses[0], axis) if len(uses) == 1 else (None, f)
    joins = first is not None and rest is f and unknown not in ancestors([first])
    return uses[0] if joins else f


def _parts(node: Node, axis: int) -> tuple[Node | None, Node]:
    """The first value along an axis, and the rest."""
    if isinstance(node, Apply) and node.operation is CONCATENATE and len(node.parents) == 2:
        first, others = node.parents
        if node.attributes["axis"] == axis and first.shape[axis] == 1:
            return first, others
    return None, node


def _is_zero(node: Node) -> bool:
    return isinstance(node, Data) and node.literal and not np.any(node.value)
