"""Losses along paths between points, and paths that follow valleys.

Source: W. E, W. Ren, E. Vanden-Eijnden, Simplified and improved string method for computing the
minimum energy paths in barrier-crossing events, Journal of Chemical Physics 126 (2007) 164103.
"""

from typing import Any

import numpy as np
import xarray as xr

from ...graph.errors import ShapeError
from ...graph.public import public
from ..analysis.inputs import numbers, positive
from ..counter import Progress
from ..landscape import DENSE, Landscape
from .evaluation import evaluated

__all__ = ["path", "relaxed_path"]

REFRESH = 50  # steps of a relaxation between two computations of its step size
GROWTH = 2.0  # of the largest gradient, after which the step size is computed again at once


@public
def path(
    landscape: Landscape,
    nodes: Any,
    samples: int = 100,
    *,
    store: Any = None,
    progress: Progress = False,
) -> xr.Dataset:
    """Evaluate the loss along a piecewise straight path.

        w(t) = (k + 1 - t) node_k + (t - k) node_{k+1}  for k <= t <= k + 1

    The barrier from the first node is max_t loss(w(t)) - loss(first node), and the barrier from the
    last node likewise.

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    nodes
        Two or more points, (node, size); two minima for a straight line.
    samples
        The number of intervals between two nodes.
    store, progress
        As of `grid`.

    Returns
    -------
    xarray.Dataset
        `loss`, `accuracy`, the length `distance` along the path, and `points` at each `t`.
        `attrs` has `barrier_from_first`, `barrier_from_last` and `highest_t`.

    Raises
    ------
    ShapeError
        If there are fewer than two nodes, or a node has another size.
    ValueError
        If the number of samples is not positive.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.array([[1.0], [-1.0]]), kg.neural.mlp([1], "tanh", bias=False)
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, x)
    >>> minima = np.array([[1.0, 1 / np.tanh(1)], [-1.0, -1 / np.tanh(1)]])
    >>> line = kg.neural.surfaces.path(land, minima)
    >>> line.attrs["barrier_from_first"], line.attrs["highest_t"]
    (1.0, 0.5)
    """
    points = _nodes(landscape, nodes, "path")
    if not isinstance(samples, (int, np.integer)) or samples < 1:
        raise ValueError(f"path: samples must be a whole number from 1 on, got {samples!r:.60}")
    t = np.arange((len(points) - 1) * samples + 1) / samples

    def points_of(places: np.ndarray) -> np.ndarray:
        first = np.minimum(t[places].astype(int), len(points) - 2)
        part = (t[places] - first)[:, None]
        return (1 - part) * points[first] + part * points[first + 1]

    everything = points_of(np.arange(len(t)))
    settings = {"the nodes": points, "the samples": int(samples)}
    columns = evaluated(
        *(landscape, points_of, len(t), settings), store=store, progress=progress, doing="path"
    )
    lengths = np.linalg.norm(np.diff(everything, axis=0), axis=1)
    loss = columns["loss"]
    return xr.Dataset(
        {name: ("t", values) for name, values in columns.items()}
        | {
            "distance": ("t", np.concatenate([[0.0], np.cumsum(lengths)])),
            "points": (("t", "parameter"), everything),
        },
        coords={"t": t, "parameter": landscape.names},
        attrs={
            "barrier_from_first": float(loss.max() - loss[0]),
            "barrier_from_last": float(loss.max() - loss[-1]),
            "highest_t": float(t[loss.argmax()]),
        },
    )


@public
def relaxed_path(
    landscape: Landscape,
    nodes: Any,
    images: int = 20,
    *,
    steps: int = 500,
    step_size: float | None = None,
) -> np.ndarray:
    """Relax a path to one of low potential, by the string method.

    In each step all images move along the negative gradient, and are then placed at equal distances
    along the path again. The limit is a minimum energy path: the gradient has no component across
    it, and its highest point is a saddle.

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    nodes
        Two or more points, (node, size), of the initial path.
    images
        The number of images, the ends included.
    steps
        The number of steps.
    step_size
        The step size. By default 1/2 over the largest magnitude of the eigenvalues of the images'
        Hessians, which is computed again after every 50 steps, and when the gradient grows. No
        image then moves further than the distance between two images.

    Returns
    -------
    array
        The images, (images, size), which `path` takes as nodes.

    Raises
    ------
    ShapeError
        If there are fewer than two nodes, or a node has another size.
    ValueError
        If there are fewer than three images, the step size is not positive, or a gradient is not
        finite.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.array([[1.0], [-1.0]]), kg.neural.mlp([2], "tanh", bias=False)
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, x, prior=1.0)
    >>> starts = np.array([[1, 0.2, 1, 0.2], [0.2, 1, 0.2, 1]])
    >>> ends = [kg.opt(land.model, "bfgs", initial=w).free for w in starts]
    >>> images = kg.neural.surfaces.relaxed_path(land, ends, 10, steps=50)
    >>> straight = land.potential(np.linspace(ends[0], ends[1], 10)).max()
    >>> images.shape, bool(land.potential(images).max() <= straight)
    ((10, 4), True)
    """
    string = _nodes(landscape, nodes, "relaxed_path")
    if images < 3 or steps < 0:
        raise ValueError(
            f"relaxed_path: expected three images or more and a number of steps, got {images} "
            f"images and {steps} steps"
        )
    h = 0.0 if step_size is None else positive(step_size, "relaxed_path", "step_size")
    string, before = _equidistant(string, images), np.inf
    for number in range(steps):
        gradient = landscape.gradient(string[1:-1])
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(gradient, axis=1)
        wrong = np.flatnonzero(~np.isfinite(lengths))
        if len(wrong):
            raise ValueError(
                f"relaxed_path: the gradient at image {wrong[0] + 1} is not finite after {number} "
                f"steps of size {h:.6g}; give a smaller step_size, or other nodes"
            )
        move, largest = h, lengths.max()
        if step_size is None:
            if number % REFRESH == 0 or largest > GROWTH * before:
                h = _step_size(landscape, string[1:-1])
            distance = np.linalg.norm(string[1] - string[0])
            move, before = min(h, distance / largest) if largest else h, largest
        string[1:-1] -= move * gradient
        string = _equidistant(string, images)
    return string


def _step_size(landscape: Landscape, images: np.ndarray) -> float:
    """A stable step size of gradient descent at all images."""
    if landscape.size <= DENSE:
        values = np.linalg.eigvalsh(landscape.hessian(images))[:, [0, -1]]
    else:
        ends = ("largest", "smallest")
        values = np.array(
            [[landscape.hessian_eigenpairs(w, 1, end).values[0] for end in ends] for w in images]
        )
    largest = float(np.abs(values).max())
    return 0.5 / largest if largest > 0 else 0.5


def _equidistant(nodes: np.ndarray, count: int) -> np.ndarray:
    """Points at equal distances along a piecewise straight path."""
    lengths = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(nodes, axis=0), axis=1))])
    places = np.linspace(0, lengths[-1], count)
    return np.stack([np.interp(places, lengths, column) for column in nodes.T], 1)


def _nodes(landscape: Landscape, nodes: Any, doing: str) -> np.ndarray:
    """Two or more points, (node, size)."""
    points = numbers(nodes, f"{doing}: nodes")
    if points.ndim != 2 or len(points) < 2 or points.shape[1] != landscape.size:
        raise ShapeError(
            f"{doing}: expected two nodes or more of shape (node, {landscape.size}), got "
            f"{points.shape}"
        )
    return points
