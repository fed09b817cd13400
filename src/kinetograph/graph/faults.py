"""Faults: indices outside their axes, detected when the program runs.

A region of the graph with computed indices reports a fault in the same way as its loops report
their trips. The report is one number: 0 without a fault, else a code of the operation and of the
index. It leaves branches, loops, batches and derivatives together with the reports of loops, and
the compiled function raises the error. Loops end after a fault.
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
    """The key for a region's fault, used among the keys of loops."""

    serial = -1

    def __repr__(self) -> str:
        return "FAULT"


FAULT: Any = _Fault()


def has_faults(node: Node) -> bool:
    """Whether a node has indices that are checked when the program runs.

    Call it only after the whole graph is built, because fewer intervals of indices are known while
    a loop is being built.
    """
    return isinstance(node, Apply) and node.operation in CHECKED and bool(_checked_indices(node))


def numbered(nodes: Iterable[Node]) -> dict[Node, int]:
    """Number the nodes with such indices, the first with the largest number."""
    faulty = list(dict.fromkeys(filter(has_faults, nodes)))
    return {node: number for number, node in enumerate(reversed(faulty), start=1)}


def _checked_indices(node: Apply) -> list[tuple[int, int, int]]:
    """The indices to check: place among the parents, smallest and largest value."""
    if node.operation is LABELS:
        indices = [(0, 0, node.attributes["size"] - 1)]
    else:
        indices = [(place, -size, size - 1) for place, _, _, size in known_indices(node)]
    return [index for index in indices if not inside(node.parents[index[0]], *index[1:], at=node)]


def report_fault(node: Apply, tensors: list[Any], scope: "Scope") -> None:
    """Note in the scope whether an index is out of bounds."""
    assert scope.indices is not None
    for order, (place, smallest, largest) in enumerate(_checked_indices(node)):
        values = jnp.asarray(tensors[place])
        if not values.size:
            continue
        values = values.astype(np.int64)
        low, high = (values, values) if values.ndim == 0 else (values.min(), values.max())
        worst = jnp.where(low < smallest, low, high)
        value = jnp.clip(worst, -(2**31), 2**31 - 1) & 0xFFFFFFFF
        number = np.int64(scope.indices[node] << 8 | order)
        code = jnp.where((low < smallest) | (high > largest), number << 32 | value, np.int64(0))
        if scope.active is not None:
            code = jnp.where(scope.active, code, np.int64(0))
        scope.note(FAULT, Trips(code, np.bool_(False), np.bool_(False)))


def _in_code(node: Node) -> str:
    """The expression of a node as code, never in words.

    When a program runs, the names of the user's variables are not known, so that `describe` gives
    words for a result of a branch or loop. For such a result return its name if it is an
    identifier, else `...`.
    """
    text = describe(node)
    if text != result_in_words(node):
        return text
    name = text.partition(" of ")[0]
    return name if name.isidentifier() else "..."


def fault_error(code: int, indices: Mapping[Node, int]) -> BoundsError:
    """The exception for a fault, from its code."""
    value = code & 0xFFFFFFFF
    value -= 2**32 if value >= 2**31 else 0
    number, order = (code >> 32) >> 8, (code >> 32) & 0xFF
    node = next(n for n, other in indices.items() if other == number)
    assert isinstance(node, Apply)
    place, _, largest = _checked_indices(node)[order]
    site = f" ({node.site})" if node.site else ""
    if node.operation is LABELS:
        return BoundsError(
            f"the label {describe(node.parents[place])} = {value} is out of range{site}: labels "
            f"are 0 to {largest}"
        )
    axis = next(axis for at, _, axis, _ in known_indices(node) if at == place)
    array, index = node.parents[0], _in_code(node.parents[place])
    where = f" for axis {axis} of length" if len(array.shape) > 1 else " for length"
    return BoundsError(
        f"{_in_code(array)}[{index}]: index {value} is out of bounds{where} {largest + 1}{site}; "
        f"to take the nearest element instead, write kg.clip({index}, 0, {largest})"
    )
