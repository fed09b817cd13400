"""Locks between processes: held by a file that is open, and so gone with the process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...graph.errors import KinetographError

try:
    import fcntl
except ImportError:  # a system without them: nobody is kept out
    fcntl = None  # type: ignore[assignment]

__all__ = ["Locked", "hold", "locked"]


class Locked(KinetographError):
    """Another process that is alive has it."""


def hold(path: Path, what: str) -> int:
    """Take a lock, and keep it until the file descriptor that this gives is closed.

    Raises
    ------
    Locked
        If another process holds it.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            with suppress(OSError):
                by = os.pread(handle, 100, 0).decode(errors="replace").strip()
            os.close(handle)
            who = f" (process {by})" if by.isdigit() else ""
            raise Locked(f"{what} is being run by another process{who}") from error
    os.ftruncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)
    return handle


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for a lock that others hold for moments."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
