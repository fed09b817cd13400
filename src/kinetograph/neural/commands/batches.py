"""`kinetograph neural batches`: the batches of a run, printed or drawn."""

from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from ...bits.draws import chain_key
from ...cli.errors import note
from ...cli.files import check_target
from ..simulation import Simulation
from .flags import explained, given_options, option_flags

__all__ = ["batches"]


@click.command()
@option_flags("data", names=("seed", "precision"))
@click.option(
    "--count", type=click.IntRange(1), default=1, show_default=True, help="The number of batches."
)
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE",
    help="Draw the first two columns of the batches to a file (.png, .svg or .pdf), too.",
)  # fmt: skip
def batches(count: int, plot: Path | None, show_traceback: bool, **values: Any) -> None:
    """Print the first batches that the first walker of a run sees.

    Each row has the number of its batch and of its row in the data.
    """
    target = None if plot is None else check_target(plot, (".png", ".svg", ".pdf"))
    with explained(show_traceback):
        simulation = Simulation(**given_options(values))
        frame = _batches(simulation, count)
        click.echo(frame.to_string(index=False))
        if target is not None:
            _draw(frame, target)
            note(f"wrote {plot}")


def _batches(simulation: Simulation, count: int) -> pd.DataFrame:
    data = simulation._data
    rows = simulation._model.rows(chain_key(simulation.seed, 0), np.arange(count))
    if rows is None:
        rows = np.tile(np.arange(len(data.x)), (count, 1))
    labels = [f"label{i}" if data.y.shape[1] > 1 else "label" for i in range(data.y.shape[1])]
    numbers, places = np.nonzero(rows < len(data.x))  # a smaller batch is filled
    places = rows[numbers, places]
    table = pd.DataFrame(
        np.column_stack([data.x, data.y])[places], columns=[*data.columns, *labels]
    )
    table.insert(0, "row", places)
    table.insert(0, "batch", numbers)
    return table


def _draw(frame: pd.DataFrame, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    count = int(frame["batch"].max()) + 1
    figure = Figure(figsize=(4 * count, 4), layout="constrained")
    FigureCanvasAgg(figure)
    across, up = frame.columns[2:4]
    for number, axes in enumerate(
        np.atleast_1d(figure.subplots(1, count, sharex=True, sharey=True))
    ):
        part = frame[frame["batch"] == number]
        axes.scatter(part[across], part[up], c=part[frame.columns[-1]])
        axes.set(title=f"batch {number}", xlabel=across, ylabel=up)
    figure.savefig(path)
