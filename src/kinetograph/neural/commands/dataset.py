"""`kinetograph neural dataset`: synthetic data."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from ...cli.errors import InputError, note
from ...cli.files import check_target, write_whole
from ...cli.models import traceback_option
from .. import datasets
from .flags import explained, signature_flag

__all__ = ["dataset"]

SETS = ("linear", "sine", "spiral", "squares", "two_circles", "two_clusters")


@click.command()
@click.argument("name", type=click.Choice(SETS))
@signature_flag(datasets.two_circles, "points", "The number of points.")
@click.option("--noise", type=float, help="The noise.  [default: as of kg.neural.datasets]")
@signature_flag(datasets.two_circles, "seed", "The seed.")
@click.option(
    "--test", type=float, default=0.0, show_default=True, help="The fraction of rows for tests."
)
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The CSV file."
)
@click.option(
    "--test-out", type=click.Path(path_type=Path), metavar="FILE", help="The CSV file for tests."
)
@traceback_option
def dataset(
    name: str,
    points: int,
    noise: float | None,
    seed: int,
    test: float,
    out: Path,
    test_out: Path | None,
    show_traceback: bool,
) -> None:
    """Write synthetic data to CSV files.

    The columns are x1, x2, ... and label. The same arguments give the same bytes. With --test,
    random rows go to the file --test-out.
    """
    if (test > 0) != (test_out is not None):
        raise InputError("--test needs --test-out, and --test-out needs --test")
    if test_out is not None and out.absolute() == test_out.absolute():
        raise InputError(f"--test-out: {test_out} is also the file of --out; give another name")
    targets = [check_target(path, (".csv",)) for path in (out, test_out) if path is not None]
    settings: dict[str, Any] = {} if noise is None else {"noise": noise}
    with explained(show_traceback):
        data = getattr(datasets, name)(points, seed=seed, **settings)
        parts = data.split(test, seed) if test_out is not None else (data,)
        for target, part in zip(targets, parts, strict=True):
            write_whole(target, partial(datasets.write_csv, data=part))
            note(f"wrote {target.name}, {len(part.x)} rows")
