"""Rewriting of forms that do not work in generated functions.

x: int = 3      x = 3                       a variable bound by inner functions has no annotation
super()         super(__class__, self)      `super()` reads the frame of the method
"""

import ast

from .build import is_opaque, located, name

__all__ = ["plain_forms"]


def plain_forms(node: ast.FunctionDef) -> None:
    """Rewrite a function and its inner functions, in place."""
    _Plainer(node).visit(node)


class _Plainer(ast.NodeTransformer):
    def __init__(self, node: ast.FunctionDef) -> None:
        first = [*node.args.posonlyargs, *node.args.args]
        self.instance = first[0].arg if first else None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return located(ast.Pass(), node)
        return located(ast.Assign([node.target], node.value), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if is_opaque(node) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        bare = isinstance(node.func, ast.Name) and node.func.id == "super"
        if bare and not node.args and self.instance is not None:
            node.args = [located(name(n), node) for n in ("__class__", self.instance)]
        return node
