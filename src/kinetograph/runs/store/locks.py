"""Locks between processes, which end with the process.

They are locks of open files.

On Windows a lock is on a byte far beyond the content of the file.
"""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from ...graph.errors import KinetographError

__all__ = ["Locked", "hold", "locked"]

BEYOND = 2**30  # the position of the byte
AGAIN = 0.01  # seconds between attempts, if the system cannot wait for a lock
BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
NONE = (errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK)  # a file system without locks


def _module(name: str) -> Any:
    """A module that some systems lack, or None."""
    try:
        return import_module(name)
    except ImportError:
        return None


fcntl, msvcrt = _module("fcntl"), _module("msvcrt")


class Locked(KinetographError):
    """Another running process holds the lock."""


def hold(path: Path, title: str) -> int:
    """Take a lock, and return its file descriptor.

    The lock is kept until the file descriptor is closed.

    Raises
    ------
    Locked
        If another process holds the lock.
    """
    handle = _opened(path)
    if not _taken(handle):
        by = ""
        with suppress(OSError):
            by = os.read(handle, 100).decode(errors="replace").strip()
        os.close(handle)
        who = f"another process (process {by})" if by.isdigit() else "another process"
        who = "this process" if by == str(os.getpid()) else who
        raise Locked(f"{title} is being run by {who}, which must end first")
    os.ftruncate(handle, 0)
    os.write(handle, str(os.getpid()).encode())
    return handle


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for a lock that processes hold only briefly."""
    handle = _opened(path)
    try:
        while not _taken(handle, wait=True):
            time.sleep(AGAIN)
        yield
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)


def _taken(handle: int, wait: bool = False) -> bool:
    """Whether the lock could be taken; with `wait` the system may wait.

    Without locks in the system every process gets it.
    """
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif msvcrt is not None:
            os.lseek(handle, BEYOND, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in BUSY:
            return False
        if error.errno not in NONE:
            raise
    finally:
        os.lseek(handle, 0, os.SEEK_SET)
    return True
