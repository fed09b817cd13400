"""Descriptions of arrays in messages.

An array is named by the user's variable, else by the expression that computes it.
"""

from collections.abc import Sequence

import numpy as np

from .expressions import Expression, apply_expression, atom, call_expression, operator_expression
from .frame_variables import local_variables
from .node import PART, Apply, Bundle, Data, Handle, Inner, Node, Operation
from .source import place_text, used_in_call, user_frame

__all__ = [
    "Names",
    "describe",
    "describe_operands",
    "index_text",
    "names_in_scope",
    "result_in_words",
    "site_text",
    "variable_of",
]


class Names(dict[int, str]):
    """The present variable names of arrays, by the ids of their nodes."""


def names_in_scope() -> Names:
    """Collect the arrays in variables of the user's frame and its callers."""
    names = Names()
    frame = user_frame()
    while frame is not None:
        for scope in (local_variables(frame), frame.f_globals):
            for name, value in list(scope.items()):
                node = value.held if isinstance(value, Handle) else None
                if node is not None and name.isidentifier() and not name.startswith("_"):
                    names.setdefault(id(node), name)
        frame = frame.f_back
    return names


def describe(node: Node, names: dict[int, str] | None = None, depth: int = 3) -> str:
    """Describe a node as the user's code: `mu + tau * theta`.

    A captured value in a branch or loop has the name of the value outside. A result of a branch or
    loop that no variable holds is described as "p.j of while loop 'while_1'".
    """
    names = names_in_scope() if names is None else names
    words = "" if id(node) in names else result_in_words(node)
    return words or _expression(node, names, depth).text


def result_in_words(node: Node) -> str:
    """Describe a result of a conditional or loop; empty for other nodes."""
    if not isinstance(node, Apply) or node.operation is not PART:
        return ""
    bundle = node.parents[0]
    if not getattr(bundle, "contexts", ()):
        return ""
    name = bundle.call(node.attributes["place"]).suffix  # type: ignore[attr-defined]
    result = f"result {name}" if name.startswith("[") else name.removeprefix(".") or "the result"
    return f"{result} of {bundle.title}"  # type: ignore[attr-defined]


def _expression(node: Node, names: dict[int, str], depth: int) -> Expression:
    name = node.name or names.get(id(node))
    if name:
        return atom(name)
    if isinstance(node, Inner) and node.role == "captured":
        return _expression(node.outer, names, depth)
    if not isinstance(node, Apply):
        in_user_code = (
            isinstance(names, Names) and isinstance(node, Data) and node.literal and node.shape
        )
        return atom((variable_of(node) if in_user_code else "") or node.label())
    if depth == 0:
        return atom("...")
    if node.operation is PART and isinstance(node.parents[0], Bundle):
        bundle = node.parents[0]
        call = bundle.call(node.attributes["place"])
        if getattr(bundle, "contexts", ()):
            return atom(f"{call.name}(...){call.suffix}")
        return call_expression(call, [_expression(p, names, depth - 1) for p in call.operands])
    return apply_expression(node, [_expression(p, names, depth - 1) for p in node.parents])


def variable_of(node: Node) -> str:
    """The variable in the user's present call that a constant came from."""
    if not isinstance(node, Data) or not node.literal:
        return ""
    matches = [name for name, value in used_in_call().items() if _equals(value, node.value)]
    return matches[0] if len(matches) == 1 else ""


def _equals(value: object, numbers: np.ndarray) -> bool:
    if not isinstance(value, (np.ndarray, np.generic, int, float, list, tuple)):
        return False
    if _holds_arrays(value):  # np.asarray would raise an error for them, which calls this again
        return False
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return False
    return array.dtype.kind in "iufb" and np.array_equal(array, numbers, equal_nan=True)


def _holds_arrays(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_arrays(v) for v in value)
    return value.dtype.kind == "O" if isinstance(value, np.ndarray) else isinstance(value, Handle)


def index_text(place: Sequence[int]) -> str:
    """The text ` at index (0, 3)`; empty for a single number."""
    if not place:
        return ""
    return f" at index {place[0] if len(place) == 1 else tuple(place)}"


def site_text(node: Node) -> str:
    """The text ` (written at file:line)`; empty for an unknown place."""
    return f" (written at {node.site})" if node.site else ""


def describe_operands(operation: Operation, nodes: Sequence[Node]) -> str:
    """The expression of an operation, with the shape of each operand."""
    names = names_in_scope()
    expressions = [_expression(node, names, 3) for node in nodes]
    parts = [e.text for e in expressions]
    if operation.symbol and len(parts) == 2:
        text = operator_expression(operation.symbol, *expressions).text
    else:
        text = f"{operation.name}({', '.join(parts)})"
    width = max(len(part) for part in parts)
    lines = [
        f"\n    {part:<{width}}  shape {node.shape}"
        for part, node in zip(parts, nodes, strict=True)
    ]
    return text + place_text() + "".join(lines)
