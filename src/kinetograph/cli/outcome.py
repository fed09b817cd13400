"""The outcome of a run: a file, the summary, a closing line."""

import json
import math
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from ..runs.signals import STOPS
from .errors import InputError, RunError, note, print_traceback, stopped
from .files import write_whole

__all__ = ["carry_out", "format_option", "out_option", "print_summary", "results_written"]

FORMATS = ("table", "json", "plain")
STOPPED = r"\w+: stopped by (Ctrl-C|SIGTERM)"  # the library's warning, replaced by a line here

format_option = click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Format of the summary; plain is separated by tabs, with all digits.",
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Write the results to a netCDF file (.nc) before the summary is printed.",
)


def carry_out(
    run: Callable[[], Any],
    out: Path | None,
    target: Path | None,
    store: Path | None,
    style: str,
    show_traceback: bool,
    show_seed: bool,
) -> None:
    """Draw, write, print, and say how to continue.

    The file is written before R-hat and effective sample sizes are computed, which takes a while.
    """
    from ..runs.run import handing

    file = _ResultFile(out, target)
    try:
        with warnings.catch_warnings(), handing(file.take):
            warnings.filterwarnings("ignore", STOPPED)
            tree = run()
    except STOPS as error:
        raise stopped(error, file.text(store)) from None
    except Exception as error:
        if show_traceback:
            print_traceback(error)
        raise _explained(error, store, file.of_failed(store)) from error
    if file.error is not None:
        raise file.error
    path = file.path
    try:
        print_summary(tree, style, path or store)
    except STOPS as error:
        raise stopped(error, file.text(store)) from None
    if show_seed:
        note(f"seed {tree.attrs['seed']}")
    if path is not None:
        note(f"wrote {path}")
    if tree.attrs["interrupted"]:
        raise stopped(tree.attrs["stopped_by"], file.text(store))


class _ResultFile:
    """The results of a run, and the file for them."""

    def __init__(self, out: Path | None, target: Path | None) -> None:
        self.out, self.target = out, target
        self.tree: Any = None
        self.path: Path | None = None
        self.error: RunError | None = None

    def take(self, tree: Any) -> None:
        """Write the draws to the file."""
        self.tree = tree
        if not _draw_count(tree):
            return
        try:
            self.path = results_written(tree, self.out, self.target)
        except RunError as error:
            self.error = error

    def text(self, store: Path | None) -> str:
        """The draws of a stopped run, and how to continue."""
        if self.tree is not None and _draw_count(self.tree):
            return f" after {_count(self.tree)}{_how_to_continue(store, self.path)}"
        continuation = (
            _how_to_continue(store)
            if store is not None and store.exists()
            else "; nothing to write"
        )
        return f" before every chain had a draw{continuation}"

    def of_failed(self, store: Path | None) -> str:
        """A text that says where the draws of a failed run are.

        It also says how to continue.
        """
        if self.tree is None:
            return ""
        if self.error is not None:
            return f"; {self.error.format_message()}{_how_to_continue(store)}"
        text = ""
        if _draw_count(self.tree) and (self.path or store):
            text = f"; {_count(self.tree)} are in {self.path or store}"
        return text + _how_to_continue(store, self.path)


def results_written(tree: Any, out: Path | None, target: Path | None) -> Path | None:
    """Write results to a file, if one was requested; returns its path."""
    if target is None:
        return None
    unencoded = tree.map_over_datasets(
        lambda group: group.drop_encoding()
    )  # the encoding of a store
    try:
        write_whole(target, lambda path: unencoded.to_netcdf(path, engine="h5netcdf"))
    except OSError as error:
        raise RunError(f"{out} could not be written: {error}") from error
    return out


def print_summary(tree: Any, style: str, location: Path | None, *names: str) -> None:
    """Print the summary; an error says where the results are.

    Raises
    ------
    RunError
        If it cannot be printed.
    """
    if "posterior" not in tree.children:  # a run with averages only
        return
    from ..results.summary import summary

    location_text = "" if location is None else f"; the results are in {location}"
    if sys.stdout is None:
        raise RunError(
            f"the summary could not be printed: standard output is closed{location_text}"
        )
    text = _text(summary(tree, *names), style)
    try:
        click.echo(text)
        sys.stdout.flush()
    except OSError as error:
        # The buffer would be written again when the process ends.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise RunError(
            f"the summary could not be printed: {error.strerror}{location_text}"
        ) from error


def _text(table: Any, style: str) -> str:
    if style == "table":
        return str(table)
    rows = [[float(table.columns[c][i]) for c in table.columns] for i in range(len(table))]
    if style == "json":
        entries = [
            {"name": name}
            | {c: v if math.isfinite(v) else None for c, v in zip(table.columns, row, strict=True)}
            for name, row in zip(table, rows, strict=True)
        ]
        return json.dumps(entries, indent=1)
    lines = [["name", *table.columns]]
    lines += [[name, *map(repr, row)] for name, row in zip(table, rows, strict=True)]
    return "\n".join("\t".join(line) for line in lines)


def _count(tree: Any) -> str:
    requested = int(tree.attrs["draws"])
    return f"{_draw_count(tree)}{f' of {requested}' if requested >= 0 else ''} draws of each chain"


def _draw_count(tree: Any) -> int:
    if "posterior" in tree.children:
        return int(tree["posterior"].sizes.get("draw", 0))
    return int(tree["averages/count"].min())


def _how_to_continue(store: Path | None, file: Path | None = None) -> str:
    """The way to continue a run, for messages."""
    if store is not None:
        return f"; `kinetograph resume {store}` continues the run"
    return f"; kg.extra_samples continues the run from {file}" if file is not None else ""


def _explained(error: Exception, store: Path | None, rest: str) -> click.ClickException:
    from ..graph.errors import KinetographError
    from ..runs.store.place import named

    text = str(error)
    from_run = text.startswith(("mcmc: ", "resume: ")) and isinstance(
        error, (ValueError, TypeError)
    )
    store_name = None if store is None else named(Path(os.path.realpath(store)))
    if from_run or text.startswith(
        ("mcmc: keep: ", f"mcmc: {store_name} ")
    ):  # the folder holds another run, or these chains
        return InputError(text)
    if not isinstance(error, KinetographError):  # messages of other libraries may be pages long
        text = text.strip().partition("\n")[0]
    return RunError(f"{type(error).__name__}: {text}{rest}")
