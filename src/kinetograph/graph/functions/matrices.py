"""Functions of matrices: products, factorisations, solutions, such as `kg.cholesky(x)`."""

from typing import NamedTuple

from ..array import Array, ArrayLike
from ..operations import derived, grids, linear_algebra, shaping
from ..public import public

__all__ = [
    "chol_inverse",
    "chol_outer",
    "cholesky",
    "convolve",
    "cov2cor",
    "det",
    "eigh",
    "eigvalsh",
    "einsum",
    "inv",
    "kron",
    "logdet",
    "matmul",
    "outer",
    "pairwise_distance",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "trace",
]


class Slogdet(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Array
    logabsdet: Array


class Eigh(NamedTuple):
    """Eigenvalues in ascending order, and the eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class Qr(NamedTuple):
    """A matrix with orthonormal columns, and an upper triangular matrix."""

    Q: Array
    R: Array


class Svd(NamedTuple):
    """Left singular vectors as columns, singular values, right singular vectors as rows."""

    U: Array
    S: Array
    Vh: Array


@public
def matmul(a: ArrayLike, b: ArrayLike) -> Array:
    """The matrix product a @ b, batched over leading axes."""
    return Array(linear_algebra.matmul(a, b))


@public
def outer(a: ArrayLike, b: ArrayLike) -> Array:
    """The product of each element of a with each element of b."""
    return Array(linear_algebra.outer(a, b))


@public
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product."""
    return Array(linear_algebra.kron(a, b))


@public
def einsum(subscripts: str, *operands: ArrayLike) -> Array:
    """Einstein summation, as numpy.einsum."""
    return Array(linear_algebra.einsum(subscripts, *operands))


@public
def trace(x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The sum of the diagonal over two axes."""
    return Array(shaping.trace(x, offset, axis1, axis2))


@public
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """Solve a @ x = b for x."""
    return Array(linear_algebra.solve(a, b))


@public
def solve_triangular(
    a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False
) -> Array:
    """Solve a @ x = b for triangular a, as in scipy.linalg."""
    return Array(linear_algebra.solve_triangular(a, b, trans, lower))


@public
def inv(x: ArrayLike) -> Array:
    """The inverse matrix."""
    return Array(linear_algebra.inv(x))


@public
def det(x: ArrayLike) -> Array:
    """The determinant.

    First and second derivatives are accurate for matrices of any rank. For matrices up to 4 x 4,
    derivatives of higher order are accurate, too. For larger matrices they are NaN where singular
    values coincide.
    """
    return Array(linear_algebra.det(x))


@public
def logdet(x: ArrayLike) -> Array:
    """The logarithm of the absolute value of the determinant."""
    return Array(linear_algebra.slogdet(x)[1])


@public
def slogdet(x: ArrayLike) -> Slogdet:
    """The sign of the determinant and the logarithm of its absolute value."""
    return Slogdet(*map(Array, linear_algebra.slogdet(x)))


@public
def cholesky(x: ArrayLike) -> Array:
    """The lower triangular L with L @ L.T = x.

    It is NaN where x is not positive definite.
    """
    return Array(linear_algebra.cholesky(x))


@public
def eigh(x: ArrayLike) -> Eigh:
    """The eigenvalues and eigenvectors of a symmetric matrix.

    The eigenvalues are in ascending order, and the eigenvectors are columns.
    """
    return Eigh(*map(Array, linear_algebra.factors("eigh", x)))


@public
def eigvalsh(x: ArrayLike) -> Array:
    """The eigenvalues of a symmetric matrix, in ascending order."""
    return Array(linear_algebra.factors("eigh", x)[0])


@public
def qr(x: ArrayLike) -> Qr:
    """Q with orthonormal columns and upper triangular R.

    Their product Q @ R is x.
    """
    return Qr(*map(Array, linear_algebra.factors("qr", x)))


@public
def svd(x: ArrayLike) -> Svd:
    """The singular value decomposition x = U diag(S) Vh.

    The number of singular values is the length of the shorter side of x.
    """
    return Svd(*map(Array, linear_algebra.factors("svd", x)))


@public
def chol_outer(x: ArrayLike) -> Array:
    """L @ L.T: the matrix whose lower Cholesky factor is given."""
    return Array(derived.chol_outer(x))


@public
def chol_inverse(x: ArrayLike) -> Array:
    """The inverse of L @ L.T, given the factor L."""
    return Array(derived.chol_inverse(x))


@public
def cov2cor(x: ArrayLike) -> Array:
    """The correlations of a covariance matrix."""
    return Array(derived.cov2cor(x))


@public
def pairwise_distance(x: ArrayLike, y: ArrayLike | None = None) -> Array:
    """The Euclidean distances between the rows of x and y.

    `y` is `x` by default.
    """
    return Array(derived.pairwise_distance(x, y))


@public
def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Array:
    """The convolution of two vectors of lengths n and m.

    Its length is n + m - 1; with `mode="same"` or `mode="valid"` it is shorter.
    """
    return Array(grids.convolve(a, v, mode))
