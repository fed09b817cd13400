"""Work on threads that can be left behind.

XLA cannot be interrupted while it compiles or computes. The code here that waits for it can, so
Ctrl-C and the end of the process need not wait for such a thread. If a thread still runs when the
process ends, the process ends without Python's clean-up, because the thread would crash after it.
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

LOOK = 0.2  # seconds between checks for an interruption
PATIENCE = 0.3  # seconds that the end of the process waits
_CODES: list[int] = []  # the exit code of the process, if `leaving` has set one
_THREADS: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


def thread(work: Callable[[], None]) -> threading.Thread:
    """A new thread that can be left behind; it is not started."""
    new_thread = threading.Thread(target=work, daemon=True)
    _THREADS.add(new_thread)
    return new_thread


def leaving(code: int) -> None:
    """Set the exit code with which the process is about to end.

    Python itself does not say it. If Ctrl-C came within an `exec` of a string, for example within
    the definition of a dataclass, Python would end by a signal with any code, unless another `exec`
    followed.
    """
    exec("")
    _CODES[:] = [code]


@atexit.register
def end() -> None:
    """End the process if a thread that was left behind still runs.

    It waits for a moment first. At the end of the process other libraries clean up in an unknown
    order, and a thread that compiles may crash after JAX has cleaned up. The command calls this
    function before that.
    """
    until = time.monotonic() + PATIENCE
    with contextlib.suppress(KeyboardInterrupt, SystemExit):
        for each in list(_THREADS):
            if each.is_alive():
                each.join(max(0.0, until - time.monotonic()))
    if any(each.is_alive() for each in list(_THREADS)):
        error = getattr(sys, "last_exc", None)
        default_code = 130 if isinstance(error, KeyboardInterrupt) else int(error is not None)
        leave(_CODES[0] if _CODES else default_code)


def leave(code: int) -> None:
    """End the process at once, after flushing output and logs."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)


class Task[T]:
    """A function that runs on a new thread at once."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._value: T
        self._error: BaseException | None = None
        context = contextvars.copy_context()

        def work() -> None:
            try:
                self._value = context.run(function)
            except BaseException as error:
                self._error = error

        self._thread = thread(work)
        self._thread.start()

    def result(self) -> T:
        """The function's result; raises the function's error.

        It waits for the function, and can be interrupted.
        """
        while self._thread.is_alive():
            self._thread.join(LOOK)
        if self._error is not None:
            raise self._error
        return self._value
