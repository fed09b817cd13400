"""What asks a run to stop: Ctrl-C, and the signal by which systems end a process."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Terminated", "holding", "stoppable"]

MOST = 3  # times that somebody asks in vain
_HELD: list[int] = []  # how often that was, of each who holds them back


class Terminated(KeyboardInterrupt):
    """SIGTERM: as Ctrl-C, but not from a keyboard."""


@contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """Have both signals raise `KeyboardInterrupt`, where nobody else has said what they should do.

    Gives a function that raises it where it got lost: Python drops what is raised while an object
    is being cleaned up.
    """
    asked: list[type[KeyboardInterrupt]] = []

    def check() -> None:
        if asked:
            raise asked.pop()

    def stop(kind: type[KeyboardInterrupt]) -> Callable[[int, FrameType | None], None]:
        def handler(number: int, frame: FrameType | None) -> None:
            if _HELD and _HELD[-1] < MOST:
                _HELD[-1] += 1
                return
            asked[:] = [kind]
            raise kind(signal.Signals(number).name)

        return handler

    usual: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    kinds = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: Terminated}
    here = threading.current_thread() is threading.main_thread()
    ours = [s for s, handler in usual.items() if here and signal.getsignal(s) is handler]
    for number in ours:
        signal.signal(number, stop(kinds[number]))
    try:
        yield check
    finally:
        for number in ours:
            signal.signal(number, usual[number])


@contextmanager
def holding() -> Iterator[None]:
    """Hold both signals back while what has been drawn is brought to safety: a run that ends need
    not be stopped. Who asks again and again is heard."""
    _HELD.append(0)
    try:
        yield
    finally:
        _HELD.pop()
