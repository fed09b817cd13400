"""Chains that are lost: what sets them apart from the others of a run.

stuck       it is where it started, or hardly moves, while others do
elsewhere   its mean log density is far from the others': another mode, or it is on its way
tuning      its step size is a hundredth of the others', or less, at a like density
"""

from typing import Any

import numpy as np

__all__ = ["lost_chains"]

FAR = 5.0  # posterior standard deviations of the log density
STILL = 0.05  # of what the log density of other chains moves
SHORT = 0.01  # of the others' step size


def lost_chains(tree: Any) -> dict[int, str]:
    """What is wrong with each chain that is lost, by its number.

    Those that move tell what is usual: the median of their mean log densities, of the two middle
    ones the higher. Its standard deviation is that of a normal posterior, sqrt(n / 2), at least, as
    chains that all crawl say nothing of where they belong.
    """
    recorded = tree["sample_stats"].dataset
    density = recorded.get("lp")
    if density is None or density.ndim != 2 or min(density.shape) < 2 or density.shape[1] < 20:
        return {}
    values = density.values
    if not np.isfinite(values).all():
        return {}
    mean, spread = values.mean(1), values.std(1)
    moving = np.ptp(values, axis=1) > 0
    if not moving.any():
        return {}
    level = float(np.sort(mean[moving])[moving.sum() // 2])
    usual = float(np.median(spread[moving]))
    least = max(usual, _normal_spread(tree))
    steps = _step_sizes(tree, len(mean))
    start = _starts(tree, len(mean))
    found = {}
    for chain in range(len(mean)):
        others = f"log density {mean[chain]:.6g}, the others {level:.6g}"
        away = mean[chain] - level
        if not moving[chain]:
            begun = start[chain] == values[chain, 0]
            where = "its start" if begun else "the place where warm-up left it"
            found[chain] = f"never left {where} ({others})"
        elif spread[chain] < STILL * usual:
            found[chain] = f"hardly moves ({others}; step size {steps[chain]:.2g})"
        elif abs(away) > FAR * max(least, spread[chain]):
            side = "below" if away < 0 else "above"
            found[chain] = f"is {abs(away):.3g} {side} the others ({others})"
        elif steps[chain] < SHORT * (median := np.median(np.delete(steps, chain))):
            found[chain] = f"takes steps of {steps[chain]:.2g}, the others of {median:.2g}"
    return found


def _step_sizes(tree: Any, chains: int) -> np.ndarray:
    steps = tree["sampler_state"].dataset.get("hyper_step_size") if _has_state(tree) else None
    if steps is None or steps.shape[:1] != (chains,):
        return np.full(chains, np.nan)
    return np.asarray(steps.values, float).reshape((chains, -1)).mean(1)


def _normal_spread(tree: Any) -> float:
    """The standard deviation of the log density of a normal posterior of as many unknowns."""
    q = tree["sampler_state"].dataset.get("position_q") if _has_state(tree) else None
    return 0.0 if q is None else float(np.sqrt(q.shape[-1] / 2))


def _starts(tree: Any, chains: int) -> np.ndarray:
    """The log density where each chain started."""
    state = tree["sampler_state"].dataset if _has_state(tree) else {}
    start = state.get("start_position_log_density")
    if start is None or start.shape != (chains,):
        return np.full(chains, np.nan)
    return np.asarray(start.values)


def _has_state(tree: Any) -> bool:
    return "sampler_state" in tree.children
