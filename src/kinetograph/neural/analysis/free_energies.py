"""The free energy of a coordinate, from the density of its values."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...graph.public import public
from .inputs import finite, numbers, positive
from .levels import LevelSets

__all__ = ["FreeEnergy", "free_energy", "level_free_energy"]


@public
@dataclass(frozen=True)
class FreeEnergy:
    """The free energy at values of a coordinate, at least 0.

    Attributes
    ----------
    values
        The values of the coordinate: centres of bins, points of a density estimate, or landmarks.
    energies
        The free energy at each of them; infinite where no row is.
    density
        The density rho at each of them.
    widths
        The widths of the bins or intervals; for a density estimate, the bandwidth.
    inverse_temperature
        The inverse temperature beta.
    """

    values: np.ndarray
    energies: np.ndarray
    density: np.ndarray
    widths: np.ndarray
    inverse_temperature: float

    def columns(self) -> dict[str, np.ndarray]:
        """Columns `value`, `width`, `density`, `free_energy` and `inverse_temperature`."""
        return {
            "value": self.values,
            "width": self.widths,
            "density": self.density,
            "free_energy": self.energies,
            "inverse_temperature": np.full(len(self.values), self.inverse_temperature),
        }


@public
def free_energy(
    coordinate: Any,
    inverse_temperature: float,
    *,
    bins: Any = 50,
    estimator: str = "histogram",
    weights: Any = None,
) -> FreeEnergy:
    """The free energy of a coordinate.

        F(xi) = -log(rho(xi)) / beta - min F

    Parameters
    ----------
    coordinate
        The coordinate of each row, of any shape; NaN for rows that are left out.
    inverse_temperature
        The inverse temperature beta of the rows.
    bins
        The number of bins, or their edges. A density estimate is given at their centres.
    estimator
        "histogram", or "kde": Gaussian kernels with the bandwidth of Scott's rule.
    weights
        Weights of the rows, as of `boltzmann_weights`; equal by default. With them, give the
        inverse temperature that the weights move to.

    Returns
    -------
    FreeEnergy
        With `values`, `energies`, `density`, `widths` and `columns()`.

    Raises
    ------
    ValueError
        If no row is finite, all rows are equal, weights have another shape or are negative, or the
        estimator is another word.

    Examples
    --------
    >>> from kinetograph.neural import analysis
    >>> result = analysis.free_energy([0.0, 0.1, 0.2, 2.5], 1.0, bins=[0, 1, 2, 3])
    >>> result.energies.round(3).tolist()  # log 3 between 3 rows and 1 row
    [0.0, inf, 1.099]
    """
    title = "free_energy"
    beta = positive(inverse_temperature, title, "inverse_temperature")
    x = numbers(coordinate, f"{title}: coordinate")
    w = np.ones(x.shape) if weights is None else numbers(weights, f"{title}: weights")
    if w.shape != x.shape or not (w >= 0).all():
        raise ValueError(
            f"{title}: expected weights of shape {x.shape} that are not negative, got shape "
            f"{w.shape}; write weights of the same rows as the coordinate"
        )
    usable = np.isfinite(x)
    x, w = x[usable], w[usable]
    if not x.size or not w.sum() > 0:
        raise ValueError(f"{title}: none of the {usable.size} rows is finite and has a weight")
    if np.ptp(x) == 0:
        raise ValueError(
            f"{title}: all {x.size} rows have the coordinate {x[0]:.6g}; a density needs rows that "
            "move, so choose another coordinate"
        )
    edges = np.histogram_bin_edges(x, bins)
    centres = (edges[1:] + edges[:-1]) / 2
    if estimator == "histogram":
        widths = np.diff(edges)
        density = np.histogram(x, edges, weights=w)[0] / (w.sum() * widths)
    elif estimator == "kde":
        from scipy.stats import gaussian_kde  # takes long to import

        estimate = gaussian_kde(x, weights=w)
        density = estimate(centres)
        widths = np.full(len(centres), float(np.sqrt(estimate.covariance[0, 0])))
    else:
        raise ValueError(f"{title}: estimator must be 'histogram' or 'kde', got {estimator!r:.60}")
    return _result(centres, density, widths, beta, title)


@public
def level_free_energy(levels: LevelSets, inverse_temperature: float) -> FreeEnergy:
    """The free energy of level sets.

        F_k = -log(n_k / (n Delta_k)) / beta - min F

    with the number of points n_k and the width Delta_k of interval k.

    Parameters
    ----------
    levels
        The level sets of a coordinate.
    inverse_temperature
        The inverse temperature beta of the points.

    Returns
    -------
    FreeEnergy
        At the landmarks.

    Raises
    ------
    TypeError
        If `levels` is not the result of `level_sets`.
    ValueError
        If the inverse temperature is not positive or an interval has no width.

    Examples
    --------
    >>> from kinetograph.neural import analysis
    >>> levels = analysis.level_sets([0.0, 1.0, 4.0, 10.0], [3, 0])
    >>> analysis.level_free_energy(levels, 1.0).energies.round(3).tolist()
    [0.0, 1.099]
    """
    title = "level_free_energy"
    if not isinstance(levels, LevelSets):
        raise TypeError(
            f"{title}: expected the result of level_sets, got {type(levels).__name__}; for values "
            "of a coordinate write free_energy(coordinate, inverse_temperature)"
        )
    beta = positive(inverse_temperature, title, "inverse_temperature")
    finite(levels.edges, title, "levels.edges")
    if not (levels.widths > 0).all():
        raise ValueError(
            f"{title}: an interval has no width, the edges are {levels.edges.tolist()!s:.80}; use "
            "two landmarks or more of a coordinate that moves"
        )
    density = levels.counts / (levels.counts.sum() * levels.widths)
    return _result(levels.values, density, levels.widths, beta, title)


def _result(
    values: np.ndarray, density: np.ndarray, widths: np.ndarray, beta: float, title: str
) -> FreeEnergy:
    if not density.max(initial=0) > 0:
        raise ValueError(f"{title}: no row is inside of the bins; give edges around the coordinate")
    with np.errstate(divide="ignore"):
        energies = -np.log(density / density.max()) / beta
    return FreeEnergy(values, energies + 0.0, density, widths, beta)
