"""Losses and accuracies of many points, in parts that can be stored."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...graph.errors import ShapeError
from ..analysis.inputs import numbers
from ..counter import Progress
from ..landscape import Landscape
from ..parts import Arrays, in_parts

__all__ = ["axis", "evaluated", "identity", "part_size", "point"]

POINTS = 2**16  # the largest number of points in a part
NUMBERS = 2**24  # the largest number of parameters in a part
WORK = 2**30  # about, parameters times rows of data in a part: some seconds


def part_size(landscape: Landscape) -> int:
    """The number of points that are computed and stored at once."""
    work = landscape.size * len(landscape.x)
    return max(1, min(POINTS, NUMBERS // landscape.size, WORK // work))


def identity(landscape: Landscape, at: np.ndarray) -> dict[str, Any]:
    """Values that identify a landscape, with its loss at a point."""
    return {
        "the data": np.concatenate([np.ravel(landscape.x), np.ravel(landscape.y)]),
        "the precision": str(landscape.dtype),
        "the parameters' names": landscape.names,
        "the network or the loss": np.asarray(landscape.loss(at)),
    }


def evaluated(
    landscape: Landscape,
    points_of: Callable[[np.ndarray], np.ndarray],
    count: int,
    settings: Mapping[str, Any],
    *,
    store: Any,
    progress: Progress,
    doing: str,
) -> Arrays:
    """Loss and accuracy of points.

    `points_of` gives the points of some of the numbers from 0 to `count`.
    """

    def compute(places: np.ndarray) -> Arrays:
        loss, accuracy = landscape.loss_and_accuracy(points_of(places))
        return {"loss": loss, "accuracy": accuracy}

    everything = dict(settings)
    if store is not None:
        everything |= identity(landscape, points_of(np.arange(1))[0])
    return in_parts(
        *(compute, count, part_size(landscape), everything),
        store=store,
        progress=progress,
        doing=doing,
    )


def point(landscape: Landscape, values: Any, doing: str, name: str = "centre") -> np.ndarray:
    """Free parameters of shape (size,).

    Raises ShapeError for another shape.
    """
    w = numbers(values, f"{doing}: {name}")
    if w.shape != (landscape.size,):
        raise ShapeError(
            f"{doing}: {name}: expected the {landscape.size} free parameters, got an array of "
            f"shape {w.shape}"
        )
    return w


def axis(interval: Any, centre: float, doing: str, name: str) -> np.ndarray:
    """The values of (low, high, samples) around a centre.

    There are samples + 1 equidistant values; no samples give the centre only.

    Raises
    ------
    ValueError
        If the interval is not of this kind.
    """
    try:
        low, high, samples = interval
        right = low <= high and samples == int(samples) and samples >= 0
        right = right and bool(np.isfinite([low, high]).all())
    except (TypeError, ValueError):
        right = False
    if not right:
        raise ValueError(
            f"{doing}: {name} must be (low, high, samples), as (-1, 1, 20) for 21 values, got "
            f"{interval!r:.60}"
        )
    return centre + (np.linspace(low, high, int(samples) + 1) if samples else np.zeros(1))
