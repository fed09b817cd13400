"""Refusal of syntax that cannot be converted, with its line."""

import ast

from .build import yields

__all__ = ["Unsupported", "refuse_unsupported"]


class Unsupported(Exception):
    """Syntax that cannot become part of the graph."""

    def __init__(self, text: str, node: ast.stmt | ast.expr) -> None:
        super().__init__(text)
        self.line = node.lineno


def refuse_unsupported(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
    """Refuse unsupported syntax in a function.

    Raises
    ------
    Unsupported
        For a coroutine, a generator, and a jump out of a `finally`.
    """
    if isinstance(node, ast.AsyncFunctionDef):
        raise Unsupported("async functions are not supported", node)
    yielding = yields(node)
    if isinstance(yielding, ast.Await):
        raise Unsupported("async functions are not supported", yielding)
    if yielding is not None:
        raise Unsupported(
            "generators are not supported: collect the values in a list and return it", yielding
        )
    for part in ast.walk(node):
        if isinstance(part, (ast.Try, ast.TryStar)):
            jump = _jump(part.finalbody)
            if jump is not None:
                keyword = type(jump).__name__.lower()
                raise Unsupported(f"`{keyword}` inside `finally` is not supported", jump)


def _jump(body: list[ast.stmt], loops: bool = True) -> ast.stmt | None:
    """The first statement that jumps out of a block, if any.

    `loops` says whether `break` and `continue` would leave the block.
    """
    for statement in body:
        if isinstance(statement, ast.Return):
            return statement
        if isinstance(statement, (ast.Break, ast.Continue)) and loops:
            return statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        inner = loops and not isinstance(statement, (ast.For, ast.While, ast.AsyncFor))
        for field in ("body", "orelse", "finalbody"):
            jump = _jump(getattr(statement, field, []), inner)
            if jump is not None:
                return jump
        for handler in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            jump = _jump(handler.body, inner)
            if jump is not None:
                return jump
    return None
