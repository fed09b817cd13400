"""Stored results: files of netCDF, and the folders that runs are stored in."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import InputError, RunError

__all__ = ["open_results", "reading"]

READERS = ("zarr", "h5netcdf", "h5py")


def open_results(path: Path) -> Any:
    """The results in a file or a store; arrays are read when they are looked at."""
    from ..runs.store.store import HIDDEN

    if not path.exists():
        raise InputError(f"there is no file {path}")
    store = path.is_dir()
    if store and not (path / HIDDEN).is_dir():
        raise InputError(f"{path} is a folder, and no store of a run")
    try:
        tree = _opened(path, store)
    except Exception as error:  # each layer below raises errors of its own for a strange file
        if store:
            raise _damaged(path, error) from error
        made = "" if path.suffix != ".py" else "; `kinetograph sample` makes one, with --out"
        raise InputError(f"{path} is no netCDF file: {_first_line(error)}{made}") from error
    if "posterior" not in tree.children:
        raise InputError(f"{path} holds no posterior, so it is no result of kinetograph sample")
    sizes = tree["posterior"].sizes
    lacking = [f"dimension {dim!r}" for dim in ("chain", "draw") if dim not in sizes]
    if lacking or "sample_stats" not in tree.children:
        lacks = lacking[0] if lacking else "sample_stats"
        raise InputError(f"{path} has a posterior without {lacks}: no result of kinetograph sample")
    return tree


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """While arrays of results are looked at: files that are damaged are told as such."""
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            frames = traceback.walk_tb(cause.__traceback__)
            where = {str(frame.f_globals.get("__name__")).partition(".")[0] for frame, _ in frames}
            if where & set(READERS):
                raise _damaged(path, cause) from error
            cause = cause.__cause__ or cause.__context__
        raise


def _damaged(path: Path, error: BaseException) -> RunError:
    mends = ""
    if path.is_dir():
        mends = f"; `kinetograph resume {path}` mends it, and draws again what has been lost"
    return RunError(f"{path} is damaged, and cannot be read: {_first_line(error)}{mends}")


def _opened(path: Path, store: bool) -> Any:
    if store:
        from ..runs.keeper import opened

        return opened(path)
    import xarray as xr

    return xr.open_datatree(path, engine="h5netcdf")


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
