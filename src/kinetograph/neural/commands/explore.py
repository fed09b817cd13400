"""`kinetograph neural explore`: a search for minima."""

from pathlib import Path
from typing import Any

import click

from ...cli.errors import note
from ..explorer.exploration import INVERSE_TEMPERATURE
from ..explorer.exploration import explore as _explore
from ..sampler_options import make_sampler
from ..simulation import Simulation
from .flags import explained, given_options, option_flags, signature_flag

__all__ = ["explore"]

TABLES = ("minima", "corner_points", "legs", "averages")


@click.command()
@option_flags(
    *("data", "network", "prior", "sampling", "walkers", "system"),
    names=("progress",),
    defaults={"inverse_temperature": INVERSE_TEMPERATURE},
    without=("batch_size", "shuffle", "burn_in_steps", "walker_starts", "walker_jitter"),
)
@signature_flag(_explore, "trajectories", "The number of trajectories of a leg.")
@signature_flag(_explore, "max_legs", "The largest number of legs.")
@signature_flag(_explore, "tolerance", "The change of eigenvalues that ends the search.")
@signature_flag(_explore, "patience", "Legs without a new minimum that end the search.")
@signature_flag(_explore, "points", "The largest number of rows in a diffusion map.")
@signature_flag(_explore, "prune", "The part of the rows that the map leaves out.")
@signature_flag(_explore, "gradient_tolerance", "The largest gradient at a minimum.")
@signature_flag(_explore, "workers", "The number of threads.")
@click.option(
    "--store", type=click.Path(path_type=Path), metavar="FOLDER",
    help="A folder for finished legs; an interrupted search continues from them.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="FOLDER",
    help=f"The folder for {', '.join(f'{name}.csv' for name in TABLES)}.",
)  # fmt: skip
def explore(show_traceback: bool, out: Path, **values: Any) -> None:
    """Search for minima of a network's potential.

    They are printed and written to CSV files.

    This is kg.neural.explorer.explore; --max-steps and --every-nth are the steps of a trajectory in
    a leg, and which of them are rows. The prior options keep minima finite.
    """
    with explained(show_traceback):
        options = {"inverse_temperature": INVERSE_TEMPERATURE} | given_options(values)
        simulation = Simulation(**options)
        settings = {name: v for name, v in values.items() if name not in simulation.get_options()}
        every = simulation.get_options()
        search = _explore(
            simulation.landscape,
            sampler=make_sampler(
                "sampling", every, every["number_walkers"], simulation.landscape.layout
            ),
            steps=every["max_steps"],
            thin=every["every_nth"] or 1,
            seed=simulation.seed,
            progress=every["progress"],
            **settings,
        )
        out.mkdir(parents=True, exist_ok=True)
        for name in TABLES:
            getattr(search, name).to_csv(out / f"{name}.csv", index=False)
        shown = [n for n in search.minima.columns if n not in simulation.landscape.names]
        if len(search.minima):
            click.echo(search.minima[shown].to_string(index=False))
            note(f"{search}; wrote {out}")
        else:
            ways = [
                *["--prior, which keeps minima finite"] * (search.landscape.prior is None),
                *["--precision float64 for smaller gradients"] * (every["precision"] != "float64"),
                "a larger --gradient-tolerance",
                "or longer legs by --max-steps",
            ]
            click.echo(
                "no minimum was found: no refinement reached a gradient of at most "
                f"{values['gradient_tolerance']:g}. Take {', '.join(ways)}"
            )
            note(f"stopped by {search.stopped_by}; wrote {out}")
