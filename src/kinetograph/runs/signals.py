"""What asks a run to stop: Ctrl-C, and SIGTERM, the signal by which systems end a process.

SIGTERM ends the process with the exit code 143, by an exception, so that `finally` blocks run and
output is flushed. From the first run on its handler stays, so that it has one meaning within runs
and between them. Where somebody else has set a handler, theirs stays.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from .background import leave, leaving

__all__ = ["ON_SIGTERM", "STOPS", "Terminated", "hearing", "holding", "listen", "stoppable"]

MOST = 3  # signals that are held back; the next one is heard
ON_SIGTERM = ("exit", "return")  # what a run may do then
Kind = type[BaseException]
_HELD: list[list[Kind] | None] = []  # what each `holding` has held back; None of `hearing`
_ASKED: list[list[Kind]] = []  # the last signal that each `stoppable` has heard


class Terminated(SystemExit):
    """SIGTERM: the process is to end, with the code that shells report for it."""

    CODE = 143

    def __init__(self, when: str = "") -> None:
        super().__init__(self.CODE)
        self.when = when  # a text: after how many draws


STOPS = (KeyboardInterrupt, Terminated)


def _hear(kind: Kind) -> None:
    """Raise the exception of a signal, unless it is held back."""
    held = _HELD[-1] if _HELD else None
    if held is not None and len(held) < MOST:
        held.append(kind)
        return
    for asked in _ASKED:
        asked[:] = [kind]
    raise kind()


def _interrupted(number: int, frame: FrameType | None) -> None:
    _hear(KeyboardInterrupt)


def _terminated(number: int, frame: FrameType | None) -> None:
    if not _ASKED and not _HELD:  # between runs
        here = threading.current_thread()
        if any(not each.daemon and each is not here for each in threading.enumerate()):
            leave(Terminated.CODE)  # Python would wait for that thread, which may run for hours
        leaving(Terminated.CODE)
    _hear(Terminated)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def listen() -> None:
    """Have SIGTERM raise `Terminated` from now on, where nobody has said what it should do."""
    if _in_main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _forget() -> None:
    """In a process that was forked, SIGTERM does what it did before the first run."""
    if signal.getsignal(signal.SIGTERM) is _terminated:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """Have Ctrl-C raise `KeyboardInterrupt` and SIGTERM `Terminated`.

    Gives a function that raises the exception where it got lost: Python drops what is raised while
    an object is being cleaned up, and a library may take it for an error of its own.
    """
    if not _in_main_thread():
        yield lambda: None
        return
    listen()
    asked: list[Kind] = []

    def check() -> None:
        if asked:
            raise asked.pop()()

    usual = signal.default_int_handler
    ours = signal.getsignal(signal.SIGINT) is usual
    if ours:
        signal.signal(signal.SIGINT, _interrupted)
    _ASKED.append(asked)
    try:
        yield check
    finally:
        _ASKED.pop()
        if ours:
            signal.signal(signal.SIGINT, usual)


@contextmanager
def holding() -> Iterator[list[Kind]]:
    """Hold signals back while draws are brought to safety; the fourth one is heard.

    Gives the list of those held back. A SIGTERM that is still in the list at the end is raised.
    """
    held: list[Kind] = []
    if not _in_main_thread():  # where no signal is heard
        yield held
        return
    _HELD.append(held)
    try:
        yield held
    finally:
        _HELD.pop()
        if Terminated in held:
            raise Terminated


@contextmanager
def hearing() -> Iterator[None]:
    """Hear signals within `holding`, those that it has held back first."""
    if not _in_main_thread():
        yield
        return
    late = _HELD[-1] if _HELD else None
    _HELD.append(None)
    try:
        if late:
            raise late.pop(0)()
        yield
    finally:
        _HELD.pop()
