"""Work on a thread that nobody has to wait for: Ctrl-C leaves it alone, and so does the end of the
process.

XLA cannot be interrupted while it compiles. What waits for it here can.
"""

import contextvars
import threading
from collections.abc import Callable

__all__ = ["Task"]

LOOK = 0.2  # seconds between looks at whether somebody has asked to stop


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

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def result(self) -> T:
        """What it gave, or raises what it raised; waits for it as long as nobody interrupts."""
        while self._thread.is_alive():
            self._thread.join(LOOK)
        if self._error is not None:
            raise self._error
        return self._found
