"""The linear algebra under NumPy and SciPy, on one thread.

Its threads cost more than small matrices take, and more still where chains have all processors.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["one_thread"]

_LOCK = threading.Lock()
_within = 0  # how many want it now
_limit: Any = None  # what the first of them has set, and the last takes back


@cache
def _libraries() -> Any:
    """The libraries, as a `threadpoolctl.ThreadpoolController`."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Each call into these libraries, of whatever thread, is computed by the one that makes it."""
    global _within, _limit
    with _LOCK:
        if _within == 0:
            _limit = _libraries().limit(limits=1, user_api="blas")
        _within += 1
    try:
        yield
    finally:
        with _LOCK:
            _within -= 1
            if _within == 0:
                _free()  # from the thread that set the limit: it may have been another one
                _limit.restore_original_limits()
                _free()


def _free() -> None:
    for library in _libraries().lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)
