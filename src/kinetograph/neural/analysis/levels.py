"""Landmarks in diffusion coordinates, and level sets between them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...graph.public import public
from .inputs import numbers

__all__ = ["LevelSets", "landmarks", "level_sets"]


@public
def landmarks(coordinates: Any, count: int) -> np.ndarray:
    """Select points that are far from each other, by max-min distance.

    The first landmark is the point with the extreme value of the first coordinate, of largest
    magnitude. Each next landmark is the point whose distance to its nearest landmark is largest;
    the first such point if several points have this distance.

    Parameters
    ----------
    coordinates
        Coordinates of shape (point, coordinate), such as `DiffusionMap.coordinates`. Points with
        NaN, which the map has dropped, are not selected.
    count
        The number of landmarks.

    Returns
    -------
    array
        The indices of the landmarks in order of selection, (count,).

    Raises
    ------
    ValueError
        If the points are fewer than the landmarks, or the coordinates have another shape.

    Examples
    --------
    >>> from kinetograph.neural import analysis
    >>> analysis.landmarks([0.0, 1.0, 4.0, 10.0], 3).tolist()
    [3, 0, 2]
    """
    x = _coordinates(coordinates)
    usable = np.isfinite(x).all(1)
    whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
    if not whole or not 1 <= count <= usable.sum():
        raise ValueError(
            f"landmarks: count must be a whole number between 1 and {usable.sum()}, the number of "
            f"points with finite coordinates, got {count!r:.60}"
        )
    indices = [int(np.argmax(np.where(usable, np.abs(x[:, 0]), -1.0)))]
    nearest = np.where(usable, np.inf, -1.0)
    for _ in range(count - 1):
        nearest = np.minimum(nearest, np.sum((x - x[indices[-1]]) ** 2, axis=1))
        nearest[~usable] = -1.0
        nearest[indices[-1]] = -1.0
        indices.append(int(np.argmax(nearest)))
    return np.array(indices)


@public
@dataclass(frozen=True)
class LevelSets:
    """Intervals of a coordinate, one around each landmark.

    Attributes
    ----------
    landmarks
        The indices of the landmarks, in ascending order of the coordinate, (count,).
    values
        The coordinate at the landmarks, (count,).
    edges
        The ends of the intervals, (count + 1,): midpoints between landmarks, and the extremes of
        the coordinate.
    labels
        The interval of each point, (point,); -1 for points whose coordinate is NaN.
    """

    landmarks: np.ndarray
    values: np.ndarray
    edges: np.ndarray
    labels: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """The number of points in each interval."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.values))

    @property
    def widths(self) -> np.ndarray:
        """The widths of the intervals."""
        return np.diff(self.edges)


@public
def level_sets(coordinate: Any, landmarks: Any) -> LevelSets:
    """Divide points into intervals of one coordinate, by the nearest landmark.

    Parameters
    ----------
    coordinate
        The coordinate of each point, (point,); NaN for dropped points.
    landmarks
        The indices of the landmarks, as of `landmarks`. Of landmarks that have the same value of
        the coordinate, one remains.

    Returns
    -------
    LevelSets
        With `landmarks`, `values`, `edges`, `labels`, `counts` and `widths`.

    Raises
    ------
    ValueError
        If an index is outside, the coordinate of a landmark is not finite, or a shape differs.

    Examples
    --------
    >>> from kinetograph.neural import analysis
    >>> levels = analysis.level_sets([0.0, 1.0, 4.0, 10.0], [3, 0])
    >>> levels.edges.tolist(), levels.labels.tolist(), levels.counts.tolist()
    ([0.0, 5.0, 10.0], [0, 0, 0, 1], [3, 1])
    """
    x = numbers(coordinate, "level_sets: coordinate")
    indices = np.asarray(landmarks)
    if x.ndim != 1:
        raise ValueError(
            f"level_sets: coordinate must have the shape (point,), got {x.shape}; choose one "
            "column, as coordinates[:, 0]"
        )
    if indices.ndim != 1 or not indices.size or indices.dtype.kind not in "iu":
        raise ValueError(
            f"level_sets: landmarks must be indices of points, got {indices.dtype} of shape "
            f"{indices.shape}"
        )
    if indices.min() < 0 or indices.max() >= len(x) or not np.isfinite(x[indices]).all():
        raise ValueError(
            f"level_sets: landmarks must be indices below {len(x)} of points with a finite "
            f"coordinate, got {indices.tolist()!s:.60}"
        )
    values, first = np.unique(x[indices], return_index=True)
    middles = (values[1:] + values[:-1]) / 2
    finite = np.isfinite(x)
    edges = np.concatenate([[x[finite].min()], middles, [x[finite].max()]])
    labels = np.where(finite, np.searchsorted(middles, np.where(finite, x, 0.0)), -1)
    return LevelSets(indices[first], values, edges, labels)


def _coordinates(values: Any) -> np.ndarray:
    """Coordinates of shape (point, coordinate); one dimension is one coordinate."""
    x = numbers(values, "landmarks: coordinates")
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or x.shape[1] == 0:
        raise ValueError(
            "landmarks: coordinates must have the shape (point, coordinate), got "
            f"{np.shape(values)}"
        )
    return x
