"""Reading of the directives `set_loop_options(...)` and `set_element_type(...)`."""

import ast
from collections.abc import Callable
from inspect import unwrap
from types import FunctionType
from typing import Any

from ...graph.source import Site
from .build import ag_call, assign_name, located

__all__ = ["read_directives"]

OPTIONS = (
    "shape_invariants",
    "maximum_iterations",
    "parallel_iterations",
    "swap_memory",
    "grad",
    "on_limit",
    "name",
)


def read_directives(
    node: ast.FunctionDef,
    resolve: Callable[[ast.expr], Any],
    loop_options: Any,
    element_type: Any,
    filename: str = "",
) -> None:
    """Attach options to their loops and create typed lists, in place.

    `resolve` gives the object that an expression denotes, if it is known at conversion.

    Raises
    ------
    ValueError
        If options are set outside of a loop, are not its first statement, or are unknown.
    """
    _DirectiveReader(resolve, loop_options, element_type, filename).visit(node)


class _DirectiveReader(ast.NodeTransformer):
    def __init__(
        self, resolve: Callable[[ast.expr], Any], options: Any, element_type: Any, filename: str
    ) -> None:
        self.resolve = resolve
        self.filename = filename
        self.options = options
        self.element_type = element_type

    def _is(self, node: ast.AST, directive: Any) -> bool:
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call):
            return False
        # Modules that were imported early refer to the directive itself, and later ones to its
        # wrapper.
        function = self.resolve(call.func)
        function = unwrap(function) if isinstance(function, FunctionType) else function
        return function is unwrap(directive)

    def place(self, node: ast.expr | ast.stmt) -> Site:
        return Site(self.filename, node.lineno)

    def loop(self, node: ast.For | ast.While) -> ast.AST:
        if self._is(node.body[0], self.options):
            call = node.body[0].value  # type: ignore[attr-defined]
            self.check(call)
            node.options = call.keywords  # type: ignore[union-attr]
            node.body = node.body[1:] or [located(ast.Pass(), node.body[0])]
        return self.generic_visit(node)

    visit_For = loop
    visit_While = loop

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if self._is(node, self.options):
            raise ValueError(
                "set_loop_options must be the first statement of a loop "
                f"({self.place(node)}); it must be used inside a statement `while` or `for`"
            )
        if self._is(node, self.element_type):
            call = node.value
            assert isinstance(call, ast.Call)
            if not call.args or not isinstance(call.args[0], ast.Name):
                raise ValueError(
                    "set_element_type: its first argument must be the variable that holds the list "
                    f"({self.place(node)})"
                )
            value = ag_call("typed_list", *call.args)
            value.keywords = call.keywords
            return located(assign_name(call.args[0].id, value), node)
        return self.generic_visit(node)

    def check(self, call: ast.Call) -> None:
        if call.args:
            raise ValueError(f"set_loop_options takes keywords only ({self.place(call)})")
        for keyword in call.keywords:
            if keyword.arg not in OPTIONS:
                raise ValueError(
                    f"set_loop_options: unknown option {keyword.arg!r} ({self.place(call)}); the "
                    f"options are {', '.join(OPTIONS)}"
                )
