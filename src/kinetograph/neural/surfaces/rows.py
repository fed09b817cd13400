"""Losses and projections of the rows of a trajectory."""

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...graph.errors import ShapeError
from ...graph.public import public
from ..analysis.files import chains_of, read_table
from ..analysis.inputs import numbers, tree_arrays
from ..counter import Progress
from ..landscape import Landscape
from .directions import unit
from .evaluation import evaluated, point

__all__ = ["TrajectoryRows", "projections", "rows_of", "trajectory"]


class TrajectoryRows(NamedTuple):
    """The rows of a trajectory: chain, step and free parameters of each."""

    ids: np.ndarray
    steps: np.ndarray
    points: np.ndarray

    def coordinates(self) -> dict[str, Any]:
        """The chain and the step of each row, for a dataset."""
        return {"id": ("row", self.ids), "step": ("row", self.steps)}


@public
def trajectory(
    landscape: Landscape,
    rows: Any,
    *,
    steps: Sequence[int] | None = None,
    store: Any = None,
    progress: Progress = True,
) -> xr.Dataset:
    """Evaluate loss and accuracy at the rows of a trajectory.

    The landscape may have other data or another loss than the run: see `Landscape.on`.

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    rows
        Results of `kg.mcmc` or `kg.chain`, an array (..., draw, size), or a CSV file with columns
        weight0, ..., bias0, ...
    steps
        The steps whose rows are evaluated: values of the file's column step, or numbers of draws.
        By default all rows.
    store, progress
        As of `grid`.

    Returns
    -------
    xarray.Dataset
        `loss` and `accuracy` of each row, with its `id` (the chain) and `step`.

    Raises
    ------
    ValueError
        If the rows have other parameters, or a step has no row.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> draws = np.array([[[2.0, 0.0], [2.0, 0.5]]])
    >>> kg.neural.surfaces.trajectory(land, draws, progress=False).loss.values.tolist()
    [0.0, 0.25]
    """
    chosen = rows_of(landscape, rows, steps, "trajectory")
    columns = evaluated(
        *(landscape, chosen.points.__getitem__, len(chosen.points), {"the rows": chosen.points}),
        store=store,
        progress=progress,
        doing="trajectory",
    )
    values = {name: ("row", column) for name, column in columns.items()}
    return xr.Dataset(values, coords=chosen.coordinates())


@public
def projections(
    landscape: Landscape,
    rows: Any,
    directions: Any,
    *,
    centre: Any = None,
    steps: Sequence[int] | None = None,
    store: Any = None,
    progress: Progress = True,
) -> xr.Dataset:
    """Project the rows of a trajectory on directions, and evaluate their loss.

        c_j = d_j . (w - centre),  d_j of length 1

    Parameters
    ----------
    landscape, rows, steps, store, progress
        As of `trajectory`.
    directions
        One or more directions, (direction, size), of any length.
    centre
        The origin, (size,); zero by default.

    Returns
    -------
    xarray.Dataset
        `c0`, `c1`, ..., `loss` and `accuracy` of each row, with its `id` and `step`.

    Raises
    ------
    ValueError
        If the rows have other parameters, or a step has no row.
    ShapeError
        If the centre or a direction has another size.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> draws = np.array([[2.0, 0.0], [2.0, 0.5]])
    >>> kg.neural.surfaces.projections(land, draws, [[0, 1]], progress=False).c0.values.tolist()
    [0.0, 0.5]
    """
    d = unit(directions, landscape.size, "projections")
    origin = 0.0 if centre is None else point(landscape, centre, "projections")
    chosen = rows_of(landscape, rows, steps, "projections")
    table = trajectory(landscape, chosen.points, store=store, progress=progress)
    columns = ((chosen.points - origin) @ d.T).T
    named = {f"c{j}": ("row", column) for j, column in enumerate(columns)}
    return xr.Dataset(named | dict(table.data_vars), coords=chosen.coordinates())


def rows_of(
    landscape: Landscape, rows: Any, steps: Sequence[int] | None, doing: str
) -> TrajectoryRows:
    """The rows of a trajectory, or its rows of some steps.

    Raises
    ------
    ValueError
        If no row has these parameters, or a step has no row.
    """
    draws, step = _draws(landscape, rows, doing)
    chains, length = draws.shape[:2]
    chosen = np.arange(length)
    if steps is not None:
        missing = [s for s in steps if s not in step]
        if missing or not len(steps):
            raise ValueError(
                f"{doing}: steps: no row has step {missing[0] if missing else steps!r}; the steps "
                f"are {step[0]} to {step[-1]}"
            )
        chosen = np.flatnonzero(np.isin(step, np.asarray(steps)))
    return TrajectoryRows(
        np.repeat(np.arange(chains), len(chosen)),
        np.tile(step[chosen], chains),
        draws[:, chosen].reshape(-1, landscape.size),
    )


def _draws(landscape: Landscape, rows: Any, doing: str) -> tuple[np.ndarray, np.ndarray]:
    """Draws of shape (chain, draw, size), and the steps."""
    if isinstance(rows, (str, os.PathLike)):
        draws, names, records = chains_of(read_table(rows), f"trajectory {str(rows)!r}")
        missing = [name for name in landscape.names if name not in names]
        if missing:
            raise ValueError(f"{doing}: {str(rows)!r} has no column {missing[0]!r}")
        draws = draws[..., [names.index(name) for name in landscape.names]]
        step = records.get("step", np.arange(draws.shape[1])[None])[0]
        return draws, step.astype(int)
    if isinstance(rows, xr.DataTree):
        draws = tree_arrays(rows, doing)[0]
    else:
        given = rows.posterior["parameters"] if hasattr(rows, "posterior") else rows
        draws = numbers(given, f"{doing}: rows")
    if draws.ndim < 2 or draws.shape[-1] != landscape.size or not draws.size:
        raise ShapeError(
            f"{doing}: expected rows of shape (..., draw, {landscape.size}), the free parameters, "
            f"got {draws.shape}"
        )
    draws = draws.reshape(-1, *draws.shape[-2:])
    return draws, np.arange(draws.shape[1])
