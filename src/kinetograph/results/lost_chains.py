"""Lost chains, which differ from the other chains of a run.

stuck       it does not move, or hardly moves, while other chains do
elsewhere   its mean log density is far from the other chains': it is in another mode, or still on
            its way
tuning      its step size is a hundredth of the other chains' or less, at a similar density
"""

from typing import Any

import numpy as np

from .check import statistics_of

__all__ = ["lost_chains", "starting_densities"]

FAR = 5.0  # posterior standard deviations of the log density
STILL = 0.05  # relative to the movement of the log density of other chains
SHORT = 0.01  # relative to the step size of the other chains


def lost_chains(tree: Any) -> dict[int, str]:
    """The problem of each lost chain, by the number of the chain.

    The usual level is the median of the mean log densities of the chains that move (the higher one
    of the two middle ones). The usual spread is at least the standard deviation of the log density
    of a normal posterior, sqrt(n / 2), because chains that all move slowly underestimate it.
    """
    recorded = statistics_of(tree)
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
    least_spread = max(usual, _normal_spread(tree))
    steps = _step_sizes(tree, len(mean))
    start = starting_densities(tree, len(mean))
    problems = {}
    for chain in range(len(mean)):
        levels = f"log density {mean[chain]:.6g}, the other chains {level:.6g}"
        away = mean[chain] - level
        if not moving[chain]:
            at_start = start[chain] == values[chain, 0]
            where = "its start" if at_start else "the place where warm-up left it"
            problems[chain] = f"never left {where} ({levels})"
        elif spread[chain] < STILL * usual:
            problems[chain] = f"hardly moves ({levels}; step size {steps[chain]:.2g})"
        elif abs(away) > FAR * max(least_spread, spread[chain]):
            side = "below" if away < 0 else "above"
            problems[chain] = f"is {abs(away):.3g} {side} the other chains ({levels})"
        elif steps[chain] < SHORT * (median := np.median(np.delete(steps, chain))):
            problems[chain] = f"takes steps of {steps[chain]:.2g}, the other chains of {median:.2g}"
    return problems


def _step_sizes(tree: Any, chains: int) -> np.ndarray:
    steps = tree["sampler_state"].dataset.get("hyper_step_size") if _has_state(tree) else None
    if steps is None or steps.shape[:1] != (chains,):
        return np.full(chains, np.nan)
    return np.asarray(steps.values, float).reshape((chains, -1)).mean(1)


def _normal_spread(tree: Any) -> float:
    """The standard deviation of the log density of a normal posterior.

    Its dimension is the number of unknowns.
    """
    q = tree["sampler_state"].dataset.get("position_q") if _has_state(tree) else None
    return 0.0 if q is None else float(np.sqrt(q.shape[-1] / 2))


def starting_densities(tree: Any, chains: int) -> np.ndarray:
    """The log density at the starting point of each chain."""
    state = tree["sampler_state"].dataset if _has_state(tree) else {}
    start = state.get("start_position_log_density")
    if start is None or start.shape != (chains,):
        return np.full(chains, np.nan)
    return np.asarray(start.values)


def _has_state(tree: Any) -> bool:
    return "sampler_state" in tree.children
