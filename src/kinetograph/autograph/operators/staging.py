"""Exceptions that leave a staged branch or loop while it is built.

Whether the program gets there is not known, so an `except` or a `with` around must not take them as
if it had. They travel as a `Left`, which is no `Exception`, to the call of the converted function,
where they are themselves again.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Any

from ...graph.source import place_text
from ..calling import CALLING
from .writing import Written

__all__ = ["Left", "building", "caught", "unwrapped"]


class Left(BaseException):
    """An exception on its way out of a staged statement."""

    def __init__(self, error: Exception, place: str) -> None:
        super().__init__(error)
        self.error, self.place = error, place


class building:
    """Build a way of a staged statement, in a `with`; `undo` is called if that fails."""

    def __init__(self, statement: str, undo: Callable[[], None] = lambda: None) -> None:
        self.statement, self.undo = statement, undo
        self.written = Written()

    def __enter__(self) -> Written:
        return self.written.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.written.__exit__()
        if error is not None:
            self.undo()
        if isinstance(error, Exception) and CALLING.depth:
            raise Left(error, f"a staged {self.statement}{place_text()}") from None


def caught(error: BaseException) -> None:
    """Let pass what a handler for all exceptions has caught."""
    if isinstance(error, Left):
        raise error


def unwrapped(left: Left) -> Exception:
    """The exception itself, with the whole way it came."""
    error = left.error
    steps = [*_steps(left.__traceback__), *_steps(error.__traceback__)]
    trace: TracebackType | None = None
    for step in reversed(steps):
        trace = TracebackType(trace, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return error.with_traceback(trace)


def _steps(trace: TracebackType | None) -> list[TracebackType]:
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found
