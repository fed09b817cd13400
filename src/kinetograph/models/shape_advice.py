"""Advice for data whose shape does not fit a distribution.

Most often one of the arrays is a column, of shape (n, 1), or two axes are exchanged.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from ..distributions.support import Pairs
from ..distributions.variable import Distribution, Variable
from ..graph.messages import describe
from ..graph.node import Apply, Data, Node
from ..graph.operations.elementwise import ELEMENTWISE

__all__ = ["shape_advice"]

Shape = tuple[int, ...]


def shape_advice(
    node: Node, distribution: Distribution, fits: Callable[[Shape, Distribution], bool]
) -> str:
    """A line of advice for data `node`; empty without any."""
    own_shape, hint = distribution.shape, ""
    if isinstance(distribution.support, Pairs) and node.shape[-1:] != (2,):
        hint = (
            "\n  Give the ends of the intervals as pairs (low, high) along the last axis, of shape "
            f"{(*node.shape, 2)}."
        )
    axes = [axis for axis in _single(node.shape) if fits(_without(node.shape, axis), distribution)]
    if axes:
        return f"\n  The data have an axis of length 1: observe {_observed(node, axes[-1])}."
    if len(node.shape) == 2 and fits(node.shape[::-1], distribution):
        return "\n  The data look transposed: each row is a separate realisation."
    if not any(p.event_ndim for p in distribution.family.parameters):
        hint = hint or _column(distribution.parents, node.shape)
    if not hint and 1 in own_shape and tuple(n for n in own_shape if n != 1) == node.shape:
        index = ", ".join("0" if n == 1 else ":" for n in own_shape)
        return f"\n  The parameters have an axis of length 1: write parameter[{index}]."
    return hint or _transposed(node, distribution)


def _single(shape: Shape) -> list[int]:
    return [axis for axis, size in enumerate(shape) if size == 1]


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


def _index(shape: Shape, axis: int) -> str:
    return ", ".join("0" if i == axis else ":" for i in range(len(shape)))


def _observed(node: Node, axis: int) -> str:
    """The data without an axis, as the user writes them."""
    columns = getattr(node, "columns", None)
    if columns is not None and len(columns) == 1:
        text = describe(node)
        return f"the column, as in {'df' if text == 'data' else text}[{columns[0]!r}]"
    return f"{describe(node)}[{_index(node.shape, axis)}]"


def _column(operands: Sequence[Node], shape: Shape) -> str:
    """Advice on an operand that fits without an axis of length 1."""
    for i, operand in enumerate(operands):
        others = [other.shape for j, other in enumerate(operands) if j != i]
        for axis in reversed(_single(operand.shape)):
            if _broadcast(_without(operand.shape, axis), *others, shape) == shape:
                return _of_column(operands, operand, axis)
    for operand in operands:
        if _is_elementwise(operand) and _broadcast(operand.shape, shape) != shape:
            hint = _column(operand.parents, shape)
            if hint:
                return hint
    return ""


def _is_elementwise(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation in ELEMENTWISE.values()


def _of_column(operands: Sequence[Node], column: Node, axis: int) -> str:
    text = describe(column)
    whole = text if re.fullmatch(r"[\w.\[\]'\"]+", text) else f"({text})"
    way = f"write {whole}[{_index(column.shape, axis)}]"
    arrays = [f"{describe(node)} has shape {node.shape}" for node in operands if node.shape]
    if len(arrays) == 1:
        return f"\n  {text} has an axis of length 1: {way}."
    together = _broadcast(*(node.shape for node in operands))
    return f"\n  {' and '.join(arrays)}, which together make {together}: {way}."


def _broadcast(*shapes: Shape) -> Shape | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _transposed(node: Node, distribution: Distribution) -> str:
    """A hint at a parameter whose axes are exchanged."""
    family, shapes = distribution.family, [parent.shape for parent in distribution.parents]
    for i, (parameter, parent) in enumerate(
        zip(family.parameters, distribution.parents, strict=True)
    ):
        if parameter.event_ndim != 1 or len(parent.shape) != 2:
            continue
        shape = parent.shape[::-1]
        turned = [*shapes[:i], shape, *shapes[i + 1 :]]
        pairs = zip(turned, family.parameters, strict=True)
        batches = [s[: len(s) - p.event_ndim] for s, p in pairs]
        try:
            natural = (*np.broadcast_shapes(*batches), *family.event_shape(*turned))
            fits = np.broadcast_shapes(node.shape, natural) == node.shape
        except ValueError:
            continue
        if fits:
            way = f"Write {describe(parent)}.T."
            if not isinstance(parent, (Data, Variable)):  # such as a softmax along an axis
                way = "Transpose the array that it is computed from."
            return (
                f"\n  {parameter.name} looks transposed: its last axis has one number for each "
                f"class. {way}"
            )
    return ""
