"""`kinetograph neural compare`: differences of two files of records."""

from pathlib import Path

import click

from ...cli.errors import InputError
from ...cli.models import traceback_option
from ..comparison import compare_records
from .flags import explained, signature_flag

__all__ = ["compare"]

DIFFERENT = 1  # the exit code
_PATH = click.Path(exists=True, path_type=Path)


@click.command()
@click.argument("first", type=_PATH)
@click.argument("second", type=_PATH)
@click.option(
    "--drop",
    multiple=True,
    default=("time_per_nth_step",),
    show_default=True,
    help="A column that is not compared; repeatable.",
)
@click.option("--ignore-sign", multiple=True, help="A column without its sign; repeatable.")
@signature_flag(compare_records, "threshold", "The largest difference that is allowed.")
@click.option(
    "--column-threshold",
    multiple=True,
    metavar="NAME=NUMBER",
    help="The largest difference of one column; repeatable.",
)
@click.option("--relative/--absolute", default=False, help="Whether differences are relative.")
@traceback_option
@click.pass_context
def compare(
    ctx: click.Context,
    first: Path,
    second: Path,
    drop: tuple[str, ...],
    ignore_sign: tuple[str, ...],
    threshold: float,
    column_threshold: tuple[str, ...],
    relative: bool,
    show_traceback: bool,
) -> None:
    """Compare two run, trajectory or averages files, and print the largest differences.

    Exit codes: 0 all differences are within their thresholds, 1 they are not, 2 wrong input.
    """
    thresholds = dict(map(_threshold, column_threshold))
    with explained(show_traceback):
        comparison = compare_records(
            first,
            second,
            drop=drop,
            ignore_sign=ignore_sign,
            threshold=threshold,
            thresholds=thresholds,
            relative=relative,
        )
    click.echo(str(comparison))
    ctx.exit(0 if comparison.equal else DIFFERENT)


def _threshold(text: str) -> tuple[str, float]:
    """A column and its threshold."""
    name, _, number = text.rpartition("=")
    try:
        return name, float(number)
    except ValueError as error:
        raise InputError(
            f"--column-threshold: expected NAME=NUMBER such as loss=1e-3, got {text!r}"
        ) from error
