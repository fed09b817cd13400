"""Computations in parts, whose finished parts are in a folder.

Each part is one file that is written under a temporary name and renamed, and has a checksum. A
computation that was killed continues with the parts that are missing or damaged. The file
`settings` identifies the computation, so that parts of another computation are refused.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..programs.sealed_files import (
    Damaged,
    arrays_bytes,
    arrays_of,
    read_sealed,
    seal,
    write_whole,
)
from ..runs.store.place import folder
from .counter import Progress, counted

__all__ = ["FinishedParts", "in_parts"]

Arrays = dict[str, np.ndarray]


class FinishedParts:
    """The finished parts of a computation, in a folder or nowhere.

    Raises
    ------
    ValueError
        If the folder has parts of another computation, or other files.
    """

    def __init__(self, store: Any, settings: Mapping[str, Any], doing: str) -> None:
        self.path: Path | None = None if store is None else folder(doing, store)
        if self.path is None:
            return
        identity = {name: _text(value) for name, value in settings.items()}
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{doing}: store: {str(store)!r} is a file; give a folder")
        file = self.path / "settings"
        if not file.exists():
            if self.path.exists() and any(self.path.iterdir()):
                raise ValueError(
                    f"{doing}: store: {str(store)!r} has other files; give a new or empty folder"
                )
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(file, seal(json.dumps(identity).encode()))
            return
        try:
            before = json.loads(read_sealed(file))
        except Damaged as error:
            raise ValueError(
                f"{doing}: store: {str(store)!r}: {error}; remove the folder to begin again"
            ) from None
        differing = [name for name in identity if before.get(name) != identity[name]]
        if differing:
            raise ValueError(
                f"{doing}: store: {str(store)!r} has parts of another computation, which differs "
                f"in {', '.join(differing)}; give the same arguments, or another folder"
            )

    def read(self, number: int) -> Arrays | None:
        """The arrays of a part; None if it is not finished."""
        if self.path is None:
            return None
        try:
            return arrays_of(read_sealed(self._file(number)))
        except Damaged:
            return None

    def write(self, number: int, arrays: Arrays) -> None:
        """Write a finished part."""
        if self.path is not None:
            write_whole(self._file(number), seal(arrays_bytes(arrays)))

    def _file(self, number: int) -> Path:
        assert self.path is not None
        return self.path / f"part-{number:06d}"


def in_parts(
    compute: Callable[[np.ndarray], Arrays],
    count: int,
    size: int,
    settings: Mapping[str, Any],
    *,
    store: Any,
    progress: Progress,
    doing: str,
    of: str = "evaluations",
) -> Arrays:
    """The arrays of `count` things, computed `size` at a time.

    `compute` takes the numbers of some things, and returns arrays with a row for each of them.
    """
    finished = FinishedParts(store, {"count": count, "part": size} | dict(settings), doing)
    parts = []
    with counted(progress, doing, count, of) as advance:
        for number, first in enumerate(range(0, count, size)):
            places = np.arange(first, min(first + size, count))
            part = finished.read(number)
            if part is None:
                part = compute(places)
                finished.write(number, part)
            parts.append(part)
            advance(len(places))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _text(value: Any) -> str:
    """A text that differs for different values; arrays are hashed."""
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype} {value.shape} {content}"
    return repr(value)
