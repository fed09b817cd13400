"""The symbols that a piece of code reads, binds, removes and mutates.

A symbol is the name of a variable, or the path of an attribute that starts with one (`a.b.c`).
Names bound in lambdas, comprehensions and nested functions are local to them and do not count;
symbols that these scopes read from outside do.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["MUTATORS", "Activity", "activity", "path_of", "root", "without_items"]

MUTATORS = frozenset(
    (
        *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"),
        *("update", "setdefault", "popitem", "add", "discard", "appendleft", "popleft"),
    )
)


@dataclass
class Activity:
    """The symbols of a piece of code."""

    reads: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    removes: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)  # by a method such as `append`
    captured: set[str] = field(default_factory=set)  # shared with nested functions
    rebound: set[str] = field(default_factory=set)  # nonlocals of nested functions
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    calls: bool = False

    @property
    def modifies(self) -> set[str]:
        """The symbols that may have another value afterwards."""
        modified = self.binds | self.removes | self.mutates
        return modified | self.rebound if self.calls else modified

    def include(self, other: "Activity") -> None:
        """Add the symbols of another piece of code."""
        for name in ("reads", "binds", "removes", "mutates", "captured", "rebound"):
            getattr(self, name).update(getattr(other, name))
        self.globals |= other.globals
        self.nonlocals |= other.nonlocals
        self.calls |= other.calls


def root(symbol: str) -> str:
    """The variable with which a symbol starts."""
    return symbol.partition(".")[0]


def path_of(node: ast.AST) -> str | None:
    """The symbol that an expression denotes.

    None if the expression is not made of names and dots only.
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def without_items(node: ast.expr) -> ast.expr:
    """The indexed expression: `a.b` of `a.b[i][j]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def activity(code: ast.AST | Iterable[ast.AST]) -> Activity:
    """The symbols of statements or expressions and their parts."""
    visitor = _Visitor()
    for node in [code] if isinstance(code, ast.AST) else code:
        visitor.visit(node)
    return visitor.activity


class _Visitor(ast.NodeVisitor):
    def __init__(self) -> None:
        self.activity = Activity()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.activity.reads.add(node.id)
        elif isinstance(node.ctx, ast.Store):
            self.activity.binds.add(node.id)
        else:
            self.activity.reads.add(node.id)  # `del` needs a bound name
            self.activity.removes.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = path_of(node)
        if path is not None:
            symbols = self.activity.reads if isinstance(node.ctx, ast.Load) else self.activity.binds
            symbols.add(path)
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        path = path_of(node.target)
        if path is not None:
            self.activity.reads.add(path)
            self.activity.mutates.add(path)  # lists and NumPy arrays are changed in place
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.activity.calls = True
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in MUTATORS:
            owner = path_of(without_items(function.value))
            if owner is not None and not owner.endswith(".at"):  # x.at[i].add gives a new array
                self.activity.mutates.add(owner)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        owner = path_of(without_items(node.value))
        if owner is not None and not isinstance(node.ctx, ast.Load):
            self.activity.mutates.add(owner)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.activity.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.activity.nonlocals.update(node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.activity.binds.add(node.name)
            self.activity.removes.add(node.name)  # at the end of the handler
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.activity.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.activity.binds.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.activity.binds.add(node.rest)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.activity.binds.add((node.asname or node.name).partition(".")[0])

    def visit_TypeAlias(self, node: ast.AST) -> None:
        self.activity.binds.add(node.name.id)  # type: ignore[attr-defined]
        self._enclose(activity(node.value), _type_parameters(node))  # type: ignore[attr-defined]

    # Nodes that open a scope.
    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.activity.binds.add(node.name)
        for part in (*node.decorator_list, *_defaults(node.args)):
            self.visit(part)
        annotations = [a.annotation for a in _all_arguments(node.args) if a.annotation is not None]
        self._enclose(
            activity([*annotations, *filter(None, [node.returns])]), _type_parameters(node)
        )
        inner = activity(node.body)
        if getattr(node, "inlined", False):  # a pattern of `match`, which binds in this scope
            self.activity.binds |= inner.nonlocals | inner.globals
            self.activity.reads |= inner.reads - _parameters(node.args)
            return
        local = inner.binds | inner.removes | _parameters(node.args) | _type_parameters(node)
        local -= inner.globals
        local -= inner.nonlocals
        self._enclose(inner, local)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in _defaults(node.args):
            self.visit(part)
        inner = activity(node.body)
        self._enclose(inner, _parameters(node.args) | inner.binds)

    def _enclose(self, inner: Activity, local: set[str]) -> None:
        """Add the symbols that a nested scope shares with this one."""
        reads = {s for s in inner.reads | inner.captured if root(s) not in local}
        writes = (inner.nonlocals & (inner.binds | inner.removes) | inner.rebound) - local
        self.activity.reads |= reads
        self.activity.captured |= {root(s) for s in reads} | writes
        self.activity.rebound |= writes
        self.activity.mutates |= {s for s in inner.mutates if root(s) not in local}

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.activity.binds.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        inner = activity(node.body)
        self._enclose(inner, inner.binds - inner.nonlocals)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self._comprehension(node.generators, [node.elt])

    visit_SetComp = visit_ListComp
    visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node.generators, [node.key, node.value])

    def _comprehension(self, generators: list[ast.comprehension], results: list[ast.expr]) -> None:
        self.visit(generators[0].iter)
        inner, local = Activity(), set[str]()
        for i, generator in enumerate(generators):
            local |= activity(generator.target).binds
            parts = [*generator.ifs] if i == 0 else [generator.iter, *generator.ifs]
            inner.include(activity(parts))
        inner.include(activity(results))
        self.activity.reads |= {s for s in inner.reads if root(s) not in local}
        self.activity.binds |= inner.binds - local  # by `:=`, which binds outside the comprehension
        self.activity.mutates |= {s for s in inner.mutates if root(s) not in local}
        self.activity.captured |= inner.captured - local
        self.activity.rebound |= inner.rebound - local
        self.activity.calls |= inner.calls


def _all_arguments(spec: ast.arguments) -> list[ast.arg]:
    positional_and_keyword = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    return [*positional_and_keyword, *(a for a in (spec.vararg, spec.kwarg) if a is not None)]


def _parameters(spec: ast.arguments) -> set[str]:
    return {a.arg for a in _all_arguments(spec)}


def _type_parameters(node: ast.AST) -> set[str]:
    return {part.name for part in getattr(node, "type_params", ())}


def _defaults(spec: ast.arguments) -> list[ast.expr]:
    """The expressions that are evaluated where a function is defined."""
    return [*spec.defaults, *(d for d in spec.kw_defaults if d is not None)]
