"""Bases of penalised splines of one variable, for `s(x)`.

    f(x) = b (x - mean(x)) + sd sum_j z_j B_j(x),   z ~ normal(0, 1)

The prior of f is that of a cubic spline with the penalty of its second derivative, whose null space
are the straight lines:

    log p(f) = -c integral f''(x)^2 dx / (2 sd^2) + constant

"tp" is the thin plate regression spline: the radial functions |x - x_i|^3 / 12 at all different
values x_i, reduced to the k eigenvectors with the largest eigenvalues. "cr" is the natural cubic
spline with k knots at quantiles of the different values. Both have k - 2 functions B_j, made
unique by

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

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.sparse.linalg import eigsh

__all__ = ["BASES", "SplineBasis"]

_MOST_KNOTS = 2000  # of a thin plate spline, which has one at each different value


class _ThinPlate:
    """Functions of a thin plate regression spline without lines.

    With radial functions E = U D U', a spline is E U_k w, w = Z d, where Z spans the w for which
    U_k w is orthogonal to lines. The penalty is d' Z' D_k Z d.
    """

    def __init__(self, x: np.ndarray, k: int) -> None:
        knots = np.unique(x)
        if len(knots) > _MOST_KNOTS:
            knots = knots[np.linspace(0, len(knots) - 1, _MOST_KNOTS).round().astype(int)]
        self._knots = knots
        radial = self._radial(knots)
        if k < len(knots):
            start = np.random.default_rng(0).normal(size=len(knots))
            values, vectors = eigsh(radial, k=k, which="LM", v0=start)
        else:
            values, vectors = np.linalg.eigh(radial)
        free = np.linalg.qr(vectors.T @ _lines(knots), mode="complete")[0][:, 2:]
        self._weights, self.penalty = vectors @ free, (free.T * values) @ free

    def __call__(self, x: np.ndarray) -> np.ndarray:
        values: np.ndarray = self._radial(x) @ self._weights
        return values

    def _radial(self, x: np.ndarray) -> np.ndarray:
        return np.abs(x[:, None] - self._knots) ** 3 / 12.0


class _NaturalSpline:
    """Functions of a natural cubic spline without lines."""

    def __init__(self, x: np.ndarray, k: int) -> None:
        knots = np.quantile(np.unique(x), np.linspace(0.0, 1.0, k))
        self._knots, self._spline = knots, CubicSpline(knots, np.eye(k), bc_type="natural")
        bends = self._spline(knots, 2)  # the second derivatives, which are linear between knots
        a, b = bends[:-1], bends[1:]
        h = np.diff(knots)[:, None] / 6.0
        mixed = (h * a).T @ b
        penalty = 2.0 * ((h * a).T @ a + (h * b).T @ b) + mixed + mixed.T
        values, vectors = np.linalg.eigh(penalty)
        self._weights, self.penalty = vectors[:, 2:], np.diag(values[2:])

    def __call__(self, x: np.ndarray) -> np.ndarray:
        inside = np.clip(x, self._knots[0], self._knots[-1])
        beyond = (x - inside)[:, None] * self._spline(inside, 1)
        values: np.ndarray = (self._spline(inside) + beyond) @ self._weights
        return values


def _lines(x: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones_like(x), x])


BASES: dict[str, type[_ThinPlate] | type[_NaturalSpline]] = {"tp": _ThinPlate, "cr": _NaturalSpline}


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
        self._functions = BASES[kind](scaled, k)
        functions = self._functions(scaled)
        lines = np.linalg.lstsq(_lines(scaled), functions, rcond=None)[0]
        bent = functions - _lines(scaled) @ lines
        whiten = np.linalg.inv(np.linalg.cholesky(self._functions.penalty)).T
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

    def _scaled(self, x: np.ndarray) -> np.ndarray:
        return (x - self.mean) / self._scale
