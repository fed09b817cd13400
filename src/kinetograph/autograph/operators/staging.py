"""Exceptions that leave a staged branch or loop while it is built.

It is not known whether the program reaches the branch, so an enclosing `except` or `with` must not
treat them like exceptions of the program. They travel as an `EscapingException`, which is not an
`Exception`, to the call of the converted function, where the original exception is raised.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Any

from ...graph.source import place_text
from ..calling import CALLING
from .writing import WriteLog

__all__ = ["EscapingException", "building", "caught", "unwrapped"]


class EscapingException(BaseException):
    """An exception on its way out of a staged statement."""

    def __init__(self, error: Exception, place: str) -> None:
        super().__init__(error)
        self.error, self.place = error, place


class building:
    """Build a branch of a staged statement, in a `with`.

    `undo` is called if building fails.
    """

    def __init__(self, statement: str, undo: Callable[[], None] = lambda: None) -> None:
        self.statement, self.undo = statement, undo
        self.written = WriteLog()

    def __enter__(self) -> WriteLog:
        return self.written.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.written.__exit__()
        if error is not None:
            self.undo()
        if isinstance(error, Exception) and CALLING.depth:
            raise EscapingException(error, f"a staged {self.statement}{place_text()}") from None


def caught(error: BaseException) -> None:
    """Raise an escaping exception again that a handler has caught."""
    if isinstance(error, EscapingException):
        raise error


def unwrapped(escaping: EscapingException) -> Exception:
    """The original exception, with its complete traceback."""
    error = escaping.error
    entries = [*_entries(escaping.__traceback__), *_entries(error.__traceback__)]
    trace: TracebackType | None = None
    for entry in reversed(entries):
        trace = TracebackType(trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return error.with_traceback(trace)


def _entries(trace: TracebackType | None) -> list[TracebackType]:
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    return entries
