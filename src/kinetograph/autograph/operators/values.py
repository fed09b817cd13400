"""Values of variables in staged statements, as structures with leaves.

Numbers and arrays become nodes. Other leaves, such as texts and functions, belong to the program
and must be the same on all paths through the statement. Python changes lists and dictionaries in
place, so their content is recorded when a statement begins, and restored before each branch is
built.
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
from .shared_objects import is_container, note
from .undefined import Maybe, Undefined

__all__ = [
    "UNDEFINED",
    "Containers",
    "RecordedValue",
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


class RecordedValue(NamedTuple):
    """The value of a variable at one moment."""

    object: Any  # the value itself
    leaves: list[Any]
    paths: list[str]
    structure: Structure


def read_value(value: Any, name: str) -> RecordedValue:
    """The structure of a value; an undefined value is a single leaf."""
    if isinstance(value, Undefined):
        return RecordedValue(value, [], [], UNDEFINED)
    content = value.value if isinstance(value, Maybe) else value
    return RecordedValue(value, *flatten(content, name))


def frozen(value: Any) -> Any:
    """Return an array of the graph for a NumPy array.

    Operators such as `+=` do not change it.
    """
    if isinstance(value, np.ndarray) and is_number(value):
        array = Array(as_node(value))
        remember(array, value)
        return array
    return value


def own_copy(value: Any) -> Any:
    """Copy a mutable dataclass, so that a branch changes its own copy."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        leaves, _, structure = flatten(value)
        copied = structure.fill(leaves)
        _note_copies(copied, value)
        return copied
    return value


def _note_copies(copied: Any, original: Any) -> None:
    """Record that each part of a copy stands for its original."""
    opened_copy, opened_original = opened(copied), opened(original)
    if copied is original or opened_copy is None or opened_original is None:
        return
    if is_container(copied):
        note(copied, [original])
    for part, original_part in zip(opened_copy[1], opened_original[1], strict=True):
        _note_copies(part, original_part)


def same(first: Any, second: Any) -> bool:
    """Whether two leaves are the same, so that no branch is needed."""
    if first is second:
        return True
    kind = type(first)
    return kind is type(second) and kind in (bool, int, str) and bool(first == second)


class Containers:
    """Lists and dictionaries, with their content at one moment."""

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
        """The containers with other content now, by id."""
        return {
            key: container
            for key, (container, content) in self.contents.items()
            if not _alike(container, content)
        }

    def restore(self) -> None:
        """Restore the content of all containers."""
        for container, content in self.contents.values():
            if isinstance(container, list):
                container[:] = content
            else:
                container.clear()
                container.update(content)


def _alike(container: Any, content: Any) -> bool:
    """Whether two lists or dictionaries hold the same objects."""
    if isinstance(container, dict):
        same = list(container) == list(content)
        container, content = list(container.values()), list(content.values())
    else:
        same = len(container) == len(content)
    return same and all(map(operator.is_, container, content))


def caller() -> FrameType:
    """The user's frame that executes a statement."""
    frame = user_frame()
    assert frame is not None  # the interpreter's main module at least
    return frame


def as_leaf_node(leaf: Any) -> Node:
    """The node of a number or array."""
    return as_variable(np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf)
