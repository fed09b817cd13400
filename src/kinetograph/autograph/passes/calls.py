"""Rewriting of calls: `f(x)` becomes `ag__.converted(f)(x)`.

So the called functions are converted, too. Functions that are known to need no conversion are
called directly: functions of modules such as NumPy, and built-in functions that accept arrays of
the graph. Reads of variables that may be undefined become `ag__.ld(x)`, and `x.y = v` becomes
`ag__.changed_owner(x).y = v`.
"""

import ast
from collections.abc import Callable

from .build import ag_call, is_ag_call, is_opaque, located

__all__ = ["lower_calls"]


def lower_calls(node: ast.FunctionDef, plain: Callable[[ast.expr], bool]) -> None:
    """Rewrite a function and its inner functions, in place.

    `plain` says whether the function that an expression denotes needs no conversion.
    """
    _CallLowering(plain).visit(node)


class _CallLowering(ast.NodeTransformer):
    def __init__(self, plain: Callable[[ast.expr], bool]) -> None:
        self.plain = plain

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if is_opaque(node) else self.generic_visit(node)

    def opaque(self, node: ast.AST) -> ast.AST:
        return node

    visit_ClassDef = opaque
    visit_AsyncFunctionDef = opaque

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if getattr(node, "unsure", False) and isinstance(node.ctx, ast.Load):
            return located(ag_call("ld", node), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            node.value = located(ag_call("changed_owner", node.value), node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if is_ag_call(node):
            if node.func.attr in ("ldu", "ld"):  # type: ignore[attr-defined]
                return node
            node.args = [self.visit(a) for a in node.args]
            node.keywords = [self.visit(k) for k in node.keywords]
            return node
        plain = self.plain(node.func)
        self.generic_visit(node)
        if not plain:
            node.func = located(ag_call("converted", node.func), node.func)
        return node
