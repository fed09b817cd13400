"""Dimension names of array axes, derived from the names of operands.

An axis is a whole dimension in its order, a known selection of a dimension (`theta[1:]`), or
unnamed. An operation keeps a name only if a rule below says so. So a label can be lost, but it
cannot be wrong.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..distributions.derived import family_of
from ..distributions.variable import Variable
from ..graph.errors import DimsError
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Data, Node, Operation, ancestors
from ..graph.operations.elementwise import WHERE
from ..graph.operations.indexing import (
    LABELS,
    ONE_HOT,
    RAVEL,
    READS,
    SLICE,
    SLOT,
    WRITES,
)
from ..graph.operations.linear_algebra import CHOLESKY, EINSUM, MATMUL
from ..graph.operations.reductions import CUMULATIVE, LOG_SOFTMAX, REDUCTIONS, SOFTMAX
from ..graph.operations.segments import SEGMENTS
from ..graph.operations.shaping import (
    BROADCAST,
    CONCATENATE,
    DIAGONAL,
    DIFF,
    FLIP,
    REPEAT,
    RESHAPE,
    ROLL,
    SORT,
    STACK,
    TRANSPOSE,
    TRIANGLE,
)

__all__ = ["Axes", "Axis", "Part", "axes_of", "axes_of_draws", "met_by"]


class Part(NamedTuple):
    """A selection of a dimension: the places of the axis's elements."""

    dim: str
    places: tuple[int, ...]


Axis = str | Part | None
Axes = tuple[Axis, ...]
Rule = Callable[[Apply, list[Axes]], Iterable[Axis]]


def axes_of(nodes: Iterable[Node]) -> dict[Node, Axes]:
    """The axes of the given nodes and of all their ancestors.

    Raises
    ------
    DimsError
        If an elementwise operation aligns two axes with different names.
    """
    axes_by_node: dict[Node, Axes] = {}
    for node in ancestors(nodes):
        axes: Axes = (None,) * len(node.shape)
        if node.dims is not None:
            axes = node.dims
        elif isinstance(node, Apply):
            rule = _RULES.get(node.operation)
            if node.operation.elementwise:
                rule = _broadcast
            elif "family" in node.attributes:
                rule = _of_distribution
            operand_axes = [axes_by_node[parent] for parent in node.parents]
            if rule is not None and any(axis is not None for axes in operand_axes for axis in axes):
                axes = tuple(rule(node, operand_axes))
        axes_by_node[node] = axes
    return axes_by_node


def axes_of_draws(nodes: Sequence[Node]) -> dict[Node, Axes]:
    """The axes of nodes that are drawn, and of their ancestors.

    The parameters of distributions count as ancestors. An unknown without dims has the axes of its
    distribution's parameters.

    Raises
    ------
    DimsError
        If an elementwise operation aligns two axes with different names.
    """
    laws = {
        node: node.distribution
        for node in nodes
        if isinstance(node, Variable) and node.dims is None and node.distribution is not None
    }
    parameters = (parameter for law in laws.values() for parameter in law.parents)
    axes = axes_of([*nodes, *parameters])
    for node, law in laws.items():
        ndims = [parameter.event_ndim for parameter in law.family.parameters]
        operand_axes = [axes[parameter] for parameter in law.parents]
        batch = _of_elements(law.batch_shape, law.parents, operand_axes, ndims)
        axes[node] = (*batch, *[None] * len(law.event_shape))
    return axes


# Broadcasting -------------------------------------------------------------------------------------


def _met(axes: Iterable[Axis]) -> Axis | tuple[str, str]:
    """The result of aligning axes element by element.

    The result is two names if the axes have different names.
    """
    distinct = list(dict.fromkeys(axis for axis in axes if axis is not None))
    names = [axis for axis in distinct if isinstance(axis, str)]
    if len(names) > 1:
        return names[0], names[1]
    if names:  # a whole dimension wins over a selection of another dimension
        same = any(isinstance(axis, Part) and axis.dim == names[0] for axis in distinct)
        return None if same else names[0]
    return distinct[0] if len(distinct) == 1 else None


def _agreed(axes: Iterable[Axis]) -> Axis:
    """The common axis of aligned axes, or None if they differ."""
    met = _met(axes)
    return met if isinstance(met, (str, Part)) else None


def _aligned(
    shape: tuple[int, ...], operands: Sequence[tuple[tuple[int, ...], Axes]]
) -> list[list[Axis]]:
    """The operands' axes that are aligned with each axis of `shape`.

    Axes of length one that are broadcast are left out.
    """
    met: list[list[Axis]] = [[] for _ in shape]
    for operand_shape, axes in operands:
        first = len(shape) - len(operand_shape)
        for i, (size, axis) in enumerate(zip(operand_shape, axes, strict=True), first):
            if size == shape[i]:
                met[i].append(axis)
    return met


def _broadcast(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    operands = [(p.shape, axes) for p, axes in zip(node.parents, operand_axes, strict=True)]
    for i, axes in enumerate(_aligned(node.shape, operands)):
        met = _met(axes)
        if isinstance(met, tuple) and not isinstance(met, Part):
            raise DimsError(
                f"{describe(node)}{site_text(node)}: axis {i} is {met[0]!r} in one array and "
                f"{met[1]!r} in another; add an axis with [:, None], or give both the same name "
                f"with kg.rename_dims(array, {met[1]}={met[0]!r})"
            )
        yield met


def met_by(
    shape: tuple[int, ...], operands: Sequence[tuple[tuple[int, ...], Axes]]
) -> tuple[str, str] | None:
    """Two different names of one axis of broadcast arrays, or None."""
    for axes in _aligned(shape, operands):
        met = _met(axes)
        if isinstance(met, tuple) and not isinstance(met, Part):
            return met
    return None


def _matmul(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    (left, right), (a, b) = operand_axes, node.parents
    lead = len(node.shape) - (len(left) > 1) - (len(right) > 1)
    stacks = [(n.shape[:-2], axes[:-2]) for n, axes in ((a, left), (b, right))]
    yield from map(_agreed, _aligned(node.shape[:lead], stacks))
    yield from left[-2:-1]
    yield from right[-1:] if len(right) > 1 else ()


def _einsum(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    operands, arrow, result = node.attributes["subscripts"].replace(" ", "").partition("->")
    letters = operands.replace(",", "")
    if "." in letters:
        return (None,) * len(node.shape)
    if not arrow:
        result = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    met: dict[str, list[Axis]] = {}
    for operand_letters, axes in zip(operands.split(","), operand_axes, strict=True):
        for letter, axis in zip(operand_letters, axes, strict=True):
            met.setdefault(letter, []).append(axis)
    return [_agreed(met[letter]) for letter in result]


def _joined(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    """The axes of joined arrays; the joining axis has no name."""
    axis = node.attributes["axis"]
    if node.operation is STACK:
        operand_axes = [(*axes[:axis], None, *axes[axis:]) for axes in operand_axes]
    return [
        None if i == axis else _agreed(met) for i, met in enumerate(zip(*operand_axes, strict=True))
    ]


# Indices ------------------------------------------------------------------------------------------

_ARRAY, _GAP = object(), object()  # placeholders of an index array and of an ellipsis


def _indexed(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    source, *indices = node.parents
    template, axes = node.attributes["template"], operand_axes[0]
    consumed = sum(part is not None and part is not Ellipsis for part in template)
    steps: list[Any] = []
    at, chosen = 0, 0
    for part in template:
        if part is None:
            steps.append(None)
        elif part is Ellipsis:
            skipped = len(axes) - consumed
            steps += [*axes[at : at + skipped], _GAP]
            at += skipped
        elif isinstance(part, slice):
            steps.append(_selected(axes[at], np.arange(source.shape[at])[part], source.shape[at]))
            at += 1
        else:
            if indices:  # together with index arrays, a number is an index array, too
                steps.append(_ARRAY)
            chosen = at if part is SLOT else chosen
            at += 1
    steps += axes[at:]
    if not indices:
        return [step for step in steps if step is not _GAP]
    shape = np.broadcast_shapes(*(index.shape for index in indices))
    operands = [
        (index.shape, index_axes)
        for index, index_axes in zip(indices, operand_axes[1:], strict=True)
    ]
    index_axes = [_agreed(met) for met in _aligned(shape, operands)]
    if (
        len(indices) == 1
        and isinstance(indices[0], Data)
        and indices[0].literal
        and index_axes == [None]
    ):
        index_axes = [_selected(axes[chosen], indices[0].value, source.shape[chosen])]
    places = [i for i, step in enumerate(steps) if step is _ARRAY]
    together = places[-1] - places[0] < len(places)
    steps[places[0] if together else 0 : places[0] if together else 0] = index_axes
    return [step for step in steps if step is not _ARRAY and step is not _GAP]


def _selected(axis: Axis, places: np.ndarray, size: int) -> Axis:
    """The axis after the selection of some of its places."""
    if axis is None or np.array_equal(places, np.arange(size)):
        return axis
    indices = [int(i) % size for i in places]
    if isinstance(axis, Part):
        return Part(axis.dim, tuple(axis.places[i] for i in indices))
    return Part(axis, tuple(indices))


def _flipped(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    for i, (axis, size) in enumerate(zip(operand_axes[0], node.shape, strict=True)):
        flipped = i in node.attributes["axis"]
        yield _selected(axis, np.arange(size)[::-1], size) if flipped else axis


# Other shapes -------------------------------------------------------------------------------------


def _reduced(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    over, keep_dims = node.attributes["axis"], node.attributes["keepdims"]
    reduced = (
        range(len(operand_axes[0]))
        if over is None
        else over
        if isinstance(over, tuple)
        else (over,)
    )
    return [
        None if i in reduced else a
        for i, a in enumerate(operand_axes[0])
        if keep_dims or i not in reduced
    ]


def _reshaped(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    """The axes that both shapes share at their start and end.

    Axes of length one are skipped.
    """
    axes: list[Axis] = [None] * len(node.shape)
    old = [(n, a) for n, a in zip(node.parents[0].shape, operand_axes[0], strict=True) if n != 1]
    new = [(n, i) for i, n in enumerate(node.shape) if n != 1]
    if not node.size:
        return axes
    while old and new and old[0][0] == new[0][0]:
        axes[new.pop(0)[1]] = old.pop(0)[1]
    while old and new and old[-1][0] == new[-1][0]:
        axes[new.pop()[1]] = old.pop()[1]
    return axes


def _diagonal(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    a, b = node.attributes["axis1"], node.attributes["axis2"]
    whole = not node.attributes["offset"] and node.parents[0].shape[a] == node.parents[0].shape[b]
    other_axes = [axis for i, axis in enumerate(operand_axes[0]) if i not in (a, b)]
    return [*other_axes, _agreed([operand_axes[0][a], operand_axes[0][b]]) if whole else None]


def _except_moved(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    """All axes except axes along which elements move."""
    over = node.attributes["axis"]
    moved_axes = over if isinstance(over, tuple) else (over,)
    return [None if i in moved_axes else axis for i, axis in enumerate(operand_axes[0])]


def _of_distribution(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    """The axes of a density, a probability or a moment.

    Each axis of the elements has its name; the axes of one vector or matrix have none.
    """
    family, is_moment = family_of(node.attributes["family"]), "event" in node.attributes
    ndims = [] if is_moment else [family.event_ndim]
    ndims += [parameter.event_ndim for parameter in family.parameters]
    event = len(node.attributes["event"]) if is_moment else 0
    batch = node.shape[: len(node.shape) - event]
    return [*_of_elements(batch, node.parents, operand_axes, ndims), *[None] * event]


def _of_elements(
    shape: tuple[int, ...], parents: Sequence[Node], axes: Sequence[Axes], ndims: Sequence[int]
) -> Iterable[Axis]:
    """The axes of elements of a distribution.

    The last `ndims` axes of each parent belong to one vector or matrix.
    """
    operands = [
        (parent.shape[: len(parent.shape) - n], each[: len(each) - n])
        for parent, each, n in zip(parents, axes, ndims, strict=False)
    ]
    return map(_agreed, _aligned(shape, operands))


def _unchanged(node: Apply, operand_axes: list[Axes]) -> Iterable[Axis]:
    return operand_axes[0] if node.shape == node.parents[0].shape else (None,) * len(node.shape)


_RULES: dict[Operation, Rule] = {
    MATMUL: _matmul,
    EINSUM: _einsum,
    CONCATENATE: _joined,
    STACK: _joined,
    FLIP: _flipped,
    DIAGONAL: _diagonal,
    WHERE: _broadcast,
    TRANSPOSE: lambda node, axes: [axes[0][a] for a in node.attributes["axes"]],
    BROADCAST: lambda node, axes: map(
        _agreed, _aligned(node.shape, [(node.parents[0].shape, axes[0])])
    ),
    ONE_HOT: lambda node, axes: (*axes[0], None),
    CHOLESKY: lambda node, axes: (*axes[0][:-1], None),
    **{operation: _reduced for operation, _ in REDUCTIONS.values()},
    **dict.fromkeys((*READS, SLICE), _indexed),
    **dict.fromkeys((RESHAPE, RAVEL), _reshaped),
    **dict.fromkeys((DIFF, REPEAT, ROLL, SORT), _except_moved),
    **dict.fromkeys(SEGMENTS.values(), lambda node, axes: (None, *axes[0][len(axes[1]) :])),
    **dict.fromkeys((*WRITES, LABELS, SOFTMAX, LOG_SOFTMAX), _unchanged),
    **dict.fromkeys((*CUMULATIVE.values(), *TRIANGLE.values()), _unchanged),
}
