"""Stored results: files of netCDF, and the folders that runs are stored in."""

from pathlib import Path
from typing import Any

from .errors import InputError

__all__ = ["open_results"]


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
        kind = "store that can be read" if store else "netCDF file"
        raise InputError(f"{path} is no {kind}: {_first_line(error)}") from error
    if "posterior" not in tree.children:
        raise InputError(f"{path} holds no posterior, so it is no result of kinetograph sample")
    sizes = tree["posterior"].sizes
    lacking = [f"dimension {dim!r}" for dim in ("chain", "draw") if dim not in sizes]
    if lacking or "sample_stats" not in tree.children:
        lacks = lacking[0] if lacking else "sample_stats"
        raise InputError(f"{path} has a posterior without {lacks}: no result of kinetograph sample")
    return tree


def _opened(path: Path, store: bool) -> Any:
    if store:
        from ..runs.stored import opened

        return opened(path)
    import xarray as xr

    return xr.open_datatree(path, engine="h5netcdf")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
