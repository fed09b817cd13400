"""Linear algebra of NumPy and SciPy on a single thread.

Several threads cost more than small matrices take, and still more if chains use all processors.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["one_thread"]

_LOCK = threading.Lock()
_active_blocks = 0  # number of active blocks
_limit: Any = None  # the limit set by the first active block, and removed by the last


@cache
def _libraries() -> Any:
    """The linear algebra libraries, as a `threadpoolctl.ThreadpoolController`."""
    import scipy.linalg  # noqa: F401  # the library that XLA calls; it may not be loaded yet
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """A block in which linear algebra uses only the calling thread.

    The limit holds for calls from all threads of the process.
    """
    global _active_blocks, _limit
    with _LOCK:
        if _active_blocks == 0:
            _limit = _libraries().limit(limits=1, user_api="blas")
        _active_blocks += 1
    try:
        yield
    finally:
        with _LOCK:
            _active_blocks -= 1
            if _active_blocks == 0:
                _free()  # another thread may have set the limit
                _limit.restore_original_limits()
                _free()


def _free() -> None:
    for library in _libraries().lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)
