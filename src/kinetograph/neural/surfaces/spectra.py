"""Eigenvalues and slices of the Hessian along a trajectory."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...graph.public import public
from ..counter import Progress
from ..landscape import Landscape
from ..parts import Arrays, in_parts
from .directions import unit
from .evaluation import identity
from .rows import rows_of

__all__ = ["hessian_slices", "spectra"]


@public
def spectra(
    landscape: Landscape,
    rows: Any,
    count: int | None = None,
    *,
    which: str = "largest",
    steps: Sequence[int] | None = None,
    store: Any = None,
    progress: Progress = True,
) -> xr.Dataset:
    """Extreme eigenpairs of the Hessian at the rows of a trajectory.

    They are computed by Lanczos iterations for many parameters, as described at
    `Landscape.hessian_eigenpairs`.

    Parameters
    ----------
    landscape, rows, steps, store, progress
        As of `trajectory`.
    count
        The number of eigenpairs of each row; by default five, or all if there are fewer.
    which
        "largest" or "smallest".

    Returns
    -------
    xarray.Dataset
        `eigenvalue` (row, index), descending, and `eigenvector` (row, index, parameter), with the
        `id` and the `step` of each row.

    Raises
    ------
    ValueError
        If the rows have other parameters, a step has no row, or an argument is out of its range.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.array([[2.0], [-2.0]]), kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> table = kg.neural.surfaces.spectra(land, np.zeros((1, 2)), 2, progress=False)
    >>> table.eigenvalue.values.tolist()
    [[8.0, 2.0]]
    """
    chosen = rows_of(landscape, rows, steps, "spectra")
    count = min(5, landscape.size) if count is None else count

    def compute(places: np.ndarray) -> Arrays:
        pairs = [landscape.hessian_eigenpairs(w, count, which) for w in chosen.points[places]]
        return {
            "eigenvalue": np.stack([pair.values for pair in pairs]),
            "eigenvector": np.stack([pair.vectors.T for pair in pairs]),
        }

    settings = {"the rows": chosen.points, "the count": int(count), "which": which}
    columns = in_parts(
        *(compute, len(chosen.points), 10, settings | identity(landscape, chosen.points[0])),
        store=store,
        progress=progress,
        doing="spectra",
        of="rows",
    )
    return xr.Dataset(
        {
            "eigenvalue": (("row", "index"), columns["eigenvalue"]),
            "eigenvector": (("row", "index", "parameter"), columns["eigenvector"]),
        },
        coords=chosen.coordinates() | {"parameter": landscape.names},
    )


@public
def hessian_slices(landscape: Landscape, points: Any, directions: Any) -> np.ndarray:
    """The Hessian of the potential along directions, d_i . H(w) d_j.

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    points
        Free parameters, (..., size).
    directions
        One or more directions, (direction, size), of any length; they are scaled to length 1.

    Returns
    -------
    array
        Of shape (..., direction, direction).

    Raises
    ------
    ShapeError
        If points or directions have another size.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.array([[2.0], [-2.0]]), kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> kg.neural.surfaces.hessian_slices(land, [0.0, 0.0], [[1, 0]]).tolist()
    [[8.0]]
    """
    d = unit(directions, landscape.size, "hessian_slices")
    w = np.asarray(points, float)
    products = landscape.hessian_vector(w[..., None, :], d)
    return np.asarray(np.einsum("ik,...jk->...ij", d, products))
