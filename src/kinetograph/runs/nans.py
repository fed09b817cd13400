"""Draws of targets that are NaN, though the chain was at a point of finite density."""

from typing import Any

import numpy as np

__all__ = ["nan_draws"]


def nan_draws(tree: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """In how much of its draws each element of a target is NaN, and in which, (chain, draw)."""
    posterior = tree["posterior"].dataset
    recorded = tree["sample_stats"].dataset if "sample_stats" in tree else {}
    density = recorded.get("lp")
    known = np.ones((posterior.sizes["chain"], posterior.sizes["draw"]), bool)
    if density is not None and density.shape == known.shape:
        known = np.isfinite(density.values)
    shares: dict[str, np.ndarray] = {}
    draws = np.zeros_like(known)
    for name, variable in posterior.data_vars.items():
        if variable.dtype.kind not in "fc" or variable.dims[:2] != ("chain", "draw"):
            continue
        flags = np.isnan(variable.values) & known.reshape(*known.shape, *(1,) * (variable.ndim - 2))
        if flags.any():
            shares[str(name)] = flags.mean((0, 1))
            draws |= flags.reshape(*known.shape, -1).any(-1)
    return shares, draws
