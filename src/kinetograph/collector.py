"""Pause Python's garbage collector where very many lasting objects are made.

Importing JAX and tracing a program make hundreds of thousands of objects that stay; the collector
would look through them again and again, some 5 % of the time until a first result.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["paused"]


@contextmanager
def paused() -> Iterator[None]:
    """A block in which cycles are not collected; afterwards things are as they were."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
