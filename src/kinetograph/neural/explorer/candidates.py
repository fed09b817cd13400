"""Rows of a trajectory that are near stationary points."""

from typing import Any

import numpy as np

from ...graph.public import public
from ..analysis.inputs import numbers

__all__ = ["candidates"]

THRESHOLDS = np.logspace(-1, -6, 26)  # of the largest gradient norm


@public
def candidates(gradient_norms: Any, least: int = 3) -> np.ndarray:
    """The rows of a trajectory that are nearest to stationary points.

    A region is a contiguous run of rows whose gradient norm is below a threshold. The threshold
    descends from 1e-1 to 1e-6 of the largest norm until there are `least` regions. If this never
    happens, the first threshold with the most regions is taken. The candidate of a region is its
    row of least norm.

    Parameters
    ----------
    gradient_norms
        The norms of the rows of one trajectory, in order; rows that are not finite are in no
        region.
    least
        The number of regions that end the descent.

    Returns
    -------
    array
        Indices of rows, ascending. Without a region, it has the row of least norm.

    Raises
    ------
    ValueError
        If the norms have more than one dimension, or none of them is finite.

    Examples
    --------
    >>> from kinetograph.neural import explorer
    >>> explorer.candidates([9.0, 0.5, 0.2, 0.5, 5.0, 0.1, 3.0, 0.3]).tolist()
    [2, 5, 7]
    """
    norms = numbers(gradient_norms, "candidates: gradient_norms")
    finite = np.isfinite(norms)
    if norms.ndim != 1 or not finite.any():
        raise ValueError(
            "candidates: expected the gradient norms of one trajectory, with a finite value or "
            f"more, got an array of shape {norms.shape}"
        )
    usable = np.where(finite, norms, np.inf)
    best: list[np.ndarray] = []
    for threshold in THRESHOLDS * norms[finite].max():
        below = np.flatnonzero(usable < threshold)
        runs = np.split(below, np.flatnonzero(np.diff(below) > 1) + 1) if below.size else []
        best = runs if len(runs) > len(best) else best
        if len(best) >= least:
            break
    if not best:
        return np.array([int(np.argmin(usable))])
    return np.array([int(run[np.argmin(usable[run])]) for run in best])
