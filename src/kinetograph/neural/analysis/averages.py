"""Averages over a trajectory, and their re-weighting to another temperature.

Averages of a trajectory have equal weights, because its rows are already distributed as the Gibbs
measure. Weights are only for another temperature than the one that was sampled.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from ...graph.public import public
from .inputs import as_draws, as_rows, finite, positive

__all__ = [
    "BoltzmannWeights",
    "boltzmann_weights",
    "cut_points",
    "parameter_averages",
    "running_averages",
]


def cut_points(length: int, steps: int) -> np.ndarray:
    """The ends of equal parts of a trajectory, rounded to whole numbers."""
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise ValueError(f"steps: expected a whole number from 1 on, got {steps!r:.60}")
    if steps > length:
        raise ValueError(
            f"steps: expected at most the number of rows of a chain, {length}, got {steps}"
        )
    return (length * np.arange(1, steps + 1, dtype=np.int64)) // steps


@public
def running_averages(records: Mapping[str, Any], steps: int = 10) -> dict[str, np.ndarray]:
    """Running means and variances of records, at equidistant cut points.

    For each cut point e, and each chain separately,

        mean = sum_{k < e} f_k / e,    variance = sum_{k < e} (f_k - mean)^2 / (e - 1)

    Parameters
    ----------
    records
        Arrays by name, such as loss, kinetic_energy and total_energy, of shape (chain, draw) or
        (draw,).
    steps
        The number of cut points. The last one is the end of the trajectory.

    Returns
    -------
    dict
        Columns: `id` (the chain), `end` (the number of rows that are averaged), and for each
        record `average_NAME` and `variance_NAME`. The variance of one row is NaN.

    Raises
    ------
    ValueError
        If a record is not finite, shapes differ, or there are more cut points than rows.

    Examples
    --------
    >>> from kinetograph.neural import analysis
    >>> columns = analysis.running_averages({"loss": [1.0, 2.0, 3.0, 4.0]}, steps=2)
    >>> list(columns)
    ['id', 'end', 'average_loss', 'variance_loss']
    >>> columns["end"].tolist(), columns["average_loss"].tolist()
    ([2, 4], [1.5, 2.5])
    """
    title = "running_averages"
    arrays = {name: finite(as_rows(v, title, name), title, name) for name, v in records.items()}
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) != 1:
        raise ValueError(
            f"{title}: expected records of one shape, got {shapes or 'no record'}; give a mapping "
            "such as {'loss': losses}"
        )
    chains, length = next(iter(shapes.values()))
    ends = cut_points(length, steps)
    columns = {"id": np.repeat(np.arange(chains), steps), "end": np.tile(ends, chains)}
    for name, array in arrays.items():
        # Deviations from the chain's mean keep the digits of the sums of squares.
        centre = array.mean(1, keepdims=True)
        deviations = array - centre
        mean = np.cumsum(deviations, axis=1)[:, ends - 1] / ends
        squares = np.cumsum(deviations**2, axis=1)[:, ends - 1]
        columns[f"average_{name}"] = (centre + mean).reshape(-1)
        variance = np.maximum(squares - ends * mean**2, 0) / np.where(ends > 1, ends - 1, np.nan)
        columns[f"variance_{name}"] = variance.reshape(-1)
    return columns


class BoltzmannWeights(NamedTuple):
    """Weights of rows for another temperature.

    Attributes
    ----------
    weights
        The weights, which sum to 1, with the shape of the potential.
    ess
        The number of equally weighted rows of the same variance, 1 / sum(weights^2).
    """

    weights: np.ndarray
    ess: float

    def average(self, values: Any) -> np.ndarray:
        """The weighted mean of values of shape (weights, ...)."""
        x = np.asarray(values, float)
        axes = self.weights.ndim
        if x.shape[:axes] != self.weights.shape:
            raise ValueError(
                f"average: expected values of shape {(*self.weights.shape, '...')}, got {x.shape}"
            )
        return np.tensordot(self.weights, x, axes)


@public
def boltzmann_weights(potential: Any, sampled: float, wanted: float) -> BoltzmannWeights:
    """Weights that move rows from a sampled inverse temperature to another.

        w_k = exp(-(beta - beta_0) U_k) / sum_j exp(-(beta - beta_0) U_j)

    computed from logarithms. At beta = beta_0 all weights are equal. A small effective sample size
    says that the trajectory does not visit the states of the wanted temperature; sample at an
    inverse temperature between the two.

    Parameters
    ----------
    potential
        U = L + V of each row, in the scale that multiplies beta, of any shape.
    sampled, wanted
        The inverse temperatures beta_0 and beta.

    Returns
    -------
    BoltzmannWeights
        With `weights`, `ess` and `average(values)`.

    Raises
    ------
    ValueError
        If a potential is not finite or an inverse temperature is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetograph.neural import analysis
    >>> moved = analysis.boltzmann_weights([0.0, np.log(2)], sampled=1.0, wanted=2.0)
    >>> moved.weights.round(3).tolist(), round(moved.ess, 3)
    ([0.667, 0.333], 1.8)
    """
    title = "boltzmann_weights"
    u = finite(np.asarray(potential, float), title, "potential")
    if u.size == 0:
        raise ValueError(f"{title}: potential has no values, its shape is {u.shape}")
    change = positive(wanted, title, "wanted") - positive(sampled, title, "sampled")
    logs = -change * u
    weights = np.exp(logs - logsumexp(logs))
    return BoltzmannWeights(weights, float(np.exp(2 * logsumexp(logs) - logsumexp(2 * logs))))


@public
def parameter_averages(
    draws: Any, *, weights: Any = None, names: Any = None
) -> dict[str, np.ndarray]:
    """The mean and the variance of each parameter over all chains.

    Without weights, the variance has the divisor n - 1. With weights w that sum to 1 it is
    sum w (x - mean)^2 / (1 - sum w^2), which is the first formula for equal weights.

    Parameters
    ----------
    draws
        Draws of shape (chain, draw, parameter).
    weights
        Weights of shape (chain, draw), as of `boltzmann_weights`; equal by default.
    names
        The names of the parameters; c0, c1, ... by default.

    Returns
    -------
    dict
        Columns `parameter`, `average`, `variance`.

    Raises
    ------
    ValueError
        If the draws are not finite, or weights or names have another shape.

    Examples
    --------
    >>> from kinetograph.neural import analysis
    >>> analysis.parameter_averages([[[1.0], [3.0]]])["variance"].tolist()
    [2.0]
    """
    title = "parameter_averages"
    x = finite(as_draws(draws, title), title, "draws")
    w = np.full(x.shape[:2], 1.0) if weights is None else as_rows(weights, title, "weights")
    if w.shape != x.shape[:2] or not (w >= 0).all() or not w.sum() > 0:
        raise ValueError(
            f"{title}: expected weights of shape {x.shape[:2]} that are not negative and not all "
            f"zero, got the shape {w.shape} and the sum {w.sum():.6g}"
        )
    w = w / w.sum()
    mean = np.einsum("cd,cdp->p", w, x)
    square = np.einsum("cd,cdp->p", w, (x - mean) ** 2)
    rest = 1 - np.sum(w * w)
    variance = square / rest if rest > 0 else np.full_like(square, np.nan)
    return {
        "parameter": np.array(parameter_names(names, x.shape[2], title)),
        "average": mean,
        "variance": variance,
    }


def parameter_names(names: Any, count: int, title: str) -> list[str]:
    """The names of parameters; c0, c1, ... by default."""
    if names is None:
        return [f"c{i}" for i in range(count)]
    names = list(names)
    if len(names) != count:
        raise ValueError(f"{title}: expected {count} names of parameters, got {len(names)}")
    return names
