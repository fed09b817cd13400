"""Python objects that a staged statement changes behind the backs of its variables.

All ways of a staged statement are built, so what a function that is called there appends to a list,
or sets in an object, would stay even if the program never gets there. Before a way is built, notes
are taken of all that can be reached from the user's function; afterwards they are compared, and
NumPy arrays cannot be written to in between.

Iterators, files and generators of random numbers are not followed.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.control.results import place_text
from ...graph.errors import StagingError
from ...graph.node import Node
from ..skipped import is_library

__all__ = ["Surroundings"]

_CONTAINERS = (list, dict, set, deque, bytearray)
_PLAIN = frozenset([bool, int, float, complex, str, bytes, type(None), Array])
_DEPTH = 6
_BUDGET = 20_000  # elements that are looked at


class Surroundings:
    """What the user's function can reach, as it is before a staged statement."""

    def __init__(self, frame: FrameType) -> None:
        self.contents: list[tuple[Any, Any, str]] = []
        self.arrays: list[np.ndarray] = []
        self.seen: set[int] = set()
        self.left = _BUDGET
        self.variables = frame.f_locals
        self.bindings: list[tuple[Any, str, Any]] = []  # globals and cells, and what they hold
        variables = self.variables.items()
        for name, value in sorted(variables, key=lambda pair: isinstance(pair[1], FunctionType)):
            self._note(value, name, 0)
        self._note_globals(frame.f_code, frame.f_globals)

    def _note_globals(self, code: CodeType, module: dict[str, Any]) -> None:
        for name in code.co_names:
            if name in module:
                self.bindings.append((module, name, module[name]))
                self._note(module[name], name, 0)
        for const in code.co_consts:
            if isinstance(const, CodeType):
                self._note_globals(const, module)

    def _note(self, value: Any, name: str, depth: int) -> None:
        kind = type(value)
        if kind in _PLAIN or depth > _DEPTH or id(value) in self.seen or self.left <= 0:
            return
        self.seen.add(id(value))
        parts: Iterable[Any] = ()
        if isinstance(value, _CONTAINERS):
            self.left -= len(value)
            self.contents.append((value, value.copy(), name))
            parts = value.values() if isinstance(value, dict) else value
        elif isinstance(value, tuple):
            self.left -= len(value)
            parts = value
        elif isinstance(value, np.ndarray):
            if value.flags.writeable:
                self.arrays.append(value)
        elif isinstance(value, FunctionType):
            if not is_library(value.__globals__.get("__name__")):
                self._note_globals(value.__code__, value.__globals__)
                for variable, cell, content in _closure(value):
                    if self.variables.get(variable, self) is not content:  # not the frame's own
                        self.bindings.append((cell, variable, content))
                    self._note(content, variable, depth + 1)
        elif isinstance(value, MethodType):
            parts = (value.__self__, value.__func__)
        elif isinstance(value, BuiltinMethodType):
            parts = (value.__self__,)
        elif not isinstance(value, (type, ModuleType, Node)) and not is_library(kind.__module__):
            attributes = _Attributes(value)
            self.left -= len(attributes.names)
            self.contents.append((attributes, attributes.copy(), name))
            parts = list(attributes.values())
        for part in parts:
            self._note(part, name, depth + 1)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make NumPy arrays read-only while a way is built."""
        for array in self.arrays:
            array.flags.writeable = False
        try:
            yield
        finally:
            for array in self.arrays:
                array.flags.writeable = True

    def check(self, statement: str) -> None:
        """Refuse what has changed.

        Raises
        ------
        StagingError
            It names a variable from which the changed object can be reached.
        """
        changed = [name for held, content, name in self.contents if not _alike(held, content)]
        changed += [n for place, n, value in self.bindings if _bound(place, n) is not value]
        if changed:
            raise StagingError(
                f"{changed[0]!r} is modified inside a staged {statement}{place_text()} in a way "
                "that cannot be followed: through a function that is called, through another name, "
                "or in an object it holds. All ways are built, so it would change even where the "
                "program does not get there. Assign to a variable or an attribute in the function "
                "itself, or return the new value"
            )


def _bound(place: dict[str, Any] | CellType, name: str) -> Any:
    """What a global variable or one of a closure holds now."""
    return place.get(name) if isinstance(place, dict) else place.cell_contents


class _Attributes:
    """The attributes of an object, by `__dict__` and `__slots__`."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        slots = (s for k in type(owner).__mro__ for s in _slots(k))
        self.names = {*getattr(owner, "__dict__", ()), *slots}

    def copy(self) -> dict[str, Any]:
        names = {*getattr(self.owner, "__dict__", ()), *self.names}
        found = {name: getattr(self.owner, name, None) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    def values(self) -> Iterable[Any]:
        return self.copy().values()


def _slots(kind: type) -> Iterable[str]:
    found = vars(kind).get("__slots__", ())
    names = (found,) if isinstance(found, str) else tuple(found)
    return (n for n in names if not n.startswith("__"))


def _closure(function: FunctionType) -> Iterator[tuple[str, CellType, Any]]:
    """The variables of functions around that a function knows."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell, cell.cell_contents
        except ValueError:  # not bound yet
            continue


def _alike(first: Any, second: Any) -> bool:
    if isinstance(first, _Attributes):
        first = first.copy()
    if len(first) != len(second):
        return False
    if isinstance(first, dict):
        return all(k in second and second[k] is v for k, v in first.items())
    if isinstance(first, (set, bytearray)):
        return bool(first == second)
    return all(a is b for a, b in zip(first, second, strict=True))
