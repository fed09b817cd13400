"""What the user's functions that run can reach, by which variables."""

import sys
import threading
from collections import deque
from collections.abc import Container, Iterator
from types import FrameType, FunctionType
from typing import Any

from ...graph.array import Array
from ...graph.frames import local_variables
from ...graph.node import Node
from ...graph.source import PACKAGE
from .contents import Content, parts
from .undefined import Maybe

__all__ = ["RETURNED", "cleanup", "is_read", "reachable"]

RETURNED = "retval_"  # how variables begin that hold what a function returns
_BUDGET = 20_000  # objects that are looked at


def reachable(without: Container[str] = ()) -> Iterator[tuple[int, str]]:
    """The numbers of all objects that the user's functions reach, and by which variable.

    The variables `without` are left out.
    """
    pending: deque[tuple[Any, str]] = deque()
    for frame in _frames():
        for variable, value in local_variables(frame).items():
            if is_read(variable) and variable not in without:
                pending.append((value, variable))
        code, module = frame.f_code, frame.f_globals
        pending.extend((module[name], name) for name in code.co_names if name in module)
    seen: set[int] = set()
    while pending and len(seen) < _BUDGET:
        value, variable = pending.popleft()
        if isinstance(value, (Node, str, int, float)) or value is None or id(value) in seen:
            continue
        seen.add(id(value))
        yield id(value), variable
        if isinstance(value, Maybe):
            pending.append((value.value, variable))
        elif not isinstance(value, Array):
            inner = parts(value, Content(value))
            if isinstance(value, FunctionType):
                named = ((part, name) for name, part in inner if name not in without)
                pending.extend((part, name or variable) for part, name in named if is_read(name))
            else:
                pending.extend((part, variable) for _, part in inner)


class _Cleanup(threading.local):
    depth = 0  # of blocks of `finally`, which run when what is returned is known


_CLEANUP = _Cleanup()


def is_read(variable: str) -> bool:
    """Whether a variable may be read: what is returned is not, after the `return`."""
    return not variable.startswith(RETURNED) or _CLEANUP.depth > 0


class cleanup:
    """A block of `finally`, in a `with`: what it changes, the caller may get."""

    def __enter__(self) -> None:
        _CLEANUP.depth += 1

    def __exit__(self, *_: object) -> None:
        _CLEANUP.depth -= 1


def _frames() -> list[FrameType]:
    """Those of the user's functions that run, up to the one that called the first converted one."""
    found: list[FrameType] = []
    last = 0
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            found.append(frame)
        elif code.co_qualname == "_entry.<locals>.entry":
            last = len(found)
        frame = frame.f_back
    return found[: last + 1]
