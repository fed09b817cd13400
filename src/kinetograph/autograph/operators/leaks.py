"""Python objects that a staged statement changes behind the backs of its variables.

All ways of a staged statement are built, so what a function that is called there appends to a list,
or sets in an object, would stay even if the program never gets there. Before a way is built, notes
are taken of all that can be reached from the user's function; afterwards they are compared, and
NumPy arrays cannot be written to in between.

Iterators, files and generators of random numbers are not followed.
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
from ...graph.frames import local_variables
from ...graph.node import Node
from ...graph.source import place_text
from .contents import Content, cells, is_special, is_users, parts
from .undefined import Undefined

__all__ = ["Surroundings"]

_NUMBERS = (bool, int, float, complex, np.float64, np.int64, np.bool_, Array)
_PLAIN = frozenset([*_NUMBERS, str, bytes, type(None), CodeType, GetSetDescriptorType])
_DEPTH = 8
_BUDGET = 20_000  # elements that are looked at


class Surroundings:
    """What the user's function can reach, as it is before a staged statement.

    `carried` are the variables that the statement follows.
    """

    def __init__(self, frame: FrameType, carried: Sequence[str] = ()) -> None:
        self.contents: list[tuple[Content, str]] = []
        self.arrays: dict[int, tuple[np.ndarray, str]] = {}
        self.bindings: list[tuple[CellType, str, Any]] = []
        self.globals: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.seen: set[int] = set()
        self.left = _BUDGET
        self.pending: deque[tuple[Any, str, int]] = deque()
        variables = local_variables(frame)
        function = _function_of(frame)
        own = {*function.f_code.co_cellvars, *carried}
        self.own = {name: value for name, value in local_variables(function).items() if name in own}
        pairs = sorted(variables.items(), key=lambda pair: isinstance(pair[1], FunctionType))
        self.pending.extend((value, name, 0) for name, value in pairs)
        self._note_code(frame.f_code, frame.f_globals, 0)
        while self.pending:
            self._note(*self.pending.popleft())

    def _note_code(self, code: CodeType, module: dict[str, Any], depth: int) -> None:
        if id(module) not in self.seen:
            self.seen.add(id(module))
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
        if id(value) in self.seen or self.left <= 0:
            return
        self.seen.add(id(value))
        if isinstance(value, np.ndarray) and value.flags.writeable:
            self.arrays[id(value)] = value, name
        held = Content(value)
        self.left -= len(held) + 1
        if held.may_change:
            self.contents.append((held, name))
        if isinstance(value, FunctionType) and is_users(value):
            self._note_code(value.__code__, value.__globals__, depth + 1)
            for variable, cell, content in cells(value):
                if self.own.get(variable, self) is not content:
                    self.bindings.append((cell, variable, content))
        for inner, part in parts(value, held):
            if type(part) not in _PLAIN:
                self.pending.append((part, inner or name, depth + 1))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make NumPy arrays read-only while a way is built.

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
            held = [array for array, _ in self.arrays.values()]
            for array in sorted(held, key=lambda a: not a.flags.owndata):
                array.flags.writeable = True

    def check(self, statement: str) -> None:
        """Refuse what has changed.

        Raises
        ------
        StagingError
            It names a variable from which the changed object can be reached.
        """
        changed = [name for held, name in self.contents if held.changed()]
        changed += [n for cell, n, value in self.bindings if cell.cell_contents is not value]
        for module, before in self.globals:
            changed += _rebound(before, module)
        if changed:
            raise StagingError(
                f"{changed[0]!r} is modified inside a staged {statement}{place_text()} in a way "
                f"that cannot be followed{_REMEDY}"
            )


_REMEDY = (
    ": through a function that is called, through another name, or in an object it holds. All ways "
    "are built, so it would change even where the program does not get there. Assign to a variable "
    "or an attribute in the function itself, return the new value, or keep it in a kg.state"
)


def _function_of(frame: FrameType) -> FrameType:
    """The frame of the user's function, of which a frame may carry out a part of a statement."""
    code = frame.f_code
    back = frame.f_back
    while back is not None:
        same = back.f_code.co_qualname == code.co_qualname
        if same and any(const is code for const in back.f_code.co_consts):
            frame, code = back, back.f_code
        back = back.f_back
    return frame


def _rebound(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The global variables that stand for other objects, but for imports and what is undefined."""
    missing = Undefined("")
    names = [n for n, value in before.items() if after.get(n, missing) is not value]
    names = [n for n in names if not is_special(n)]
    if len(after) > len(before) - len(names):
        new = ((n, v) for n, v in after.items() if n not in before)
        kinds = Undefined, ModuleType
        names += [n for n, v in new if not (isinstance(v, kinds) or is_special(n))]
    return names
