"""Rewriting of expressions and assertions that may be symbolic.

    a if c else b       ag__.if_exp(c, lambda: a, lambda: b)
    a and b             ag__.and_(a, lambda: b)
    not a               ag__.not_(a)
    if a and b: ...     if ag__.and_(ag__.truth(a), lambda: ag__.truth(b)): ...
    a < b < c           ag__.and_(a < b, lambda: b < c)
    assert c, m         ag__.assert_stmt(c, lambda: m)
    x[i]                ag__.get_item(x, i)
    [a for a in b if c] [a for a in ag__.elements(b) if ag__.chosen(c)]

An expression with a `:=` in an operand that may not be evaluated is not rewritten, and its
condition must be a Python value: a variable bound in the operand could not leave the lambda.
"""

import ast
from typing import Any

from .assignment_expressions import binds_lazily
from .build import ag_call, is_opaque, lazy, located, text
from .items import index_of

__all__ = ["lower_conditions"]

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def lower_conditions(node: ast.FunctionDef, asserts: bool = __debug__) -> None:
    """Rewrite a function and its inner functions, in place."""
    _ConditionLowering(asserts).visit(node)


class _ConditionLowering(ast.NodeTransformer):
    def __init__(self, asserts: bool) -> None:
        self.asserts = asserts

    def visit(self, node: ast.AST) -> Any:
        rewritten = super().visit(node)
        word = getattr(node, "tested", None)
        return (
            rewritten
            if word is None
            else located(ag_call("truth", rewritten, text(word)), rewritten)
        )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if is_opaque(node):
            return node
        self.generic_visit(node)
        node.body = node.body or [located(ast.Pass(), node)]
        return node

    def visit_scope(self, node: ast.AST) -> ast.AST:
        return node if is_opaque(node) else self.generic_visit(node)

    visit_ClassDef = visit_AsyncFunctionDef = visit_Lambda = visit_GeneratorExp = visit_scope

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = located(ag_call("elements", node.iter), node.iter)
        node.ifs = [located(ag_call("chosen", test), test) for test in node.ifs]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        lazily = binds_lazily(node)
        self.generic_visit(node)
        if lazily:
            return node
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        return located(ag_call(operator, node.values[0], *map(_later, node.values[1:])), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        lazily = binds_lazily(node)
        self.generic_visit(node)
        if lazily:
            return node
        return located(ag_call("if_exp", node.test, _later(node.body), _later(node.orelse)), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or _is_constant(node.slice):
            return node
        return located(ag_call("get_item", node.value, index_of(node.slice)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return located(ag_call("not_", node.operand), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        lazily = binds_lazily(node)
        self.generic_visit(node)
        if lazily:
            return node
        operands = [node.left, *node.comparators]
        if all(isinstance(operand, (ast.Name, ast.Constant)) for operand in operands[1:-1]):
            first, *following = [
                self.comparison(node, a, op, b)
                for a, op, b in zip(operands, node.ops, operands[1:], strict=False)
            ]
            return (
                located(ag_call("and_", first, *map(_later, following)), node)
                if following
                else first
            )
        parts: list[ast.expr] = []
        for index, (operator, operand) in enumerate(zip(node.ops, node.comparators, strict=True)):
            parts += [text(COMPARISONS[type(operator)]), operand if index == 0 else _later(operand)]
        return located(ag_call("chain", node.left, *parts), node)

    def comparison(
        self, node: ast.AST, left: ast.expr, operator: ast.cmpop, right: ast.expr
    ) -> ast.expr:
        if isinstance(operator, ast.In):
            return located(ag_call("in_", left, right), node)
        if isinstance(operator, ast.NotIn):
            return located(ag_call("not_", ag_call("in_", left, right)), node)
        return located(ast.Compare(left, [operator], [right]), node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST | None:
        if not self.asserts:
            return None
        self.generic_visit(node)
        operands = [node.test]
        if node.msg is not None:
            operands.append(_later(node.msg))
        return located(ast.Expr(ag_call("assert_stmt", *operands)), node)


def _is_constant(index: ast.expr) -> bool:
    """Whether an index is made of constants, and so never symbolic."""
    parts = [n for n in ast.walk(index) if isinstance(n, ast.expr)]
    plain = (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp)
    return all(isinstance(part, plain) for part in parts)


def _later(operand: ast.expr) -> ast.expr:
    """The operand as a function without parameters."""
    return located(lazy(operand), operand)
