"""Files that a simulation writes, and their rows before a run."""

import csv
import os
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..graph.errors import DataError

__all__ = [
    "RECORD_FILES",
    "BegunFile",
    "check_files",
    "check_writable",
    "changed_meanwhile",
    "continued_files",
]

RECORD_FILES = ("run_file", "trajectory_file", "averages_file")
_WRITTEN = (*RECORD_FILES, "save_model", "sql_db")
_READ = ("batch_data_files", "directions_file", "parse_parameters_file", "restore_model")
_CONTINUED = {"save_model": "restore_model"}
_ENDINGS = (".csv", ".zarr")
_LAST = 4096  # bytes or rows of a checksum


class BegunFile(NamedTuple):
    """A file of records to which a simulation appends.

    Attributes
    ----------
    role
        The role whose rows it has, "sampling" or "training".
    density
        The checksum of the density of these rows.
    length
        The length of its rows: bytes of a CSV file, rows of a folder NAME.zarr.
    last
        The checksum of the rows before this length, of the last ones only.
    """

    role: str
    density: str
    length: int
    last: str

    @classmethod
    def at(cls, role: str, density: str, path: str) -> "BegunFile":
        """The file as it is."""
        if path.endswith(".zarr"):
            length = min(array.shape[0] for array in _arrays(path).values())
        else:
            length = os.path.getsize(path)
        return cls(role, density, length, _checksum(path, length))

    def is_in(self, path: str) -> bool:
        """Whether a file begins with these rows."""
        return os.path.exists(path) and _checksum(path, self.length) == self.last

    def is_all_of(self, path: str) -> bool:
        """Whether a file has these rows, and no other ones."""
        return self.is_in(path) and self.length == BegunFile.at("", "", path).length

    def cut(self, path: str) -> None:
        """Remove the rows after the length, which later steps wrote."""
        if path.endswith(".zarr"):
            for array in _arrays(path).values():
                array.resize((self.length,))
        else:
            os.truncate(path, self.length)


def _arrays(path: str) -> dict[str, Any]:
    """The columns of a folder NAME.zarr."""
    import zarr

    return dict(zarr.open_group(path, mode="r+").arrays())


def _checksum(path: str, length: int) -> str:
    """The checksum of the last rows before a length.

    It is "" if the file is shorter.
    """
    begin = max(0, length - _LAST)
    if path.endswith(".zarr"):
        arrays = _arrays(path)
        if not arrays or min(array.shape[0] for array in arrays.values()) < length:
            return ""
        parts = [arrays[name][begin:length].tobytes() for name in sorted(arrays)]
    else:
        with open(path, "rb") as file:
            file.seek(begin)
            parts = [file.read(length - begin)]
        if len(parts[0]) < length - begin:
            return ""
    return sha256(b"".join(parts)).hexdigest()


def _columns(path: str) -> list[str]:
    """The names of the columns of a file."""
    if path.endswith(".zarr"):
        return sorted(_arrays(path))
    with open(path, newline="", encoding="utf-8") as file:
        return next(csv.reader(file), [])


def _lowest_step(path: str) -> float:
    """The lowest step of the rows.

    It is 0 if the file has no column step, and infinite if the file has no rows.
    """
    try:
        if path.endswith(".zarr"):
            steps = np.asarray(_arrays(path)["step"][:], float)
        else:
            steps = pd.read_csv(path, usecols=["step"])["step"].to_numpy(float)
        return float(np.min(steps, initial=np.inf))
    except (ValueError, KeyError, OSError):
        return 0.0


def continued_files(
    files: Mapping[str, BegunFile],
    role: str,
    steps_made: int,
    density: str,
    columns: Callable[[], Sequence[Sequence[str]]],
    options: Mapping[str, Any],
) -> dict[str, BegunFile]:
    """The files that a run continues, by option.

    The run replaces other files. `files` are the files that the simulation began, `steps_made` is
    the number of steps before the run, and `columns()` are the columns of the new rows of each
    file. No file is changed.

    Raises
    ------
    DataError
        If a file has rows that would be lost, or rows to which the new ones do not belong.
    """
    continued = {}
    for name in RECORD_FILES:
        path = options[name]
        if path is None or not os.path.exists(path):
            continue
        same_path = files.get(os.path.realpath(path))
        candidates = [same_path] if same_path is not None and same_path.is_in(path) else []
        candidates = candidates or [begun for begun in files.values() if begun.is_in(path)]
        if candidates:
            continued[name] = max(candidates, key=lambda begun: begun.length)
        elif steps_made and not _lowest_step(path) > steps_made:
            raise DataError(
                f"{name}: {path!r} does not have the rows that this simulation wrote before its "
                f"step {steps_made}, and has rows of earlier steps; put the file with these rows "
                "back, give another name, or remove the file to begin a new one"
            )
    calls = {"sampling": "sample()", "training": "fit()"}
    reasons = {
        name: f"has the rows of {calls[begun.role]}, and {calls[role]} writes different rows"
        for name, begun in continued.items()
        if begun.role != role
    }
    if continued and not reasons:
        new = dict(zip(RECORD_FILES, columns(), strict=True))
        reasons = {name: _other_columns(options[name], list(new[name])) for name in continued}
        reasons = {name: text for name, text in reasons.items() if text} or {
            name: "has rows of another density: a change of the data, the network, the precision, "
            "the loss, its scale, the prior, a fixed value, or the version of JAX"
            for name, begun in continued.items()
            if begun.density != density
        }
    for name, reason in reasons.items():
        raise DataError(
            f"{name}: {options[name]!r} {reason}; give {name} another name, or begin again by "
            "reset_parameters(), which replaces the file"
        )
    return continued


def changed_meanwhile(name: str, path: str) -> DataError:
    """The error of a file that another process wrote during a run."""
    return DataError(
        f"{name}: {path!r} was changed during this run; another run seems to write to it. Put the "
        f"rows of this run back, or give {name} another name"
    )


def _other_columns(path: str, here: list[str]) -> str:
    """A text on columns that a file or new rows lack."""
    there = _columns(path)
    parts = [
        f"{', '.join(names[:8])}{', ...' if len(names) > 8 else ''} {where}"
        for names, where in (
            ([name for name in there if name not in here], "only in the file"),
            ([name for name in here if name not in there], "only in the new rows"),
        )
        if names
    ]
    if there != here and not parts and not path.endswith(".zarr"):
        parts = ["the order differs"]
    if not parts:
        return ""
    return f"has other columns than the rows of this run: {' and '.join(parts)}"


def check_files(options: Mapping[str, Any]) -> None:
    """Refuse files of records of unknown formats, and files with two uses.

    A state may be read and written, so that save_model and restore_model may agree.

    Raises
    ------
    ValueError
        The message names the options.
    """
    for name in RECORD_FILES:
        path = options[name]
        if path is not None and not os.fspath(path).endswith(_ENDINGS):
            raise ValueError(
                f"{name}: {os.fspath(path)!r} has an unknown format; expected a name that ends in "
                f"{' (a CSV file) or '.join(_ENDINGS)} (a folder)"
            )
    uses: dict[str, str] = {}
    for name in (*_READ, *_WRITTEN):
        for path in _paths(options[name]):
            place = os.path.realpath(path)
            other = uses.setdefault(place, name)
            if name in _WRITTEN and other not in (name, _CONTINUED.get(name)):
                reason = (
                    "which would be overwritten" if other in _READ else "each needs its own file"
                )
                raise ValueError(
                    f"{name}: {os.fspath(path)!r} is also the file of {other}, {reason}; give "
                    "another name"
                )


def check_writable(name: str, path: Any) -> None:
    """Refuse a file that cannot be written after a run.

    Raises
    ------
    FileNotFoundError
        If its folder does not exist or cannot be written, or the path is a folder.
    """
    folder = os.path.dirname(os.path.abspath(path))
    is_zarr = os.fspath(path).endswith(".zarr")  # a folder
    if (os.path.isdir(path) and not is_zarr) or not os.access(folder, os.W_OK):
        raise FileNotFoundError(
            f"{name}: {os.fspath(path)!r} is a folder, or the folder {folder!r} does not exist or "
            "cannot be written; give another name"
        )


def _paths(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)
