"""Which symbols a piece of code reads, binds, removes and mutates.

A symbol is a variable's name, or the path of an attribute that starts with one (`a.b.c`). Names
bound by lambdas, comprehensions and nested functions are their own and do not count; what these
read from outside does.
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
    captured: set[str] = field(default_factory=set)  # read or written by nested functions
    rebound: set[str] = field(default_factory=set)  # nonlocals of nested functions
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    calls: bool = False

    @property
    def modifies(self) -> set[str]:
        """All that may have another value afterwards."""
        found = self.binds | self.removes | self.mutates
        return found | self.rebound if self.calls else found

    def include(self, other: "Activity") -> None:
        """Add the symbols of another piece."""
        for name in ("reads", "binds", "removes", "mutates", "captured", "rebound"):
            getattr(self, name).update(getattr(other, name))
        self.globals |= other.globals
        self.nonlocals |= other.nonlocals
        self.calls |= other.calls


def root(symbol: str) -> str:
    """The variable that a symbol starts with."""
    return symbol.partition(".")[0]


def path_of(node: ast.AST) -> str | None:
    """The symbol an expression stands for; None if it is more than names and dots."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def without_items(node: ast.expr) -> ast.expr:
    """What is indexed: `a.b` of `a.b[i][j]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def activity(code: ast.AST | Iterable[ast.AST]) -> Activity:
    """The symbols of statements or expressions, with all they contain."""
    visitor = _Visitor()
    for node in [code] if isinstance(code, ast.AST) else code:
        visitor.visit(node)
    return visitor.found


class _Visitor(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found = Activity()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.reads.add(node.id)
        elif isinstance(node.ctx, ast.Store):
            self.found.binds.add(node.id)
        else:
            self.found.reads.add(node.id)  # it has to be there
            self.found.removes.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = path_of(node)
        if path is not None:
            place = self.found.reads if isinstance(node.ctx, ast.Load) else self.found.binds
            place.add(path)
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        path = path_of(node.target)
        if path is not None:
            self.found.reads.add(path)
            self.found.mutates.add(path)  # lists and NumPy arrays are changed in place
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.found.calls = True
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in MUTATORS:
            owner = path_of(without_items(function.value))
            if owner is not None and not owner.endswith(".at"):  # x.at[i].add gives a new array
                self.found.mutates.add(owner)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        owner = path_of(without_items(node.value))
        if owner is not None and not isinstance(node.ctx, ast.Load):
            self.found.mutates.add(owner)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.found.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.found.nonlocals.update(node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.found.binds.add(node.name)
            self.found.removes.add(node.name)  # at its end
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.found.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.found.binds.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.found.binds.add(node.rest)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.found.binds.add((node.asname or node.name).partition(".")[0])

    def visit_TypeAlias(self, node: ast.AST) -> None:
        self.found.binds.add(node.name.id)  # type: ignore[attr-defined]
        self._enclose(activity(node.value), _type_parameters(node))  # type: ignore[attr-defined]

    # Scopes of their own.
    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.found.binds.add(node.name)
        for part in (*node.decorator_list, *_outside(node.args)):
            self.visit(part)
        notes = [a.annotation for a in _every(node.args) if a.annotation is not None]
        self._enclose(activity([*notes, *filter(None, [node.returns])]), _type_parameters(node))
        inner = activity(node.body)
        if getattr(node, "inlined", False):  # a pattern of `match`, which binds here
            self.found.binds |= inner.nonlocals | inner.globals
            self.found.reads |= inner.reads - _parameters(node.args)
            return
        own = inner.binds | inner.removes | _parameters(node.args) | _type_parameters(node)
        own -= inner.globals
        own -= inner.nonlocals
        self._enclose(inner, own)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in _outside(node.args):
            self.visit(part)
        inner = activity(node.body)
        self._enclose(inner, _parameters(node.args) | inner.binds)

    def _enclose(self, inner: Activity, own: set[str]) -> None:
        reads = {s for s in inner.reads | inner.captured if root(s) not in own}
        writes = (inner.nonlocals & (inner.binds | inner.removes) | inner.rebound) - own
        self.found.reads |= reads
        self.found.captured |= {root(s) for s in reads} | writes
        self.found.rebound |= writes
        self.found.mutates |= {s for s in inner.mutates if root(s) not in own}

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.found.binds.add(node.name)
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
        inner, own = Activity(), set[str]()
        for i, generator in enumerate(generators):
            own |= activity(generator.target).binds
            parts = [*generator.ifs] if i == 0 else [generator.iter, *generator.ifs]
            inner.include(activity(parts))
        inner.include(activity(results))
        self.found.reads |= {s for s in inner.reads if root(s) not in own}
        self.found.binds |= inner.binds - own  # by `:=`, which binds outside
        self.found.mutates |= {s for s in inner.mutates if root(s) not in own}
        self.found.captured |= inner.captured - own
        self.found.rebound |= inner.rebound - own
        self.found.calls |= inner.calls


def _every(spec: ast.arguments) -> list[ast.arg]:
    several = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    return [*several, *(a for a in (spec.vararg, spec.kwarg) if a is not None)]


def _parameters(spec: ast.arguments) -> set[str]:
    return {a.arg for a in _every(spec)}


def _type_parameters(node: ast.AST) -> set[str]:
    return {part.name for part in getattr(node, "type_params", ())}


def _outside(spec: ast.arguments) -> list[ast.expr]:
    """What is evaluated where a function is defined."""
    return [*spec.defaults, *(d for d in spec.kw_defaults if d is not None)]
