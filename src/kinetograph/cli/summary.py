"""`kinetograph summary`: the summary of a stored run."""

from pathlib import Path

import click

from ..graph.suggestions import did_you_mean
from .errors import InputError, note
from .outcome import format_option, print_summary
from .results import open_results, reading

__all__ = ["summary"]


@click.command(short_help="Print the summary of a stored run.")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1)
@format_option
def summary(path: Path, names: tuple[str, ...], style: str) -> None:
    """Print the summary of results in PATH, and problems found in them.

    PATH is a netCDF file (.nc), or the store of a run. NAMES select quantities; by default all are
    shown.
    """
    tree = open_results(path)
    posterior = tree["posterior"].dataset
    for name in names:
        if name not in posterior.data_vars:
            variables = ", ".join(map(str, posterior.data_vars))
            hint = did_you_mean(name, map(str, posterior.data_vars), str)
            raise InputError(f"{path} holds no {name}; it holds {variables}{hint}")
    if not posterior.sizes["draw"]:
        raise InputError(f"{path} holds no draws")
    from ..results.diagnosis import diagnose

    with reading(path):
        print_summary(tree, style, path, *names)
        for finding in diagnose(tree):
            note(f"warning: {finding.message}")
