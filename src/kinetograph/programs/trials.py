"""Programs from the disk, on trial until they have run once.

A crash of a program that takes its process down cannot be caught. So a marker file exists while a
program runs for the first time, and the next process finds the marker. The process holds a lock on
the file. The lock ends with the process in any case, so an unlocked marker shows a crash.
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
except ImportError:  # without such locks there are no markers
    fcntl = None  # type: ignore[assignment]

__all__ = ["SUFFIX", "Loaded", "drop_crashed", "on_trial", "program_of"]

SUFFIX = ".trial"
_LOCKED_MARKERS: dict[Path, int] = {}  # the locked markers of this process


class Loaded:
    """A program from a file, on trial until its first run ends."""

    def __init__(self, executable: Any, path: Path) -> None:
        self._executable, self.path = executable, path
        self._ran = False

    def __call__(self, *arguments: Any) -> Any:
        if self._ran:
            return self._executable(*arguments)
        with on_trial(self.path):
            results = jax.block_until_ready(self._executable(*arguments))
        self._ran = True
        return results


@contextmanager
def on_trial(path: Path) -> Iterator[None]:
    """Mark a program as on trial.

    If the marker cannot be written, because the disk is full, there is none.
    """
    marker = None
    with suppress(OSError):
        marker = _mark(path)
    try:
        yield
    finally:
        if marker is not None:
            _unmark(marker)


def drop_crashed(path: Path) -> bool:
    """Remove a program if a process has crashed with it.

    Returns whether that is so.
    """
    if fcntl is None:
        return False
    dead = [m for m in path.parent.glob(f".{path.name}.*{SUFFIX}") if _is_dead(m)]
    for each in (path, *dead) if dead else ():
        with suppress(OSError):
            each.unlink()
    return bool(dead)


def program_of(marker: Path) -> Path:
    """The program to which a marker belongs."""
    return marker.with_name(marker.name[1:].rsplit(".", 2)[0])


def _mark(path: Path) -> Path | None:
    if fcntl is None:
        return None
    marker = path.with_name(f".{path.name}.{secrets.token_hex(6)}{SUFFIX}")
    temporary = marker.with_suffix(".part")
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.rename(temporary, marker)  # so it is locked as soon as it has its name
    except BaseException:
        os.close(handle)
        with suppress(OSError):
            temporary.unlink()
        raise
    _LOCKED_MARKERS[marker] = handle
    return marker


def _unmark(marker: Path) -> None:
    handle = _LOCKED_MARKERS.pop(marker, None)
    if handle is not None:
        with suppress(OSError):
            marker.unlink()
        os.close(handle)


def _is_dead(marker: Path) -> bool:
    """Whether a marker exists that no process holds."""
    try:
        handle = os.open(marker, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return os.fstat(handle).st_nlink > 0  # 0 links: it was removed in the meantime
    except OSError:
        return False
    finally:
        os.close(handle)


@atexit.register
def _end() -> None:
    """Remove the markers of a process that ends normally.

    Such a process has not crashed, even if a program runs for the first time.
    """
    for marker in list(_LOCKED_MARKERS):
        _unmark(marker)
