"""The values of variables in staged statements: structures whose leaves become nodes or stay.

Numbers and arrays become nodes. Other leaves, such as texts and functions, belong to the program
and must be the same on all ways through it. Lists and dictionaries are changed in place by Python,
so what they hold is noted at the entry of a statement, and put back before each way is built.
"""

import dataclasses
import sys
from collections.abc import Iterable
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import jax
import numpy as np

from ...graph.array import Array
from ...graph.control.results import place_text
from ...graph.control.structure import Pattern, flatten
from ...graph.elementwise import WEAK, as_node
from ...graph.errors import StagingError
from ...graph.node import Node
from ..skipped import is_library
from .undefined import Maybe, Undefined

__all__ = [
    "Containers",
    "Value",
    "as_leaf_node",
    "caller",
    "frozen",
    "is_number",
    "own_copy",
    "read_value",
    "refilled",
    "refuse_leak",
    "same",
    "user_containers",
    "weak",
]

_MUTABLE = (list, dict, set)


def is_number(leaf: Any) -> bool:
    """Whether a leaf can become a node."""
    if isinstance(leaf, (Array, bool, int, float, np.bool_, np.number, jax.Array)):
        return True
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biuf"


class Value(NamedTuple):
    """A variable's value at one moment."""

    held: Any  # the object itself
    leaves: list[Any]
    paths: list[str]
    pattern: Pattern


def read_value(held: Any, name: str) -> Value:
    """The structure of what a variable holds; of an undefined one, a single leaf."""
    if isinstance(held, Undefined):
        return Value(held, [], [], Pattern(None, "undefined"))
    content = held.value if isinstance(held, Maybe) else held
    return Value(held, *flatten(content, name))


def frozen(held: Any) -> Any:
    """A NumPy array as an array of the graph, which operators such as `+=` do not change."""
    if isinstance(held, np.ndarray) and is_number(held):
        return Array(as_node(held))
    return held


def own_copy(held: Any) -> Any:
    """A dataclass that may be changed as a copy, so that a branch changes its own."""
    if dataclasses.is_dataclass(held) and not isinstance(held, type):
        leaves, _, pattern = flatten(held)
        return pattern.fill(leaves)
    return held


def weak(leaf: Any) -> bool:
    """Whether a leaf takes the type of what it meets."""
    return isinstance(leaf, WEAK)


def same(first: Any, second: Any) -> bool:
    """Whether two leaves are one and the same, so that no branch has to be asked."""
    if first is second:
        return True
    kind = type(first)
    return kind is type(second) and kind in (bool, int, str) and bool(first == second)


class Containers:
    """Lists, dictionaries and sets, with what they held at one moment."""

    def __init__(self, values: Iterable[tuple[str, Any]]) -> None:
        self.contents: dict[int, tuple[Any, Any, str]] = {}
        for name, value in values:
            self._note(value, name, 0)

    def _note(self, value: Any, name: str, depth: int) -> None:
        if isinstance(value, _MUTABLE):
            if id(value) in self.contents or depth > 4:
                return
            self.contents[id(value)] = (value, value.copy(), name)
            parts: Iterable[Any] = value.values() if isinstance(value, dict) else value
        elif isinstance(value, tuple):
            parts = value
        else:
            return
        for part in parts:
            if isinstance(part, (*_MUTABLE, tuple)):
                self._note(part, name, depth + 1)

    def restore(self) -> None:
        """Put the contents back."""
        for held, content, _ in self.contents.values():
            if isinstance(held, list):
                held[:] = content
            else:
                held.clear()
                held.update(content)

    def changed(self) -> str | None:
        """The name of one that holds something else now."""
        for held, content, name in self.contents.values():
            if not _alike(held, content):
                return name
        return None


def _alike(first: Any, second: Any) -> bool:
    if len(first) != len(second):
        return False
    if isinstance(first, dict):
        return all(k in second and second[k] is v for k, v in first.items())
    if isinstance(first, set):
        return bool(first == second)
    return all(a is b for a, b in zip(first, second, strict=True))


def user_containers(frame: FrameType) -> Containers:
    """What the variables of a user's function hold, and the attributes of the objects in them."""
    found: list[tuple[str, Any]] = []
    for name, value in frame.f_locals.items():
        if isinstance(value, (*_MUTABLE, tuple)):
            found.append((name, value))
        elif not isinstance(value, (type, ModuleType, FunctionType, MethodType, Array)):
            attributes = getattr(value, "__dict__", None)
            if isinstance(attributes, dict) and not is_library(type(value).__module__):
                found.append((name, attributes))
    return Containers(found)


def refuse_leak(containers: Containers, statement: str) -> None:
    """Complain about a container that a staged statement changed behind its variables' backs."""
    name = containers.changed()
    if name is not None:
        raise StagingError(
            f"{name!r} is modified inside a staged {statement}{place_text()} in a way that cannot "
            "be followed, by a function that is called or through another name: all ways are "
            "built, so it would change even where the program does not get there. Assign to a "
            "variable or an attribute in the function itself, or return the new value"
        )


def refilled(held: Any, value: Any) -> Any:
    """A list or dictionary with new contents, else the new value itself."""
    if type(held) is not type(value):
        return value
    if isinstance(held, list):
        old = [*held, *[None] * max(len(value) - len(held), 0)]
        held[:] = [refilled(a, b) for a, b in zip(old, value, strict=False)]
        return held
    if isinstance(held, dict):
        new = {k: refilled(held.get(k), v) for k, v in value.items()}
        held.clear()
        held.update(new)
        return held
    return value


def caller() -> FrameType:
    """The user's frame that carries out a statement."""
    return sys._getframe(2)


def as_leaf_node(leaf: Any) -> Node:
    """The node of a number or array."""
    return as_node(np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf)
