"""Changes of order and of signs of elements between modes.

Arrays are compared between the modes, and between the chains: slow chains may be divided into more
modes than there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

__all__ = ["changes_text"]

MOST_ORDERED = 20  # elements, rows or columns of an array whose order is compared
MOST_COMPARED = 20  # modes, or chains, that are compared
FEWEST = 20  # draws of a mode that is compared
SAME, APART = 1.0, 4.0  # standard deviations within a mode: of equal and of different means
TINY = 1e-300  # the least standard deviation

type GroupMoments = tuple[np.ndarray, np.ndarray]  # the means and standard deviations of elements


class Exchange(NamedTuple):
    """A change of the order of elements, rows or columns."""

    distance: float  # between their places, in standard deviations; 0 if none has moved
    what: str = ""
    ordered: str = ""  # the line that orders an array of the given name


NONE = Exchange(0.0)


def changes_text(arrays: Iterable[tuple[str, np.ndarray]], labels: np.ndarray) -> str:
    """The rest of a sentence on a change of order or signs.

    The text is empty without such a change. The arrays are draws of unknowns, (chain, draw, ...),
    by name; the labels, (chain, draw), are the numbers of their modes.
    """
    chains = np.broadcast_to(np.arange(len(labels))[:, None], labels.shape)
    swapped: dict[str, Exchange] = {}
    flipped: dict[str, float] = {}
    for name, values in arrays:
        for groups in (labels, chains):
            parts = _by_group(values, groups)
            swapped[name] = max(swapped.get(name, NONE), *_exchanges(parts))
            flipped[name] = max(flipped.get(name, 0.0), _reflection(parts))
    # Two elements at -3 and 3 change places and signs alike: other unknowns tell the cause.
    signs = {name: far for name, far in flipped.items() if far and not swapped[name].distance}
    if signs:
        name = max(signs, key=lambda name: signs[name])
        return (
            f"in which the signs of {name} have changed: fix the sign, for example by a positive "
            "slope, which has a half-normal prior or truncation=(0, None)"
        )
    name = max(swapped, key=lambda name: swapped[name], default="")
    if not name or not swapped[name].distance:
        return ""
    _, change, ordered = swapped[name]
    return (
        f"in which the {change} of {name} have changed places: if their order means nothing, as "
        f"of the components of a mixture, use {ordered.format(name)} in place of {name}"
    )


def _by_group(values: np.ndarray, groups: np.ndarray) -> list[GroupMoments]:
    """The means and standard deviations of the elements in each group."""
    parts = []
    for group in range(min(int(groups.max()) + 1, MOST_COMPARED)):
        members = values[groups == group]
        if len(members) >= FEWEST:
            parts.append((members.mean(0), members.std(0)))
    return parts


def _exchanges(parts: Sequence[GroupMoments]) -> Iterator[Exchange]:
    """Exchanges of elements of a vector, or of rows or columns."""
    ndim = parts[0][0].ndim if parts else 0
    if ndim == 1:
        rows = [(mean[:, None], sd[:, None]) for mean, sd in parts]
        yield Exchange(_exchange(rows)[0], "elements", "kg.sort({})")
    if ndim == 2:
        far, place = _exchange(parts)
        yield Exchange(far, "rows", f"{{0}}[kg.argsort({{0}}[:, {place}])]")
        far, place = _exchange([(mean.T, sd.T) for mean, sd in parts])
        yield Exchange(far, "columns", f"{{0}}[:, kg.argsort({{0}}[{place}])]")
    yield NONE


def _exchange(parts: Sequence[GroupMoments]) -> tuple[float, int]:
    """The largest distance between rows that have changed places, and its column.

    The unit is one standard deviation. The distance is 0 if no row has changed its place.
    """
    farthest = 0.0, 0
    if not 2 <= len(parts[0][0]) <= MOST_ORDERED:
        return farthest
    from scipy.optimize import linear_sum_assignment  # here, because the import takes long

    for (a, a_sd), (b, b_sd) in combinations(parts, 2):
        sd = np.maximum(np.minimum(a_sd[:, None], b_sd), TINY)
        misfits = np.mean(((a[:, None] - b) / sd) ** 2, -1)
        if not np.isfinite(misfits).all():
            continue
        rows, order = linear_sum_assignment(misfits)
        is_exchanged = order != rows
        if is_exchanged.any() and misfits[rows, order].max() < SAME**2:
            far, spread = (
                abs(a - b)[is_exchanged].max(0),
                np.maximum(a_sd, b_sd)[is_exchanged].max(0),
            )
            distances = [_far(*pair) for pair in zip(far, spread, strict=True)]
            place = int(np.argmax(distances))
            farthest = max(farthest, (distances[place], place))
    return farthest


def _reflection(parts: Sequence[GroupMoments]) -> float:
    """The distance between two places of an element that changes sign.

    The unit is one standard deviation. The distance is 0 if the signs do not change. In a matrix
    the signs of one row or column may change.
    """
    farthest = 0.0
    for (a, a_sd), (b, b_sd) in combinations(parts, 2):
        sd = np.minimum(a_sd, b_sd)
        for at in _vectors(a.shape):
            x, y, scale = a[at], b[at], sd[at]
            if scale.all() and np.mean(((x + y) / scale) ** 2) < SAME**2:
                farthest = max(farthest, _far(abs(x - y).max(), scale[abs(x - y).argmax()]))
    return farthest


def _vectors(shape: tuple[int, ...]) -> Iterator[tuple[slice | int, ...]]:
    """The indices of a vector, or of a matrix's columns and rows."""
    if len(shape) == 1 and shape[0] > 1:
        yield (slice(None),)
    if len(shape) == 2:
        yield from ((slice(None), i) for i in range(shape[1]) if shape[0] > 1)
        yield from ((i, slice(None)) for i in range(shape[0]) if shape[1] > 1)


def _far(distance: Any, spread: Any) -> float:
    """A distance in standard deviations; 0 if it is not large."""
    ratio = float(distance / spread) if spread > 0 else 0.0
    return ratio if ratio > APART else 0.0
