"""`kinetograph neural surface` and `input-space`: losses and outputs on grids."""

import os
from pathlib import Path
from typing import Any

import click
import numpy as np
import xarray as xr

from ...cli.errors import InputError, note
from ...cli.files import check_target
from ...graph.suggestions import did_you_mean
from .. import surfaces
from ..simulation import Simulation
from ..surfaces.rows import rows_of
from .flags import explained, given_options, interval, option_flags, signature_flag

__all__ = ["input_space", "surface"]

DIRECTIONS = ("random", "gradient", "hessian")
_FILE = click.Path(exists=True, path_type=Path)  # a CSV file, or a folder NAME.zarr
_out = click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The CSV file."
)
_store = click.option(
    "--store", type=click.Path(path_type=Path), metavar="FOLDER",
    help="A folder for finished parts; an interrupted command continues from them.",
)  # fmt: skip
_options = option_flags(
    *("data", "network", "prior", "system"),
    names=("seed", "restore_model", "parse_parameters_file", "parse_steps", "progress"),
    without=("batch_size", "shuffle"),
)
_rows = click.option("--rows", type=_FILE, help="A trajectory file, or a table of nodes.")


@click.command()
@click.argument("mode", type=click.Choice(("grid", "subgrid", "trajectory", "path")))
@_options
@interval(surfaces.grid, "weights", "grid: values of each weight around the centre.")
@interval(surfaces.grid, "biases", "grid: values of each bias; by default as of weights.")
@click.option("--exclude", multiple=True, help="grid: a parameter that stays; repeatable.")
@click.option(
    "--directions",
    default="random",
    show_default=True,
    help=f"subgrid: {', '.join(DIRECTIONS)}, or a CSV file.",
)
@signature_flag(surfaces.random_directions, "count", "subgrid: the number of directions.")
@interval(surfaces.subgrid, "intervals", "subgrid: factors of each direction.")
@signature_flag(surfaces.path, "samples", "path: the number of points of each piece.")
@_rows
@_store
@_out
def surface(mode: str, rows: Path | None, out: Path, show_traceback: bool, **values: Any) -> None:
    """Write losses and accuracies of a network to a file.

    MODE is grid (all parameters around the centre), subgrid (along directions), trajectory (the
    rows of a file --rows) or path (straight lines through the rows of a file). The centre is the
    point of the options --restore-model or --parse-parameters-file, or the initial parameters.
    """
    target = check_target(out, (".csv",))
    if (mode in ("trajectory", "path")) != (rows is not None):
        raise InputError("--rows is needed by the modes trajectory and path, and only by them")
    with explained(show_traceback):
        simulation = Simulation(**given_options(values))
        surfaces.write_surface(target, _surface(mode, simulation, rows, values))
    note(f"wrote {out}")


def _surface(
    mode: str, simulation: Simulation, rows: Path | None, values: dict[str, Any]
) -> xr.Dataset:
    land, centre = simulation.landscape, simulation.parameters[0]
    shared = {"store": values["store"], "progress": simulation.get_options("progress")}
    if mode == "grid":
        grid = {name: values[name] for name in ("weights", "biases", "exclude")}
        return surfaces.grid(land, centre, **grid, **shared)
    if mode == "subgrid":
        directions = _directions(land, centre, values, simulation.seed)
        return surfaces.subgrid(land, centre, directions, intervals=values["intervals"], **shared)
    if mode == "trajectory":
        return surfaces.trajectory(land, str(rows), **shared)
    nodes = rows_of(land, str(rows), None, "path").points
    return surfaces.path(land, nodes, values["samples"], **shared)


def _directions(land: Any, centre: np.ndarray, values: dict[str, Any], seed: int) -> Any:
    kind, count = values["directions"], values["count"]
    if kind == "random":
        return surfaces.random_directions(land, count, seed=seed)
    if kind == "gradient":
        return surfaces.gradient_direction(land, centre)
    if kind == "hessian":
        return surfaces.hessian_directions(land, centre, count)
    if not os.path.exists(kind):
        raise InputError(
            f"--directions: expected {', '.join(DIRECTIONS)} or a CSV file, and the file {kind!r} "
            f"does not exist{did_you_mean(kind, DIRECTIONS)}"
        )
    return surfaces.read_directions(land, kind)


@click.command("input-space")
@_options
@interval(surfaces.input_space, "intervals", "Values of each input.")
@_rows
@_store
@_out
def input_space(
    intervals: Any, rows: Path | None, store: Path | None, out: Path, show_traceback: bool,
    **values: Any,
) -> None:  # fmt: skip
    """Write outputs of a network on a grid of inputs.

    With a trajectory file --rows they are means and standard deviations over its rows.
    """
    target = check_target(out, (".csv",))
    with explained(show_traceback):
        simulation = Simulation(**given_options(values))
        points: Any = simulation.parameters[0] if rows is None else str(rows)
        progress = simulation.get_options("progress")
        space = surfaces.input_space(
            simulation.landscape, points, intervals, store=store, progress=progress
        )
        surfaces.write_surface(target, space)
    note(f"wrote {out}")
