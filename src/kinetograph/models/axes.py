"""Which dimension each axis of an array is: what operations make of the names of their operands.

An axis is a whole dimension, in its order, or a known selection of one (`theta[1:]`), or neither.
What an operation is not known to keep, it loses: there is no label that could be wrong.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph.errors import DimsError
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Data, Node, Operation, ancestors
from ..graph.operations.elementwise import WHERE
from ..graph.operations.indexing import (
    LABELS,
    ONE_HOT,
    RAVEL,
    READ,
    READ_CHECKED,
    SLICE,
    SLOT,
    WRITE,
    WRITE_CHECKED,
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

__all__ = ["Axes", "Axis", "Part", "axes_of", "met_by"]


class Part(NamedTuple):
    """A selection of a dimension: the places, in it, of the elements of an axis."""

    dim: str
    places: tuple[int, ...]


Axis = str | Part | None
Axes = tuple[Axis, ...]
Rule = Callable[[Apply, list[Axes]], Iterable[Axis]]


def axes_of(nodes: Iterable[Node]) -> dict[Node, Axes]:
    """The axes of the given nodes and of all they are computed from.

    Raises
    ------
    DimsError
        If an elementwise operation meets two different names on one axis.
    """
    known: dict[Node, Axes] = {}
    for node in ancestors(nodes):
        axes: Axes = (None,) * len(node.shape)
        if node.dims is not None:
            axes = node.dims
        elif isinstance(node, Apply):
            rule = _broadcast if node.operation.elementwise else _RULES.get(node.operation)
            of = [known[parent] for parent in node.parents]
            if rule is not None and any(axis is not None for axes in of for axis in axes):
                axes = tuple(rule(node, of))
        known[node] = axes
    return known


# Arrays that meet ---------------------------------------------------------------------------------


def _met(axes: Iterable[Axis]) -> Axis | tuple[str, str]:
    """What axes are that meet element by element; two names if they are called differently."""
    found = list(dict.fromkeys(axis for axis in axes if axis is not None))
    names = [axis for axis in found if isinstance(axis, str)]
    if len(names) > 1:
        return names[0], names[1]
    if names:  # a name that was given says more than the selection of another dimension
        same = any(isinstance(axis, Part) and axis.dim == names[0] for axis in found)
        return None if same else names[0]
    return found[0] if len(found) == 1 else None


def _agreed(axes: Iterable[Axis]) -> Axis:
    met = _met(axes)
    return met if isinstance(met, (str, Part)) else None


def _aligned(
    shape: tuple[int, ...], operands: Sequence[tuple[tuple[int, ...], Axes]]
) -> list[list[Axis]]:
    """What meets on each axis of a shape, to which others are broadcast."""
    met: list[list[Axis]] = [[] for _ in shape]
    for own, axes in operands:
        first = len(shape) - len(own)
        for i, (size, axis) in enumerate(zip(own, axes, strict=True), first):
            if size == shape[i]:
                met[i].append(axis)
    return met


def _broadcast(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    operands = [(p.shape, axes) for p, axes in zip(node.parents, of, strict=True)]
    for i, axes in enumerate(_aligned(node.shape, operands)):
        met = _met(axes)
        if isinstance(met, tuple) and not isinstance(met, Part):
            raise DimsError(
                f"{describe(node)}{site_text(node)}: axis {i} is {met[0]!r} in one array and "
                f"{met[1]!r} in another; add an axis with [:, None], or say that they are one by "
                f"kg.rename_dims(array, {met[1]}={met[0]!r})"
            )
        yield met


def met_by(
    shape: tuple[int, ...], operands: Sequence[tuple[tuple[int, ...], Axes]]
) -> tuple[str, str] | None:
    """Two names that one axis has, of arrays that are broadcast to a shape."""
    for axes in _aligned(shape, operands):
        met = _met(axes)
        if isinstance(met, tuple) and not isinstance(met, Part):
            return met
    return None


def _matmul(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    (left, right), (a, b) = of, node.parents
    lead = len(node.shape) - (len(left) > 1) - (len(right) > 1)
    stacks = [(n.shape[:-2], axes[:-2]) for n, axes in ((a, left), (b, right))]
    yield from map(_agreed, _aligned(node.shape[:lead], stacks))
    yield from left[-2:-1]
    yield from right[-1:] if len(right) > 1 else ()


def _einsum(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    given, arrow, result = node.attributes["subscripts"].replace(" ", "").partition("->")
    letters = given.replace(",", "")
    if "." in letters:
        return (None,) * len(node.shape)
    if not arrow:
        result = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    met: dict[str, list[Axis]] = {}
    for own, axes in zip(given.split(","), of, strict=True):
        for letter, axis in zip(own, axes, strict=True):
            met.setdefault(letter, []).append(axis)
    return [_agreed(met[letter]) for letter in result]


def _joined(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    """Of arrays that are joined along an axis, the others."""
    axis = node.attributes["axis"]
    if node.operation is STACK:
        of = [(*axes[:axis], None, *axes[axis:]) for axes in of]
    return [None if i == axis else _agreed(met) for i, met in enumerate(zip(*of, strict=True))]


# Indices ------------------------------------------------------------------------------------------

_ARRAY, _GAP = object(), object()  # where an index array stands, and where an ellipsis does


def _indexed(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    source, *indices = node.parents
    template, axes = node.attributes["template"], of[0]
    taken = sum(part is not None and part is not Ellipsis for part in template)
    steps: list[Any] = []
    at, chosen = 0, 0
    for part in template:
        if part is None:
            steps.append(None)
        elif part is Ellipsis:
            rest = len(axes) - taken
            steps += [*axes[at : at + rest], _GAP]
            at += rest
        elif isinstance(part, slice):
            steps.append(_selected(axes[at], np.arange(source.shape[at])[part], source.shape[at]))
            at += 1
        else:
            if indices:  # beside index arrays a number is one, too
                steps.append(_ARRAY)
            chosen = at if part is SLOT else chosen
            at += 1
    steps += axes[at:]
    if not indices:
        return [step for step in steps if step is not _GAP]
    shape = np.broadcast_shapes(*(index.shape for index in indices))
    operands = [(index.shape, own) for index, own in zip(indices, of[1:], strict=True)]
    own = [_agreed(met) for met in _aligned(shape, operands)]
    if len(indices) == 1 and isinstance(indices[0], Data) and indices[0].literal and own == [None]:
        own = [_selected(axes[chosen], indices[0].value, source.shape[chosen])]
    places = [i for i, step in enumerate(steps) if step is _ARRAY]
    together = places[-1] - places[0] < len(places)
    steps[places[0] if together else 0 : places[0] if together else 0] = own
    return [step for step in steps if step is not _ARRAY and step is not _GAP]


def _selected(axis: Axis, places: np.ndarray, size: int) -> Axis:
    """An axis of which some places are taken."""
    if axis is None or np.array_equal(places, np.arange(size)):
        return axis
    taken = [int(i) % size for i in places]
    if isinstance(axis, Part):
        return Part(axis.dim, tuple(axis.places[i] for i in taken))
    return Part(axis, tuple(taken))


def _flipped(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    for i, (axis, size) in enumerate(zip(of[0], node.shape, strict=True)):
        flipped = i in node.attributes["axis"]
        yield _selected(axis, np.arange(size)[::-1], size) if flipped else axis


# Other shapes -------------------------------------------------------------------------------------


def _reduced(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    over, kept = node.attributes["axis"], node.attributes["keepdims"]
    gone = range(len(of[0])) if over is None else over if isinstance(over, tuple) else (over,)
    return [None if i in gone else a for i, a in enumerate(of[0]) if kept or i not in gone]


def _reshaped(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    """The first and last axes that both shapes have, but for axes of length one."""
    made: list[Axis] = [None] * len(node.shape)
    old = [(n, a) for n, a in zip(node.parents[0].shape, of[0], strict=True) if n != 1]
    new = [(n, i) for i, n in enumerate(node.shape) if n != 1]
    if not node.size:
        return made
    while old and new and old[0][0] == new[0][0]:
        made[new.pop(0)[1]] = old.pop(0)[1]
    while old and new and old[-1][0] == new[-1][0]:
        made[new.pop()[1]] = old.pop()[1]
    return made


def _diagonal(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    a, b = node.attributes["axis1"], node.attributes["axis2"]
    whole = not node.attributes["offset"] and node.parents[0].shape[a] == node.parents[0].shape[b]
    rest = [axis for i, axis in enumerate(of[0]) if i not in (a, b)]
    return [*rest, _agreed([of[0][a], of[0][b]]) if whole else None]


def _without_some(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    """All axes but those along which elements move."""
    over = node.attributes["axis"]
    moved = over if isinstance(over, tuple) else (over,)
    return [None if i in moved else axis for i, axis in enumerate(of[0])]


def _same(node: Apply, of: list[Axes]) -> Iterable[Axis]:
    return of[0] if node.shape == node.parents[0].shape else (None,) * len(node.shape)


_RULES: dict[Operation, Rule] = {
    MATMUL: _matmul,
    EINSUM: _einsum,
    CONCATENATE: _joined,
    STACK: _joined,
    FLIP: _flipped,
    DIAGONAL: _diagonal,
    WHERE: _broadcast,
    TRANSPOSE: lambda node, of: [of[0][a] for a in node.attributes["axes"]],
    BROADCAST: lambda node, of: map(
        _agreed, _aligned(node.shape, [(node.parents[0].shape, of[0])])
    ),
    ONE_HOT: lambda node, of: (*of[0], None),
    CHOLESKY: lambda node, of: (*of[0][:-1], None),
    **{operation: _reduced for operation, _ in REDUCTIONS.values()},
    **dict.fromkeys((READ, READ_CHECKED, SLICE), _indexed),
    **dict.fromkeys((RESHAPE, RAVEL), _reshaped),
    **dict.fromkeys((DIFF, REPEAT, ROLL, SORT), _without_some),
    **dict.fromkeys(SEGMENTS.values(), lambda node, of: (None, *of[0][len(of[1]) :])),
    **dict.fromkeys((WRITE, WRITE_CHECKED, LABELS, SOFTMAX, LOG_SOFTMAX), _same),
    **dict.fromkeys((*CUMULATIVE.values(), *TRIANGLE.values()), _same),
}
