"""The values of variables in staged statements: structures whose leaves become nodes or stay.

Numbers and arrays become nodes. Other leaves, such as texts and functions, belong to the program
and must be the same on all ways through it. Lists and dictionaries are changed in place by Python,
so what they hold is noted at the entry of a statement, and put back before each way is built.
"""

import dataclasses
import operator
from collections.abc import Iterable
from types import FrameType
from typing import Any, NamedTuple

import jax
import numpy as np

from ...graph.array import Array
from ...graph.control.structure import Structure, flatten, opened
from ...graph.node import Node
from ...graph.operations.operands import as_node, as_variable
from ...graph.source import user_frame
from .aliases import remember
from .second_names import is_container, note
from .undefined import Maybe, Undefined

__all__ = [
    "UNDEFINED",
    "Containers",
    "Value",
    "as_leaf_node",
    "caller",
    "frozen",
    "is_number",
    "own_copy",
    "read_value",
    "same",
]


def is_number(leaf: Any) -> bool:
    """Whether a leaf can become a node."""
    if isinstance(leaf, (Array, bool, int, float, np.bool_, np.number, jax.Array)):
        return True
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biuf"


UNDEFINED = Structure(None, "undefined")


class Value(NamedTuple):
    """A variable's value at one moment."""

    held: Any  # the object itself
    leaves: list[Any]
    paths: list[str]
    structure: Structure


def read_value(held: Any, name: str) -> Value:
    """The structure of what a variable holds; of an undefined one, a single leaf."""
    if isinstance(held, Undefined):
        return Value(held, [], [], UNDEFINED)
    content = held.value if isinstance(held, Maybe) else held
    return Value(held, *flatten(content, name))


def frozen(held: Any) -> Any:
    """A NumPy array as an array of the graph, which operators such as `+=` do not change."""
    if isinstance(held, np.ndarray) and is_number(held):
        array = Array(as_node(held))
        remember(array, held)
        return array
    return held


def own_copy(held: Any) -> Any:
    """A dataclass that may be changed as a copy, so that a branch changes its own."""
    if dataclasses.is_dataclass(held) and not isinstance(held, type):
        leaves, _, structure = flatten(held)
        made = structure.fill(leaves)
        _note_copies(made, held)
        return made
    return held


def _note_copies(made: Any, held: Any) -> None:
    """Note that each part of a copy stands for the part that it is a copy of."""
    found, before = opened(made), opened(held)
    if made is held or found is None or before is None:
        return
    if is_container(made):
        note(made, [held])
    for part, original in zip(found[1], before[1], strict=True):
        _note_copies(part, original)


def same(first: Any, second: Any) -> bool:
    """Whether two leaves are one and the same, so that no branch has to be asked."""
    if first is second:
        return True
    kind = type(first)
    return kind is type(second) and kind in (bool, int, str) and bool(first == second)


class Containers:
    """Lists and dictionaries, with what they held at one moment."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.contents: dict[int, tuple[Any, Any]] = {}
        for value in values:
            self._note(value)

    def _note(self, value: Any) -> None:
        if isinstance(value, (list, dict)):
            if id(value) in self.contents:
                return
            self.contents[id(value)] = (value, value.copy())
        elif not isinstance(value, tuple):
            return
        for part in value.values() if isinstance(value, dict) else value:
            self._note(part)

    def changed(self) -> dict[int, Any]:
        """Those that hold something else by now, by number."""
        return {
            number: held
            for number, (held, content) in self.contents.items()
            if not _alike(held, content)
        }

    def restore(self) -> None:
        """Put the contents back."""
        for held, content in self.contents.values():
            if isinstance(held, list):
                held[:] = content
            else:
                held.clear()
                held.update(content)


def _alike(held: Any, content: Any) -> bool:
    """Whether two lists or dictionaries hold the same objects."""
    if isinstance(held, dict):
        same = list(held) == list(content)
        held, content = list(held.values()), list(content.values())
    else:
        same = len(held) == len(content)
    return same and all(map(operator.is_, held, content))


def caller() -> FrameType:
    """The user's frame that carries out a statement."""
    frame = user_frame()
    assert frame is not None  # the interpreter's main module at least
    return frame


def as_leaf_node(leaf: Any) -> Node:
    """The node of a number or array."""
    return as_variable(np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf)
