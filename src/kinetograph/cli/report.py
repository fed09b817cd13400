"""`kinetograph report`: a stored run on one HTML page."""

from pathlib import Path

import click

from .errors import RunError, note, readable_warnings
from .files import check_target
from .models import load_model, traceback_option
from .results import open_results, reading

__all__ = ["report"]


@click.command(short_help="Write an HTML page about a stored run.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="PAGE",
    required=True,
    help="The HTML file to write (.html).",
)
@click.option(
    "--model",
    "source",
    metavar="FILE[:NAME]",
    help="The model whose graph is shown; not needed for a store, which holds its model.",
)
@traceback_option
def report(path: Path, out: Path, source: str | None, show_traceback: bool) -> None:
    """Write an HTML page about the results in PATH.

    PATH is a netCDF file (.nc), or the store of a run. The page lists the settings of the run and
    what to do about problems, and has the summary and pictures of the draws. It is self-contained.
    """
    target = check_target(out, (".html", ".htm"))
    tree = open_results(path)
    with readable_warnings():
        model = None if source is None else load_model(source, show_traceback)
        from ..results.report.report import report as make

        with reading(path):
            page = make(tree, model)
    try:
        page.save(target)
    except OSError as error:
        raise RunError(f"{out} could not be written: {error}") from error
    note(f"wrote {out}")
