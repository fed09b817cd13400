"""Rewriting of `:=` in operands that may not be evaluated.

    if a and (b := f(x)) > 3: ...       operand = a
                                        if operand:
                                            operand = (b := f(x)) > 3
                                        if operand: ...

The operand becomes a statement, so that the variables that it binds are carried as by any `if`. The
condition of a `while` is evaluated before the loop and at the end of each trip. An operand inside a
larger expression, a lambda or a comprehension is not rewritten, and its condition must be a Python
value.
"""

import ast
import copy
from collections.abc import Sequence

from .build import SCOPES, Namer, assign_name, is_opaque, located, name, negation

__all__ = ["binds_lazily", "lower_assignment_expressions"]

_SCOPES = (*SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def lower_assignment_expressions(node: ast.FunctionDef, namer: Namer) -> None:
    """Rewrite a function and the functions in it, in place."""
    node.body = _AssignmentLowering(namer).block(node.body)


def _binds(node: ast.AST) -> bool:
    """Whether an expression binds a variable by `:=`."""
    if isinstance(node, ast.NamedExpr):
        return True
    return not isinstance(node, _SCOPES) and any(map(_binds, ast.iter_child_nodes(node)))


def binds_lazily(node: ast.AST) -> bool:
    """Whether a `:=` is in an operand that may not be evaluated."""
    later: Sequence[ast.expr] = ()
    if isinstance(node, ast.BoolOp):
        later = node.values[1:]
    elif isinstance(node, ast.IfExp):
        later = (node.body, node.orelse)
    elif isinstance(node, ast.Compare):
        later = node.comparators[1:]
    if any(map(_binds, later)):
        return True
    return not isinstance(node, _SCOPES) and any(map(binds_lazily, ast.iter_child_nodes(node)))


class _AssignmentLowering:
    def __init__(self, namer: Namer) -> None:
        self.namer = namer

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [new_statement for statement in body for new_statement in self.statement(statement)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        if is_opaque(node):
            return [node]
        statements: list[ast.stmt] = []
        match node:
            case ast.While() if binds_lazily(node.test):
                statements = self.loop(node)
            case ast.If() | ast.Assert():
                statements, node.test = self.split(node.test)
            case ast.For():
                statements, node.iter = self.split(node.iter)
            case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.Return():
                if node.value is not None:
                    statements, node.value = self.split(node.value)
        for field in ("body", "orelse", "finalbody"):
            if getattr(node, field, None):
                setattr(node, field, self.block(getattr(node, field)))
        for handler in getattr(node, "handlers", ()):
            handler.body = self.block(handler.body)
        return [*statements, node]

    def loop(self, node: ast.While) -> list[ast.stmt]:
        going_on = self.namer.fresh("going_on")
        statements, test = self.split(node.test)
        statements.append(located(assign_name(going_on, test), node.test))
        node.test = located(name(going_on), node.test)
        copies = [copy.deepcopy(statement) for statement in statements]
        node.body = [*node.body, *copies]
        return statements

    def split(self, node: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Split an expression into preceding statements and the remaining expression."""
        if not binds_lazily(node):
            return [], node
        statements: list[ast.stmt] = []
        match node:
            case ast.UnaryOp(op=ast.Not()):
                statements, node.operand = self.split(node.operand)
                return statements, node
            case ast.NamedExpr():
                statements, node.value = self.split(node.value)
                return statements, node
            case ast.BoolOp():
                variable, source = self.namer.fresh("operand"), ast.unparse(node)
                statements, first = self.split(node.values[0])
                statements.append(located(assign_name(variable, first), node))
                for value in node.values[1:]:
                    test = (
                        name(variable) if isinstance(node.op, ast.And) else negation(name(variable))
                    )
                    statements.append(
                        self.branch(
                            test, self.assigned(variable, value), [], value, (variable, source)
                        )
                    )
                return statements, located(name(variable), node)
            case ast.IfExp():
                variable, source = self.namer.fresh("operand"), ast.unparse(node)
                statements, test = self.split(node.test)
                branches = self.assigned(variable, node.body), self.assigned(variable, node.orelse)
                statements.append(self.branch(test, *branches, node, (variable, source)))
                return statements, located(name(variable), node)
        return [], node

    def assigned(self, variable: str, value: ast.expr) -> list[ast.stmt]:
        """Statements that assign the value of an expression to a variable."""
        statements, last = self.split(value)
        return [*statements, located(assign_name(variable, last), value)]

    def branch(
        self,
        test: ast.expr,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        like: ast.expr,
        operands: tuple[str, str],
    ) -> ast.stmt:
        """An `if` that assigns the value of an expression to a variable.

        `operands` are the variable and the expression as the user wrote it.
        """
        statement = ast.If(test, body, orelse)
        statement.operands = operands  # type: ignore[attr-defined]
        return located(statement, like)
