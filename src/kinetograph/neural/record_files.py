"""Files that a simulation writes, and their rows before a run."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..graph.errors import DataError

__all__ = ["RECORD_FILES", "BegunFile", "check_files", "check_writable", "cut_files"]

RECORD_FILES = ("run_file", "trajectory_file", "averages_file")
_WRITTEN = (*RECORD_FILES, "save_model", "sql_db")
_READ = ("batch_data_files", "directions_file", "parse_parameters_file", "restore_model")
_CONTINUED = {"save_model": "restore_model"}
_ENDINGS = (".csv", ".zarr")


class BegunFile(NamedTuple):
    """A file of records to which a simulation appends.

    Attributes
    ----------
    role
        The role whose rows it has, "sampling" or "training".
    path
        The file.
    length
        The length of its rows: bytes of a CSV file, rows of a folder NAME.zarr.
    """

    role: str
    path: str
    length: int

    @classmethod
    def at(cls, role: str, path: str) -> "BegunFile":
        """The file as it is."""
        if path.endswith(".zarr"):
            return cls(role, path, min(array.shape[0] for array in _arrays(path)))
        return cls(role, path, os.path.getsize(path))

    def cut(self, name: str, path: str) -> None:
        """Remove the rows after the length, which later steps wrote.

        Raises
        ------
        DataError
            If the file does not have the rows before.
        """
        if path.endswith(".zarr"):
            arrays = _arrays(path)
            has_rows = bool(arrays) and min(array.shape[0] for array in arrays) >= self.length
            for array in arrays if has_rows else ():
                array.resize((self.length,))
        else:
            with open(path, "r+b") as file:
                file.seek(self.length - 1)
                has_rows = file.read(1) == b"\n"
                if has_rows:
                    file.truncate(self.length)
        if not has_rows:
            raise DataError(
                f"{name}: {path!r} does not have the rows that this simulation wrote to it; put "
                "the file with these rows back, give another name, or remove the file to begin a "
                "new one"
            )


def _arrays(path: str) -> list[Any]:
    """The columns of a folder NAME.zarr."""
    import zarr

    return [array for _, array in zarr.open_group(path, mode="r+").arrays()]


def cut_files(files: dict[str, BegunFile], role: str, options: Mapping[str, Any]) -> None:
    """Cut the files that a run continues to earlier rows.

    Other files are forgotten. `files` are the begun files, by option.
    """
    for name in RECORD_FILES:
        if options[name] is None or name not in files:
            continue
        begun, path = files[name], options[name]
        same = begun.role == role and os.path.realpath(begun.path) == os.path.realpath(path)
        if same and os.path.exists(path):
            begun.cut(name, path)
        else:
            del files[name]


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
                reason = "would be overwritten" if other in _READ else "each needs its own file"
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
    if os.path.isdir(path) or not os.access(folder, os.W_OK):
        raise FileNotFoundError(
            f"{name}: {os.fspath(path)!r} is a folder, or the folder {folder!r} does not exist or "
            "cannot be written; give another name"
        )


def _paths(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)
