"""The best normal distribution on an L-BFGS path to a mode.

L-BFGS climbs the density of the free state. Each point, with the curvature from the steps before
it, gives a normal distribution q. K draws estimate its evidence lower bound

    ELBO(q) = mean of log p(u) - log q(u),   u ~ q,

with the same standard normal numbers for all q of a path. The estimate has no error if q is the
posterior. The q with the greatest ELBO is kept. It lies before the mode if the density is steep
there and the mode has little mass, such as in a hierarchical model near the scale 0.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..optimizers.by_scipy import ByScipy, ScipyRun
from ..optimizers.objective import Objective
from ..optimizers.opt import starting_points
from ..optimizers.optimizer import ROUNDING, SearchLimits
from .curvature import Curvature
from .low_rank import LowRankNormal
from .results import log_densities, noise

__all__ = ["ELBO_DRAWS", "LIMITS", "MEMORY", "OptimizationPath", "walk_paths"]

ELBO_DRAWS, MEMORY = 25, 6  # defaults
LIMITS = SearchLimits(1000, 1e-6)
JUDGING = 2**30  # first row of the random numbers for the ELBO; rows from 0 are for draws


class OptimizationPath(ScipyRun):
    """A walk of L-BFGS with a normal distribution after each iteration."""

    def __init__(
        self,
        optimizer: ByScipy,
        objective: Objective,
        point: np.ndarray,
        limits: SearchLimits,
        normal: np.ndarray,
        memory: int,
    ) -> None:
        self.curvature, self.normal = Curvature(point.size, memory), normal
        self.last_place: tuple[np.ndarray, np.ndarray] | None = None
        self.best: LowRankNormal | None = None
        self.elbo, self.evaluations = -math.inf, 0
        super().__init__(optimizer, objective, point, limits)

    def arrived(self, gradient: np.ndarray) -> None:
        """Update the curvature, and compare this point's normal distribution with the best."""
        if self.last_place is not None:
            free, slope = self.last_place
            noise = ROUNDING * self.objective.epsilon * abs(self.value)
            self.curvature.after(self.free - free, gradient - slope, noise)
        self.last_place = self.free, gradient
        if not self.curvature.steps or not np.isfinite(gradient).all():
            return
        try:
            candidate = self.curvature.normal(self.free, gradient)
        except np.linalg.LinAlgError:
            return
        free = candidate.draws(self.normal)
        gain = log_densities(self.objective.model, free) - candidate.log_density(free)
        elbo = float(gain.mean())
        if math.isfinite(elbo) and elbo > self.elbo:
            self.best, self.elbo = candidate, elbo


def walk_paths(
    objective: Objective,
    initial: Any,
    keys: Sequence[np.ndarray],
    doing: str,
    limits: SearchLimits = LIMITS,
    memory: int = MEMORY,
    elbo_draws: int = ELBO_DRAWS,
) -> list[OptimizationPath]:
    """Walk a path to its end for each key.

    Raises
    ------
    StartError
        If the density or gradient is not finite at a starting point.
    """
    optimizer = ByScipy("lbfgs", "L-BFGS-B", (("maxcor", memory), ("maxls", 50)))
    points = starting_points(
        objective, optimizer.search(objective, len(keys)), initial, keys, doing
    )
    paths = []
    for key, point in zip(keys, points, strict=True):
        normal = noise(key, elbo_draws, point.size, JUDGING)
        path = OptimizationPath(optimizer, objective, point, limits, normal, memory)
        path.evaluations = path.reached().evaluations
        paths.append(path)
    return paths
