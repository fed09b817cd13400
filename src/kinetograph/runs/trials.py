"""Programs from the disk, on trial until they have run once: a marker beside each says so.

A program that brings its process down cannot be caught, but the next process finds the marker. That
is a file which its process holds locked: the lock goes with the process, whatever befalls that.
"""

import atexit
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import jax

try:
    import fcntl
except ImportError:  # a system without such locks: nothing is marked
    fcntl = None  # type: ignore[assignment]

__all__ = ["SUFFIX", "Loaded", "drop_crashed", "on_trial", "program_of"]

SUFFIX = ".trial"
_OURS: dict[Path, int] = {}  # markers that are held


class Loaded:
    """A program that came from a file, marked until its first run is over."""

    def __init__(self, executable: Any, path: Path) -> None:
        self._executable, self._path = executable, path
        self._ran = False

    def __call__(self, *arguments: Any) -> Any:
        if self._ran:
            return self._executable(*arguments)
        with on_trial(self._path):
            found = jax.block_until_ready(self._executable(*arguments))
        self._ran = True
        return found


@contextmanager
def on_trial(path: Path) -> Iterator[None]:
    """Mark a program while something is tried with it; a folder that is full has no markers."""
    marker = None
    with suppress(OSError):
        marker = _mark(path)
    try:
        yield
    finally:
        if marker is not None:
            _unmark(marker)


def drop_crashed(path: Path) -> bool:
    """Remove a program if a process that had it on trial is gone; whether that is so."""
    if fcntl is None:
        return False
    dead = [m for m in path.parent.glob(f".{path.name}.*{SUFFIX}") if _is_dead(m)]
    for each in (path, *dead) if dead else ():
        with suppress(OSError):
            each.unlink()
    return bool(dead)


def program_of(marker: Path) -> Path:
    """The program that a marker is of."""
    return marker.with_name(marker.name[1:].rsplit(".", 2)[0])


def _mark(path: Path) -> Path | None:
    if fcntl is None:
        return None
    marker = path.with_name(f".{path.name}.{secrets.token_hex(6)}{SUFFIX}")
    part = marker.with_suffix(".part")
    handle = os.open(part, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.rename(part, marker)  # under its name it is locked from the first
    except BaseException:
        os.close(handle)
        with suppress(OSError):
            part.unlink()
        raise
    _OURS[marker] = handle
    return marker


def _unmark(marker: Path) -> None:
    handle = _OURS.pop(marker, None)
    if handle is not None:
        with suppress(OSError):
            marker.unlink()
        os.close(handle)


def _is_dead(marker: Path) -> bool:
    """Whether nobody holds a marker that is there."""
    try:
        handle = os.open(marker, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return os.fstat(handle).st_nlink > 0  # else it was removed meanwhile
    except OSError:
        return False
    finally:
        os.close(handle)


@atexit.register
def _end() -> None:
    """A process that ends while a program runs for the first time has not crashed."""
    for marker in list(_OURS):
        _unmark(marker)
