"""Calibration of predictions, `kg.neural.calibration`.

A prediction is calibrated if events that it expects with probability p happen in a share p of the
cases. For classes, these are predicted labels; for real labels, central intervals:

    u_i = F_i(y_i)                               the probability integral transform
    y_i is in the central interval of level p    if |u_i - 1/2| < p / 2
    error = sum_b n_b / n |observed_b - expected_b|

Source: C. Guo et al., On calibration of modern neural networks, ICML 2017; T. Gneiting et al.,
Probabilistic forecasts, calibration and sharpness, JRSS B 69 (2007).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph.errors import DataError, ShapeError
from ..graph.public import public
from ..graph.public import public_package as _public_package

__all__ = ["Reliability", "brier_score", "coverage", "reliability"]


@public
class Reliability(NamedTuple):
    """Expected and observed frequencies.

    Attributes
    ----------
    expected
        The levels of intervals, or the mean predicted probability of each bin.
    observed
        The share of labels in the intervals, or of right predictions in each bin.
    counts
        The number of rows of each entry.
    """

    expected: np.ndarray
    observed: np.ndarray
    counts: np.ndarray

    @property
    def error(self) -> float:
        """The expected calibration error: the mean of |observed - expected|, by counts."""
        gaps = np.abs(self.observed - self.expected)
        return float(np.average(gaps, weights=self.counts))

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard errors of observed shares whose expected values are right."""
        return np.sqrt(self.expected * (1 - self.expected) / self.counts)

    def plot(self, axes: Any = None, label: str | None = None) -> Any:
        """Draw observed against expected shares, with bars of two standard errors.

        Parameters
        ----------
        axes
            Axes of matplotlib; by default the axes of a new figure.
        label
            A text for the legend.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        if axes is None:
            try:
                from matplotlib import pyplot
            except ModuleNotFoundError as error:
                raise ImportError(
                    "Reliability.plot needs matplotlib: pip install matplotlib"
                ) from error
            axes = pyplot.subplots(figsize=(4, 4), layout="constrained")[1]
            axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
            axes.set(xlabel="expected", ylabel="observed", xlim=(0, 1), ylim=(0, 1))
        bars = 2 * self.standard_errors
        axes.errorbar(self.expected, self.observed, bars, marker="o", capsize=2, label=label)
        return axes


@public
def coverage(
    transforms: Any, levels: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
) -> Reliability:
    """Compare the coverage of central predictive intervals with their levels.

        observed(p) = mean over rows of [ |u - 1/2| < p / 2 ]

    Parameters
    ----------
    transforms
        u, the predictive distribution function at the label of each row, such as
        `EnsembleRegressor.cdf(x, y)`. Its values are uniform if the predictions are calibrated.
    levels
        The probabilities of the intervals.

    Returns
    -------
    Reliability

    Raises
    ------
    DataError
        If a value is not between 0 and 1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> table = kg.neural.calibration.coverage([0.02, 0.3, 0.4, 0.6, 0.99], levels=[0.5, 0.9])
    >>> table.observed.tolist()
    [0.6, 0.6]
    """
    values, expected = _probabilities(transforms, "transforms"), _probabilities(levels, "levels")
    if values.ndim != 1 or not len(values):
        raise ShapeError(f"coverage: transforms: expected one for each row, got {values.shape}")
    inside = np.abs(values - 0.5)[:, None] < expected / 2
    return Reliability(expected, inside.mean(0), np.full(len(expected), len(values)))


@public
def reliability(probabilities: Any, labels: Any, *, bins: int = 10) -> Reliability:
    """Compare the accuracy of predicted classes with their probabilities.

    Rows are put into bins of equal width by the probability of their most probable class. Bins
    without rows are left out. `error` of the result is the expected calibration error.

    Parameters
    ----------
    probabilities
        The probabilities of the classes, (rows, classes).
    labels
        The number of the class of each row, from 0.
    bins
        The number of bins.

    Returns
    -------
    Reliability

    Raises
    ------
    DataError
        If a probability or a label is out of its range.

    Examples
    --------
    >>> import kinetograph as kg
    >>> chances = [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.25, 0.75]]
    >>> table = kg.neural.calibration.reliability(chances, [0, 1, 1, 1], bins=2)
    >>> table.observed.tolist(), round(table.error, 4)
    ([0.75], 0.0375)

    Source: C. Guo et al., ICML 2017.
    """
    chances, classes = _classes(probabilities, labels, "reliability")
    if bins < 1:
        raise ValueError(f"reliability: bins must be at least 1, got {bins}")
    most = chances.max(1)
    right = chances.argmax(1) == classes
    place = np.clip(np.ceil(most * bins).astype(int) - 1, 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    full = counts > 0
    sums = [np.bincount(place, weights, bins)[full] / counts[full] for weights in (most, right)]
    return Reliability(sums[0], sums[1], counts[full])


@public
def brier_score(probabilities: Any, labels: Any) -> float:
    """The mean squared difference of probabilities and one-hot labels.

        mean over rows of sum_k (p_k - [k = label])^2

    Parameters
    ----------
    probabilities, labels
        As for `reliability`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> round(kg.neural.calibration.brier_score([[0.9, 0.1], [0.5, 0.5]], [0, 1]), 4)
    0.26

    Source: G. Brier, Monthly Weather Review 78 (1950).
    """
    chances, classes = _classes(probabilities, labels, "brier_score")
    return float(((chances - np.eye(chances.shape[1])[classes]) ** 2).sum(1).mean())


def _probabilities(values: Any, subject: str) -> np.ndarray:
    array = np.asarray(values, float)
    if not ((array >= 0) & (array <= 1)).all():
        raise DataError(f"calibration: {subject} must be between 0 and 1")
    return array


def _classes(probabilities: Any, labels: Any, doing: str) -> tuple[np.ndarray, np.ndarray]:
    classes = np.asarray(labels)
    if np.asarray(probabilities).dtype.kind in "OSU" and classes.ndim == 2:
        raise DataError(f"{doing}: the probabilities come first; write {doing}(P, labels)")
    chances = _probabilities(probabilities, "probabilities")
    if chances.ndim != 2 or not len(chances) or classes.shape != (len(chances),):
        raise ShapeError(
            f"{doing}: expected probabilities (rows, classes) and one label for each row, got "
            f"shapes {chances.shape} and {classes.shape}"
        )
    sums = chances.sum(1)
    if np.abs(sums - 1).max() > 0.01:
        row = int(np.abs(sums - 1).argmax())
        raise DataError(
            f"{doing}: the probabilities of a row must have the sum 1, row {row} has the sum "
            f"{sums[row]:.4g}; give a column for each class, and divide unnormalised values P by "
            "P.sum(1, keepdims=True)"
        )
    if classes.dtype.kind not in "iu" or not ((classes >= 0) & (classes < chances.shape[1])).all():
        raise DataError(
            f"{doing}: labels must be numbers of classes, whole numbers from 0 to "
            f"{chances.shape[1] - 1}, got {classes[0]!r}; for the labels of an EnsembleClassifier "
            "write np.searchsorted(estimator.classes_, labels)"
        )
    return chances, classes


_public_package(__name__)
