"""Conditional expressions, `and`, `or`, `not`, chained comparisons, `in` and `assert` become calls.

    a if c else b       ag__.if_exp(c, lambda: a, lambda: b)
    a and b             ag__.and_(a, lambda: b)
    not a               ag__.not_(a)
    a < b < c           ag__.and_(a < b, lambda: b < c)
    assert c, m         ag__.assert_stmt(c, lambda: m)

An operand with `:=` that may not be evaluated becomes a function, so that it binds the variable of
the user's function; in a lambda or comprehension, where this cannot be, the expression stays.
"""

import ast

from .build import Namer, ag_call, define, is_opaque, lazy, located, name, text

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


def lower_conditions(node: ast.FunctionDef, namer: Namer, asserts: bool = __debug__) -> None:
    """Rewrite a function and the functions in it, in place."""
    _Lowering(namer, asserts).visit(node)


class _Lowering(ast.NodeTransformer):
    def __init__(self, namer: Namer, asserts: bool) -> None:
        self.namer = namer
        self.asserts = asserts
        self.hoisted: list[ast.stmt] | None = None  # None where no function can be put in front
        self.globals: set[str] = set()

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, field, self.block(value))
            elif isinstance(value, list):
                value[:] = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        outer = self.hoisted
        done: list[ast.stmt] = []
        for statement in body:
            self.hoisted = []
            made = self.visit(statement)
            done += self.hoisted
            done += [made] if made is not None else []
        self.hoisted = outer
        return done or [located(ast.Pass(), body[0])]

    # Scopes.
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if is_opaque(node):
            return node
        outer = self.globals
        declared = {n for s in node.body if isinstance(s, ast.Global) for n in s.names}
        self.globals = outer | declared if node.name in self.namer.generated else declared
        self.generic_visit(node)
        self.globals = outer
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def nested(self, node: ast.AST) -> ast.AST:
        if is_opaque(node):
            return node
        outer, self.hoisted = self.hoisted, None
        self.generic_visit(node)
        self.hoisted = outer
        return node

    visit_Lambda = nested
    visit_GeneratorExp = nested
    visit_ListComp = nested
    visit_SetComp = nested
    visit_DictComp = nested

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = located(ag_call("elements", node.iter), node.iter)
        return node

    # Operands that may not be evaluated.
    def later(self, operand: ast.expr) -> ast.expr | None:
        """The operand as a function without arguments; None where there can be none."""
        bound = {part.target.id for part in ast.walk(operand) if isinstance(part, ast.NamedExpr)}
        if not bound:
            return located(lazy(operand), operand)
        if self.hoisted is None:
            return None
        function = define(
            self.namer.fresh("operand"),
            [ast.Return(operand)],
            nonlocals=bound - self.globals,
            globals=bound & self.globals,
        )
        self.hoisted.append(located(function, operand))
        return located(name(function.name), operand)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        functions = [self.later(value) for value in node.values[1:]]
        if None in functions:
            return node
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        operands = [f for f in functions if f is not None]
        return located(ag_call(operator, node.values[0], *operands), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        body, orelse = self.later(node.body), self.later(node.orelse)
        if body is None or orelse is None:
            return node
        return located(ag_call("if_exp", node.test, body, orelse), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return located(ag_call("not_", node.operand), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return self.comparison(node, node.left, node.ops[0], node.comparators[0])
        operands = [node.left, *node.comparators]
        if all(isinstance(operand, (ast.Name, ast.Constant)) for operand in operands[1:-1]):
            pairs = [
                self.comparison(node, a, op, b)
                for a, op, b in zip(operands, node.ops, operands[1:], strict=False)
            ]
            functions = [self.later(pair) for pair in pairs[1:]]
            if None in functions:
                return node
            return located(ag_call("and_", pairs[0], *[f for f in functions if f]), node)
        rest: list[ast.expr] = []
        for operator, operand in zip(node.ops, node.comparators, strict=True):
            function = self.later(operand)
            if function is None:
                return node
            rest += [text(COMPARISONS[type(operator)]), function]
        return located(ag_call("chain", node.left, *rest), node)

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
            message = self.later(node.msg)
            if message is None:
                return node
            operands.append(message)
        return located(ast.Expr(ag_call("assert_stmt", *operands)), node)
