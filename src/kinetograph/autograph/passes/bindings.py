"""Initial bindings for variables that only generated functions bind.

Python requires that a variable that a function declares `nonlocal` is bound in an enclosing
function.
"""

import ast
from collections.abc import Iterator

from ..analysis.activity import activity
from .build import SCOPES, ag_call, assign_name, is_opaque, located, text

__all__ = ["bind_first", "head_of"]


def bind_first(node: ast.FunctionDef) -> None:
    """Add missing bindings to a function and its inner functions, in place.

    `node.local_names` are the variables of a function of the user.
    """
    _missing(node)


def head_of(body: list[ast.stmt]) -> int:
    """The number of leading statements that must stay in front.

    They are the docstring and the declarations.
    """
    count = 0
    for index, statement in enumerate(body):
        docstring = (
            index == 0
            and isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
        )
        if not docstring and not isinstance(statement, (ast.Global, ast.Nonlocal)):
            break
        count += 1
    return count


def _missing(node: ast.FunctionDef) -> set[str]:
    """The names that a function expects an enclosing function to bind."""
    expected: set[str] = set()
    for inner in _functions(node):
        expected |= _missing(inner)
    declared = {n for s in node.body if isinstance(s, ast.Nonlocal) for n in s.names}
    shared = {n for s in node.body if isinstance(s, ast.Global) for n in s.names}
    spec = node.args
    arguments = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
    bound = {a.arg for a in arguments if a is not None} | _bound(node) - declared - shared
    expected -= bound
    added = expected & getattr(node, "local_names", set())
    start: list[ast.stmt] = [assign_name(n, ag_call("Undefined", text(n))) for n in sorted(added)]
    first = head_of(node.body)
    node.body[first:first] = [located(s, node.body[-1]) for s in start]
    return (expected - added) | declared


def _bound(node: ast.FunctionDef) -> set[str]:
    """The names that the statements of a function bind."""
    names: set[str] = set()
    pending: list[ast.AST] = list(node.body)
    while pending:
        part = pending.pop()
        if isinstance(part, SCOPES):
            names.add(getattr(part, "name", ""))
            continue
        symbols = activity(part) if not isinstance(part, (ast.stmt, ast.ExceptHandler)) else None
        if symbols is not None:
            names |= symbols.binds | symbols.removes
            continue
        if isinstance(part, ast.ExceptHandler) and part.name:
            names.add(part.name)
        pending.extend(ast.iter_child_nodes(part))
    return names


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions that are defined directly in a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            if getattr(child, "inlined", False) or not is_opaque(child):
                yield child
        elif not isinstance(child, SCOPES):
            yield from _functions(child)
