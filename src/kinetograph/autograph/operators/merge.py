"""Merging of the values that two branches leave in variables."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.control.branches import join
from ...graph.control.contexts import CondContext
from ...graph.control.results import common_dtype, converted
from ...graph.errors import ShapeError
from ...graph.node import Node
from ...graph.operations.elementwise import promoted
from ...graph.operations.operands import as_node, type_of
from ...graph.source import place_text
from .undefined import (
    LoopUndefined,
    Maybe,
    Undefined,
    UndefinedError,
    UndefinedReturnValue,
    Unread,
)
from .values import RecordedValue, as_leaf_node, is_number, same

__all__ = ["BRANCHES", "Merge", "blank", "no_return_value"]

BRANCHES = ("main", "else")
Fill = Callable[[list[Array]], Any]  # makes a value from the results of the conditional


class Merge:
    """The outputs of two branches, collected variable by variable."""

    def __init__(
        self,
        contexts: Sequence[CondContext],
        lenient: bool = False,
        left: Sequence[str] = ("", ""),
        operands: tuple[str, str] | None = None,
    ) -> None:
        self.contexts = contexts
        self.lenient = lenient  # whether a variable may be bound in one branch only
        self.left = left  # for branches that never reach their end, "return" or "jump"
        # The variable that holds the value of an expression, and the text of the expression.
        self.operand: str | None
        self.operand, self.expression = operands or (None, "")
        self.outputs: tuple[list[Node], list[Node]] = ([], [])
        self.fills: list[Fill] = []

    def variable(self, name: str, first: RecordedValue, second: RecordedValue) -> None:
        """Add a variable with its values at the ends of the branches.

        Raises
        ------
        UndefinedError, ValueError, TypeError, ShapeError
            If one branch leaves it undefined, or the values cannot be results of one conditional.
        """
        self.fills.append(self._variable(name, first, second))

    def variable_if_possible(self, name: str, first: RecordedValue, second: RecordedValue) -> None:
        """Add a variable that may never be read.

        It is undefined if the values cannot be merged.
        """
        count = len(self.outputs[0])
        try:
            self.variable(name, first, second)
        except (UndefinedError, ValueError, TypeError):
            for out in self.outputs:
                del out[count:]
            self.fills.append(lambda _: Undefined(name))

    def unread(self, name: str) -> None:
        """Add a variable that is overwritten before it is read."""
        self.fills.append(lambda _: Unread(name))

    def skip(self) -> None:
        """Add a variable that is not needed."""
        self.fills.append(lambda _: None)

    def finish(self, pred: Node) -> list[Any]:
        """The values after the conditional, in the order of the variables."""
        main, otherwise = self.outputs
        results = join(pred, self.contexts[::-1], (otherwise, main))
        return [fill(results) for fill in self.fills]

    def _variable(self, name: str, first: RecordedValue, second: RecordedValue) -> Fill:
        pair = (first, second)
        if any(isinstance(v.object, Unread) for v in pair):
            return lambda _: Unread(name)
        undefined = [isinstance(v.object, Undefined) for v in pair]
        if all(undefined):
            return lambda _: first.object
        maybe = any(isinstance(v.object, (Maybe, LoopUndefined)) for v in pair)
        exits = {
            exit_kind for exit_kind, missing in zip(self.left, undefined, strict=True) if missing
        }
        if not any(isinstance(v.object, UndefinedReturnValue) for v in pair):
            maybe = maybe or "jump" in exits or (self.lenient and any(undefined))
        if any(undefined):
            missing = undefined.index(True)
            bound = pair[1 - missing]
            unbound = pair[missing].object
            is_read = not isinstance(unbound, UndefinedReturnValue) and "return" not in exits
            if is_read and not maybe:
                raise UndefinedError(
                    f"{name!r} must also be initialized in the {BRANCHES[missing]} branch"
                    f"{place_text()}, because it is used later"
                )
            filled = bound._replace(leaves=list(map(blank, bound.leaves)), object=None)
            values = (filled, bound) if missing == 0 else (bound, filled)
        else:
            values = pair
        fill = self._structure(name, *values)
        if not maybe:
            return fill
        flag = self._leaf("", *(_is_defined(v.object) for v in pair))
        place = next((v.object.place for v in pair if isinstance(v.object, Maybe)), "")
        return lambda results: Maybe(name, fill(results), flag(results), place)

    def _structure(self, name: str, first: RecordedValue, second: RecordedValue) -> Fill:
        _check_structures(name, self._title(name), first, second)
        unchanged = first.object is second.object and not isinstance(
            first.object, (list, dict, tuple)
        )
        if unchanged and all(map(same, first.leaves, second.leaves)):
            return lambda _: first.object
        fills = [
            self._leaf(path, a, b)
            for path, a, b in zip(first.paths, first.leaves, second.leaves, strict=True)
        ]
        return lambda results: first.structure.fill([fill(results) for fill in fills])

    def _leaf(self, path: str, first: Any, second: Any) -> Fill:
        if same(first, second):
            return lambda _: first
        for leaf, other, branch in ((first, second, "main"), (second, first, "else")):
            if not is_number(leaf):
                if path.startswith("retval_"):
                    raise no_return_value(leaf)
                raise TypeError(
                    f"{self._title(path)} is {_kind(leaf)} in the {branch} branch, but "
                    f"{_kind(other)} in the other{place_text()}: a value that depends on a "
                    "symbolic condition must be a number, a boolean or an array of them"
                )
        nodes = []
        for leaf, context in zip((first, second), self.contexts, strict=True):
            with context:
                nodes.append(context.add_value(as_leaf_node(leaf)))
        main, otherwise = nodes
        if main.shape != otherwise.shape:
            raise ShapeError(
                f"{self._title(path)} has shape {main.shape} in the main branch, but shape "
                f"{otherwise.shape} in the else branch{place_text()}; pad the smaller one, or "
                "compute both and choose elements with kg.where"
            )
        dtype = common_dtype(nodes)
        if dtype is None and path == self.operand:
            dtype = promoted(*map(type_of, nodes))  # as `and` and `or` do
        if dtype is None:
            raise TypeError(
                f"{self._title(path)} has dtype {main.dtype} in the main branch, but dtype "
                f"{otherwise.dtype} in the else branch{place_text()}; convert one with .astype"
            )
        for out, node, context in zip(self.outputs, nodes, self.contexts, strict=True):
            out.append(converted(node, dtype, context))
        index = len(self.outputs[0]) - 1
        return lambda results: results[index]

    def _title(self, path: str) -> str:
        operand = self.operand
        if operand is not None and (
            path == operand or path.startswith((f"{operand}[", f"{operand}."))
        ):
            return f"the value of `{self.expression}`{path[len(operand) :]}"
        return _title(path)


def _is_defined(value: Any) -> Any:
    if isinstance(value, Maybe):
        return value.defined
    return not isinstance(value, Undefined)


def blank(leaf: Any) -> Any:
    """A placeholder with the type of a value: NaN or 0.

    It is NaN where the type allows it: a failed check does not stop the evaluation of a density,
    but NaN invalidates it.
    """
    if not is_number(leaf):
        return leaf
    kind = type_of(leaf)
    if isinstance(kind, type):
        return kind(np.nan if issubclass(kind, float) else 0)
    node = as_node(leaf)
    return np.full(node.shape, np.nan if node.dtype.kind == "f" else 0, node.dtype)


def _check_structures(name: str, title: str, first: RecordedValue, second: RecordedValue) -> None:
    difference = first.structure.difference(second.structure)
    if not difference:
        return
    path, main, otherwise = difference
    is_return = first.paths and name.startswith("retval_")
    for branch, structure, other_structure in (
        ("main", main, otherwise),
        ("else", otherwise, main),
    ):
        if structure == "None" and not path:
            if name.startswith("retval_") and branch == "else":
                raise ValueError(
                    f"A value must also be returned from the else branch{place_text()}: the else "
                    f"branch must also have a return statement with {other_structure}"
                )
            if name.startswith("retval_"):
                raise ValueError(
                    f"A value must be returned in all branches{place_text()}: one branch returns "
                    f"None, while another, or the code before, returns {other_structure}"
                )
            raise ValueError(f"{title} is None at the end of the {branch} branch{place_text()}.")
    both_dictionaries = main.startswith("dict") and otherwise.startswith("dict")
    keys = "; create all its keys before, or in both branches" if both_dictionaries else ""
    title = "the return value" if is_return else title
    raise TypeError(
        f"{title} must have the same nested structure in the main and else branches"
        f"{place_text()}: {f'at {path} ' if path else ''}it is {main} in the main branch and "
        f"{otherwise} in the else branch{keys}"
    )


def no_return_value(leaf: Any) -> TypeError:
    """The error for a return value that cannot be symbolic."""
    return TypeError(
        "the return value from a staged branch or loop may only be a number, a boolean, an array, "
        f"or a tuple, list or dict of them; got {leaf!r}{place_text()}"
    )


def _title(path: str) -> str:
    if path.startswith("retval_"):
        suffix = path[path.find("[") :] if "[" in path else ""
        return f"the return value{suffix}"
    return repr(path) if path else "the value of the conditional expression"


def _kind(leaf: Any) -> str:
    if leaf is None:
        return "None"
    if isinstance(leaf, str):
        return f"the text {leaf!r}"
    return f"a {type(leaf).__name__}"
