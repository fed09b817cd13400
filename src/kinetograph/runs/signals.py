"""What asks a run to stop: Ctrl-C, and the signal by which systems end a process."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Terminated", "stoppable"]


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
