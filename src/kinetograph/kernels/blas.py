"""The linear algebra under NumPy and SciPy, on one thread.

Its threads cost more than small matrices take, and more still where chains have all processors.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["libraries", "one_thread"]

_LOCK = threading.RLock()


@cache
def libraries() -> Any:
    """The libraries, as a `threadpoolctl.ThreadpoolController`."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """One after the other: of two at once, one would restore the limit of the other."""
    with _LOCK, libraries().limit(limits=1, user_api="blas"):
        yield
