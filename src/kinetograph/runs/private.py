"""Files of one user alone: which folders others can change, and a key that only the user reads."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

__all__ = ["KEY", "private_key", "written_by_others"]

KEY = ".key"
_LENGTH = 32


def written_by_others(folder: Path) -> Path | None:
    """The folder, or a folder above it, in which others can replace entries; None if not so.

    In a folder with the sticky bit, such as /tmp, others cannot replace the user's entries.
    """
    if os.name != "posix":
        return None
    given = Path(os.path.abspath(folder))  # the folders of links count, too
    resolved = folder.resolve()
    for each in dict.fromkeys((given, *given.parents, resolved, *resolved.parents)):
        status = each.stat()
        above = each not in (given, resolved)
        owners = (os.getuid(), 0) if above else (os.getuid(),)
        shared = status.st_mode & 0o022 and not (above and status.st_mode & stat.S_ISVTX)
        if shared or status.st_uid not in owners:
            return each
    return None


def private_key(path: Path) -> bytes | None:
    """The key in a file, which is made if there is none; None if others can read or write it."""
    if not path.exists():
        _make(path)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        key = file.read()
    if os.name == "posix" and (status.st_uid != os.getuid() or status.st_mode & 0o077):
        return None
    return key if len(key) == _LENGTH else None


def _make(path: Path) -> None:
    """Write a key as a whole; that of another process stays if it comes first."""
    part = path.with_name(f".{secrets.token_hex(6)}.part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_LENGTH))
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        with suppress(OSError):
            part.unlink()
