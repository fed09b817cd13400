"""More functions of arrays, as users call them: special ones, factors of matrices, shapes."""

from collections.abc import Sequence
from typing import NamedTuple

from . import elementwise as ew
from . import grids, linear_algebra, ordering, reductions, shaping, statistics
from . import special_expressions as special
from .array import Array, ArrayLike

__all__ = [
    "argsort",
    "convolve",
    "corrcoef",
    "cov",
    "interp",
    "searchsorted",
    "take_along_axis",
    "boxcox",
    "broadcast_to",
    "eigh",
    "eigvalsh",
    "entr",
    "expand_dims",
    "flip",
    "iv",
    "ive",
    "kv",
    "kve",
    "moveaxis",
    "multigammaln",
    "polygamma",
    "qr",
    "rel_entr",
    "repeat",
    "roll",
    "slogdet",
    "squeeze",
    "svd",
    "swapaxes",
    "tile",
]

Axis = reductions.Axis


def polygamma(n: int, x: ArrayLike) -> Array:
    """The derivative of order n, a whole number, of digamma."""
    return Array(ew.polygamma(n, x))


def multigammaln(a: ArrayLike, d: int) -> Array:
    """The logarithm of the multivariate gamma function of dimension d; NaN for a <= (d - 1) / 2."""
    return Array(special.multigammaln(a, d))


def iv(v: float, x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order v = n + 1/2, a known number."""
    return Array(special.iv(v, x))


def ive(v: float, x: ArrayLike) -> Array:
    """exp(-x) * iv(v, x)."""
    return Array(special.ive(v, x))


def kv(v: float, x: ArrayLike) -> Array:
    """The modified Bessel function of the second kind of order v = n + 1/2, a known number."""
    return Array(special.kv(v, x))


def kve(v: float, x: ArrayLike) -> Array:
    """exp(x) * kv(v, x)."""
    return Array(special.kve(v, x))


def entr(x: ArrayLike) -> Array:
    """-x log(x), 0 at 0 and -inf below: terms of an entropy."""
    return Array(special.entr(x))


def rel_entr(x: ArrayLike, y: ArrayLike) -> Array:
    """x log(x / y), 0 at x = 0: terms of a Kullback-Leibler divergence."""
    return Array(special.rel_entr(x, y))


def boxcox(x: ArrayLike, power: ArrayLike) -> Array:
    """The Box-Cox transform (x ** power - 1) / power, which is log(x) at a power of 0."""
    return Array(special.boxcox(x, power))


class Slogdet(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Array
    logabsdet: Array


class Eigh(NamedTuple):
    """Eigenvalues in ascending order, and the eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class Qr(NamedTuple):
    """A matrix of orthonormal columns and an upper triangular one."""

    Q: Array
    R: Array


class Svd(NamedTuple):
    """Left singular vectors as columns, singular values, right ones as rows."""

    U: Array
    S: Array
    Vh: Array


def slogdet(x: ArrayLike) -> Slogdet:
    """The sign of the determinant and the logarithm of its absolute value."""
    return Slogdet(*map(Array, linear_algebra.slogdet(x)))


def eigh(x: ArrayLike) -> Eigh:
    """The eigenvalues, ascending, and eigenvectors, as columns, of a symmetric matrix."""
    return Eigh(*map(Array, linear_algebra.factors("eigh", x)))


def eigvalsh(x: ArrayLike) -> Array:
    """The eigenvalues of a symmetric matrix, in ascending order."""
    return Array(linear_algebra.factors("eigh", x)[0])


def qr(x: ArrayLike) -> Qr:
    """Q with orthonormal columns and upper triangular R, whose product is x."""
    return Qr(*map(Array, linear_algebra.factors("qr", x)))


def svd(x: ArrayLike) -> Svd:
    """The singular value decomposition x = U diag(S) Vh, with as many values as the short side."""
    return Svd(*map(Array, linear_algebra.factors("svd", x)))


def repeat(x: ArrayLike, repeats: int | Sequence[int], axis: int | None = None) -> Array:
    """Each element several times along an axis (of the flattened array for None)."""
    return Array(shaping.repeat(x, repeats, axis))


def tile(x: ArrayLike, reps: int | Sequence[int]) -> Array:
    """The whole array several times along its axes."""
    return Array(shaping.tile(x, reps))


def squeeze(x: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """x without axes of length 1 (all of them for None)."""
    return Array(shaping.squeeze(x, axis))


def expand_dims(x: ArrayLike, axis: int | Sequence[int]) -> Array:
    """x with new axes of length 1."""
    return Array(shaping.expand_dims(x, axis))


def broadcast_to(x: ArrayLike, shape: int | Sequence[int]) -> Array:
    """x repeated to a shape, by NumPy's rules of broadcasting."""
    return Array(shaping.broadcast_to(x, shape))


def flip(x: ArrayLike, axis: Axis = None) -> Array:
    """The elements in reverse order along axes (all of them for None)."""
    return Array(shaping.flip(x, axis))


def roll(x: ArrayLike, shift: int | Sequence[int], axis: Axis = None) -> Array:
    """The elements shifted along axes, around the end (of the flattened array for None)."""
    return Array(shaping.roll(x, shift, axis))


def swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Array:
    """x with two axes exchanged."""
    return Array(shaping.swapaxes(x, axis1, axis2))


def moveaxis(x: ArrayLike, source: int, destination: int) -> Array:
    """x with one axis moved to another place."""
    return Array(shaping.moveaxis(x, source, destination))


def argsort(x: ArrayLike, axis: int | None = -1) -> Array:
    """The places of the elements in ascending order along an axis; of equal ones as they come."""
    return Array(ordering.argsort(x, axis))


def take_along_axis(x: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> Array:
    """The elements at places along an axis, of which each row has its own, as from `argsort`."""
    return Array(ordering.take_along_axis(x, indices, axis))


def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left") -> Array:
    """The places of v in the ascending vector a, before equal elements or ("right") behind them."""
    return Array(ordering.searchsorted(a, v, side))


def cov(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, ddof: int | None = None
) -> Array:
    """The covariances of variables in rows (or columns), with the divisor n - 1 or n - ddof."""
    return Array(statistics.cov(x, y, rowvar, False, ddof))


def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True) -> Array:
    """The correlations of variables in rows (or columns)."""
    return Array(statistics.corrcoef(x, y, rowvar))


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Array:
    """The convolution of two vectors: of length n + m - 1, or cut to "same" or "valid"."""
    return Array(grids.convolve(a, v, mode))


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
) -> Array:
    """The line through the points (xp, fp), xp ascending, at x; outside the values at the ends."""
    return Array(grids.interp(x, xp, fp, left, right))
