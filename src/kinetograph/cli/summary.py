"""`kinetograph summary`: the table of a stored run."""

from pathlib import Path
from typing import Any

import click

from .errors import InputError, note

__all__ = ["summary"]


@click.command(short_help="Print the summary of a stored run.")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1)
def summary(path: Path, names: tuple[str, ...]) -> None:
    """Print the summary of the results in PATH, and what is wrong with them.

    NAMES choose among the quantities; without them all are shown.
    """
    tree = _open(path)
    posterior = tree["posterior"].dataset
    for name in names:
        if name not in posterior.data_vars:
            known = ", ".join(map(str, posterior.data_vars))
            raise InputError(f"{path} holds no {name}; it holds {known}")
    from ..runs.advice import diagnose
    from ..runs.summary import summary as table

    click.echo(str(table(tree, *names)))
    for finding in diagnose(tree):
        note(f"warning: {finding.message}")


def _open(path: Path) -> Any:
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file of results")
    if not path.exists():
        raise InputError(f"there is no file {path}")
    import xarray as xr

    try:
        with xr.open_datatree(path, engine="h5netcdf") as opened:
            tree = opened.load()
    except Exception as error:  # each layer below raises errors of its own for a strange file
        raise InputError(f"{path} is no netCDF file: {_first_line(error)}") from error
    if "posterior" not in tree.children:
        raise InputError(f"{path} holds no posterior, so it is no result of kinetograph sample")
    missing = [dim for dim in ("chain", "draw") if not tree["posterior"].sizes.get(dim)]
    if missing or "sample_stats" not in tree.children:
        lacks = f"dimension {missing[0]!r}" if missing else "sample_stats"
        raise InputError(f"{path} has a posterior without {lacks}: no result of kinetograph sample")
    return tree


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
