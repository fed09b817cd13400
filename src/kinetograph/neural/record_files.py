"""Checks of the files that a simulation writes."""

import os
from collections.abc import Mapping
from typing import Any

__all__ = ["RECORD_FILES", "check_files", "check_writable"]

RECORD_FILES = ("run_file", "trajectory_file", "averages_file")
_WRITTEN = (*RECORD_FILES, "save_model", "sql_db")
_READ = ("batch_data_files", "directions_file", "parse_parameters_file", "restore_model")
_CONTINUED = {"save_model": "restore_model"}
_ENDINGS = (".csv", ".zarr")


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
