"""Where a store is: the folder that a user names."""

import errno
import os
import re
import secrets
from pathlib import Path
from typing import Any

from ...graph.source import place_text
from ...graph.text import in_words

__all__ = ["PART", "beside", "folder", "interrupted", "named", "unwritable"]

PART = "kinetograph"  # of the names of folders that are being made


def folder(doing: str, given: Any) -> Path:
    """The folder of a store: its full path, links followed, wherever the process goes later.

    Raises
    ------
    TypeError
        If it is no path.
    ValueError
        If there can be no such folder.
    """
    if not isinstance(given, (str, os.PathLike)) or not isinstance(os.fspath(given), str):
        raise TypeError(
            f"{doing}: a store is a folder, given by its path, such as 'run.zarr', got "
            f"{in_words(given)}{place_text()}"
        )
    text = os.fspath(given)
    if not text or "\0" in text:
        raise ValueError(
            f"{doing}: there can be no folder {text!r}; give a path such as 'run.zarr'"
        )
    if re.match(r"\w\w+:/", text):  # of which a pathlib.Path has one stroke alone
        raise ValueError(
            f"{doing}: {text} is an address, and a store is a folder of this machine's file system"
        )
    path = Path(os.path.realpath(os.path.expanduser(text)))
    above = next((each for each in path.parents if os.path.lexists(each)), path.parent)
    if not above.is_dir():
        raise ValueError(f"{doing}: there can be no folder {path}, as {above} is a file")
    return path


def named(path: Path) -> str:
    """How a folder is called from where the process is now."""
    here = Path(os.path.realpath(os.curdir))
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def unwritable(path: Path, error: OSError) -> OSError:
    """The error of a store that cannot be written, which says what to do."""
    return OSError(
        error.errno,
        f"{path} cannot be written: {error.strerror or error}; a run needs a folder that it may "
        "write to and a disk with room; to read what is there takes neither: "
        'xarray.open_datatree(path, engine="zarr")',
    )


def interrupted(path: Path, error: OSError) -> OSError:
    """The error of a run whose store could not be written, which says what to do."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    first = "make room on the disk" if full else "have the folder written again"
    file = f" ({error.filename})" if error.filename else ""
    return OSError(
        error.errno,
        f"{path} could not be written: {error.strerror or error}{file}; {first}, then "
        f"kg.resume({str(path)!r}) goes on from the last checkpoint",
    )


def beside(path: Path) -> Path:
    """Where a folder is made that will be renamed, or removed."""
    return path.with_name(f".{PART}-{secrets.token_hex(6)}.part")
