"""The objects that the user's running functions can reach, by variable."""

import sys
import threading
from collections import deque
from collections.abc import Container, Iterator
from types import FrameType, FunctionType
from typing import Any

from ...graph.array import Array
from ...graph.frame_variables import local_variables
from ...graph.node import Node
from ...graph.source import PACKAGE
from .object_contents import Content, parts
from .undefined import Maybe

__all__ = ["RETURNED", "cleanup", "is_read", "reachable"]

RETURNED = "retval_"  # the beginning of the names of variables for return values
_BUDGET = 20_000  # the largest number of objects that are examined


def reachable(without: Container[str] = ()) -> Iterator[tuple[int, str]]:
    """The ids of all objects that the user's functions can reach.

    Each comes with a variable that leads to it. The variables in `without` are left out.
    """
    pending: deque[tuple[Any, str]] = deque()
    for frame in _frames():
        for variable, value in local_variables(frame).items():
            if is_read(variable) and variable not in without:
                pending.append((value, variable))
        code, module = frame.f_code, frame.f_globals
        pending.extend((module[name], name) for name in code.co_names if name in module)
    visited: set[int] = set()
    while pending and len(visited) < _BUDGET:
        value, variable = pending.popleft()
        if isinstance(value, (Node, str, int, float)) or value is None or id(value) in visited:
            continue
        visited.add(id(value))
        yield id(value), variable
        if isinstance(value, Maybe):
            pending.append((value.value, variable))
        elif not isinstance(value, Array):
            inner = parts(value, Content(value))
            if isinstance(value, FunctionType):
                parts_and_names = ((part, name) for name, part in inner if name not in without)
                pending.extend(
                    (part, name or variable) for part, name in parts_and_names if is_read(name)
                )
            else:
                pending.extend((part, variable) for _, part in inner)


class _Cleanup(threading.local):
    depth = 0  # number of active `finally` blocks, which run when the return value is known


_CLEANUP = _Cleanup()


def is_read(variable: str) -> bool:
    """Whether a variable may be read.

    A return value is not read after the `return`, except in a `finally`.
    """
    return not variable.startswith(RETURNED) or _CLEANUP.depth > 0


class cleanup:
    """A `finally` block, used in `with`.

    The caller may see the block's changes to the returned object.
    """

    def __enter__(self) -> None:
        _CLEANUP.depth += 1

    def __exit__(self, *_: object) -> None:
        _CLEANUP.depth -= 1


def _frames() -> list[FrameType]:
    """The frames of the user's running functions.

    The last one is the caller of the first converted function.
    """
    frames: list[FrameType] = []
    count = 0
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            frames.append(frame)
        elif code.co_qualname == "_entry.<locals>.entry":
            count = len(frames)
        frame = frame.f_back
    return frames[: count + 1]
