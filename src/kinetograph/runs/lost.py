"""Chains that are lost: what sets them apart from the others of a run.

stuck       it is where it started, or hardly moves, while others do
lower       its mean log density is far below the others': a lower mode, or it is on its way
tuning      its step size is a hundredth of the others', or less, at a like density
"""

from typing import Any

import numpy as np

__all__ = ["lost_chains"]

LOWER = 5.0  # posterior standard deviations of the log density
STILL = 0.05  # of what the log density of other chains moves
SHORT = 0.01  # of the others' step size


def lost_chains(tree: Any) -> dict[int, str]:
    """What is wrong with each chain that is lost, by its number.

    The better half of the chains, by their mean log density, tells what is usual.
    """
    recorded = tree["sample_stats"].dataset
    density = recorded.get("lp")
    if density is None or density.ndim != 2 or min(density.shape) < 2 or density.shape[1] < 20:
        return {}
    values = density.values
    if not np.isfinite(values).all():
        return {}
    mean, spread = values.mean(1), values.std(1)
    better = mean >= np.median(mean)
    level, usual = float(mean[better].mean()), float(np.median(spread[better]))
    if usual == 0:  # nobody moves
        return {}
    steps = _step_sizes(tree, len(mean))
    start = _starts(tree, len(mean))
    found = {}
    for chain in range(len(mean)):
        others = f"log density {mean[chain]:.6g}, the others {level:.6g}"
        if not np.ptp(values[chain]):
            begun = start[chain] == values[chain, 0]
            where = "its start" if begun else "the place where warm-up left it"
            found[chain] = f"never left {where} ({others})"
        elif spread[chain] < STILL * usual:
            found[chain] = f"hardly moves ({others}; step size {steps[chain]:.2g})"
        elif mean[chain] < level - LOWER * max(usual, spread[chain]):
            found[chain] = f"is {level - mean[chain]:.3g} below the others ({others})"
        elif steps[chain] < SHORT * (median := np.median(np.delete(steps, chain))):
            found[chain] = f"takes steps of {steps[chain]:.2g}, the others of {median:.2g}"
    return found


def _step_sizes(tree: Any, chains: int) -> np.ndarray:
    steps = tree["sampler_state"].dataset.get("hyper_step_size") if _has_state(tree) else None
    if steps is None or steps.shape[:1] != (chains,):
        return np.full(chains, np.nan)
    return np.asarray(steps.values, float).reshape((chains, -1)).mean(1)


def _starts(tree: Any, chains: int) -> np.ndarray:
    """The log density where each chain started."""
    state = tree["sampler_state"].dataset if _has_state(tree) else {}
    start = state.get("start_position_log_density")
    if start is None or start.shape != (chains,):
        return np.full(chains, np.nan)
    return np.asarray(start.values)


def _has_state(tree: Any) -> bool:
    return "sampler_state" in tree.children
