"""Integrated autocorrelation times of parameters, by three estimators.

monotone   Geyer's initial monotone sequence: for reversible samplers
sokal      the window of five autocorrelation times: for any sampler, also if draws alternate
acor       Goodman's recursion: sums of pairs of rows until the window is short

Sources: C. J. Geyer, Practical Markov chain Monte Carlo, Statistical Science 7 (1992) 473-483.
A. D. Sokal, Monte Carlo methods in statistical mechanics, in: Functional integration, Springer
1997, section 3. J. Goodman, J. Weare, Ensemble samplers with affine invariance, Communications in
Applied Mathematics and Computational Science 5 (2010) 65-80, section 5, and the program acor.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.public import public
from ...results.diagnostics import monotone_time
from ..choice import chosen
from .averages import parameter_names
from .inputs import as_draws

__all__ = ["autocorrelation_times"]

_WINDOW = 5  # autocorrelation times
_LAGS = 10  # of acor
_FEWEST = 5 * _LAGS  # rows for a step of acor


def _autocovariances(x: np.ndarray) -> np.ndarray:
    """The autocovariances of rows (chain, draw), averaged over chains.

    They are computed about the common mean of all chains.
    """
    length = x.shape[1]
    spectrum = np.fft.rfft(x - x.mean(), 1 << (2 * length - 1).bit_length(), axis=1)
    return np.fft.irfft((np.abs(spectrum) ** 2).mean(0))[:length]


def _monotone(x: np.ndarray) -> float:
    covariances = _autocovariances(x) / x.shape[1]
    return monotone_time(covariances / covariances[0], x.shape[1])


def _sokal(x: np.ndarray) -> float:
    length = x.shape[1]
    covariances = _autocovariances(x) / np.arange(length, 0, -1)
    rho = covariances / covariances[0]
    # The window is that of the absolute values, so that alternating signs do not close it early.
    beyond = np.arange(length) >= _WINDOW * (2 * np.cumsum(np.abs(rho)) - 1)
    sums = 2 * np.cumsum(rho) - 1
    # If the draws are fewer than the window, the largest sum is the safe estimate.
    return float(sums[beyond.argmax()] if beyond.any() else sums.max())


def _acor(x: np.ndarray) -> float:
    """Goodman's estimate tau = D / C_0.

    The diffusion D is that of the series after sums of pairs.
    """
    x = x - x.mean()
    variance = None
    factor = 1.0
    while x.shape[1] >= _FEWEST:
        rows = x.shape[1] - _LAGS
        lags = range(_LAGS + 1)
        covariances = [float(np.mean(x[:, :rows] * x[:, lag : lag + rows])) for lag in lags]
        variance = covariances[0] if variance is None else variance
        diffusion = covariances[0] + 2 * sum(covariances[1:])
        if diffusion * _WINDOW < _LAGS * covariances[0]:
            return factor * diffusion / variance
        pairs = x.shape[1] // 2
        x = x[:, 0 : 2 * pairs : 2] + x[:, 1 : 2 * pairs : 2]
        factor /= 2  # a sum of pairs has twice the diffusion in half of the rows
    return np.nan


ESTIMATORS: dict[str, Callable[[np.ndarray], float]] = {
    "monotone": _monotone,
    "sokal": _sokal,
    "acor": _acor,
}
WALKERS = ("averaged", "pooled", "separate")


@public
def autocorrelation_times(
    draws: Any,
    *,
    estimator: str = "sokal",
    walkers: str = "pooled",
    directions: Any = None,
    names: Any = None,
) -> dict[str, np.ndarray]:
    """The integrated autocorrelation time of each parameter.

        tau = 1 + 2 sum_{s >= 1} rho_s,    sigma = sqrt(Var tau / n)

    with the autocorrelations rho_s, the variance Var of the series and its number of rows n; sigma
    is the standard error of the mean. A component has tau = NaN and sigma = NaN in its own row if
    its rows are not finite, do not move, or are too few for the estimator, or the estimate is not
    positive.

    Parameters
    ----------
    draws
        Draws of shape (chain, draw, parameter), with four draws or more.
    estimator
        "sokal", "monotone" or "acor".
    walkers
        "pooled": the autocovariances of the chains are averaged before the sum, for independent
        chains. "averaged": the series is the mean over the chains at each draw (Goodman and
        Weare), which is also right for coupled walkers. "separate": a row for each chain.
    directions
        Directions of shape (parameter, component), such as the eigenvectors of the covariance: the
        components are the projections of the draws on them. By default the parameters.
    names
        The names of the components; c0, c1, ... by default.

    Returns
    -------
    dict
        Columns `component`, `tau`, `mean` and `sigma`, with `id` (the chain) before them if the
        walkers are separate.

    Raises
    ------
    ValueError
        If shapes do not match, or a word is unknown.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.laws.autoregression(0.5, chains=4, draws=50_000, seed=1)  # (1 + 0.5) / (1 - 0.5) = 3
    >>> times = kg.neural.analysis.autocorrelation_times(x[:, :, None])
    >>> bool(abs(times["tau"][0] - 3) < 0.15)
    True
    """
    title = "autocorrelation_times"
    x = as_draws(draws, title)
    if x.shape[1] < 4:
        raise ValueError(f"{title}: expected four draws or more of each chain, got {x.shape[1]}")
    time = chosen(ESTIMATORS, estimator, f"{title}: estimator")
    chosen({word: word for word in WALKERS}, walkers, f"{title}: walkers")
    x = projections(x, directions, title)
    names = np.array(parameter_names(names, x.shape[2], title))
    groups = x[:, None] if walkers == "separate" else x[None]
    if walkers == "averaged":
        groups = groups.mean(1, keepdims=True)
    with np.errstate(all="ignore"):  # failing components
        table = np.array([_row(g[:, :, i], time) for g in groups for i in range(len(names))])
    columns = {"component": np.tile(names, len(groups))}
    columns |= dict(zip(("tau", "mean", "sigma"), table.T, strict=True))
    ids = {"id": np.repeat(np.arange(len(groups)), len(names))} if walkers == "separate" else {}
    return ids | columns


def _row(x: np.ndarray, time: Callable[[np.ndarray], float]) -> tuple[float, float, float]:
    """The values tau, mean and sigma of rows (chain, draw)."""
    moves = np.isfinite(x).all() and np.ptp(x) > 0
    tau = time(x) if moves else np.nan
    tau = tau if 0 < tau < np.inf else np.nan
    return tau, float(x.mean()), float(np.sqrt(x.var(ddof=1) * tau / x.size))


def projections(x: np.ndarray, directions: Any, title: str) -> np.ndarray:
    """The draws along directions, of shape (chain, draw, component)."""
    if directions is None:
        return x
    d = np.asarray(directions, float)
    if d.ndim != 2 or d.shape[0] != x.shape[2]:
        raise ValueError(
            f"{title}: expected directions of shape ({x.shape[2]}, component), one in each column, "
            f"got {d.shape}{'; write directions.T' if d.shape[-1:] == (x.shape[2],) else ''}"
        )
    return x @ d
