"""Recognition of `for` loops whose number is only an index.

    for t in range(1, len(y)):
        level = level + gain * (y[t] - level)
        if t > 10: error = error + abs(y[t] - level)

A long loop over a Python `range` has the same meaning in Python and in the graph if its number is
only used in indices and conditions, and if a trip has no effects other than on variables. Which
objects the names denote is checked when the loop runs (`operators/index_loops.py`).
"""

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..skipped_libraries import is_library

__all__ = ["PURE_BUILTINS", "mark_index_loops"]

PURE_BUILTINS = (abs, bool, float, int, len, max, min, pow, range, round, sum, tuple)
_NUMPY = frozenset(
    (
        *("array", "asarray", "clip", "cumsum", "dot", "inner", "max", "mean", "min", "outer"),
        *("ones", "prod", "stack", "sum", "vdot", "where", "zeros"),
    )
)
_OPERATORS = ast.Add, ast.Sub, ast.FloorDiv, ast.Mod
_LARGEST = 2**20  # factors of indices, which Python computes without overflow
_COMPARISONS = ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq
_SCOPES = (
    *(ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.NamedExpr, ast.Await),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom),
    *(ast.JoinedStr, ast.Starred),
)


def mark_index_loops(node: ast.FunctionDef, resolve: Callable[[ast.expr], Any]) -> None:
    """Mark the loops over `range` that may become loops of the graph.

    Their attribute `index_loop` is set, in place, to the names in the body, and the names of arrays
    whose items are assigned.

    `resolve` gives the object that an expression denotes, if it is known at conversion.
    """
    for loop in ast.walk(node):
        if isinstance(loop, ast.For) and _is_index_loop(loop, resolve):
            loop.index_loop = _names(loop.body)  # type: ignore[attr-defined]


def _names(body: Sequence[ast.stmt]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The names in a body, and the names with assigned items."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    names = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name))
    stored = (n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    return tuple(names), frozenset(n.value.id for n in stored if isinstance(n.value, ast.Name))


def _is_index_loop(loop: ast.For, resolve: Callable[[ast.expr], Any]) -> bool:
    if not isinstance(loop.target, ast.Name) or loop.orelse or not _is_range(loop.iter, resolve):
        return False
    return all(_Trip(loop.target.id, resolve).allows(statement) for statement in loop.body)


def _is_range(node: ast.expr, resolve: Callable[[ast.expr], Any]) -> bool:
    return isinstance(node, ast.Call) and resolve(node.func) is range


class _Trip:
    """The parts of a loop that leave only values of variables behind."""

    def __init__(self, number: str, resolve: Callable[[ast.expr], Any]) -> None:
        self.number, self.resolve = number, resolve

    def allows(self, node: ast.AST) -> bool:
        match node:
            case ast.Name():
                return node.id != self.number
            case ast.Constant():
                return not isinstance(node.value, (str, bytes))
            case ast.Subscript():
                return self.allows(node.value) and self.is_index(node.slice)
            case ast.Compare():
                operands = [node.left, *node.comparators]
                return self.may_compare(node) and all(map(self.allows, operands))
            case ast.IfExp():
                return self.is_condition(node.test) and all(
                    map(self.allows, (node.body, node.orelse))
                )
            case ast.Call():
                return self.may_call(node.func) and all(
                    map(self.allows, [node.func, *node.args, *node.keywords])
                )
            case ast.Assign():
                return all(map(self.is_target, node.targets)) and self.allows(node.value)
            case ast.AugAssign() | ast.AnnAssign():
                value = node.value is None or self.allows(node.value)
                return value and self.is_target(node.target)
            case ast.For():
                ranges = _is_range(node.iter, self.resolve) and isinstance(node.target, ast.Name)
                parts = [*node.iter.args, *node.body] if ranges else []  # type: ignore[attr-defined]
                return ranges and not node.orelse and all(map(self.allows, parts))
            case ast.If() | ast.While():
                parts = [*node.body, *node.orelse]
                return self.is_condition(node.test) and all(map(self.allows, parts))
            case ast.stmt():
                return isinstance(node, (ast.Pass, ast.Continue)) or (
                    isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                )
        if isinstance(node, _SCOPES):
            return False
        return all(map(self.allows, ast.iter_child_nodes(node)))

    def is_target(self, node: ast.expr) -> bool:
        """Whether an assignment only changes a variable or an item."""
        match node:
            case ast.Name():
                return node.id != self.number
            case ast.Tuple():
                return all(map(self.is_target, node.elts))
            case ast.Subscript():
                return isinstance(node.value, ast.Name) and self.allows(node)
        return False

    def is_index(self, node: ast.expr) -> bool:
        """Whether an expression may contain the loop's number."""
        match node:
            case ast.Name():
                return True
            case ast.BinOp(op=ast.Mult()):
                factors = (node.left, node.right)
                small = any(_is_small(factor) for factor in factors)
                return small and all(map(self.is_index, factors))
            case ast.BinOp():
                operator = isinstance(node.op, _OPERATORS)
                return operator and self.is_index(node.left) and self.is_index(node.right)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                return self.is_index(node.operand)
            case ast.Tuple():
                return all(map(self.is_index, node.elts))
        return self.allows(node)

    def is_condition(self, node: ast.expr) -> bool:
        """Whether a condition may compare the loop's number."""
        match node:
            case ast.Compare():
                operands = [node.left, *node.comparators]
                return self.may_compare(node) and all(map(self.is_index, operands))
            case ast.BoolOp():
                return all(map(self.is_condition, node.values))
            case ast.UnaryOp(op=ast.Not()):
                return self.is_condition(node.operand)
        return self.allows(node)

    def may_compare(self, node: ast.Compare) -> bool:
        """Whether a comparison has the same meaning for an array."""
        pairs = zip(node.ops, node.comparators, strict=True)
        return all(
            isinstance(operator, _COMPARISONS)
            or (isinstance(operator, (ast.Is, ast.IsNot)) and _is_none(operand))
            for operator, operand in pairs
        )

    def may_call(self, node: ast.expr) -> bool:
        """Whether a called function may be free of effects.

        Functions that are not known at conversion are checked when they are called.
        """
        function = self.resolve(node)
        if function is None:
            return True
        module = getattr(function, "__module__", None) or ""
        if module == "builtins":
            return any(function is f for f in PURE_BUILTINS)
        if isinstance(function, np.ufunc) or module == math.__name__:
            return True
        if module == "numpy":
            return function.__name__ in _NUMPY
        return module.partition(".")[0] in ("kinetograph", "jax") or not is_library(module)


def _is_small(node: ast.expr) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, int) and abs(value) <= _LARGEST


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
