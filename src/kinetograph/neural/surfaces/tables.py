"""Surfaces as CSV files."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ...graph.public import public
from ...runs.store.place import temporary_path

__all__ = ["write_surface"]

ROWS = 2**15  # rows that are in memory as text


@public
def write_surface(path: Any, surface: xr.Dataset) -> None:
    """Write a surface to a CSV file with a header.

    The file has a row for each point of the surface. Its columns are the values at each point, such
    as loss and accuracy, and then all coordinates, also the parameters that stay at the centre.
    Numbers have nine digits. The file is written under another name and renamed, so that an
    incomplete file never has this name.

    Parameters
    ----------
    path
        The file; an existing file is overwritten.
    surface
        A dataset of `kg.neural.surfaces`.

    Raises
    ------
    TypeError
        If the surface is not a dataset.

    Examples
    --------
    >>> import tempfile, pathlib, jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> table = kg.neural.surfaces.grid(
    ...     land, [1.0, 0.5], weights=(0, 1, 1), exclude=["bias0"], progress=False
    ... )
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "grid.csv"
    >>> kg.neural.surfaces.write_surface(path, table.drop_vars("accuracy"))
    >>> print(path.read_text().strip())
    loss,weight0,bias0
    6.18421053e-01,1.00000000e+00,5.00000000e-01
    2.50000000e-01,2.00000000e+00,5.00000000e-01
    """
    if not isinstance(surface, xr.Dataset):
        raise TypeError(f"write_surface: expected a dataset, got {type(surface).__name__}")
    dims = next(iter(surface.data_vars.values())).dims
    dims = ("row",) if "row" in dims else dims
    shape = [surface.sizes[dim] for dim in dims]
    columns = _columns(surface, dims)
    target = Path(path)
    temporary = temporary_path(target)
    try:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            file.write(",".join(columns) + "\n")
            count = int(np.prod(shape, dtype=int))
            for first in range(0, count, ROWS):
                places = np.unravel_index(np.arange(first, min(first + ROWS, count)), shape or [1])
                rows = [_at(values, dims, places) for values in columns.values()]
                formats = ["%d" if row.dtype.kind in "iu" else "%8.8e" for row in rows]
                np.savetxt(file, np.rec.fromarrays(rows), fmt=formats, delimiter=",")
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _columns(surface: xr.Dataset, dims: tuple[Any, ...]) -> dict[str, Any]:
    """The variables with a value for each point, by column."""
    values: dict[str, Any] = {}
    for name, variable in surface.data_vars.items():
        if variable.dims == dims:
            values[str(name)] = variable.variable
        elif dims and variable.dims[:-1] == dims:  # a vector at each point
            last = variable.dims[-1]
            heads = surface[last].values if str(name) == "points" else range(surface.sizes[last])
            prefix = "" if str(name) == "points" else str(name)
            values |= {f"{prefix}{head}": variable[..., i] for i, head in enumerate(heads)}
    coordinates = {
        str(name): coordinate.variable
        for name, coordinate in surface.coords.items()
        if coordinate.dims and set(coordinate.dims) <= set(dims)
    }
    if "centre" in surface and "directions" not in surface:
        centre = surface["centre"].to_series()
        coordinates = {n: coordinates.get(n, xr.Variable((), v)) for n, v in centre.items()}
    rows = {name: coordinates.pop(name) for name in ("id", "step") if name in coordinates}
    return rows | values | coordinates


def _at(variable: Any, dims: tuple[Any, ...], places: tuple[np.ndarray, ...]) -> np.ndarray:
    """The values of a variable at some points."""
    if not variable.dims:
        return np.full(len(places[0]), variable.values)
    return np.asarray(variable.values[tuple(places[dims.index(dim)] for dim in variable.dims)])
