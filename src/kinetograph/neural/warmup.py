"""The warm-up of members: MCLMC whose step size falls while members explore.

The step size of each member is tuned all the time, so that the mean squared energy error of a step,
divided by the number of coordinates, follows a target that falls geometrically from 2 to 5e-4.
Large steps at the beginning move far; the bias of small steps at the end is low. Energy errors grow
with about the sixth power of the step size, so the tuning averages error / h^6.

Source: J. Robnik et al., JMLR 24 (2023), section 5; the falling target is from E. Sommer et al.,
arXiv:2502.06335. With a last target of 0.02 predictive standard deviations of small data are 7 %
too large.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..graph.precision import precision
from ..models.model import Model
from ..runs.stepping import chain
from ..samplers.mclmc import MCLMC

__all__ = ["warm_members"]

FIRST, LAST = 2.0, 5e-4  # targets of the squared energy error for each coordinate
LENGTH = 2.6  # the length after which the direction is forgotten, in units of sqrt(size)
ROUNDS = 100
START = 0.01  # the first step size


def warm_members(
    model: Model, starts: np.ndarray, steps: int, seed: int
) -> tuple[list[MCLMC], np.ndarray]:
    """Move members from their starts, and tune the step size of each.

    Returns
    -------
    samplers : list
        With the step size of each member.
    positions : numpy.ndarray
        (members, size).
    """
    chains = [
        chain(model, _sampler(START, model.free_size), seed=seed, index=i, initial=start)
        for i, start in enumerate(starts)
    ]

    def warm(running: Any) -> float:
        with precision("float32"):
            return _warm(running, max(1, steps // ROUNDS), model.free_size)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sizes = list(pool.map(warm, chains))
    return [_sampler(size, model.free_size) for size in sizes], np.stack(
        [running.q for running in chains]
    )


def _sampler(step_size: float, size: int) -> MCLMC:
    length = LENGTH * float(np.sqrt(size))
    return MCLMC(step_size=step_size, length=length, integrator="minimum_norm")


def _warm(running: Any, steps: int, size: int) -> float:
    """The tuned step size of one chain, which is moved."""
    step_size, total, weight = START, 0.0, 0.0
    logs = []
    for target in np.geomspace(FIRST, LAST, ROUNDS):
        before = running.q
        errors = np.asarray(running.step(steps).sample_stats["energy_error"], float)
        error = np.mean(errors**2) / size
        if np.isfinite(error) and np.isfinite(running.q).all():
            total = 0.8 * total + error / step_size**6
            weight = 0.8 * weight + 1
            best_size = (target * weight / max(total, 1e-300)) ** (1 / 6)
        else:  # the steps were much too large
            running.move(before)
            total = weight = 0.0
            best_size = 0.5 * step_size
        step_size = float(np.clip(best_size, 0.5 * step_size, 2 * step_size))
        running.hyper["step_size"] = step_size
        logs.append(np.log(step_size))
    return float(np.exp(np.mean(logs[-ROUNDS // 10 :])))
