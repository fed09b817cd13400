"""The variables that statements carry, and variables that may be undefined.

The state of a statement consists of the symbols that it modifies and that are read later, or that
are read in it before they are bound. A variable is managed if it may be undefined where it is read
and some statement carries it: it holds an `Undefined` until it is bound, and its reads are marked.
"""

import ast
from typing import NamedTuple

from ..analysis.activity import activity, root
from ..analysis.cfg import FlowGraph
from ..analysis.dataflow import UNDEFINED, live_before, reaching_definitions
from .build import is_opaque

__all__ = ["Carried", "CarriedSymbols"]


class CarriedSymbols(NamedTuple):
    """The symbols that a statement carries."""

    symbols: tuple[str, ...]  # first the needed ones, then the shared ones, then the remaining ones
    needed: int  # number of symbols that are read afterwards
    shared: int  # number of further symbols that inner functions may read at any time
    modified: frozenset[str]  # all modified symbols, also symbols that are not carried


class Carried:
    """The variables of a function, and the states of its statements.

    `modules` are names of modules, which have no state; `unsure` are variables of enclosing
    functions that may be undefined.

    Attributes
    ----------
    local_names, shared
        The local variables, and the variables that are declared `global` or `nonlocal`.
    states
        The state of each `if`, `while` and `for`.
    managed
        Variables that may be undefined.
    """

    def __init__(
        self, node: ast.FunctionDef, modules: frozenset[str], unsure: frozenset[str]
    ) -> None:
        self.node, self.modules = node, modules
        spec = node.args
        arguments = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
        self.parameters = {a.arg for a in arguments if a is not None}
        self.activity = activity(node.body)
        symbols = self.activity
        bound = {s for s in symbols.binds | symbols.removes if "." not in s}
        self.shared = symbols.globals | symbols.nonlocals
        self.local_names = (bound | self.parameters) - self.shared
        self.unsure = unsure - self.local_names
        self.states: dict[ast.stmt, CarriedSymbols] = {}
        self.managed: set[str] = set()
        self._analyse()

    def _analyse(self) -> None:
        graph = FlowGraph(self.node.body, sorted(self.parameters))
        live = live_before(graph.points)
        definitions = reaching_definitions(graph, self.local_names - self.parameters)
        for statement in graph.before:
            if not isinstance(statement, (ast.If, ast.While, ast.For)):
                continue
            starts = [graph.before[first] for first in (statement.body[0], *statement.orelse[:1])]
            if isinstance(statement, ast.For):
                starts = []  # the body starts by binding the target
            if not isinstance(statement, ast.If):
                starts.append(graph.heads[statement])
            inside = set[str]().union(*(live[start] for start in starts))
            behind = live[graph.after[statement]]
            state = self._state_of(statement, behind, inside)
            self.states[statement] = state
            before = definitions[graph.before[statement]]
            for symbol in state.symbols:
                if UNDEFINED in before.get(symbol, ()) or symbol in self.activity.removes:
                    self.managed.add(symbol)
        if self.states:  # reads may move into generated functions
            for point in graph.points:
                for symbol in point.activity.reads & self.local_names:
                    if UNDEFINED in definitions[point].get(symbol, ()):
                        self.managed.add(symbol)
        unsure = self.managed | self.unsure
        if unsure:
            for point in graph.points:
                reaching = definitions[point]
                names = {n for n in unsure if n in self.unsure or UNDEFINED in reaching.get(n, ())}
                for code in point.code:
                    _mark(code, names, unsure)

    def _state_of(
        self, node: ast.If | ast.While | ast.For, behind: set[str], inside: set[str]
    ) -> CarriedSymbols:
        symbols = activity(_parts(node))
        modified = symbols.modifies | (self.activity.rebound if symbols.calls else set())
        modified = {s for s in modified if root(s) not in self.modules}
        needed, shared, remaining = set(), set(), set()
        for symbol in modified:
            base = symbol.rpartition(".")[0]
            if base:
                # An attribute of an object that exists before and after the statement.
                if root(symbol) not in symbols.binds and not any(
                    prefix in symbols.binds for prefix in _prefixes(symbol)
                ):
                    needed.add(symbol)
            elif symbol in behind or symbol in self.shared:
                needed.add(symbol)
            elif symbol in symbols.mutates and (symbol in inside or symbol not in symbols.binds):
                needed.add(symbol)  # other names may refer to the container
            elif symbol in self.activity.captured:
                shared.add(symbol)
            elif symbol in inside:
                remaining.add(symbol)
        carried = (*sorted(needed), *sorted(shared), *sorted(remaining))
        return CarriedSymbols(carried, len(needed), len(shared), frozenset(modified))


def _parts(node: ast.If | ast.While | ast.For) -> list[ast.AST]:
    """The parts of a statement that may modify variables."""
    if isinstance(node, ast.If):
        return [*node.body, *node.orelse]
    head: list[ast.AST] = [node.test] if isinstance(node, ast.While) else [node.target]
    return [*head, *node.body]


def _prefixes(symbol: str) -> list[str]:
    parts = symbol.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


def _mark(code: ast.AST, here: set[str], inside: set[str]) -> None:
    """Mark reads of variables that may be undefined.

    `here` are the names at this point, and `inside` the names for nested functions, which may be
    called at any time.
    """
    if isinstance(code, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        here = inside
    if isinstance(code, ast.Name) and code.id in here:
        code.unsure = True  # type: ignore[attr-defined]
    if isinstance(code, (ast.FunctionDef, ast.ClassDef)) and is_opaque(code):
        return
    for child in ast.iter_child_nodes(code):
        _mark(child, here, inside)
