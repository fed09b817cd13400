"""Files that the command writes: checked before the work, replaced whole after it."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from .errors import InputError

__all__ = ["check_target", "write_whole"]


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def check_target(path: Path, suffixes: tuple[str, ...]) -> Path:
    """The file that a link stands for, if it can be written; an error that says why not."""
    if path.suffix not in suffixes:
        *others, last = suffixes
        wanted = f"{', '.join(others)} or {last}" if others else last
        raise InputError(f"{path}: the name must end in {wanted}")
    if path.is_dir():
        raise InputError(f"{path} is a folder")
    path = path.resolve()
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} into")
    try:
        trial = _beside(path)
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    return path


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside the target and rename, so that nobody ever sees half a file."""
    part = _beside(path)
    try:
        write(part)
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
