"""Files of one user: checks of folders, and a private key."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

__all__ = ["KEY", "private_key", "written_by_others"]

KEY = ".key"
_LENGTH = 32


def written_by_others(folder: Path) -> Path | None:
    """The first folder of a path where another user can replace entries.

    The folder itself and all folders above it are checked; None if no other user can change them.
    In a folder with the sticky bit, such as /tmp, other users cannot replace the user's entries.
    """
    if not hasattr(os, "getuid"):  # Windows, whose folders of users are private
        return None
    absolute = Path(os.path.abspath(folder))  # a folder that holds a symbolic link counts, too
    resolved = folder.resolve()
    for each in dict.fromkeys((absolute, *absolute.parents, resolved, *resolved.parents)):
        status = each.stat()
        above = each not in (absolute, resolved)
        owners = (os.getuid(), 0) if above else (os.getuid(),)
        shared = status.st_mode & 0o022 and not (above and status.st_mode & stat.S_ISVTX)
        if shared or status.st_uid not in owners:
            return each
    return None


def private_key(path: Path) -> bytes | None:
    """The key in a file; creates the file if it is missing.

    None if other users can read or write the file, or if it does not hold a key.
    """
    if not path.exists():
        _make(path)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        key = file.read()
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o077):
        return None
    return key if len(key) == _LENGTH else None


def _make(path: Path) -> None:
    """Write a new key in one step.

    If another process writes a key first, that key stays.
    """
    temporary = path.with_name(f".{secrets.token_hex(6)}.part")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_LENGTH))
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()
