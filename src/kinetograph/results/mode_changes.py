"""Changes of order and of signs of elements between modes.

Arrays are compared between the modes, and between the chains: slow chains may be divided into more
modes than there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

__all__ = ["changes_text"]

MOST_ORDERED = 20  # elements of an array whose order is compared
MOST_COMPARED = 20  # modes, or chains, that are compared
FEWEST = 20  # draws of a mode that is compared
SAME, APART = 1.0, 4.0  # standard deviations within a mode: of equal and of different means

type GroupMoments = tuple[np.ndarray, np.ndarray]  # the means and standard deviations of elements


def changes_text(arrays: Iterable[tuple[str, np.ndarray]], labels: np.ndarray) -> str:
    """The rest of a sentence on a change of order or signs.

    The text is empty without such a change. The arrays are draws of unknowns, (chain, draw, ...),
    by name; the labels, (chain, draw), are the numbers of their modes.
    """
    chains = np.broadcast_to(np.arange(len(labels))[:, None], labels.shape)
    swapped: dict[str, float] = {}
    flipped: dict[str, float] = {}
    for name, values in arrays:
        for groups in (labels, chains):
            parts = _by_group(values, groups)
            swapped[name] = max(swapped.get(name, 0.0), _exchange(parts))
            flipped[name] = max(flipped.get(name, 0.0), _reflection(parts))
    # Two elements at -3 and 3 change places and signs alike: other unknowns tell the cause.
    signs = {name: far for name, far in flipped.items() if far and not swapped[name]}
    if signs:
        name = max(signs, key=lambda name: signs[name])
        return (
            f"in which the signs of {name} have changed: fix the sign, for example by a positive "
            "slope, which has a half-normal prior or truncation=(0, None)"
        )
    name = max(swapped, key=lambda name: swapped[name], default="")
    if not name or not swapped[name]:
        return ""
    return (
        f"in which the elements of {name} have changed places: if their order means nothing, as "
        f"of the components of a mixture, use kg.sort({name}) in place of {name}"
    )


def _by_group(values: np.ndarray, groups: np.ndarray) -> list[GroupMoments]:
    """The means and standard deviations of the elements in each group."""
    parts = []
    for group in range(min(int(groups.max()) + 1, MOST_COMPARED)):
        held = values[groups == group]
        if len(held) >= FEWEST:
            parts.append((held.mean(0), held.std(0)))
    return parts


def _exchange(parts: Sequence[GroupMoments]) -> float:
    """The distance between elements that have changed places.

    The unit is one standard deviation. The distance is 0 if no element has changed places.
    """
    if not parts or parts[0][0].ndim != 1 or not 2 <= parts[0][0].size <= MOST_ORDERED:
        return 0.0
    found = 0.0
    orders = [np.argsort(mean) for mean, _ in parts]
    for i, j in combinations(range(len(parts)), 2):
        (a, a_sd), (b, b_sd) = ([x[orders[k]] for x in parts[k]] for k in (i, j))
        moved = orders[i] != orders[j]
        if moved.any() and (abs(a - b) < SAME * np.minimum(a_sd, b_sd)).all():
            found = max(found, _far(np.ptp(a[moved]), a_sd[moved].max()))
    return found


def _reflection(parts: Sequence[GroupMoments]) -> float:
    """The distance between two places of an element that changes sign.

    The unit is one standard deviation. The distance is 0 if the signs do not change. In a matrix
    the signs of one row or column may change.
    """
    found = 0.0
    for (a, a_sd), (b, b_sd) in combinations(parts, 2):
        sd = np.minimum(a_sd, b_sd)
        for at in _vectors(a.shape):
            x, y, scale = a[at], b[at], sd[at]
            if scale.all() and np.mean(((x + y) / scale) ** 2) < SAME**2:
                found = max(found, _far(abs(x - y).max(), scale[abs(x - y).argmax()]))
    return found


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
