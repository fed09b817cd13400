"""Valleys of a density, which divide points into parts.

A valley is looked for along each coordinate, the principal directions and the directions between
the means of chains. The points are divided at the deepest valley, and the parts are divided in the
same way.
"""

from collections.abc import Iterator

import numpy as np

__all__ = ["divided"]

SHALLOW = 0.25  # of the density at the lower peak: a higher valley does not separate modes
LEAST_DEPTH = 5.0  # standard deviations of the counts
WIDTHS = (0.9, 0.3)  # of half a window: Silverman's factor, and a third of it
MOST_WINDOWS = 2000
MOST_COORDINATES, PRINCIPAL, MOST_CHAINS = 2000, 3, 8
MOST_MODES = 50
NEIGHBOURS, MOST_NEAR, MOST_PLANES = 5, 2000, 20  # in a search for points where modes meet
DENSE = 1.5  # distance of neighbours where modes meet, relative to the median


def divided(points: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """The number of the part in which each point lies."""
    labels, pending, count = np.zeros(len(points), int), [np.arange(len(points))], 0
    while pending:
        places = pending.pop()
        sides = _sides(points[places], chain[places]) if count < MOST_MODES else None
        if sides is None:
            labels[places] = count
            count += 1
        else:
            pending += [places[~sides], places[sides]]
    return labels


def _sides(points: np.ndarray, chain: np.ndarray) -> np.ndarray | None:
    """Whether each point lies above the deepest valley; None without one."""
    places, which, first = _unique(points)
    best, along, level = LEAST_DEPTH, None, 0.0
    for direction in _directions(places, chain[first]):
        projected = places @ direction if direction.ndim else places[:, int(direction)]
        depth, place = _valley(np.sort(projected))
        if depth > best:
            best, along, level = depth, projected, place
    if along is None or _joined(places, along, level):
        return None
    return (along > level)[which]


def _joined(points: np.ndarray, along: np.ndarray, level: float) -> bool:
    """Whether the sides of a valley meet where points are dense.

    A ring has a valley along each coordinate, but it is one mode: in a plane with another
    coordinate, the distances to the neighbours where the sides meet are as elsewhere.
    """
    from scipy.spatial import cKDTree

    every = -(-len(points) // MOST_NEAR)
    points, along = points[::every], along[::every]
    sides = along > level
    for coordinate in points.T[:MOST_PLANES]:
        if np.ptp(coordinate) == 0:
            continue  # a line
        plane = np.column_stack([along, coordinate])
        plane = plane / np.maximum(plane.std(0), np.finfo(float).tiny)
        if abs(float(np.corrcoef(plane.T).min())) > 1 - 1e-9:
            continue  # the same direction
        distances, near = cKDTree(plane).query(plane, NEIGHBOURS + 1)
        crossing = (sides[near[:, 1:]] != sides[:, None]).any(1)
        far = distances[:, -1]
        if crossing.sum() >= NEIGHBOURS and np.median(far[crossing]) < DENSE * np.median(far):
            return True
    return False


def _unique(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct points.

    Also the place of each point among them, and the first place of each distinct point.
    """
    places, first, which = np.unique(points, axis=0, return_index=True, return_inverse=True)
    return places, which.ravel(), first


def _directions(points: np.ndarray, chain: np.ndarray) -> Iterator[np.ndarray]:
    """Coordinates, principal directions, and directions between chains."""
    spread = points.std(0)
    scale = np.where(spread > 0, spread, 1.0)
    for place in range(min(points.shape[1], MOST_COORDINATES)):
        yield np.asarray(place)
    if points.shape[1] == 1 or len(points) < 2:
        return
    _, _, rows = np.linalg.svd((points - points.mean(0)) / scale, full_matrices=False)
    for row in rows[:PRINCIPAL]:
        yield row / scale
    means = [points[chain == c].mean(0) for c in np.unique(chain)]
    for i, one in enumerate(means[:MOST_CHAINS]):
        for other in means[i + 1 : MOST_CHAINS]:
            if np.any(one != other):
                yield (one - other) / scale**2


def _valley(values: np.ndarray) -> tuple[float, float]:
    """The depth of the deepest valley of sorted values, and its place.

    The density is compared in windows of one width. A valley has less than SHALLOW of the points
    of the lower one of the peaks on its two sides; its depth is their difference in standard
    deviations of the counts.
    """
    size = len(values)
    low, high = values[int(0.001 * size)], values[min(int(0.999 * size), size - 1)]
    quarter, three = values[size // 4], values[3 * size // 4]
    spread = min(float(values.std()), (three - quarter) / 1.34) or float(values.std())
    best = 0.0, 0.0
    for fraction in WIDTHS:
        half = fraction * spread * size**-0.2
        if not half > 0 or not high > low:
            continue
        count = int(min((high - low) / half * 2, MOST_WINDOWS)) + 2
        middles = np.linspace(low, high, count)
        counts = np.searchsorted(values, middles + half) - np.searchsorted(values, middles - half)
        left = np.maximum.accumulate(counts)
        right = np.maximum.accumulate(counts[::-1])[::-1]
        peak = np.minimum(left, right)
        depth = (peak - counts) / np.sqrt(np.maximum(peak + counts, 1))
        depth[counts >= SHALLOW * peak] = 0.0
        place = int(depth.argmax())
        if depth[place] > best[0]:
            lowest = np.flatnonzero(depth >= depth[place] - 1e-9)
            best = float(depth[place]), float(middles[lowest[len(lowest) // 2]])
    return best
