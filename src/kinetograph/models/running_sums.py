"""Running sums of independent normal steps, and other linear recurrences.

    f = m + sd * kg.cumsum(z),  f = kg.cumsum(kg.normal(drift, sd, 100))

A loop may compute the values one after another, as in `x = rho * x + sd * z[t]`, where f is the
stack of these values. The first of them may be written in another way. `kg.scan` may be this loop.

Another value may precede the steps, as in kg.cumsum(kg.concatenate([[m], sd * z])), or the sums, as
in kg.concatenate([[m], m + sd * kg.cumsum(z)]). It may be the first value of a recurrence, as in

    first = z[0] / kg.sqrt(1 - rho**2)
    kg.concatenate([first[None], kg.scan(lambda x, z: (rho * x + z,) * 2, first, z[1:])[1]])

or the first element of an array that a loop fills. The values may be linear in the states of a
recurrence, as in m + sd * x.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Variable
from ..graph.node import Apply, Data, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.operations.indexing import SLICE
from ..graph.operations.reductions import CUMULATIVE
from ..graph.operations.shaping import CONCATENATE, RESHAPE, STACK
from ..graph.rewriting.alike import are_equal
from ..graph.rewriting.filled_arrays import joined_rows
from ..graph.rewriting.stacked_steps import plan_steps
from .early_reads import early_reads
from .gaussian_laws import StepLaw
from .hierarchies import is_real
from .normal_observations import Line, line_of
from .normal_vector import GaussianVector, Users, used
from .scanned_steps import scanned_steps
from .vector_laws import signed, usable

__all__ = ["running_sums", "summed_steps"]

_MULTIPLY, _ADD = ELEMENTWISE["multiply"], ELEMENTWISE["add"]


class RunningSum(NamedTuple):
    """A running sum along an axis.

    x_t = slope_t * x_(t-1) + step_t
    """

    total: Apply
    axis: int
    first: Node | None  # the value before the steps
    steps: Node
    slope: Node | None = None  # None for 1
    includes_first: bool = False  # whether `first` is an element of the sum


class _Steps(NamedTuple):
    """The steps of a sum as lines of an unknown."""

    later: Line
    start: Line | None  # of the first element, if it has a step of another form


def running_sums(nodes: Iterable[Node]) -> list[RunningSum]:
    """The running sums among nodes."""
    operations = [(node, joined_rows(node)) for node in nodes if isinstance(node, Apply)]
    kinds = (_with_first, _cumulative, _stacked, _scanned)
    pairs = [(node, kind(form)) for kind in kinds for node, form in operations]
    return [
        running_sum._replace(total=node) for node, running_sum in pairs if running_sum is not None
    ]


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
    recurrence = None if plan is None else plan.linear_steps
    if plan is None or recurrence is None or len(plan.first) > 1:
        return None
    if plan.first and not are_equal(recurrence.before, *plan.first):
        return None
    return RunningSum(
        total, 0, recurrence.before, recurrence.steps, recurrence.slope, bool(plan.first)
    )


def _scanned(total: Apply) -> RunningSum | None:
    """The sum whose values are results of `kg.scan`."""
    recurrence = scanned_steps(total)
    if recurrence is None:
        return None
    before, steps = recurrence.before, recurrence.steps
    if recurrence.slope is not None and not recurrence.slope.shape and _is_zero(before):
        # After 0, the first value is the first step.
        first, later = _parts(steps, 0)
        if first is not None:
            return RunningSum(total, 0, _element(first), later, recurrence.slope, True)
    return RunningSum(total, 0, before, steps, recurrence.slope)


def _with_first(total: Apply) -> RunningSum | None:
    """The sum whose first value is joined with the later ones."""
    first, later = _parts(total, 0)
    running_sum = _stacked(later) or _scanned(later) if first and isinstance(later, Apply) else None
    if (
        first is None
        or running_sum is None
        or running_sum.first is None
        or running_sum.includes_first
    ):
        return None
    if not are_equal(running_sum.first, _element(first)):
        return None
    return running_sum._replace(total=total, includes_first=True)


def summed_steps(
    unknown: Variable, sums: Iterable[RunningSum], users: Users
) -> GaussianVector | None:
    """The vector of an unknown whose elements are steps of a sum."""
    distribution = unknown.distribution
    if distribution is None or distribution.family.key != "normal" or not is_real(unknown):
        return None
    pairs = ((each, _lines(each, unknown)) for each in sums)
    running_sum, lines = next(((each, lines) for each, lines in pairs if lines), (None, None))
    if running_sum is None or lines is None:
        return None
    mean, sd = (distribution.arguments[name] for name in ("mean", "sd"))
    columns = running_sum.axis == 0 and len(unknown.shape) == 2
    line, start, before = *lines, None
    f, scale, location = _around(running_sum, unknown, users)
    if start is None and running_sum.slope is not None:
        before = running_sum.first
    if running_sum.first is None:
        f = _joined(f, unknown, running_sum.axis, users)
    parameters = (mean, sd, *line.nodes, *(() if start is None else start.nodes))
    parameters += tuple(node for node in (scale, before, running_sum.slope) if node is not None)

    def law(_: tuple[int, ...], *values: Any) -> StepLaw:
        value = dict(zip(parameters, values, strict=True))

        def rows(array: Any) -> Any:
            array = jnp.broadcast_to(array, unknown.shape)
            return array.T if columns else array

        def joined(at_start: Any, later: Any) -> Any:
            """The values of all steps, with another value at the start."""
            shape = unknown.shape
            later = jnp.asarray(later, unknown.dtype)
            if len(later.shape) == len(shape) and later.shape[0] == shape[0] > 1:
                later = later[1:]
            later = jnp.broadcast_to(later, (shape[0] - 1, *shape[1:]))
            at_start = jnp.broadcast_to(jnp.asarray(at_start, unknown.dtype), shape[1:])
            return jnp.concatenate([at_start[None], later])

        slope, constant = line.slope(value), line.constant(value)
        if start is not None:
            slope = joined(start.slope(value), slope)
            constant = joined(start.constant(value), constant)
        factor = 1.0 if scale is None else value[scale]
        drift = factor * constant + factor * slope * value[mean]
        slopes = None
        if start is not None or running_sum.slope is not None:
            each = 1.0 if running_sum.slope is None else value[running_sum.slope]
            slopes = rows(joined(0.0, each))
            if before is not None:
                whole = jnp.broadcast_to(each, unknown.shape)
                drift = drift + joined((factor * whole * value[before])[0], 0.0)
        scales = signed(factor * slope * value[sd])
        return StepLaw(slopes, *map(rows, (drift, scales, value[mean], usable(value[sd]))))

    return GaussianVector(unknown, columns, parameters, law, f, location, markov=True)


def _lines(running_sum: RunningSum, unknown: Variable) -> _Steps | None:
    """The steps of a sum as lines of an unknown, or None."""
    axis, first, steps = running_sum.axis, running_sum.first, running_sum.steps
    dimensions = len(unknown.shape)
    if not dimensions or not (axis == dimensions - 1 or (axis, dimensions) == (0, 2)):
        return None
    if unknown.shape[axis] < 2:
        return None
    if first is not None and not _fits(first.shape, unknown.shape):
        return None
    above = [] if running_sum.slope is None else [running_sum.slope]
    start = None
    if running_sum.includes_first and first is not None and unknown in ancestors([first]):
        first, steps = (early_reads(node, unknown) for node in (first, steps))
        later = _read(steps, unknown, slice(1, unknown.shape[0]))
        start_read = _read(first, unknown, 0)
        if later is None or start_read is None or running_sum.total.shape != unknown.shape:
            return None
        start, line = line_of(first, start_read), line_of(steps, later)
        if start is None or steps.shape != later.shape:
            return None
        above += start.nodes
    else:
        line = line_of(steps, unknown) if steps.shape == unknown.shape else None
        above += [] if first is None else [first]
    if line is None or unknown in ancestors([*line.nodes, *above]):
        return None
    return _Steps(line, start)


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an array can be broadcast to a shape."""
    pairs = zip(shape[::-1], whole[::-1], strict=False)
    return len(shape) <= len(whole) and all(n in (1, length) for n, length in pairs)


def _read(node: Node, unknown: Variable, part: Any) -> Apply | None:
    """The read of a part of an unknown above a node."""
    for above in ancestors([node]):
        if isinstance(above, Apply) and above.operation is SLICE and above.parents[0] is unknown:
            template = above.attributes["template"]
            if len(template) == 1 and repr(template[0]) in (repr(part), repr(_open(part))):
                return above
    return None


def _open(part: Any) -> Any:
    return slice(part.start, None) if isinstance(part, slice) else part


def _around(
    running_sum: RunningSum, unknown: Variable, users: Users
) -> tuple[Node, Node | None, Node | None]:
    """The numbers that the data are about, scale and location."""
    total, axis, first = running_sum[:3]
    recurs = running_sum.slope is not None or (first is not None and unknown in ancestors([first]))
    longer = total.shape != unknown.shape if recurs else first is not None

    def varies(node: Node | None) -> bool:
        shape = () if node is None else node.shape
        return np.broadcast_shapes(shape, (1,) * len(unknown.shape))[axis] > 1

    if not recurs and first is not None and not _is_zero(first):
        return total, None, first
    product, scale = used(_MULTIPLY, total, unknown, users)
    if varies(scale):
        product, scale = total, None
    f, location = used(_ADD, product, unknown, users)
    if longer and varies(location):
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
        first, later = node.parents
        if node.attributes["axis"] == axis and first.shape[axis] == 1:
            return first, later
    return None, node


def _element(node: Node) -> Node:
    """The only element along the first axis, if it is a node."""
    if isinstance(node, Apply) and node.operation in (SLICE, STACK, RESHAPE):
        (element,) = node.parents
        if element.shape == node.shape[1:]:
            return element
    return node


def _is_zero(node: Node) -> bool:
    return isinstance(node, Data) and node.literal and not np.any(node.value)
