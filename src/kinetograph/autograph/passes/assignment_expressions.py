"""An operand with `:=` that may not be evaluated becomes a statement.

    if a and (b := f(x)) > 3: ...       operand = a
                                        if operand:
                                            operand = (b := f(x)) > 3
                                        if operand: ...

So what it binds is carried as by any `if`. In a `while`, the condition is evaluated before the loop
and at the end of each iteration. Where such an operand is deep in an expression, in a lambda or a
comprehension, it stays, and must be Python's.
"""

import ast
import copy
from collections.abc import Sequence

from .build import SCOPES, Namer, assign_name, is_opaque, located, name, negation

__all__ = ["binds_lazily", "lower_assignment_expressions"]

_OWN = (*SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def lower_assignment_expressions(node: ast.FunctionDef, namer: Namer) -> None:
    """Rewrite a function and the functions in it, in place."""
    node.body = _Lowering(namer).block(node.body)


def _binds(node: ast.AST) -> bool:
    """Whether an expression binds a variable by `:=`."""
    if isinstance(node, ast.NamedExpr):
        return True
    return not isinstance(node, _OWN) and any(map(_binds, ast.iter_child_nodes(node)))


def binds_lazily(node: ast.AST) -> bool:
    """Whether there is a `:=` in an operand that may not be evaluated."""
    later: Sequence[ast.expr] = ()
    if isinstance(node, ast.BoolOp):
        later = node.values[1:]
    elif isinstance(node, ast.IfExp):
        later = (node.body, node.orelse)
    elif isinstance(node, ast.Compare):
        later = node.comparators[1:]
    if any(map(_binds, later)):
        return True
    return not isinstance(node, _OWN) and any(map(binds_lazily, ast.iter_child_nodes(node)))


class _Lowering:
    def __init__(self, namer: Namer) -> None:
        self.namer = namer

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for statement in body for made in self.statement(statement)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        if is_opaque(node):
            return [node]
        made: list[ast.stmt] = []
        match node:
            case ast.While() if binds_lazily(node.test):
                made = self.loop(node)
            case ast.If() | ast.Assert():
                made, node.test = self.split(node.test)
            case ast.For():
                made, node.iter = self.split(node.iter)
            case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.Return():
                if node.value is not None:
                    made, node.value = self.split(node.value)
        for field in ("body", "orelse", "finalbody"):
            if getattr(node, field, None):
                setattr(node, field, self.block(getattr(node, field)))
        for handler in getattr(node, "handlers", ()):
            handler.body = self.block(handler.body)
        return [*made, node]

    def loop(self, node: ast.While) -> list[ast.stmt]:
        going_on = self.namer.fresh("going_on")
        made, test = self.split(node.test)
        made.append(located(assign_name(going_on, test), node.test))
        node.test = located(name(going_on), node.test)
        again = [copy.deepcopy(statement) for statement in made]
        node.body = [*node.body, *again]
        return made

    def split(self, node: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Statements to carry out first, and what is left of an expression."""
        if not binds_lazily(node):
            return [], node
        made: list[ast.stmt] = []
        match node:
            case ast.UnaryOp(op=ast.Not()):
                made, node.operand = self.split(node.operand)
                return made, node
            case ast.NamedExpr():
                made, node.value = self.split(node.value)
                return made, node
            case ast.BoolOp():
                kept, whole = self.namer.fresh("operand"), ast.unparse(node)
                made, first = self.split(node.values[0])
                made.append(located(assign_name(kept, first), node))
                for value in node.values[1:]:
                    test = name(kept) if isinstance(node.op, ast.And) else negation(name(kept))
                    made.append(self.branch(test, self.kept(kept, value), [], value, (kept, whole)))
                return made, located(name(kept), node)
            case ast.IfExp():
                kept, whole = self.namer.fresh("operand"), ast.unparse(node)
                made, test = self.split(node.test)
                ways = self.kept(kept, node.body), self.kept(kept, node.orelse)
                made.append(self.branch(test, *ways, node, (kept, whole)))
                return made, located(name(kept), node)
        return [], node

    def kept(self, variable: str, value: ast.expr) -> list[ast.stmt]:
        made, last = self.split(value)
        return [*made, located(assign_name(variable, last), value)]

    def branch(
        self,
        test: ast.expr,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        like: ast.expr,
        kept: tuple[str, str],
    ) -> ast.stmt:
        """An `if` that leaves in a variable the value of an expression, as the user wrote it."""
        made = ast.If(test, body, orelse)
        made.operands = kept  # type: ignore[attr-defined]
        return located(made, like)
