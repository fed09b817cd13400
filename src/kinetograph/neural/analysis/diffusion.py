"""Diffusion maps: slow coordinates of overdamped dynamics, from points alone.

A kernel of the points, with one weight for each point, is normalised to the random walk

    P_ij = K_ij w_j / D_i,    D_i = sum_j K_ij w_j

vanilla    w = q^-alpha with the kernel degrees q_i = sum_j K_ij: for points that are distributed
           as the Gibbs measure
tmdmap     w = sqrt(pi) / q with the target pi = exp(-beta U): for points of any distribution

4 (P - 1) / epsilon approximates f -> Laplacian f + grad log pi . grad f for alpha = 1/2 and for
tmdmap. P is similar to the symmetric matrix w_i^(1/2) D_i^(-1/2) K_ij D_j^(-1/2) w_j^(1/2), whose
eigenpairs are real and are computed by a symmetric solver.

Sources: R. R. Coifman, S. Lafon, Diffusion maps, Applied and Computational Harmonic Analysis 21
(2006) 5-30. R. Banisch, Z. Trstanova, A. Bittracher, S. Klus, P. Koltai, Diffusion maps tailored to
arbitrary non-degenerate Ito processes, Applied and Computational Harmonic Analysis 48 (2020)
242-265.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...graph.public import public
from ..choice import chosen
from .inputs import as_points, finite, positive
from .kernels import bandwidth, isolated, kernel, local_scales
from .walks import walk_eigenpairs

__all__ = ["DiffusionMap", "diffusion_map"]

METHODS = ("vanilla", "tmdmap")
OUTLIERS = ("drop", "local", "keep")
_LIGHTEST = 1e-12  # the weight w of a point, relative to the largest, that rounding errors allow
_SMALL = 0.002  # the fraction of points that an eigenvector must occupy
_ROUNDS = 20  # of dropping points
_MORE = 8  # eigenvectors beyond the wanted ones that are examined, so that few rounds are needed


@public
@dataclass(frozen=True)
class DiffusionMap:
    """The leading eigenpairs of a diffusion map, without the constant eigenvector.

    Attributes
    ----------
    eigenvalues
        The eigenvalues lambda_m of P, descending, (count,).
    eigenvectors
        The right eigenvectors of P, (point, count), NaN for dropped points. Their weighted mean
        square over the stationary weights is 1; the entry of largest magnitude is positive.
    stationary
        The stationary weights of the random walk, (point,), which sum to 1; 0 for dropped points.
    epsilon
        The bandwidth of the kernel.
    retained
        Which points are in the map, (point,).
    """

    eigenvalues: np.ndarray
    eigenvectors: np.ndarray
    stationary: np.ndarray
    epsilon: float
    retained: np.ndarray

    @property
    def coordinates(self) -> np.ndarray:
        """The diffusion coordinates lambda_m times eigenvector m, (point, count)."""
        return self.eigenvalues * self.eigenvectors

    def rates(self, form: str = "linear", inverse_temperature: float = 1.0) -> np.ndarray:
        """The rates kappa_m / beta of first-order overdamped dynamics.

        kappa_m = 4 (1 - lambda_m) / epsilon for "linear", -4 log(lambda_m) / epsilon for "log".
        With U = k q^2 / 2 they are m k.

        Raises
        ------
        ValueError
            If the form is another word or the inverse temperature is not positive.
        """
        beta = positive(inverse_temperature, "rates", "inverse_temperature")
        chosen({"linear": 0, "log": 0}, form, "rates: form")
        with np.errstate(all="ignore"):  # the logarithm of a negative eigenvalue is NaN
            loss = 1 - self.eigenvalues if form == "linear" else -np.log(self.eigenvalues)
        return 4 * loss / (self.epsilon * beta)


@public
def diffusion_map(
    points: Any,
    *,
    method: str = "vanilla",
    potential: Any = None,
    inverse_temperature: float = 1.0,
    epsilon: float | str = "bgh",
    count: int = 4,
    alpha: float = 0.5,
    neighbours: int | None = None,
    outliers: str = "drop",
) -> DiffusionMap:
    """The diffusion map of points of a trajectory.

    Parameters
    ----------
    points
        Points of shape (point, coordinate); one dimension is one coordinate.
    method
        "vanilla" or "tmdmap".
    potential
        U = L + V at each point, (point,); for "tmdmap" only.
    inverse_temperature
        The inverse temperature beta of the target exp(-beta U); for "tmdmap".
    epsilon
        The bandwidth of the kernel exp(-d^2 / epsilon): a number, "bgh" (Berry, Giannakis and
        Harlim) or "median" (of the squared distance to the neighbour of rank sqrt(points)). Both
        words grow with the spread of the points; compare a smaller number before relying on rates.
    count
        The number of eigenpairs, less than the number of points minus one.
    alpha
        The exponent of the density in "vanilla"; 1/2 for Gibbs measures.
    neighbours
        The number of nearest neighbours that have an entry in the kernel. By default all entries
        above 1e-6 are held. A RuntimeWarning says if the kernel is not small at the last one.
    outliers
        What happens to isolated points, which add eigenvalues near 1: "drop" them
        (points without a neighbour of kernel 0.1, and points on which an eigenvector is localised),
        give them a "local", wider kernel, or "keep" them. Points whose weight w is below 1e-12 of
        the largest are always dropped, because rounding errors exceed their entries.

    Returns
    -------
    DiffusionMap
        With `eigenvalues`, `eigenvectors`, `coordinates`, `rates()`, `stationary` and `retained`.

    Raises
    ------
    ValueError
        If points or potentials are not finite, shapes differ, a word is unknown, or too few points
        are left after isolated points are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetograph.neural import analysis
    >>> q = np.linspace(-4, 4, 400)
    >>> slow = analysis.diffusion_map(q, method="tmdmap", potential=q**2 / 2, epsilon=0.02)
    >>> slow.rates().round(2).tolist()  # 1, 2, 3, 4 in the limit
    [1.0, 1.99, 3.03, 4.18]
    """
    title = "diffusion_map"
    x = as_points(points, title)
    chosen({word: word for word in METHODS}, method, f"{title}: method")
    chosen({word: word for word in OUTLIERS}, outliers, f"{title}: outliers")
    log_target = _log_target(x, method, potential, inverse_temperature, title)
    for name, number in (("count", count), ("neighbours", neighbours)):
        whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
        if number is not None and not (whole and number >= 1):
            raise ValueError(
                f"{title}: {name} must be a whole number from 1 on, got {number!r:.60}"
            )
    width = bandwidth(x, epsilon, title)
    scales = local_scales(x, width) if outliers == "local" else None
    graph = kernel(x, width, neighbours, title, scales)
    retained = ~isolated(graph) if outliers == "drop" else np.ones(len(x), bool)
    graph = _part(graph, retained)
    for _ in range(_ROUNDS):
        logs = _log_weights(graph, None if log_target is None else log_target[retained], alpha)
        dropped = logs < logs.max(initial=-np.inf) + np.log(_LIGHTEST)
        if not dropped.any():
            if len(logs) < count + 2:
                break
            number = int(count) + (_MORE if outliers == "drop" and len(logs) > 10 * count else 0)
            values, vectors, weights = walk_eigenpairs(graph, np.exp(logs - logs.max()), number)
            masses = vectors**2 * weights[:, None]
            if outliers != "drop" or not _localised(masses[:, :count], weights).any():
                break
            dropped = _localised(masses, weights)
        graph = _part(graph, ~dropped)
        retained[retained] = ~dropped
    if graph.shape[0] < count + 2:
        raise ValueError(
            f"{title}: {count} eigenpairs need {count + 2} points or more, but {graph.shape[0]} of "
            f"{len(x)} points are left. Points are dropped if they are isolated at epsilon = "
            f"{width:.6g}, or their target density is negligible; give a larger epsilon or "
            "outliers='local'"
        )
    everywhere = np.full((len(x), count), np.nan)
    everywhere[retained] = vectors[:, :count]
    stationary = np.zeros(len(x))
    stationary[retained] = weights
    return DiffusionMap(values[:count], everywhere, stationary, width, retained)


def _log_weights(
    graph: sparse.csr_array, log_target: np.ndarray | None, alpha: float
) -> np.ndarray:
    """The logarithms of the weights w."""
    log_degrees = np.log(np.asarray(graph.sum(1)).ravel())
    return -alpha * log_degrees if log_target is None else log_target / 2 - log_degrees


def _localised(masses: np.ndarray, stationary: np.ndarray) -> np.ndarray:
    """The points on which eigenvectors are localised, from masses u^2.

    1 / sum u^4 is the number of points that an eigenvector occupies. An eigenvector that occupies
    fewer than two points, or one in 500 of the points that the constant eigenvector occupies, is
    that of weakly connected points in the tails.
    """
    occupied = 1 / np.sum(masses**2, axis=0)
    local = occupied < max(2.0, _SMALL / np.sum(stationary**2))
    return (masses > 0.1 * masses.max(0))[:, local].any(1)


def _part(graph: sparse.csr_array, mask: np.ndarray) -> sparse.csr_array:
    return graph if mask.all() else graph[mask][:, mask]


def _log_target(
    x: np.ndarray, method: str, potential: Any, inverse_temperature: float, title: str
) -> np.ndarray | None:
    """The logarithm of the target density at each point, without its constant."""
    if method == "vanilla":
        if potential is not None:
            raise ValueError(
                f"{title}: method='vanilla' does not use a potential; leave it out, or write "
                "method='tmdmap'"
            )
        return None
    if potential is None:
        raise ValueError(f"{title}: method='tmdmap' needs potential, one number for each point")
    u = np.asarray(potential, float)
    u = u.reshape(-1) if u.size == len(x) else u
    if u.shape != (len(x),):
        raise ValueError(f"{title}: expected a potential of shape ({len(x)},), got {u.shape}")
    finite(u, title, "potential")
    return -positive(inverse_temperature, title, "inverse_temperature") * (u - u.min())
