"""Files that the command writes: checked before the work, replaced after it."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from .errors import InputError

__all__ = ["check_target", "write_whole"]


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def check_target(path: Path, suffixes: tuple[str, ...]) -> Path:
    """The real path of a file, checked to be writable.

    Raises InputError with the reason if it is not.
    """
    if path.suffix not in suffixes:
        *first_suffixes, last = suffixes
        endings = f"{', '.join(first_suffixes)} or {last}" if first_suffixes else last
        raise InputError(f"{path}: the name must end in {endings}")
    if path.is_dir():
        raise InputError(f"{path} is a folder")
    path = path.resolve()
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} into")
    try:
        trial = _temporary_path(path)
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    return path


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a temporary file and rename it.

    So no reader ever sees half a file.
    """
    temporary = _temporary_path(path)
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
