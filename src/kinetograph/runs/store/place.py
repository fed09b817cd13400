"""The folder of a store: its path, and errors about it."""

import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...graph.source import place_text
from ...graph.value_texts import in_words

__all__ = [
    "temporary_path",
    "folder",
    "interrupted",
    "made_whole",
    "named",
    "run_again",
    "unwritable",
]

PART = "kinetograph"  # part of the names of folders that are being made
FORGOTTEN = 3600.0  # seconds after which an unfinished store counts as abandoned


def folder(doing: str, given: Any) -> Path:
    """The absolute path of a store's folder, with links followed.

    It stays valid when the process changes its working directory.

    Raises
    ------
    TypeError
        If the value is not a path.
    ValueError
        If such a folder is impossible.
    """
    if not isinstance(given, (str, os.PathLike)) or not isinstance(os.fspath(given), str):
        hint = ""
        if hasattr(given, "subtree"):
            hint = "; kg.extra_samples(results, model, draws=...) continues results in memory"
        raise TypeError(
            f"{doing}: a store is a folder, given by its path, such as 'run.zarr', got "
            f"{in_words(given)}{place_text()}{hint}"
        )
    text = os.fspath(given)
    if not text or "\0" in text:
        raise ValueError(f"{doing}: {text!r} cannot be a folder; give a path such as 'run.zarr'")
    if re.match(r"\w\w+:/", text):  # pathlib.Path would merge the two slashes
        raise ValueError(
            f"{doing}: {text} is an address, but a store is a folder in the local file system"
        )
    path = Path(os.path.realpath(os.path.expanduser(text)))
    existing_parent = next((each for each in path.parents if os.path.lexists(each)), path.parent)
    if not existing_parent.is_dir():
        raise ValueError(f"{doing}: {path} cannot be a folder, because {existing_parent} is a file")
    return path


def named(path: Path) -> str:
    """The path of a folder, relative if in the working directory."""
    here = Path(os.path.realpath(os.curdir))
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def unwritable(path: Path, error: OSError) -> OSError:
    """The error of a store that cannot be written, with remedies."""
    return OSError(
        error.errno,
        f"{path} cannot be written: {error.strerror or error}; a run needs a writable folder and "
        "free space on the disk; to read the results, neither is needed: "
        'xarray.open_datatree(path, engine="zarr")',
    )


def interrupted(path: Path, error: OSError, call: str = "") -> OSError:
    """The error of a run whose store failed, with remedies.

    `call` continues the run; by default it is `kg.resume`.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "make room on the disk"
    elif error.errno == errno.ENOENT:
        remedy = "it was moved or removed during the run; put it back"
    else:
        remedy = "make the folder writable"
    file = f" ({error.filename})" if error.filename else ""
    return OSError(
        error.errno,
        f"{path} could not be written: {error.strerror or error}{file}; {remedy}, then "
        f"{call or f'kg.resume({str(path)!r})'} continues from the last checkpoint",
    )


def run_again(verb: str, path: Path) -> str:
    """The call that continues a run of a verb other than `kg.mcmc`."""
    return f"kg.{verb}(model, ..., store={str(path)!r}) with the same arguments"


def temporary_path(path: Path) -> Path:
    """A temporary path in the same folder."""
    return path.with_name(f".{PART}-{secrets.token_hex(6)}.part")


@contextmanager
def made_whole(path: Path) -> Iterator[Path]:
    """A temporary folder that becomes the folder at the path.

    It is renamed at the end, and removed after an error. Folders of processes that were killed
    are removed, too.
    """
    temporary = temporary_path(path)
    for abandoned in path.parent.glob(f".{PART}-*.part"):
        with suppress(OSError):
            if time.time() - abandoned.stat().st_mtime > FORGOTTEN:
                shutil.rmtree(abandoned)
    try:
        yield temporary
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
