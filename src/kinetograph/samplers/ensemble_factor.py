"""The factor B of an ensemble's preconditioner.

With the covariance C of walkers, B B^T = I + eta C.

full, blocks   B is the lower Cholesky factor; with blocks C is 0 between coordinates of different
               blocks
diagonal       B = diag(sqrt(1 + eta C_ii))
low-rank       C is replaced by its k largest eigenpairs, C_k = V L V^T, and
               B = I + V (sqrt(1 + eta L) - 1) V^T, which is symmetric. The eigenpairs come from the
               Gram matrix of the walkers, so that no matrix of coordinates is needed

A Cholesky factor that is not finite is computed again with a smaller eta, that keeps the largest
eigenvalue of eta C below 1 / (8 N eps). If that is not finite either, B is the identity.
"""

from typing import Any, NamedTuple

import numpy as np

from ..graph.control.branches import cond
from ..graph.functions.mathematics import minimum, sqrt, where
from ..graph.functions.matrices import cholesky, eigh
from ..graph.functions.reductions import all as all_of
from ..graph.functions.reductions import max as max_of
from ..graph.functions.reductions import sum as sum_of

__all__ = ["EnsembleFactor", "ensemble_factor"]


class EnsembleFactor(NamedTuple):
    """B as one of three forms; rows of arrays are walkers.

    Attributes
    ----------
    matrix, diagonal
        B, or its diagonal.
    vectors, stretches
        V and sqrt(1 + eta L) - 1 of the low-rank form.
    """

    matrix: Any = None
    diagonal: Any = None
    vectors: Any = None
    stretches: Any = None

    def times(self, rows: Any) -> Any:
        """B y of each row."""
        return rows @ self.matrix.T if self.matrix is not None else self._symmetric(rows)

    def transposed_times(self, rows: Any) -> Any:
        """B^T g of each row."""
        return rows @ self.matrix if self.matrix is not None else self._symmetric(rows)

    def _symmetric(self, rows: Any) -> Any:
        if self.diagonal is not None:
            return rows * self.diagonal
        return rows + (rows @ self.vectors * self.stretches) @ self.vectors.T


def ensemble_factor(
    q: Any, eta: Any, structure: str, *, labels: np.ndarray, rank: int
) -> tuple[EnsembleFactor, Any]:
    """The factor of the covariance of walkers, and its eta.

    Parameters
    ----------
    q, eta, structure
        The walkers, (walkers, size), the weight of C, and "full", "blocks", "diagonal" or
        "low-rank".
    labels
        The block of each coordinate.
    rank
        k of "low-rank".
    """
    count, size = q.shape
    centred = q - sum_of(q, axis=0) / count
    if structure == "diagonal":
        diagonal = sqrt(1 + eta * sum_of(centred * centred, axis=0) / (count - 1))
        usable = all_of(diagonal < np.inf)
        return EnsembleFactor(diagonal=where(usable, diagonal, 1)), where(usable, eta, 0)
    if structure == "low-rank":
        return _low_rank(centred, eta, min(rank, count - 1, size))
    c = centred.T @ centred / (count - 1)
    if structure == "blocks":
        c = c * (labels[:, None] == labels).astype(q.dtype)
    identity = np.eye(size, dtype=q.dtype)
    factor = cholesky(identity + eta * c)
    largest = 1 / (8 * size * float(np.finfo(q.dtype).eps))

    def by_smaller_eta() -> Any:
        smaller = minimum(eta, largest / sum_of(c * identity))
        factor = cholesky(identity + smaller * c)
        usable = _finite(factor)
        return where(usable, factor, identity), where(usable, smaller, 0)

    factor, eta = cond(_finite(factor), lambda: (factor, 1.0 * eta), by_smaller_eta)
    return EnsembleFactor(matrix=factor), eta


def _low_rank(centred: Any, eta: Any, rank: int) -> tuple[EnsembleFactor, Any]:
    """The factor of the largest eigenpairs of C."""
    count = centred.shape[0]
    gram = centred @ centred.T / (count - 1)
    bounded = _finite(gram)
    values, units = eigh(where(bounded, gram, 0 * np.eye(count, dtype=centred.dtype)))
    values, units = values[count - rank :], units[:, count - rank :]
    is_positive = values > count * np.finfo(centred.dtype).eps * max_of(values)
    usable = where(is_positive, values, 1)
    rows = where(bounded, centred, 0 * centred)
    vectors = where(is_positive, rows.T @ units / sqrt((count - 1) * usable), 0)
    stretches = where(is_positive, sqrt(1 + eta * usable) - 1, 0)
    is_finite = bounded & _finite(stretches)
    return EnsembleFactor(vectors=vectors, stretches=where(is_finite, stretches, 0)), where(
        is_finite, eta, 0
    )


def _finite(values: Any) -> Any:
    return all_of(abs(values) < np.inf)
