"""How arrays are named in messages: by the user's variable, else by how they were computed."""

from collections.abc import Sequence

from .expressions import Expression, apply_expression, atom, operator_expression
from .node import Apply, Node, Operation
from .source import user_frame

__all__ = ["describe", "describe_operands", "names_in_scope", "site_text"]


def names_in_scope() -> dict[int, str]:
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
    return _expression(node, names_in_scope() if names is None else names, depth).text


def _expression(node: Node, names: dict[int, str], depth: int) -> Expression:
    name = node.name or names.get(id(node))
    if name:
        return atom(name)
    if not isinstance(node, Apply):
        return atom(node.label())
    if depth == 0:
        return atom("...")
    return apply_expression(node, [_expression(p, names, depth - 1) for p in node.parents])


def site_text(node: Node) -> str:
    """` (written at file:line)`, or nothing where the place is not known."""
    return f" (written at {node.site})" if node.site else ""


def describe_operands(operation: Operation, nodes: Sequence[Node]) -> str:
    """The expression and, line by line, the shapes of its operands."""
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
    return text + "".join(lines)
