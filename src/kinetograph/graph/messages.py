"""How arrays are named in messages: by the user's variable, else by how they were computed."""

from collections.abc import Sequence

from .node import Apply, Data, Node, Operation
from .source import user_frame

__all__ = ["describe", "describe_operands", "site_text"]


def _names_in_scope() -> dict[int, str]:
    """The names of all arrays held by variables of the user's frame and its callers."""
    names: dict[int, str] = {}
    frame = user_frame()
    while frame is not None:
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in scope.items():
                node = getattr(value, "node", None)
                if isinstance(node, Node) and not name.startswith("_"):
                    names.setdefault(id(node), name)
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
    symbol = node.operation.symbol
    if symbol and len(parts) == 2:
        return f"{_bracket(parts[0])} {symbol} {_bracket(parts[1])}"
    if symbol and len(parts) == 1:
        exponent = node.attributes.get("y")
        return f"{_bracket(parts[0])} ** {exponent}" if exponent else f"{symbol}{_bracket(parts[0])}"
    return f"{node.operation.name}({', '.join(parts)})"


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
