"""A plot of an exploration: the loss on a plane through minima."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..surfaces.directions import random_directions
from ..surfaces.grids import subgrid
from .tables import is_minimum

if TYPE_CHECKING:
    from .exploration import Exploration

__all__ = ["plot_exploration"]

SAMPLES = 60


def plot_exploration(exploration: "Exploration", axes: Any = None) -> Any:
    """Plot contours of the loss, the minima and the corner points.

    Raises ValueError if no minimum was found.
    """
    points = exploration.points
    if not len(points):
        raise ValueError("plot: no minimum was found; give more legs, more steps, or a prior")
    from matplotlib import pyplot

    axes = pyplot.subplots(layout="constrained")[1] if axes is None else axes
    plane = np.concatenate([points[1:3] - points[0], random_directions(exploration.landscape, 2)])[
        :2
    ]
    plane = np.linalg.qr(plane.T)[0].T
    corners = exploration.corner_points[exploration.landscape.names].to_numpy(float)
    dots, marks = (points - points[0]) @ plane.T, (corners - points[0]) @ plane.T
    low, high = dots.min(0), dots.max(0)
    edge = 0.3 * max(float((high - low).max()), 1.0)
    intervals = [(a - edge, b + edge, SAMPLES) for a, b in zip(low, high, strict=True)]
    table = subgrid(exploration.landscape, points[0], plane, intervals=intervals, progress=False)
    contours = axes.contourf(table.c0, table.c1, np.log10(table.loss.T + 1e-12), 20, cmap="Blues_r")
    pyplot.colorbar(contours, ax=axes, label="log10 of the loss")
    axes.plot(*marks.T, ".", color="0.6", markersize=3, label="corner points")
    minimum = is_minimum(exploration.minima)
    axes.plot(*dots[minimum].T, "o", color="#e07b39", markersize=6, label="minima")
    if not minimum.all():
        axes.plot(*dots[~minimum].T, "x", color="#e07b39", markersize=6, label="saddles")
    axes.set(xlim=table.c0[[0, -1]].values, ylim=table.c1[[0, -1]].values, xlabel="c0", ylabel="c1")
    axes.legend(frameon=False, labelcolor="white", fontsize=8)
    return axes
