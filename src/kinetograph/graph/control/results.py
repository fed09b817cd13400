"""Results of the functions of branches and loops: checks and common types."""

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..array import Array
from ..errors import KinetographError
from ..node import CURRENT, Bundle, Node
from ..operations.elementwise import astype
from ..operations.operands import as_variable
from ..source import place_text
from .contexts import ControlFlowContext
from .state import current_versions
from .structure import Structure, flatten

__all__ = [
    "Returned",
    "check_function",
    "collect",
    "common_dtype",
    "wrap_parts",
]


class Returned(NamedTuple):
    """The leaves of a returned structure as nodes of a context."""

    nodes: list[Node]
    paths: list[str]
    structure: Structure


def check_function(value: Any, name: str, doing: str, arguments: Sequence[str] | None = ()) -> None:
    """Raise TypeError if a value cannot be called with the named arguments.

    If `arguments` is None, the function may take any arguments.
    """
    if value is None:
        raise TypeError(f"{doing}: {name} argument required{place_text()}")
    if not callable(value):
        raise TypeError(
            f"{doing}: {name} must be callable, got {type(value).__name__}{place_text()}; "
            f"write it as a function, such as lambda: ..."
        )
    if arguments is None:
        return
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        given = f"{len(arguments)} ({', '.join(arguments)})" if arguments else "none"
        raise TypeError(
            f"{doing}: {name} is called with {given}{place_text()}, but it takes {signature}: "
            f"{error}"
        ) from None


def collect(value: Any, context: ControlFlowContext, subject: str, path: str = "") -> Returned:
    """The leaves of a returned value, as nodes inside `context`."""
    leaves, paths, structure = flatten(value, path)
    with context:
        nodes = []
        for leaf, at in zip(leaves, paths, strict=True):
            try:
                node = as_variable(leaf, subject)
            except KinetographError as error:
                where = f" at {at}" if at else ""
                raise type(error)(f"{subject}{where}{place_text()}: {error}") from None
            nodes.append(context.add_value(node))
    return Returned(nodes, paths, structure)


def common_dtype(nodes: Sequence[Node]) -> np.dtype | None:
    """The common type of values, or None.

    Python numbers adapt to the type of the other values.
    """
    dtypes = [node.dtype for node in nodes]
    strong = {node.dtype for node in nodes if not node.weak}
    order = "biuf"
    if len(strong) > 1:
        return None
    if not strong:
        return max(dtypes, key=lambda dtype: order.index(dtype.kind))
    (dtype,) = strong
    CURRENT.adapted += any(other != dtype for other in dtypes)
    for other in dtypes:
        if other != dtype and order.index(other.kind) > order.index(dtype.kind):
            return None
    return dtype


def converted(node: Node, dtype: np.dtype, context: ControlFlowContext) -> Node:
    """A node converted to another type inside its context.

    A Python number remains weak.
    """
    if node.dtype == dtype:
        return node
    with context:
        result = astype(node, dtype)
    result.weak = node.weak
    return result


def wrap_parts(
    bundle: Bundle, types: Sequence[Node], cells: Sequence[Any], weak: Sequence[bool]
) -> list[Array]:
    """The results of a node as arrays.

    The last results become new versions of the states in `cells`.
    """
    arrays = []
    count = len(types) - len(cells)
    for place, node in enumerate(types):
        part = bundle.part(place, node.shape, node.dtype)
        if place < count:
            part.weak = weak[place]
            arrays.append(Array(part))
        else:
            current_versions().replace(cells[place - count], part)
    return arrays
