"""Eigenpairs of the random walk of a weighted kernel."""

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, eigsh

from .covariances import signed

__all__ = ["walk_eigenpairs"]

_DENSE = 600  # points up to which a dense solver is faster


def walk_eigenpairs(
    graph: sparse.csr_array, weights: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues, eigenvectors and stationary weights of the random walk.

    A graph of several components has an eigenvalue 1 for each of them. An iterative solver
    overlooks copies of an eigenvalue, so the components are solved separately.
    """
    sums = graph @ weights
    scale = np.sqrt(weights / sums)
    stationary = weights * sums
    stationary /= stationary.sum()
    root = np.sqrt(stationary)
    # Of a symmetric graph, strong components are all components, and need no transpose.
    components, labels = csgraph.connected_components(graph, connection="strong")
    groups = [np.arange(len(root))]
    if components > 1:
        order = np.argsort(labels, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        groups.sort(key=len, reverse=True)
    # The eigenvectors of 1 are piecewise constant; the first is the constant that is left out.
    pieces = [np.where(labels == labels[rows[0]], root, 0.0) for rows in groups[:count]]
    vectors = np.linalg.qr(np.stack([root, *pieces[: components - 1]], 1))[0][:, 1:]
    values = np.ones(vectors.shape[1])
    if len(values) < count:
        for rows in groups:
            part = graph if components == 1 else graph[rows][:, rows]
            number = min(count + 1, len(rows))
            more, leading = _leading(part, scale[rows], number)
            full = np.zeros((len(root), number - 1))
            full[rows] = leading[:, 1:]
            values = np.concatenate([values, more[1:]])
            vectors = np.concatenate([vectors, full], 1)
            order = np.argsort(-values, kind="stable")[:count]
            values, vectors = values[order], vectors[:, order]
    return values, signed(vectors / root[:, None]), stationary


def _leading(
    graph: sparse.csr_array, scale: np.ndarray, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """The leading eigenpairs, descending, of the symmetric matrix scale_i K_ij scale_j."""
    size = len(scale)
    if size <= _DENSE:
        values, vectors = np.linalg.eigh(scale[:, None] * graph.toarray() * scale)
    else:
        matrix = graph.toarray() if graph.nnz > size**2 / 3 else graph  # the faster product
        symmetric = LinearOperator(
            graph.shape, lambda v: scale * (matrix @ (scale * v)), dtype=float
        )
        # A start with all directions; the constant eigenvector alone would end the iteration.
        start = np.random.default_rng(0).standard_normal(size)
        basis = min(size, max(4 * number, 40))
        values, vectors = eigsh(symmetric, number, which="LA", ncv=basis, v0=start, tol=1e-8)
    order = np.argsort(-values)[:number]
    return values[order], vectors[:, order]
