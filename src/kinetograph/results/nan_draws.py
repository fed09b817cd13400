"""Draws of targets that are NaN at points of finite density."""

from typing import Any

import numpy as np

from .check import statistics_of

__all__ = ["nan_draws"]


def nan_draws(tree: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The shares of NaN in each target, and the draws concerned.

    The shares have the shape of the target, and the flags of draws the axes (chain, draw). Draws
    whose log density is not finite are not counted.
    """
    posterior = tree["posterior"].dataset
    recorded = statistics_of(tree)
    density = recorded.get("lp")
    finite = np.ones((posterior.sizes["chain"], posterior.sizes["draw"]), bool)
    if density is not None and density.shape == finite.shape:
        finite = np.isfinite(density.values)
    shares: dict[str, np.ndarray] = {}
    draws = np.zeros_like(finite)
    for name, variable in posterior.data_vars.items():
        if variable.dtype.kind not in "fc" or variable.dims[:2] != ("chain", "draw"):
            continue
        flags = np.isnan(variable.values) & finite.reshape(
            *finite.shape, *(1,) * (variable.ndim - 2)
        )
        if flags.any():
            shares[str(name)] = flags.mean((0, 1))
            draws |= flags.reshape(*finite.shape, -1).any(-1)
    return shares, draws
