"""`x[i] = v` gives `x` a new value, for arrays of the graph cannot be changed in place.

    x[i] = v        x = ag__.assign_item(v, x, i)
    x[i] += v       x = ag__.update_item('+=', ag__.item(x, i), v)
    o.x[i] = v      ag__.assign_item_of(v, o, 'x', i)

What is no array is changed in place, as ever. `writable` names may be bound anew; of others, such
as globals, only containers can be changed.
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
    """The statements with assignments of items replaced, but not those of inner functions."""
    lowering = _Lowering(writable, namer)
    module = lowering.visit(ast.Module(body, []))
    assert isinstance(module, ast.Module)
    return module.body


class _Lowering(ast.NodeTransformer):
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
        made: list[ast.stmt] = []
        value = node.value
        if len(node.targets) > 1:
            kept = self.namer.fresh("value")
            made.append(assign_name(kept, value))
            value = name(kept)
        for target in node.targets:
            later: list[ast.stmt] = []
            made.append(assign(self.replaced(target, later), value))
            made += later
        return [located(s, node) for s in made]

    def replaced(self, target: ast.expr, later: list[ast.stmt]) -> ast.expr:
        """A target whose items, and what follows them, are held by names and assigned `later`."""
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = [self.replaced(part, later) for part in target.elts]
            return type(target)(parts, ast.Store())
        if isinstance(target, ast.Starred):
            return ast.Starred(self.replaced(target.value, later), ast.Store())
        if not isinstance(target, ast.Subscript) and not later:
            return target
        kept = self.namer.fresh("item")
        if isinstance(target, ast.Subscript):
            later.append(self.store(target, name(kept)))
        else:
            later.append(assign(target, name(kept)))
        return ast.Name(kept, ast.Store())

    def store(self, target: ast.Subscript, value: ast.expr) -> ast.stmt:
        owner, path = _split(target)
        if self.is_writable(owner):
            return assign_name(owner.id, ag_call("assign_item", value, owner, *path))
        if isinstance(owner, ast.Attribute):
            place = (owner.value, text(owner.attr))
            return ast.Expr(ag_call("assign_item_of", value, *place, *path))
        return ast.Expr(ag_call("assign_item_in", value, owner, *path))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Subscript):
            return node
        word = text(OPERATORS_IN_PLACE[type(node.op)])
        owner, path = _split(node.target)
        made: ast.stmt
        if self.is_writable(owner):
            place = ag_call("item", owner, *path)
            made = assign_name(owner.id, ag_call("update_item", word, place, node.value))
        elif isinstance(owner, ast.Attribute):
            place = ag_call("item_of", owner.value, text(owner.attr), *path)
            made = ast.Expr(ag_call("update_item_of", word, place, node.value))
        else:
            place = ag_call("item", owner, *path)
            made = ast.Expr(ag_call("update_item_in", word, place, node.value))
        return located(made, node)

    def is_writable(self, owner: ast.expr) -> TypeGuard[ast.Name]:
        return isinstance(owner, ast.Name) and owner.id in self.writable


def _split(target: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """What is indexed, and by what."""
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
    """What stands between the brackets, as an expression."""
    if isinstance(node, ast.Slice):
        parts = [part or text(None) for part in (node.lower, node.upper, node.step)]
        return ag_call("slice", *parts)
    if isinstance(node, ast.Tuple):
        return ast.Tuple([index_of(part) for part in node.elts], ast.Load())
    return node
