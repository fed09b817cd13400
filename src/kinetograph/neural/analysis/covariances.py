"""Covariances of trajectories: at once, streaming, and of low rank.

`covariance` holds a matrix of the size of the parameters squared. `CovarianceSum` gives the same
matrix from parts of a trajectory, so the trajectory is never in memory as a whole.
`low_rank_covariance` finds the leading eigenpairs without the matrix, for many parameters.

Sources: T. F. Chan, G. H. Golub, R. J. LeVeque, Algorithms for computing the sample variance,
American Statistician 37 (1983) 242-247. N. Halko, P.-G. Martinsson, J. A. Tropp, Finding structure
with randomness, SIAM Review 53 (2011) 217-288, algorithm 4.4.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from ...graph.public import public
from .inputs import as_draws, as_points, finite

__all__ = ["CovarianceSum", "Eigenpairs", "covariance", "eigenpairs", "low_rank_covariance"]


class Eigenpairs(NamedTuple):
    """Eigenvalues and eigenvectors of a covariance.

    Attributes
    ----------
    values
        The eigenvalues, in descending order.
    vectors
        The eigenvectors, one in each column; the entry of largest magnitude is positive.
    """

    values: np.ndarray
    vectors: np.ndarray


@public
class CovarianceSum:
    """The covariance of rows that come in parts.

    The sums of two parts with the counts m and n, the means a and b and the sums of squares A and B
    become the mean a + (b - a) n / (m + n) and A + B + (b - a)(b - a)^T m n / (m + n).

    Examples
    --------
    >>> from kinetograph.neural import analysis
    >>> total = analysis.CovarianceSum()
    >>> total.add([[0.0, 0.0], [2.0, 4.0]])
    >>> total.add([[4.0, 2.0]])
    >>> total.count, total.mean.tolist(), total.matrix.tolist()
    (3, [2.0, 2.0], [[4.0, 2.0], [2.0, 4.0]])
    """

    def __init__(self) -> None:
        self.count = 0
        self.mean = np.zeros(0)
        self._squares = np.zeros((0, 0))

    def add(self, rows: Any) -> None:
        """Add rows of shape (row, parameter), or one of shape (parameter,).

        Raises
        ------
        ValueError
            If a number is not finite, or the number of parameters differs from earlier parts.
        """
        x = np.atleast_2d(np.asarray(rows, float))
        if x.ndim != 2 or (self.count and x.shape[1] != len(self.mean)):
            width = len(self.mean) if self.count else "parameter"
            raise ValueError(f"CovarianceSum: expected rows of shape (row, {width}), got {x.shape}")
        finite(x, "CovarianceSum", "rows")
        if not len(x):
            return
        mean = x.mean(0)
        deviations = x - mean
        squares = deviations.T @ deviations
        if not self.count:
            self.count, self.mean, self._squares = len(x), mean, squares
            return
        total, step = self.count + len(x), mean - self.mean
        self._squares += squares + np.outer(step, step) * (self.count * len(x) / total)
        self.mean = self.mean + step * (len(x) / total)
        self.count = total

    @property
    def matrix(self) -> np.ndarray:
        """The covariance, with the divisor n - 1.

        Raises ValueError for fewer than two rows.
        """
        if self.count < 2:
            raise ValueError(
                f"CovarianceSum: a covariance needs two rows or more, got {self.count}; call add"
            )
        return self._squares / (self.count - 1)


@public
def covariance(draws: Any, *, walkers: str = "pooled") -> np.ndarray:
    """The covariance of parameters over a trajectory.

        C = sum_k (x_k - mean)(x_k - mean)^T / (n - 1)

    Parameters
    ----------
    draws
        Draws of shape (chain, draw, parameter).
    walkers
        "pooled": the rows of all chains about their common mean. "separate": a matrix for each
        chain.

    Returns
    -------
    array
        Of shape (parameter, parameter), or (chain, parameter, parameter).

    Raises
    ------
    ValueError
        If the draws are not finite, or `walkers` is another word.

    Examples
    --------
    >>> from kinetograph.neural import analysis
    >>> analysis.covariance([[[0.0, 0.0], [2.0, 4.0], [4.0, 2.0]]]).tolist()
    [[4.0, 2.0], [2.0, 4.0]]
    """
    x = as_draws(draws, "covariance")
    if walkers not in ("pooled", "separate"):
        raise ValueError(f"covariance: walkers must be 'pooled' or 'separate', got {walkers!r:.60}")
    return np.stack([_pooled([chain]) for chain in x]) if walkers == "separate" else _pooled(x)


def _pooled(chains: Iterable[np.ndarray]) -> np.ndarray:
    total = CovarianceSum()
    for chain in chains:
        total.add(chain)
    return total.matrix


@public
def eigenpairs(matrix: Any, count: int | None = None) -> Eigenpairs:
    """The leading eigenvalues and eigenvectors of a symmetric matrix.

    Parameters
    ----------
    matrix
        A covariance of shape (parameter, parameter).
    count
        The number of eigenpairs; all by default.

    Returns
    -------
    Eigenpairs
        With `values` (count,) in descending order and `vectors` (parameter, count).

    Raises
    ------
    ValueError
        If the matrix is not square, finite and symmetric, or has fewer eigenpairs.

    Examples
    --------
    >>> from kinetograph.neural import analysis
    >>> analysis.eigenpairs([[4.0, 2.0], [2.0, 4.0]]).values.round(6).tolist()
    [6.0, 2.0]
    """
    c = finite(np.asarray(matrix, float), "eigenpairs", "matrix")
    if c.ndim != 2 or c.shape[0] != c.shape[1] or not np.allclose(c, c.T):
        raise ValueError(
            f"eigenpairs: expected a symmetric matrix, got an array of shape {c.shape}"
        )
    size = len(c)
    number = _count(count, size, "eigenpairs")
    values, vectors = scipy.linalg.eigh(c, subset_by_index=(size - number, size - 1))
    return Eigenpairs(values[::-1].copy(), signed(vectors[:, ::-1]))


@public
def low_rank_covariance(
    draws: Any, count: int, *, oversampling: int = 10, iterations: int = 4, seed: int = 0
) -> Eigenpairs:
    """The leading eigenpairs of a covariance, by a randomised range finder.

    The matrix itself is never computed. With n rows and N parameters, the memory is that of the
    draws plus (N + n)(count + oversampling) numbers, and each iteration reads the draws twice.
    The values are exact if the rank is at most count + oversampling. Otherwise their error falls
    geometrically with the iterations, faster for a larger gap after the leading eigenvalues.

    Parameters
    ----------
    draws
        Draws of shape (chain, draw, parameter); all chains are pooled.
    count
        The number of eigenpairs, less than the number of rows.
    oversampling
        How many more random directions are used.
    iterations
        The number of power iterations.
    seed
        The seed of the random directions.

    Returns
    -------
    Eigenpairs
        With `values` (count,) in descending order and `vectors` (parameter, count).

    Raises
    ------
    ValueError
        If the draws are not finite or have fewer eigenpairs.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetograph.neural import analysis
    >>> draws = np.outer([1.0, 2.0, 3.0], np.ones(10_000))[None]
    >>> analysis.low_rank_covariance(draws, 1).values.round(6).tolist()
    [10000.0]
    """
    title = "low_rank_covariance"
    x = as_draws(draws, title)
    rows = as_points(x.reshape(-1, x.shape[2]), title)
    most = min(len(rows) - 1, rows.shape[1])
    number = _count(count, most, title)
    for name, value in (("oversampling", oversampling), ("iterations", iterations)):
        if value < 0:
            raise ValueError(f"{title}: {name} must not be negative, got {value}")
    mean = rows.mean(0)
    width = min(number + oversampling, most)

    def forward(q: np.ndarray) -> np.ndarray:  # the centred rows times q, without a copy of them
        return rows @ q - mean @ q

    def backward(q: np.ndarray) -> np.ndarray:
        return rows.T @ q - np.outer(mean, q.sum(0))

    start = np.random.default_rng(seed).standard_normal((rows.shape[1], width))
    basis = np.linalg.qr(forward(start))[0]
    for _ in range(iterations):
        basis = np.linalg.qr(forward(np.linalg.qr(backward(basis))[0]))[0]
    vectors, singular, _ = np.linalg.svd(backward(basis), full_matrices=False)
    values = singular[:number] ** 2 / (len(rows) - 1)
    return Eigenpairs(values, signed(vectors[:, :number]))


def signed(vectors: np.ndarray) -> np.ndarray:
    """The vectors; the entry of largest magnitude is made positive."""
    largest = np.abs(vectors).argmax(0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def _count(count: int | None, most: int, title: str) -> int:
    """The number of eigenpairs."""
    if count is None:
        return most
    if (
        isinstance(count, bool)
        or not isinstance(count, (int, np.integer))
        or not 1 <= count <= most
    ):
        raise ValueError(
            f"{title}: count must be a whole number between 1 and {most}, got {count!r:.60}"
        )
    return int(count)
