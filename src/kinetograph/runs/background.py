"""Work on a thread that nobody has to wait for: Ctrl-C leaves it alone, and so does the end of the
process.

XLA cannot be interrupted while it compiles or computes. What waits for it here can. Where the
process ends meanwhile, it ends without Python's cleaning up, after which such a thread crashes.
"""

import atexit
import contextlib
import contextvars
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable

__all__ = ["Task", "end", "leave", "leaving", "thread"]

LOOK = 0.2  # seconds between looks at whether somebody has asked to stop
PATIENCE = 0.3  # seconds that the end of the process waits
_CODES: list[int] = []  # with which the process ends, where somebody has said so
_THREADS: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


def thread(work: Callable[[], None]) -> threading.Thread:
    """A thread, not yet started, that nobody has to wait for."""
    made = threading.Thread(target=work, daemon=True)
    _THREADS.add(made)
    return made


def leaving(code: int) -> None:
    """Say with which exit code the process is about to end: Python tells nobody.

    Where Ctrl-C came within `exec` of a text, as within the making of a dataclass, Python would end
    by a signal whatever the code is, if no other `exec` followed.
    """
    exec("")
    _CODES[:] = [code]


@atexit.register
def end() -> None:
    """End the process if such a thread still runs after a moment.

    At the end of the process other libraries clean up, too, in an order that is not known, and a
    thread that compiles may crash where JAX has cleaned up. The command calls it before.
    """
    until = time.monotonic() + PATIENCE
    with contextlib.suppress(KeyboardInterrupt, SystemExit):
        for each in list(_THREADS):
            if each.is_alive():
                each.join(max(0.0, until - time.monotonic()))
    if any(each.is_alive() for each in list(_THREADS)):
        error = getattr(sys, "last_exc", None)
        usual = 130 if isinstance(error, KeyboardInterrupt) else int(error is not None)
        leave(_CODES[0] if _CODES else usual)


def leave(code: int) -> None:
    """End the process at once, with what has been printed and logged."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)


class Task[T]:
    """A function that is called on a thread of its own, from now on."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._found: T
        self._error: BaseException | None = None
        context = contextvars.copy_context()

        def work() -> None:
            try:
                self._found = context.run(function)
            except BaseException as error:
                self._error = error

        self._thread = thread(work)
        self._thread.start()

    def result(self) -> T:
        """What it gave, or raises what it raised; waits for it as long as nobody interrupts."""
        while self._thread.is_alive():
            self._thread.join(LOOK)
        if self._error is not None:
            raise self._error
        return self._found
