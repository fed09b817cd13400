"""Detection of side effects in staged statements.

All branches of a staged statement are built. If a called function appended to a list there, or set
an attribute of an object, the change would stay even if the program never takes the branch. So the
content of all objects that the user's function can reach is recorded before a branch is built, and
compared afterwards; NumPy arrays are read-only in between.

Iterators, files and random generators are not followed.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import (
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    ModuleType,
)
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.frame_variables import local_variables
from ...graph.node import Node
from ...graph.source import place_text
from .object_contents import Content, cells, is_special, is_users, parts
from .undefined import Undefined

__all__ = ["Surroundings"]

_NUMBERS = (bool, int, float, complex, np.float64, np.int64, np.bool_, Array)
_PLAIN = frozenset([*_NUMBERS, str, bytes, type(None), CodeType, GetSetDescriptorType])
_DEPTH = 8  # the largest distance of objects from a variable
_BUDGET = 20_000  # the largest number of elements that are examined


class Surroundings:
    """The objects that the user's function can reach before a staged statement.

    `carried` are the variables that the statement carries.
    """

    def __init__(self, frame: FrameType, carried: Sequence[str] = ()) -> None:
        self.contents: list[tuple[Content, str]] = []
        self.arrays: dict[int, tuple[np.ndarray, str]] = {}
        self.bindings: list[tuple[CellType, str, Any]] = []
        self.globals: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.visited: set[int] = set()
        self.budget = _BUDGET
        self.pending: deque[tuple[Any, str, int]] = deque()
        variables = local_variables(frame)
        function = _function_of(frame)
        carried_names = {*function.f_code.co_cellvars, *carried}
        self.carried_values = {
            name: value
            for name, value in local_variables(function).items()
            if name in carried_names
        }
        pairs = sorted(variables.items(), key=lambda pair: isinstance(pair[1], FunctionType))
        self.pending.extend((value, name, 0) for name, value in pairs)
        self._note_code(frame.f_code, frame.f_globals, 0)
        while self.pending:
            self._note(*self.pending.popleft())

    def _note_code(self, code: CodeType, module: dict[str, Any], depth: int) -> None:
        if id(module) not in self.visited:
            self.visited.add(id(module))
            self.globals.append((module, dict(module)))
        for name in code.co_names:
            if name in module:
                value = module[name]
                self.pending.append((value, name, depth))
                if isinstance(value, ModuleType) and is_users(value):
                    named = ((n, vars(value)[n]) for n in code.co_names if n in vars(value))
                    self.pending.extend((v, f"{name}.{n}", depth + 1) for n, v in named)
        for const in code.co_consts:
            if isinstance(const, CodeType):
                self._note_code(const, module, depth)

    def _note(self, value: Any, name: str, depth: int) -> None:
        if type(value) in _PLAIN or isinstance(value, Node) or depth > _DEPTH:
            return
        if id(value) in self.visited or self.budget <= 0:
            return
        self.visited.add(id(value))
        if isinstance(value, np.ndarray) and value.flags.writeable:
            self.arrays[id(value)] = value, name
        content = Content(value)
        self.budget -= len(content) + 1
        if content.may_change:
            self.contents.append((content, name))
        if isinstance(value, FunctionType) and is_users(value):
            self._note_code(value.__code__, value.__globals__, depth + 1)
            for variable, cell, cell_value in cells(value):
                if self.carried_values.get(variable, self) is not cell_value:
                    self.bindings.append((cell, variable, cell_value))
        for inner, part in parts(value, content):
            if type(part) not in _PLAIN:
                self.pending.append((part, inner or name, depth + 1))

    @contextmanager
    def arrays_frozen(self) -> Iterator[None]:
        """Make NumPy arrays read-only while a branch is built.

        Raises
        ------
        StagingError
            If one is written to.
        """
        for array, _ in self.arrays.values():
            array.flags.writeable = False
        try:
            yield
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            names = " or ".join(dict.fromkeys(repr(name) for _, name in self.arrays.values()))
            raise StagingError(
                f"a NumPy array{f', {names},' if names else ''} is modified in a staged statement"
                f"{place_text()} in a way that cannot be followed{_REMEDY}"
            ) from error
        finally:
            # A view can be made writable only after the array that owns its memory.
            arrays = [array for array, _ in self.arrays.values()]
            for array in sorted(arrays, key=lambda a: not a.flags.owndata):
                array.flags.writeable = True

    def check(self, statement: str) -> None:
        """Refuse changed objects.

        Raises
        ------
        StagingError
            If an object has changed. The message names a variable that refers to it.
        """
        changed = [name for content, name in self.contents if content.changed()]
        changed += [n for cell, n, value in self.bindings if cell.cell_contents is not value]
        for module, before in self.globals:
            changed += _rebound(before, module)
        if changed:
            raise StagingError(
                f"{changed[0]!r} is modified inside a staged {statement}{place_text()} in a way "
                f"that cannot be followed{_REMEDY}"
            )


_REMEDY = (
    ": through a called function, through another name, or inside an object. All branches are "
    "built, so the change would happen even if the program does not take the branch. Assign to a "
    "variable or an attribute in the function itself, return the new value, or keep it in a "
    "kg.state"
)


def _function_of(frame: FrameType) -> FrameType:
    """The frame of the user's function.

    The given frame may run only a generated part of it.
    """
    code = frame.f_code
    caller_frame = frame.f_back
    while caller_frame is not None:
        equal_names = caller_frame.f_code.co_qualname == code.co_qualname
        if equal_names and any(const is code for const in caller_frame.f_code.co_consts):
            frame, code = caller_frame, caller_frame.f_code
        caller_frame = caller_frame.f_back
    return frame


def _rebound(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The global variables that refer to other objects.

    Imports and undefined values do not count.
    """
    missing = Undefined("")
    names = [n for n, value in before.items() if after.get(n, missing) is not value]
    names = [n for n in names if not is_special(n)]
    if len(after) > len(before) - len(names):
        new = ((n, v) for n, v in after.items() if n not in before)
        kinds = Undefined, ModuleType
        names += [n for n, v in new if not (isinstance(v, kinds) or is_special(n))]
    return names
