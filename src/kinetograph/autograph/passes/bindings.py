"""Variables that only generated functions bind are bound in the user's function first.

Python asks that what a function declares `nonlocal` is bound in one around it.
"""

import ast
from collections.abc import Iterator

from ..analysis.activity import activity
from .build import SCOPES, ag_call, assign_name, is_opaque, located, text

__all__ = ["bind_first", "head_of"]


def bind_first(node: ast.FunctionDef) -> None:
    """Complete a function and the functions in it, in place.

    `node.own` are the variables of a function that is the user's.
    """
    _missing(node)


def head_of(body: list[ast.stmt]) -> int:
    """The number of statements that stay in front: the docstring and declarations."""
    first = 0
    for place, statement in enumerate(body):
        docstring = (
            place == 0
            and isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
        )
        if not docstring and not isinstance(statement, (ast.Global, ast.Nonlocal)):
            break
        first += 1
    return first


def _missing(node: ast.FunctionDef) -> set[str]:
    """The names that a function expects to be bound around it."""
    wanted: set[str] = set()
    for inner in _functions(node):
        wanted |= _missing(inner)
    declared = {n for s in node.body if isinstance(s, ast.Nonlocal) for n in s.names}
    shared = {n for s in node.body if isinstance(s, ast.Global) for n in s.names}
    spec = node.args
    every = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
    bound = {a.arg for a in every if a is not None} | _bound(node) - declared - shared
    wanted -= bound
    own = wanted & getattr(node, "own", set())
    start: list[ast.stmt] = [assign_name(n, ag_call("Undefined", text(n))) for n in sorted(own)]
    first = head_of(node.body)
    node.body[first:first] = [located(s, node.body[-1]) for s in start]
    return (wanted - own) | declared


def _bound(node: ast.FunctionDef) -> set[str]:
    """What the statements of a function bind themselves."""
    found: set[str] = set()
    pending: list[ast.AST] = list(node.body)
    while pending:
        part = pending.pop()
        if isinstance(part, SCOPES):
            found.add(getattr(part, "name", ""))
            continue
        own = activity(part) if not isinstance(part, (ast.stmt, ast.ExceptHandler)) else None
        if own is not None:
            found |= own.binds | own.removes
            continue
        if isinstance(part, ast.ExceptHandler) and part.name:
            found.add(part.name)
        pending.extend(ast.iter_child_nodes(part))
    return found


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions defined directly in a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            if getattr(child, "inlined", False) or not is_opaque(child):
                yield child
        elif not isinstance(child, SCOPES):
            yield from _functions(child)
