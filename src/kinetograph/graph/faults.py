"""Indices that fall outside of their axes when the program runs.

A region of the graph that has such indices reports a fault, as its loops report their trips: one
number, 0 as long as all is well, else which operation and which index. It passes out of branches,
loops, batches and derivatives with the reports of loops, and a compiled function raises the error.
Loops do not go on after a fault.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from .errors import BoundsError
from .messages import describe, result_in_words
from .node import Apply, Node
from .operations.bounds import inside
from .operations.indexing import CHECKED, LABELS, known_indices
from .trips import Trips

if TYPE_CHECKING:
    from .lower import Scope

__all__ = ["FAULT", "fault_error", "has_faults", "numbered", "report_fault"]


class _Fault:
    """Stands among the loops that report for the indices of a region."""

    serial = -1

    def __repr__(self) -> str:
        return "FAULT"


FAULT: Any = _Fault()


def has_faults(node: Node) -> bool:
    """Whether a node has indices that are looked at when the program runs.

    Asked when the whole graph is there: of loops that are being built less is known.
    """
    return isinstance(node, Apply) and node.operation in CHECKED and bool(_looked_at(node))


def numbered(nodes: Iterable[Node]) -> dict[Node, int]:
    """Numbers of those that have; the first one in the program has the largest."""
    found = list(dict.fromkeys(filter(has_faults, nodes)))
    return {node: number for number, node in enumerate(reversed(found), start=1)}


def _looked_at(node: Apply) -> list[tuple[int, int, int]]:
    """The places of the indices among the parents, their smallest and largest values."""
    if node.operation is LABELS:
        found = [(0, 0, node.attributes["size"] - 1)]
    else:
        found = [(place, -size, size - 1) for place, _, _, size in known_indices(node)]
    return [one for one in found if not inside(node.parents[one[0]], *one[1:], at=node)]


def report_fault(node: Apply, tensors: list[Any], scope: "Scope") -> None:
    """Note, for the region, whether an index falls outside."""
    assert scope.indices is not None
    for order, (place, least, most) in enumerate(_looked_at(node)):
        values = jnp.asarray(tensors[place])
        if not values.size:
            continue
        values = values.astype(np.int64)
        low, high = (values, values) if values.ndim == 0 else (values.min(), values.max())
        worst = jnp.where(low < least, low, high)
        value = jnp.clip(worst, -(2**31), 2**31 - 1) & 0xFFFFFFFF
        number = np.int64(scope.indices[node] << 8 | order)
        code = jnp.where((low < least) | (high > most), number << 32 | value, np.int64(0))
        if scope.active is not None:
            code = jnp.where(scope.active, code, np.int64(0))
        scope.note(FAULT, Trips(code, np.bool_(False), np.bool_(False)))


def _in_code(node: Node) -> str:
    """A node as it stands in an expression: of a result that has only words, the variable's name.

    The names of a function's variables are not known when its program runs.
    """
    text = describe(node)
    if text != result_in_words(node):
        return text
    name = text.partition(" of ")[0]
    return name if name.isidentifier() else "..."


def fault_error(code: int, indices: Mapping[Node, int]) -> BoundsError:
    """What to raise for a fault."""
    value = code & 0xFFFFFFFF
    value -= 2**32 if value >= 2**31 else 0
    number, order = (code >> 32) >> 8, (code >> 32) & 0xFF
    node = next(n for n, own in indices.items() if own == number)
    assert isinstance(node, Apply)
    place, _, most = _looked_at(node)[order]
    site = f" ({node.site})" if node.site else ""
    if node.operation is LABELS:
        return BoundsError(
            f"the label {describe(node.parents[place])} = {value} is out of range{site}: labels "
            f"run from 0 to {most}"
        )
    axis = next(axis for at, _, axis, _ in known_indices(node) if at == place)
    array, index = node.parents[0], _in_code(node.parents[place])
    where = f" for axis {axis} of length" if len(array.shape) > 1 else " for length"
    return BoundsError(
        f"{_in_code(array)}[{index}]: index {value} is out of bounds{where} {most + 1}{site}; to "
        f"take the nearest element instead write kg.clip({index}, 0, {most})"
    )
