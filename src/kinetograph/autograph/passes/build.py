"""Construction of syntax trees, at the positions of the original code."""

import ast
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "OPERATORS",
    "SCOPES",
    "Namer",
    "ag_call",
    "assign",
    "assign_name",
    "define",
    "header",
    "is_ag_call",
    "is_opaque",
    "lazy",
    "located",
    "name",
    "negation",
    "text",
]

OPERATORS = "ag__"  # the name of kinetograph's operators in converted code


class Namer:
    """A source of names that a function does not use yet."""

    def __init__(self, tree: ast.AST) -> None:
        self.used: set[str] = set()
        for node in ast.walk(tree):
            for field in ("id", "name", "arg", "asname", "rest"):
                used = getattr(node, field, None)
                if isinstance(used, str):
                    self.used.add(used)
        self.generated: set[str] = set()

    def fresh(self, name: str) -> str:
        """Return an unused name: `name`, with a number if necessary."""
        candidate, number = name, 0
        while candidate in self.used:
            number += 1
            candidate = f"{name}_{number}" if not name.endswith("_") else f"{name}{number}"
        self.used.add(candidate)
        self.generated.add(candidate)
        return candidate


_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def located[Tree: ast.AST](node: Tree, like: ast.AST) -> Tree:
    """Give a node, and its parts without a position, another node's position."""
    place = {field: getattr(like, field) for field in _PLACE if hasattr(like, field)}
    pending: list[ast.AST] = [node]
    while pending:
        part = pending.pop()
        if "lineno" in part._attributes:
            if hasattr(part, "lineno"):
                continue  # its parts have positions, too
            part.__dict__.update(place)
        pending.extend(ast.iter_child_nodes(part))
    return node


def header(node: ast.stmt) -> ast.stmt:
    """The position of a compound statement's first line, without its body."""
    last: Any = getattr(node, "test", None) or getattr(node, "iter", node)
    place = ast.Pass(lineno=node.lineno, col_offset=node.col_offset)
    place.end_lineno = getattr(last, "end_lineno", node.lineno)
    place.end_col_offset = getattr(last, "end_col_offset", node.col_offset)
    return place


def name(identifier: str) -> ast.Name:
    """The value of a variable."""
    return ast.Name(identifier, ast.Load())


def text(value: Any) -> ast.Constant:
    """A constant."""
    return ast.Constant(value)


def ag_call(operator: str, *arguments: ast.expr, **keywords: ast.expr) -> ast.Call:
    """`ag__.operator(...)`."""
    function = ast.Attribute(name(OPERATORS), operator, ast.Load())
    return ast.Call(function, list(arguments), [ast.keyword(k, v) for k, v in keywords.items()])


def is_ag_call(node: ast.AST) -> bool:
    """Whether a call is one of kinetograph's operators."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == OPERATORS
    )


def assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    """`target = value`."""
    return ast.Assign([target], value)


def assign_name(identifier: str, value: ast.expr) -> ast.Assign:
    """`identifier = value`."""
    return assign(ast.Name(identifier, ast.Store()), value)


def lazy(value: ast.expr) -> ast.Lambda:
    """`lambda: value`."""
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)


def negation(value: ast.expr) -> ast.expr:
    """`not value`."""
    return ast.UnaryOp(ast.Not(), value)


def define(
    identifier: str,
    body: Sequence[ast.stmt],
    parameters: Iterable[str] = (),
    nonlocals: Iterable[str] = (),
    globals: Iterable[str] = (),
) -> ast.FunctionDef:
    """`def identifier(parameters): nonlocal ...; body`."""
    spec = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
    head: list[ast.stmt] = []
    if rebound := sorted(nonlocals):
        head.append(ast.Nonlocal(rebound))
    if shared := sorted(globals):
        head.append(ast.Global(shared))
    function = ast.FunctionDef(
        identifier, spec, [*head, *(body or [ast.Pass()])], [], type_params=[]
    )
    function.opaque = False  # type: ignore[attr-defined]
    return function


SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def is_opaque(node: ast.AST) -> bool:
    """Whether a node is not converted: a class, generator or coroutine."""
    opaque: bool | None = getattr(node, "opaque", None)
    if opaque is None:
        opaque = isinstance(node, (ast.ClassDef, ast.AsyncFunctionDef))
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            opaque = yields(node) is not None
        node.opaque = opaque  # type: ignore[attr-defined]
    return opaque


def yields(node: ast.FunctionDef | ast.Lambda) -> ast.expr | None:
    """The expression that makes a function a generator or coroutine, if any."""
    pending: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while pending:
        part = pending.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)):
            return part
        if not isinstance(
            part,
            (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp),
        ):
            pending.extend(ast.iter_child_nodes(part))
    return None
