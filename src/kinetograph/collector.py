"""Pauses of Python's garbage collector while many lasting objects are created.

Importing JAX and tracing a program create hundreds of thousands of objects that stay. The collector
would scan them repeatedly, which takes about 5 % of the time until the first result.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["paused"]


@contextmanager
def paused(lasting: bool = False) -> Iterator[None]:
    """A block without collection of cycles; the former setting returns afterwards.

    `lasting` says that the objects made in the block stay until the process ends. The collector
    then moves them to its oldest generation without scanning them.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if lasting and not gc.get_freeze_count():  # objects that other code has frozen stay frozen
            gc.freeze()
            gc.unfreeze()  # this leaves all objects in the oldest generation
        if collecting:
            gc.enable()
