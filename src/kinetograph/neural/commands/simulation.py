"""`kinetograph neural train` and `sample`: runs of a simulation."""

from typing import Any

import click
import numpy as np
import pandas as pd

from ...cli.errors import note, stopped
from ..options import GROUPS
from ..records import TrajectoryData
from ..simulation import Simulation
from .flags import explained, given_options, option_flags

__all__ = ["sample", "train"]


@click.command()
@option_flags(*GROUPS)
def train(show_traceback: bool, **values: Any) -> None:
    """Train a network, and print its loss and accuracy on all rows.

    This is kg.neural.Simulation(**options).fit(). The files of the output options have the rows of
    the run; --save-model writes the state, from which --restore-model continues.

    Exit codes: 0 done, 1 failed, 2 wrong input, 130 stopped by Ctrl-C, 143 by SIGTERM.
    """
    with explained(show_traceback):
        simulation = Simulation(**given_options(values))
        _print_end(simulation, values, simulation.fit(keep=False))


@click.command()
@option_flags(*GROUPS)
def sample(show_traceback: bool, **values: Any) -> None:
    """Sample a network, and print its loss and accuracy on all rows.

    This is kg.neural.Simulation(**options).sample(). The files of the output options have the rows
    of the run; --save-model writes the state, from which --restore-model continues.

    Exit codes: 0 done, 1 failed, 2 wrong input, 130 stopped by Ctrl-C, 143 by SIGTERM.
    """
    with explained(show_traceback):
        simulation = Simulation(**given_options(values))
        _print_end(simulation, values, simulation.sample(keep=False))


def _print_end(simulation: Simulation, values: dict[str, Any], run: TrajectoryData) -> None:
    columns = {
        "loss": np.atleast_1d(simulation.loss(full=True)),
        "accuracy": np.atleast_1d(simulation.score(full=True)),
    }
    click.echo(pd.DataFrame(columns).rename_axis("walker").reset_index().to_string(index=False))
    if values["seed"] is None:
        note(f"seed {simulation.seed}")
    for name in ("run_file", "trajectory_file", "averages_file", "save_model"):
        if values[name] is not None:
            note(f"wrote {values[name]}")
    if "stopped_by" in run.attrs:
        raise stopped(run.attrs["stopped_by"])
