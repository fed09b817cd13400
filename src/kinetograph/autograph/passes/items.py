"""Rewriting of item assignments: `x[i] = v` gives `x` a new value.

    x[i] = v        x = ag__.assign_item(v, x, i)
    x[i] += v       x = ag__.update_item('+=', ag__.item(x, i), v)
    o.x[i] = v      ag__.assign_item_of(v, o, 'x', i)

Arrays of the graph cannot be changed in place; other objects are changed in place, as in Python.
Names in `writable` may be bound again. For other names, such as globals, only containers can be
changed.
"""

import ast
from typing import TypeGuard

from .build import Namer, ag_call, assign, assign_name, located, name, text

__all__ = ["OPERATORS_IN_PLACE", "index_of", "lower_items"]

OPERATORS_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "+=",
    ast.Sub: "-=",
    ast.Mult: "*=",
    ast.Div: "/=",
    ast.FloorDiv: "//=",
    ast.Mod: "%=",
    ast.Pow: "**=",
    ast.MatMult: "@=",
    ast.BitAnd: "&=",
    ast.BitOr: "|=",
    ast.BitXor: "^=",
    ast.LShift: "<<=",
    ast.RShift: ">>=",
}


def lower_items(body: list[ast.stmt], writable: set[str], namer: Namer) -> list[ast.stmt]:
    """Replace assignments of items in statements, but not in inner functions."""
    lowering = _ItemLowering(writable, namer)
    module = lowering.visit(ast.Module(body, []))
    assert isinstance(module, ast.Module)
    return module.body


class _ItemLowering(ast.NodeTransformer):
    def __init__(self, writable: set[str], namer: Namer) -> None:
        self.writable = writable
        self.namer = namer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]
    visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]
    visit_Lambda = visit_FunctionDef  # type: ignore[assignment]

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        if not any(_has_item(target) for target in node.targets):
            return node
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            return located(self.store(node.targets[0], node.value), node)
        statements: list[ast.stmt] = []
        value = node.value
        if len(node.targets) > 1:
            variable = self.namer.fresh("value")
            statements.append(assign_name(variable, value))
            value = name(variable)
        for target in node.targets:
            deferred: list[ast.stmt] = []
            statements.append(assign(self.replaced(target, deferred), value))
            statements += deferred
        return [located(s, node) for s in statements]

    def replaced(self, target: ast.expr, deferred: list[ast.stmt]) -> ast.expr:
        """A target in which names hold items, and targets that follow them.

        Statements that assign from these names are appended to `deferred`, so that assignments
        happen in Python's order.
        """
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = [self.replaced(part, deferred) for part in target.elts]
            return type(target)(parts, ast.Store())
        if isinstance(target, ast.Starred):
            return ast.Starred(self.replaced(target.value, deferred), ast.Store())
        if not isinstance(target, ast.Subscript) and not deferred:
            return target
        variable = self.namer.fresh("item")
        if isinstance(target, ast.Subscript):
            deferred.append(self.store(target, name(variable)))
        else:
            deferred.append(assign(target, name(variable)))
        return ast.Name(variable, ast.Store())

    def store(self, target: ast.Subscript, value: ast.expr) -> ast.stmt:
        owner, path = _split(target)
        if self.is_writable(owner):
            return assign_name(owner.id, ag_call("assign_item", value, owner, *path))
        if isinstance(owner, ast.Attribute):
            owner_and_attribute = (owner.value, text(owner.attr))
            return ast.Expr(ag_call("assign_item_of", value, *owner_and_attribute, *path))
        return ast.Expr(ag_call("assign_item_in", value, owner, *path))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Subscript):
            return node
        word = text(OPERATORS_IN_PLACE[type(node.op)])
        owner, path = _split(node.target)
        statement: ast.stmt
        if self.is_writable(owner):
            item = ag_call("item", owner, *path)
            statement = assign_name(owner.id, ag_call("update_item", word, item, node.value))
        elif isinstance(owner, ast.Attribute):
            item = ag_call("item_of", owner.value, text(owner.attr), *path)
            statement = ast.Expr(ag_call("update_item_of", word, item, node.value))
        else:
            item = ag_call("item", owner, *path)
            statement = ast.Expr(ag_call("update_item_in", word, item, node.value))
        return located(statement, node)

    def is_writable(self, owner: ast.expr) -> TypeGuard[ast.Name]:
        return isinstance(owner, ast.Name) and owner.id in self.writable


def _split(target: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """The indexed expression, and its indices."""
    owner: ast.expr = target
    path: list[ast.expr] = []
    while isinstance(owner, ast.Subscript):
        path.insert(0, index_of(owner.slice))
        owner = owner.value
    return owner, path


def _has_item(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(map(_has_item, target.elts))
    if isinstance(target, ast.Starred):
        return _has_item(target.value)
    return isinstance(target, ast.Subscript)


def index_of(node: ast.expr) -> ast.expr:
    """The index between the brackets, as an expression."""
    if isinstance(node, ast.Slice):
        parts = [part or text(None) for part in (node.lower, node.upper, node.step)]
        return ag_call("slice", *parts)
    if isinstance(node, ast.Tuple):
        return ast.Tuple([index_of(part) for part in node.elts], ast.Load())
    return node
