"""Signals that stop a run: Ctrl-C and SIGTERM.

Systems end a process by SIGTERM. Here it raises an exception that ends the process with the exit
code 143, so that `finally` blocks run and output is flushed. The handler stays after the first run,
so that SIGTERM has one meaning within and between runs. If another part of the process has set a
handler, that handler stays.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Any, cast

from ..programs.background import leave, leaving

__all__ = [
    *("ON_SIGTERM", "STOPS", "Terminated", "hearing", "holding", "listen", "raise_lost"),
    *("stoppable", "stoppable_call"),
]

MOST = 3  # held back; the next signal raises its exception at once
ON_SIGTERM = ("exit", "return")  # the choices for a run
Kind = type[BaseException]
_DELAYED: list[list[Kind] | None] = []  # the signals of each `holding`; None for each `hearing`
_LAST_SIGNALS: list[list[Kind]] = []  # the last signal in each `stoppable`


class Terminated(SystemExit):
    """SIGTERM: ends the process with the exit code of shells."""

    CODE = 143

    def __init__(self, when: str = "") -> None:
        super().__init__(self.CODE)
        self.when = when  # a text that says after which number of draws


STOPS = (KeyboardInterrupt, Terminated)


def _hear(kind: Kind) -> None:
    """Raise the exception of a signal, unless it is held back."""
    delayed = _DELAYED[-1] if _DELAYED else None
    if delayed is not None and len(delayed) < MOST:
        delayed.append(kind)
        return
    for signals in _LAST_SIGNALS:
        signals[:] = [kind]
    raise kind()


def _interrupted(number: int, frame: FrameType | None) -> None:
    _hear(KeyboardInterrupt)


def _terminated(number: int, frame: FrameType | None) -> None:
    if not _LAST_SIGNALS and not _DELAYED:  # between runs
        here = threading.current_thread()
        if any(not each.daemon and each is not here for each in threading.enumerate()):
            leave(Terminated.CODE)  # Python would wait for that thread, which may run for hours
        leaving(Terminated.CODE)
    _hear(Terminated)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def listen() -> None:
    """Make SIGTERM raise `Terminated` from now on, if it has no handler."""
    if _in_main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _forget() -> None:
    """Restore the default handler of SIGTERM in a forked process."""
    if signal.getsignal(signal.SIGTERM) is _terminated:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """Make Ctrl-C raise `KeyboardInterrupt` and SIGTERM raise `Terminated`.

    Yields a function that raises the exception again if it was lost: Python drops exceptions that
    are raised while an object is finalised, and a library may catch them as its own errors.
    """
    if not _in_main_thread():
        yield lambda: None
        return
    listen()
    signals: list[Kind] = []

    def check() -> None:
        if signals:
            raise signals.pop()()

    usual = signal.default_int_handler
    default_handler = signal.getsignal(signal.SIGINT) is usual
    if default_handler:
        signal.signal(signal.SIGINT, _interrupted)
    _LAST_SIGNALS.append(signals)
    try:
        yield check
    finally:
        _LAST_SIGNALS.pop()
        if default_handler:
            signal.signal(signal.SIGINT, usual)


def stoppable_call[F: Callable[..., Any]](function: F) -> F:
    """Decorate a function that prepares a run and then calls `raise_lost`."""

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            with stoppable():
                return function(*args, **named)
        except Terminated as ended:
            leaving(ended.CODE)
            raise

    return cast(F, call)


def raise_lost() -> None:
    """Raise the exception of the last signal if it was lost."""
    if _in_main_thread() and _LAST_SIGNALS and _LAST_SIGNALS[-1]:
        raise _LAST_SIGNALS[-1].pop()()


@contextmanager
def holding() -> Iterator[list[Kind]]:
    """Hold signals back while draws are saved, up to three.

    The fourth signal is raised at once. Yields the list of the signals held back, which begins with
    the signals of an outer context. A SIGTERM that is still in the list at the end is raised.
    """
    delayed: list[Kind] = []
    if not _in_main_thread():  # only the main thread receives signals
        yield delayed
        return
    outer = _DELAYED[-1] if _DELAYED else None
    _DELAYED.append(delayed)
    if outer is not None:
        delayed += outer
        outer.clear()
    try:
        yield delayed
    finally:
        _DELAYED.pop()
        if Terminated in delayed:
            raise Terminated


@contextmanager
def hearing() -> Iterator[None]:
    """Raise signals within `holding`, starting with those held back."""
    if not _in_main_thread():
        yield
        return
    late = _DELAYED[-1] if _DELAYED else None
    _DELAYED.append(None)
    try:
        if late:
            raise late.pop(0)()
        yield
    finally:
        _DELAYED.pop()
