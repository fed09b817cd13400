"""Marking of operands that are used as truth values.

    if a or b: ...              if truth(a) or truth(b): ...
    if (a if c else b): ...     if (truth(a) if c else truth(b)): ...

Such operands may have any types. They are marked here, and become calls of `ag__.truth` when
expressions are rewritten.
"""

import ast

__all__ = ["mark_tested"]


def mark_tested(node: ast.FunctionDef) -> None:
    """Mark the operands of tests with the name of their operator.

    Inner functions are included.
    """
    for part in ast.walk(node):
        match part:
            case ast.If() | ast.While() | ast.Assert() | ast.IfExp():
                _mark(part.test)
            case ast.UnaryOp(op=ast.Not()):
                _mark(part.operand)


def _mark(test: ast.expr) -> None:
    operands: list[ast.expr] = []
    word = "conditional expression"
    match test:
        case ast.BoolOp():
            operands = test.values
            word = "`and`" if isinstance(test.op, ast.And) else "`or`"
        case ast.IfExp():
            operands = [test.body, test.orelse]
    for operand in operands:
        if isinstance(operand, (ast.BoolOp, ast.IfExp)):
            _mark(operand)
        else:
            operand.tested = word  # type: ignore[attr-defined]
