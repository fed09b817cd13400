"""What the functions of branches and loops return, checked and brought to common types."""

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..array import Array
from ..elementwise import WEAK, as_node, astype
from ..errors import KinetographError
from ..node import Bundle, Node
from ..source import here, site_of
from .contexts import ControlFlowContext
from .state import current_versions
from .structure import Pattern, flatten

__all__ = [
    "Returned",
    "check_function",
    "collect",
    "common_dtype",
    "place_text",
    "wrap_parts",
]


class Returned(NamedTuple):
    """The leaves of a returned structure as nodes of a context."""

    nodes: list[Node]
    weak: list[bool]  # Python numbers, which take the type of what they meet
    paths: list[str]
    pattern: Pattern


def place_text() -> str:
    """` (file:line)` of the user's statement that is being carried out."""
    site = site_of(here())
    return f" ({site})" if site else ""


def check_function(value: Any, name: str, doing: str, arguments: Sequence[str] | None = ()) -> None:
    """Refuse what cannot be called, or not with such arguments (None: with whatever comes)."""
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
    except (TypeError, ValueError):  # of some built-in functions it is not known
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        given = f"{len(arguments)} ({', '.join(arguments)})" if arguments else "none"
        raise TypeError(
            f"{doing}: {name} is called with {given}{place_text()}, but it takes {signature}: "
            f"{error}"
        ) from None


def collect(value: Any, context: ControlFlowContext, what: str, path: str = "") -> Returned:
    """The leaves of what a function returned, as nodes inside `context`."""
    leaves, paths, pattern = flatten(value, path)
    with context:
        nodes = []
        for leaf, at in zip(leaves, paths, strict=True):
            try:
                node = as_node(leaf, what)
            except KinetographError as error:
                where = f" at {at}" if at else ""
                raise type(error)(f"{what}{where}{place_text()}: {error}") from None
            nodes.append(context.add_value(node))
    return Returned(nodes, [isinstance(leaf, WEAK) for leaf in leaves], paths, pattern)


def common_dtype(dtypes: Sequence[np.dtype], weak: Sequence[bool]) -> np.dtype | None:
    """The type of values of which some are Python numbers; None where they do not agree."""
    strong = {d for d, w in zip(dtypes, weak, strict=True) if not w}
    if len(strong) > 1:
        return None
    if not strong:
        return np.result_type(*dtypes)
    (dtype,) = strong
    order = "biuf"
    for other in dtypes:
        if other != dtype and order.index(other.kind) > order.index(dtype.kind):
            return None
    return dtype


def converted(node: Node, dtype: np.dtype, context: ControlFlowContext) -> Node:
    """The node in another type, inside its context."""
    if node.dtype == dtype:
        return node
    with context:
        return astype(node, dtype)


def wrap_parts(
    bundle: Bundle, types: Sequence[Node], cells: Sequence[Any], first: int = 0
) -> list[Array]:
    """The results of a node as arrays; versions of states after them go on where they stand."""
    arrays = []
    count = len(types) - len(cells)
    for place, node in enumerate(types):
        part = bundle.part(first + place, node.shape, node.dtype)
        if place < count:
            arrays.append(Array(part))
        else:
            current_versions().replace(cells[place - count], part)
    return arrays
