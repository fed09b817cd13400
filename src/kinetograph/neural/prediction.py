"""Predictions of a trajectory: averages of outputs over draws."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from ..graph.public import public
from .landscape import Landscape
from .row_values import RowValues

__all__ = ["Prediction", "log_predictive_density", "predicted"]

NUMBERS = 2**22  # the outputs that are in memory at once


@public
class Prediction(NamedTuple):
    """Outputs of a network over the draws of a trajectory.

    Attributes
    ----------
    mean, sd
        Mean and standard deviation over draws, (rows, outputs).
    quantiles
        Quantiles over draws, (probabilities, rows, outputs).
    """

    mean: np.ndarray
    sd: np.ndarray
    quantiles: np.ndarray


def predicted(
    landscape: Landscape, draws: np.ndarray, x: np.ndarray, probabilities: Any
) -> Prediction:
    """The prediction for rows x, some rows at a time."""
    size, parts = max(1, NUMBERS // len(draws)), []
    levels = np.atleast_1d(np.asarray(probabilities, float))
    if not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(f"predict: quantiles must be from 0 to 1, got {probabilities!r:.60}")
    for first in range(0, len(x), size):
        outputs = landscape.outputs(draws, x[first : first + size]).astype(float)
        quantiles = np.quantile(outputs, levels, 0)
        parts.append((outputs.mean(0), outputs.std(0), quantiles))
    mean, sd, quantiles = zip(*parts, strict=True)
    return Prediction(np.concatenate(mean), np.concatenate(sd), np.concatenate(quantiles, 1))


def log_predictive_density(
    values: RowValues, draws: np.ndarray, x: np.ndarray, y: np.ndarray
) -> np.ndarray:
    """log(mean over draws of exp(-loss)) of each row."""
    losses = values.losses(draws, x, y).astype(float)
    density: np.ndarray = logsumexp(-losses, 0) - np.log(len(draws))
    return density
