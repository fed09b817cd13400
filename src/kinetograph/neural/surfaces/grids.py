"""Losses on grids: of the parameters themselves, or along directions."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...graph.public import public
from ...graph.suggestions import did_you_mean
from ..counter import Progress
from ..landscape import Landscape
from ..parameters import ParameterLayout
from .directions import unit
from .evaluation import axis, evaluated, point

__all__ = ["grid", "grid_size", "subgrid"]

MOST_POINTS = 10**8  # an array of them has 0.8 GB
Interval = tuple[float, float, int]


@public
def grid(
    landscape: Landscape,
    centre: Any,
    *,
    weights: Interval = (-1.0, 1.0, 10),
    biases: Interval | None = None,
    exclude: Sequence[str] = (),
    store: Any = None,
    progress: Progress = True,
) -> xr.Dataset:
    """Evaluate the loss on a grid of all parameters.

    Each parameter takes samples + 1 equidistant values on [centre + low, centre + high]. With s_w
    and s_b samples the grid has (s_w + 1)^weights (s_b + 1)^biases points.

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    centre
        Free parameters, (size,).
    weights, biases
        (low, high, samples) of each kind; biases as weights by default. Zero samples leave the
        parameters at the centre.
    exclude
        Parameters that stay at the centre: names such as weight3, or of a leaf, layer0/weights.
    store
        A folder for finished parts; a computation that was interrupted continues from them.
    progress
        Whether to show the number of evaluations and the progress, or a function of the number done
        and the number of all, which is called first with 0 done.

    Returns
    -------
    xarray.Dataset
        `loss` and `accuracy`, with an axis for each parameter that varies, by name, and `centre`.
        `attrs["evaluations"]` is the number of points.

    Raises
    ------
    ValueError
        If an interval is not of this kind, no parameter has an excluded name, the grid has
        more than 10^8 points, or the store has parts of another computation.
    ShapeError
        If the centre has another size.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> table = kg.neural.surfaces.grid(land, [1.0, 0.0], progress=False)
    >>> dict(table.sizes), float(table.loss.sel(weight0=2, bias0=0))
    ({'weight0': 11, 'bias0': 11, 'parameter': 2}, 0.0)
    """
    w = point(landscape, centre, "grid")
    axes = _axes(landscape.layout, w, weights, biases, exclude, "grid")
    places = [landscape.names.index(name) for name in axes]

    def points_of(numbers: np.ndarray) -> np.ndarray:
        points = np.tile(w, (len(numbers), 1))
        points[:, places] = _combinations(list(axes.values()), numbers)
        return points

    settings = {"the centre": w, "the grid": {name: a.tolist() for name, a in axes.items()}}
    return _surface(landscape, points_of, axes, w, settings, store, progress, "grid")


@public
def grid_size(
    layout: ParameterLayout,
    *,
    weights: Interval = (-1.0, 1.0, 10),
    biases: Interval | None = None,
    exclude: Sequence[str] = (),
) -> int:
    """The number of evaluations of `grid` with the same arguments.

    Raises
    ------
    ValueError
        If an interval is not (low, high, samples), or no parameter has an excluded name.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> network = kg.neural.mlp([2], "tanh")
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), np.ones(2), 1))
    >>> kg.neural.surfaces.grid_size(layout, weights=(-1, 1, 4), biases=(-1, 1, 1))
    125000
    """
    zeros = np.zeros(len(layout.free))
    axes = _axes(layout, zeros, weights, biases, exclude, "grid_size")
    return math.prod(len(values) for values in axes.values())


@public
def subgrid(
    landscape: Landscape,
    centre: Any,
    directions: Any,
    *,
    intervals: Any = (-1.0, 1.0, 20),
    offsets: Any = 0.0,
    store: Any = None,
    progress: Progress = True,
) -> xr.Dataset:
    """Evaluate the loss on a grid along directions.

        centre + sum_j c_j d_j,  d_j of length 1,
        c_j = offset_j + samples_j + 1 equidistant values on [low_j, high_j]

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    centre
        Free parameters, (size,).
    directions
        One or more directions, (direction, size), of any length.
    intervals
        (low, high, samples) for all directions, or a list with one for each.
    offsets
        A number for all directions, or one for each.
    store, progress
        As of `grid`.

    Returns
    -------
    xarray.Dataset
        `loss` and `accuracy` with the axes c0, c1, ...; `centre` and `directions`.

    Raises
    ------
    ValueError
        If an interval is not of this kind, a direction is zero, the numbers of intervals and
        directions differ, the grid has more than 10^8 points, or the store has parts of another
        computation.
    ShapeError
        If the centre or a direction has another size.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> line = kg.neural.surfaces.subgrid(land, [2.0, 0.0], [[0, 5]], progress=False)
    >>> float(line.loss.sel(c0=0.5))
    0.25
    """
    w = point(landscape, centre, "subgrid")
    d = unit(directions, landscape.size, "subgrid")
    one = not isinstance(intervals, (list, np.ndarray)) and np.ndim(intervals[0]) == 0
    each = [intervals] * len(d) if one else list(intervals)
    shifts = np.broadcast_to(offsets, len(d)) if np.ndim(offsets) == 0 else np.asarray(offsets)
    if len(each) != len(d) or shifts.shape != (len(d),):
        raise ValueError(
            f"subgrid: expected intervals and offsets for {len(d)} directions, got {len(each)} "
            f"intervals and {len(shifts)} offsets"
        )
    axes = {
        f"c{j}": axis(interval, float(shift), "subgrid", "intervals")
        for j, (interval, shift) in enumerate(zip(each, shifts, strict=True))
    }

    def points_of(numbers: np.ndarray) -> np.ndarray:
        return w + _combinations(list(axes.values()), numbers) @ d

    settings = {
        "the centre": w,
        "the directions": d,
        "the grid": {name: a.tolist() for name, a in axes.items()},
    }
    table = _surface(landscape, points_of, axes, w, settings, store, progress, "subgrid")
    return table.assign(directions=(("direction", "parameter"), d))


def _surface(
    landscape: Landscape,
    points_of: Any,
    axes: dict[str, np.ndarray],
    centre: np.ndarray,
    settings: dict[str, Any],
    store: Any,
    progress: Progress,
    doing: str,
) -> xr.Dataset:
    """The dataset of a surface with these axes."""
    shape = [len(values) for values in axes.values()]
    count = math.prod(shape)
    if count > MOST_POINTS:
        raise ValueError(
            f"{doing}: a grid of {len(shape)} axes has {count:.3g} points, and at most "
            f"{MOST_POINTS:.0e} are computed; give fewer samples or axes: a grid can exclude "
            "parameters, and a subgrid has a few directions"
        )
    columns = evaluated(
        *(landscape, points_of, count, settings), store=store, progress=progress, doing=doing
    )
    return xr.Dataset(
        {name: (tuple(axes), values.reshape(shape)) for name, values in columns.items()}
        | {"centre": ("parameter", centre)},
        coords=axes | {"parameter": landscape.names},
        attrs={"evaluations": count},
    )


def _combinations(axes: list[np.ndarray], numbers: np.ndarray) -> np.ndarray:
    """The coordinates of the points of these numbers, (point, axis)."""
    if not axes:
        return np.zeros((len(numbers), 0))
    indices = np.unravel_index(numbers, [len(values) for values in axes])
    return np.stack([values[i] for values, i in zip(axes, indices, strict=True)], 1)


def _axes(
    layout: ParameterLayout,
    centre: np.ndarray,
    weights: Interval,
    biases: Interval | None,
    exclude: Sequence[str],
    doing: str,
) -> dict[str, np.ndarray]:
    """The values of the parameters that vary, by name."""
    excluded: set[int] = set()
    by_column = {name: i for i, name in enumerate(layout.columns)}
    for name in [exclude] if isinstance(exclude, str) else exclude:
        if name not in layout.places and name not in by_column:
            hint = did_you_mean(name, [*layout.places, *by_column])
            raise ValueError(f"{doing}: exclude: unknown parameter {name!r}{hint}")
        place = layout.places.get(name)
        excluded |= {by_column[name]} if place is None else set(range(place.start, place.stop))
    leaves = np.concatenate(
        [np.full(p.stop - p.start, name.endswith("bias")) for name, p in layout.places.items()]
    )
    axes = {}
    for w, place in zip(centre, layout.free, strict=True):
        kind = "biases" if leaves[place] and biases is not None else "weights"
        values = axis(biases if kind == "biases" else weights, float(w), doing, kind)
        if len(values) > 1 and int(place) not in excluded:
            axes[layout.columns[place]] = values
    return axes
