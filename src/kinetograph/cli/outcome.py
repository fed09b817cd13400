"""What comes of a run: first the file, then the table, then a line of what is where."""

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
STOPPED = r"\w+: stopped by (Ctrl-C|SIGTERM)"  # the library's warning; there is a line of ours

format_option = click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How the summary is printed; plain: separated by tabs, with all digits.",
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Write the results, as netCDF (.nc), before anything is printed.",
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
    """Draw, write, print, and say how to go on if it did not end as it should.

    The file is written before R-hat and the like are computed, which takes a while.
    """
    from ..runs.run import handing

    written = _Written(out, target)
    try:
        with warnings.catch_warnings(), handing(written.take):
            warnings.filterwarnings("ignore", STOPPED)
            tree = run()
    except STOPS as error:
        raise stopped(error, written.text(store)) from None
    except Exception as error:
        if show_traceback:
            print_traceback(error)
        raise _explained(error, store, written.of_failed(store)) from error
    if written.error is not None:
        raise written.error
    wrote = written.path
    try:
        print_summary(tree, style, wrote or store)
    except STOPS as error:
        raise stopped(error, written.text(store)) from None
    if show_seed:
        note(f"seed {tree.attrs['seed']}")
    if wrote is not None:
        note(f"wrote {wrote}")
    if tree.attrs["interrupted"]:
        raise stopped(tree.attrs["stopped_by"], written.text(store))


class _Written:
    """The results of a run, and the file that they are in, if one is asked for."""

    def __init__(self, out: Path | None, target: Path | None) -> None:
        self.out, self.target = out, target
        self.tree: Any = None
        self.path: Path | None = None
        self.error: RunError | None = None

    def take(self, tree: Any) -> None:
        """Write the draws to the file."""
        self.tree = tree
        if not _drawn(tree):
            return
        try:
            self.path = results_written(tree, self.out, self.target)
        except RunError as error:
            self.error = error

    def text(self, store: Path | None) -> str:
        """After how many draws a run was stopped, and how to go on."""
        if self.tree is not None and _drawn(self.tree):
            return f" after {_count(self.tree)}{_on(store, self.path)}"
        on = _on(store) if store is not None and store.exists() else "; nothing to write"
        return f" before every chain had a draw{on}"

    def of_failed(self, store: Path | None) -> str:
        """Where the draws of a run are that failed, and how to go on."""
        if self.tree is None:
            return ""
        if self.error is not None:
            return f"; {self.error.format_message()}{_on(store)}"
        there = ""
        if _drawn(self.tree) and (self.path or store):
            there = f"; {_count(self.tree)} are in {self.path or store}"
        return there + _on(store, self.path)


def results_written(tree: Any, out: Path | None, target: Path | None) -> Path | None:
    """Write results to a file, if one is asked for; which one."""
    if target is None:
        return None
    plain = tree.map_over_datasets(lambda group: group.drop_encoding())  # that of a store
    try:
        write_whole(target, lambda path: plain.to_netcdf(path, engine="h5netcdf"))
    except OSError as error:
        raise RunError(f"{out} could not be written: {error}") from error
    return out


def print_summary(tree: Any, style: str, held: Path | None, *names: str) -> None:
    """Print the summary; where the results are `held` is said if nobody reads it.

    Raises
    ------
    RunError
        If it cannot be printed.
    """
    if "posterior" not in tree.children:  # a run that keeps averages alone
        return
    from ..runs.summary import summary

    where = "" if held is None else f"; the results are in {held}"
    if sys.stdout is None:
        raise RunError(f"the summary could not be printed: standard output is closed{where}")
    text = _text(summary(tree, *names), style)
    try:
        click.echo(text)
        sys.stdout.flush()
    except OSError as error:
        # What is buffered would be written once more when the process ends.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise RunError(f"the summary could not be printed: {error.strerror}{where}") from error


def _text(table: Any, style: str) -> str:
    if style == "table":
        return str(table)
    rows = [[float(table.columns[c][i]) for c in table.columns] for i in range(len(table))]
    if style == "json":
        held = [
            {"name": name}
            | {c: v if math.isfinite(v) else None for c, v in zip(table.columns, row, strict=True)}
            for name, row in zip(table, rows, strict=True)
        ]
        return json.dumps(held, indent=1)
    lines = [["name", *table.columns]]
    lines += [[name, *map(repr, row)] for name, row in zip(table, rows, strict=True)]
    return "\n".join("\t".join(line) for line in lines)


def _count(tree: Any) -> str:
    wanted = int(tree.attrs["draws"])
    return f"{_drawn(tree)}{f' of {wanted}' if wanted >= 0 else ''} draws of each chain"


def _drawn(tree: Any) -> int:
    if "posterior" in tree.children:
        return int(tree["posterior"].sizes.get("draw", 0))
    return int(tree["averages/count"].min())


def _on(store: Path | None, wrote: Path | None = None) -> str:
    """How to go on."""
    if store is not None:
        return f"; `kinetograph resume {store}` goes on from there"
    return f"; kg.extra_samples goes on from {wrote}" if wrote is not None else ""


def _explained(error: Exception, store: Path | None, rest: str) -> click.ClickException:
    from ..graph.errors import KinetographError
    from ..runs.store.place import named

    text = str(error)
    ours = text.startswith(("mcmc: ", "resume: ")) and isinstance(error, (ValueError, TypeError))
    there = None if store is None else named(Path(os.path.realpath(store)))
    if ours or text.startswith(("mcmc: keep: ", f"mcmc: {there} ")):  # has other chains, or a run
        return InputError(text)
    if not isinstance(error, KinetographError):  # others' messages may be pages long
        text = text.strip().partition("\n")[0]
    return RunError(f"{type(error).__name__}: {text}{rest}")
