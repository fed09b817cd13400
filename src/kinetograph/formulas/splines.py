"""Bases of penalised splines of one variable, for `s(x)`.

    f(x) = b (x - mean(x)) + sd sum_j z_j B_j(x),   z ~ normal(0, 1)

The prior of f is that of a cubic spline with the penalty of its second derivative, whose null space
are the straight lines:

    log p(f) = -c integral f''(x)^2 dx / (2 sd^2) + constant

"tp" is the thin plate regression spline: the radial functions |x - x_i|^3 / 12 at all different
values x_i, reduced to the k eigenvectors with the largest eigenvalues. "cr" is the natural cubic
spline with k knots at quantiles of the different values. Both are natural cubic splines, and
both have k - 2 functions B_j, made unique by

    B_j is orthogonal to 1, to x and to each other over the rows of the model;
    sd is the expected root mean square of f minus its line: sum_ij B_j(x_i)^2 = number of rows;
    B_1, B_2, ... have decreasing sums of squares, so B_j has about j + 2 bends;
    B_j is positive at the largest x.

So the basis does not depend on the signs of computed eigenvectors, and draws of z that were saved
belong to the same functions when the model is made again.

Sources: S. N. Wood, Thin plate regression splines, Journal of the Royal Statistical Society B 65
(2003); S. N. Wood, Generalized Additive Models (2017), 5.3, 5.5, 5.8 (the form with independent
normal numbers).
"""

from collections.abc import Callable

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.sparse.linalg import eigsh

__all__ = ["BASES", "SplineBasis", "different"]

_MOST_KNOTS = 2000  # of a thin plate spline, which has one at each different value
_CLOSE = 1e-7  # values with a smaller distance, in standard deviations, are equal

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def different(x: np.ndarray) -> np.ndarray:
    """The different values in increasing order; close values count once."""
    values = np.unique(x)
    return values[np.concatenate([[True], np.diff(values) > _CLOSE * x.std()])]


def _thin_plate(x: np.ndarray, k: int) -> Parts:
    """Knots of a thin plate regression spline, functions there, and their penalty.

    With radial functions E = U D U', a spline without its line is E U_k w, w = Z d, where Z spans
    the w for which U_k w is orthogonal to lines. Its values at the knots are U_k D_k Z d, and its
    penalty is d' Z' D_k Z d.
    """
    knots = different(x)
    if len(knots) > _MOST_KNOTS:
        knots = knots[np.linspace(0, len(knots) - 1, _MOST_KNOTS).round().astype(int)]
    distances = np.abs(knots[:, None] - knots)
    radial = distances * distances * distances / 12.0
    if k < len(knots):
        start = np.random.default_rng(0).normal(size=len(knots))
        values, vectors = eigsh(radial, k=k, which="LM", v0=start)
    else:
        values, vectors = np.linalg.eigh(radial)
    free = np.linalg.qr(vectors.T @ _lines(knots), mode="complete")[0][:, 2:]
    scaled = values[:, None] * free
    return knots, vectors @ scaled, free.T @ scaled


def _cubic(x: np.ndarray, k: int) -> Parts:
    """Knots of a cubic regression spline, functions there, and their penalty."""
    knots = np.quantile(different(x), np.linspace(0.0, 1.0, k))
    bends = CubicSpline(knots, np.eye(k), bc_type="natural")(knots, 2)  # linear between knots
    a, b = bends[:-1], bends[1:]
    h = np.diff(knots)[:, None] / 6.0
    mixed = (h * a).T @ b
    penalty = 2.0 * ((h * a).T @ a + (h * b).T @ b) + mixed + mixed.T
    values, vectors = np.linalg.eigh(penalty)
    return knots, vectors[:, 2:], np.diag(values[2:])


def _lines(x: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones_like(x), x])


BASES: dict[str, Callable[[np.ndarray, int], Parts]] = {"tp": _thin_plate, "cr": _cubic}


class SplineBasis:
    """The functions B_j of a penalised spline, with frozen knots and scales.

    Attributes
    ----------
    mean
        The mean of the rows of the model, at which the line is 0.
    size
        The number of functions, k - 2.
    """

    def __init__(self, x: np.ndarray, k: int, kind: str = "tp") -> None:
        self.mean, self._scale, self.size = float(x.mean()), float(x.std()), k - 2
        scaled = self._scaled(x)
        knots, values, penalty = BASES[kind](scaled, k)
        self._spline = CubicSpline(knots, values, bc_type="natural")
        functions = self._functions(scaled)
        lines = np.linalg.lstsq(_lines(scaled), functions, rcond=None)[0]
        bent = functions - _lines(scaled) @ lines
        whiten = np.linalg.inv(np.linalg.cholesky(penalty)).T
        left, sizes, right = np.linalg.svd(bent @ whiten, full_matrices=False)
        signs = np.where(left[np.argmax(x)] < 0, -1.0, 1.0)
        scale = np.sqrt(len(x) / np.sum(sizes**2))
        self._weights = whiten @ right.T * (signs * scale)
        self._lines = lines @ self._weights

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The functions at points, (points, size): straight outside of the knots."""
        scaled = self._scaled(x)
        values: np.ndarray = self._functions(scaled) @ self._weights - _lines(scaled) @ self._lines
        return values

    def _functions(self, scaled: np.ndarray) -> np.ndarray:
        """Natural splines, which are straight outside of the knots."""
        knots = self._spline.x
        inside = np.clip(scaled, knots[0], knots[-1])
        return self._spline(inside) + (scaled - inside)[:, None] * self._spline(inside, 1)

    def _scaled(self, x: np.ndarray) -> np.ndarray:
        return (x - self.mean) / self._scale
