"""Stored results: netCDF files, and the stores of runs."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import InputError, RunError

__all__ = ["open_results", "reading"]

READERS = ("zarr", "h5netcdf", "h5py")


def open_results(path: Path) -> Any:
    """The results in a file or a store.

    Arrays are read when they are used."""
    from ..graph.suggestions import absent
    from ..results.stored_model import HIDDEN, read_manifest

    if not path.exists():
        raise InputError(absent(path))
    store = path.is_dir()
    if store and not (path / HIDDEN).is_dir():
        raise InputError(f"{path} is a folder, but not the store of a run")
    if store and not (path / "zarr.json").exists() and "verb" in read_manifest(path)[0]:
        raise InputError(f"{path} holds a run that has not ended, and no results yet")
    try:
        tree = _opened(path, store)
    except Exception as error:  # each library below raises its own errors for a wrong file
        if store:
            raise _damaged(path, error) from error
        hint = "" if path.suffix != ".py" else "; `kinetograph sample` makes one with --out"
        raise InputError(f"{path} is not a netCDF file: {_first_line(error)}{hint}") from error
    if "posterior" not in tree.children:
        raise InputError(f"{path} holds no posterior, so it is not a result of kinetograph sample")
    sizes = tree["posterior"].sizes
    missing_dims = [f"dimension {dim!r}" for dim in ("chain", "draw") if dim not in sizes]
    if missing_dims or "sample_stats" not in tree.children:
        missing = missing_dims[0] if missing_dims else "sample_stats"
        raise InputError(
            f"{path} has a posterior without {missing}: not a result of kinetograph sample"
        )
    return tree


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """A context for reading arrays, which reports damage of files."""
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            frames = traceback.walk_tb(cause.__traceback__)
            libraries = {
                str(frame.f_globals.get("__name__")).partition(".")[0] for frame, _ in frames
            }
            if libraries & set(READERS):
                raise _damaged(path, cause) from error
            cause = cause.__cause__ or cause.__context__
        raise


def _damaged(path: Path, error: BaseException) -> RunError:
    remedy = ""
    if path.is_dir():
        remedy = f"; `kinetograph resume {path}` repairs it, and makes lost draws again"
    return RunError(f"{path} is damaged and cannot be read: {_first_line(error)}{remedy}")


def _opened(path: Path, store: bool) -> Any:
    if store:
        from ..runs.checkpoints import opened

        return opened(path)
    import xarray as xr

    return xr.open_datatree(path, engine="h5netcdf")


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
