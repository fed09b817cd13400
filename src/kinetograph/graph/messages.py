"""How arrays are named in messages: by the user's variable, else by how they were computed."""

from collections.abc import Sequence
from typing import Any

from .node import Apply, Data, Node, Operation
from .source import user_frame

__all__ = ["describe", "describe_operands", "site_text"]


def _names_in_scope() -> dict[int, str]:
    """The names of all arrays held by variables of the user's frame and its callers."""
    from .array import Array

    names: dict[int, str] = {}
    frame = user_frame()
    while frame is not None:
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if isinstance(value, Array) and not name.startswith("_"):
                    names.setdefault(id(value.node), name)
        frame = frame.f_back
    return names


def describe(node: Node, names: dict[int, str] | None = None, depth: int = 3) -> str:
    """A node as the user would write it: `mu + tau * theta`."""
    names = _names_in_scope() if names is None else names
    name = node.name or names.get(id(node))
    if name:
        return name
    if isinstance(node, Data):
        return node.label()
    if not isinstance(node, Apply) or depth == 0:
        return node.label() if not isinstance(node, Apply) else "..."
    parts = [describe(parent, names, depth - 1) for parent in node.parents]
    if node.operation.name == "index":
        return f"{_bracket(parts[0])}[{_index_text(node.attributes['template'], parts[1:])}]"
    symbol = node.operation.symbol
    if symbol and len(parts) == 2:
        return f"{_bracket(parts[0])} {symbol} {_bracket(parts[1])}"
    if symbol and len(parts) == 1:
        if "y" in node.attributes:
            return f"{_bracket(parts[0])} ** {node.attributes['y']}"
        return f"{symbol}{_bracket(parts[0])}"
    return f"{node.operation.name}({', '.join(parts)})"


def _index_text(template: tuple[Any, ...], indices: list[str]) -> str:
    remaining = iter(indices)
    words = []
    for part in template:
        if isinstance(part, slice):
            ends = ["" if v is None else str(v) for v in (part.start, part.stop)]
            words.append(":".join([*ends, str(part.step)] if part.step is not None else ends))
        elif part is Ellipsis:
            words.append("...")
        elif part is None or isinstance(part, int):
            words.append(str(part))
        else:
            words.append(next(remaining))
    return ", ".join(words)


def _bracket(text: str) -> str:
    return f"({text})" if " " in text and not text.endswith(")") else text


def site_text(node: Node) -> str:
    """` (written at file:line)`, or nothing where the place is not known."""
    return f" (written at {node.site})" if node.site else ""


def describe_operands(operation: Operation, nodes: Sequence[Node]) -> str:
    """The expression and, line by line, the shapes of its operands."""
    names = _names_in_scope()
    parts = [describe(node, names) for node in nodes]
    if operation.symbol and len(parts) == 2:
        text = f"{_bracket(parts[0])} {operation.symbol} {_bracket(parts[1])}"
    else:
        text = f"{operation.name}({', '.join(parts)})"
    width = max(len(part) for part in parts)
    lines = [
        f"\n    {part:<{width}}  shape {node.shape}"
        for part, node in zip(parts, nodes, strict=True)
    ]
    return text + "".join(lines)
