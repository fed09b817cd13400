"""Convergence of parameters across chains."""

from typing import Any

import numpy as np

from ...graph.public import public
from ...results import diagnostics
from .averages import parameter_names
from .inputs import as_draws

__all__ = ["convergence"]


@public
def convergence(draws: Any, *, names: Any = None) -> dict[str, np.ndarray]:
    """R-hat, effective sample sizes and the standard error of each parameter.

    The definitions agree with `kg.summary` and ArviZ: rank-normalised split R-hat, bulk and
    tail effective sample sizes by Geyer's initial monotone sequence, and sd / sqrt(ess) for the
    mean. They hold for independent chains; for coupled walkers use `autocorrelation_times` with
    walkers="averaged".

    Parameters
    ----------
    draws
        Draws of shape (chain, draw, parameter), with four draws or more.
    names
        The names of the parameters; c0, c1, ... by default.

    Returns
    -------
    dict
        Columns `parameter`, `mean`, `sd`, `mcse_mean`, `ess_bulk`, `ess_tail`, `r_hat`. A parameter
        with draws that are not finite has NaN in its own row.

    Raises
    ------
    ValueError
        If the draws have another shape or the names another number.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.laws.autoregression(0.0, chains=4, draws=1000, seed=1)
    >>> table = kg.neural.analysis.convergence(x[:, :, None])
    >>> bool(table["r_hat"][0] < 1.01), bool(table["ess_bulk"][0] > 3000)
    (True, True)

    Source: A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, Bayesian Analysis 16
    (2021) 667-718.
    """
    x = as_draws(draws, "convergence")
    if x.shape[1] < 4:
        raise ValueError(f"convergence: expected four draws or more, got {x.shape[1]}")
    with np.errstate(all="ignore"):  # parameters that are not finite
        return {
            "parameter": np.array(parameter_names(names, x.shape[2], "convergence")),
            "mean": x.mean((0, 1)),
            "sd": x.std((0, 1), ddof=1),
            "mcse_mean": diagnostics.mcse_mean(x),
            "ess_bulk": diagnostics.ess_bulk(x),
            "ess_tail": diagnostics.ess_tail(x),
            "r_hat": diagnostics.rhat(x),
        }
