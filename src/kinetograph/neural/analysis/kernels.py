"""Sparse Gaussian kernels of points: neighbours, bandwidths, isolated points.

The kernel is K_ij = exp(-d_ij^2 / epsilon) with Euclidean distances. Entries below 1e-6 are
left out, or all entries except the entries of nearest neighbours, so that the memory grows with the
number of neighbours and not with the square of the number of points.

Source of the bandwidth "bgh": T. Berry, D. Giannakis, J. Harlim, Nonparametric forecasting of
low-dimensional dynamical systems, Physical Review E 91 (2015) 032915, appendix A.
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist, pdist

from ...graph.source import warn_user
from ..choice import chosen
from .inputs import positive

__all__ = ["bandwidth", "isolated", "kernel", "local_scales"]

_SMALLEST = 1e-6  # a kernel's entry
_BLOCK = 2**22  # distances computed at once
_SAMPLE = 2000  # points from which a bandwidth is chosen
_EXPONENT = 0.7  # of the number of points, for the rank of a neighbour
_BONDED = 0.1  # the kernel between points of one component
_SMALL = 0.01  # the fraction of points in a component that is dropped


def kernel(
    points: np.ndarray,
    epsilon: float,
    neighbours: int | None,
    title: str,
    scales: np.ndarray | None = None,
) -> sparse.csr_array:
    """The symmetric kernel exp(-d_ij^2 / (epsilon max(scale_i, scale_j))) of points."""
    count = len(points)
    if neighbours is not None:
        # The nearest neighbour of each point is the point itself.
        distances, columns = cKDTree(points).query(points, min(neighbours + 1, count), workers=1)
        squares = (distances**2).ravel()
        rows = np.repeat(np.arange(count), columns.shape[1])
        columns = columns.ravel()
        values = np.exp(-squares / (epsilon * _larger(scales, rows, columns)))
        _warn_if_cut(values.reshape(count, -1), title)
        graph = sparse.csr_array((values, (rows, columns)), shape=(count, count))
        return graph.maximum(graph.T).tocsr()
    limit = -np.log(_SMALLEST) * epsilon
    step = max(1, _BLOCK // count)
    blocks = []
    for first in range(0, count, step):
        squares = cdist(points[first : first + step], points, "sqeuclidean")
        if scales is not None:
            squares /= np.maximum(scales[first : first + step, None], scales)
        near = squares < limit
        values = np.exp(-squares[near] / epsilon)
        columns = np.broadcast_to(np.arange(count, dtype=np.int32), near.shape)[near]
        ends = np.concatenate([[0], np.cumsum(near.sum(1))]).astype(np.int32)
        blocks.append(sparse.csr_array((values, columns, ends), shape=near.shape))
    return sparse.vstack(blocks, format="csr")


def _warn_if_cut(values: np.ndarray, title: str) -> None:
    """Warn if the kernel is not small at the last neighbour."""
    width = values.shape[1] - 1
    last = float(np.median(values[:, -1]))
    if last > _BONDED and width < len(values) - 1:
        warn_user(
            f"{title}: half of the points have a kernel of {last:.2g} or more at their neighbour "
            f"{width}, the last in the kernel. The rates are then too small; give more neighbours, "
            "or a smaller epsilon",
            RuntimeWarning,
        )


def _larger(scales: np.ndarray | None, rows: np.ndarray, columns: np.ndarray) -> Any:
    return 1.0 if scales is None else np.maximum(scales[rows], scales[columns])


def bandwidth(points: np.ndarray, epsilon: float | str, title: str) -> float:
    """The bandwidth epsilon: a number, or chosen from distances.

    "median" is the median, over the points, of the squared distance to the neighbour whose rank is
    the square root of the number of points. "bgh" is the epsilon of the steepest slope of
    log sum_{i<j} exp(-d_ij^2 / epsilon) in log epsilon; twice this slope is the dimension.
    """
    if not isinstance(epsilon, str):
        return positive(epsilon, title, "epsilon")
    choose = chosen({"median": _median, "bgh": _steepest}, epsilon, f"{title}: epsilon")
    value = choose(points)
    if not value > 0:
        raise ValueError(
            f"{title}: epsilon={epsilon!r} gives {value:.6g}, because most points coincide; thin "
            "the trajectory, or give a number for epsilon"
        )
    return value


def _median(points: np.ndarray) -> float:
    rank = min(int(len(points) ** _EXPONENT), len(points) - 1)
    chosen_points = points[:: -(-len(points) // _SAMPLE)]
    distances = cKDTree(points).query(chosen_points, [rank + 1], workers=1)[0]
    return float(np.median(distances) ** 2)


def _steepest(points: np.ndarray) -> float:
    chosen_points = points[:: -(-len(points) // _SAMPLE)]
    squares = pdist(chosen_points, "sqeuclidean")
    positives = squares[squares > 0]
    if not len(positives):
        return 0.0
    best, steepest = 0.0, -np.inf
    for value in np.geomspace(4 * positives.max(), positives.min(), 60):
        ratio = squares / value
        entries = np.exp(-ratio)
        mean = entries.mean()
        # Below some degree, the slope measures the gaps between points, not their dimension.
        if best and mean * len(points) < len(points) ** 0.5:
            break
        slope = np.mean(ratio * entries) / mean
        if slope > steepest:
            best, steepest = float(value), slope
    return best


def isolated(graph: sparse.csr_array) -> np.ndarray:
    """A mask of the points that are isolated from the bulk.

    A point is isolated if it is alone, or among fewer than one in a hundred of all points, in its
    component of the graph of the entries of 0.1 or more. Isolated points are nearly absorbing in
    the random walk of the kernel: each group adds an eigenvalue near 1.
    """
    strong = graph.data >= _BONDED
    # Each row has an entry, its own point.
    ends = np.concatenate([[0], np.cumsum(np.add.reduceat(strong, graph.indptr[:-1], dtype=int))])
    bonds = sparse.csr_array((graph.data[strong], graph.indices[strong], ends), shape=graph.shape)
    labels = csgraph.connected_components(bonds, connection="strong")[1]
    return np.bincount(labels)[labels] < max(2, _SMALL * graph.shape[0])


def local_scales(points: np.ndarray, epsilon: float) -> np.ndarray:
    """Factors of epsilon that reach each point's second neighbour, at least 1."""
    distances = cKDTree(points).query(points, [min(3, len(points))], workers=1)[0].ravel()
    return np.maximum(1.0, distances**2 / epsilon)
