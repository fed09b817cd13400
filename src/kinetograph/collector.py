"""Pause Python's garbage collector where very many lasting objects are made.

Importing JAX and tracing a program make hundreds of thousands of objects that stay; the collector
would look through them again and again, some 5 % of the time until a first result.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["paused"]


@contextmanager
def paused(lasting: bool = False) -> Iterator[None]:
    """A block in which cycles are not collected; afterwards things are as they were.

    `lasting` says that what the block makes stays for good: it is not looked through even once.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if lasting and not gc.get_freeze_count():  # what somebody else has frozen stays so
            gc.freeze()
            gc.unfreeze()  # all objects are of the oldest generation
        if collecting:
            gc.enable()
