"""Weighted draws of a mixture of distributions, with diagnostics.

If a pool has n draws u, n_j of them from the distribution q_j, the weights are

    w = p(u) / (n_1 / n q_1(u) + n_2 / n q_2(u) + ...).

The largest part of the mixture is the approximation q itself. Further parts are q with three times
the deviations and power-law tails, which covers mass where q has almost none, and the distributions
of Pathfinder's paths from random points, which cover further modes. If these weights vary much,
rounds follow. Each adds a normal and a Student distribution with the weighted mean and covariance
of all draws so far. A distribution is too dense at the draws it was fitted to, so that their
weights are too small. Therefore, after the last round, the same number of draws is made again from
the same distributions, and only the new draws are used.

The evidence Z is the mean weight. The ratio of q_j to the mixture has the mean 1. The part of the
weights that these ratios explain is removed, so that Z has no error if the posterior is one of q_j.

Sources: J.-M. Cornuet, J.-M. Marin, A. Mira, C. Robert, Adaptive multiple importance sampling,
Scandinavian Journal of Statistics 39 (2012) 798-812; A. Owen, Y. Zhou, Safe and effective
importance sampling, Journal of the American Statistical Association 95 (2000) 135-143, for control
variates; T. Hesterberg, Weighted average importance sampling and defensive mixture distributions,
Technometrics 37 (1995) 185-194.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from ..bits.draws import chain_key
from ..graph.errors import StartError
from ..optimizers.objective import Objective
from .low_rank import LowRankNormal, LowRankStudent
from .pareto import efficiency, log_mean, smoothed
from .paths import walk_paths
from .results import log_densities, noise

__all__ = ["OUTSIDE", "Pool", "PoolWeights", "fill", "scouts"]

Law = LowRankNormal | LowRankStudent

ROUND = 4000  # draws of the first round, or twice the requested number if that is more
FITS = 5  # greatest number of rounds after the first
SPREAD, DEGREES = 1.5, 3  # of Student distributions
SCOUTS = 9  # paths from random points
GOOD_K, GOOD_EFFICIENCY = 0.5, 0.35  # weights at least as good need no further round
OUTSIDE = -1  # label of distributions that do not belong to the approximation
_KEYS = 2**20  # first chain number of the random numbers for pools
_ROWS_A_NUMBER = 5  # effective draws that each row of a fitted covariance needs


class PoolWeights(NamedTuple):
    """Smoothed weights that add up to 1, and their diagnostics."""

    log_weight: np.ndarray
    weight: np.ndarray
    k: float
    efficiency: float


@dataclass
class _PoolPart:
    """A distribution, its number of draws, and its log densities.

    The log densities are at all draws of the pool.
    """

    law: Law
    label: int
    count: int
    log_q: np.ndarray


class Pool:
    """Draws of several distributions, with log densities of posterior and mixture."""

    def __init__(self, objective: Objective, seed: int) -> None:
        self.objective, self.seed = objective, seed
        self.free, self.label = np.empty((0, objective.size)), np.empty(0, int)
        self.log_density = np.empty(0)
        self._parts: list[_PoolPart] = []
        self._added = 0

    def add(self, requests: Sequence[tuple[Law, int, int]]) -> None:
        """Add draws: the given number of each distribution, with a label.

        A distribution may be in the pool already.
        """
        rows = []
        for law, count, _ in requests:
            key = chain_key(self.seed, _KEYS + self._added)
            rows.append(law.draws(noise(key, count, law.width)))
            self._added += 1
        free = np.concatenate(rows)
        for law, count, label in requests:
            part = next((part for part in self._parts if part.law is law), None)
            if part is None:
                part = _PoolPart(law, label, 0, law.log_density(self.free))
                self._parts.append(part)
            part.count += count
        for part in self._parts:
            part.log_q = np.concatenate([part.log_q, part.law.log_density(free)])
        self.free = np.concatenate([self.free, free])
        labels = [np.full(count, label) for _, count, label in requests]
        self.label = np.concatenate([self.label, *labels])
        densities = log_densities(self.objective.model, free)
        self.log_density = np.concatenate([self.log_density, densities])

    def double(self) -> None:
        """Add as many further draws of each distribution."""
        self.add([(part.law, part.count, part.label) for part in self._parts])

    def drawn_again(self) -> "Pool":
        """A pool of new draws from the same distributions."""
        pool = Pool(self.objective, self.seed)
        pool._added = self._added
        pool.add([(part.law, part.count, part.label) for part in self._parts])
        return pool

    @property
    def log_q(self) -> np.ndarray:
        """The log density of the mixture at each draw."""
        counts = np.array([part.count for part in self._parts])
        parts = np.array([part.log_q for part in self._parts])
        log_density: np.ndarray = logsumexp(parts, 0, counts[:, None] / len(self.free))
        return log_density

    @property
    def weights(self) -> PoolWeights:
        """The smoothed weights of all draws."""
        log_weight = self.log_density - self.log_q
        log_smooth, k = smoothed(log_weight)
        return PoolWeights(log_weight, np.exp(log_smooth), k, efficiency(log_weight))

    def elbo(self, law: Law, label: int) -> float:
        """The mean of log p - log q over draws labelled `label`."""
        labelled = self.label == label
        return float(np.mean(self.log_density[labelled] - law.log_density(self.free[labelled])))

    def evidence(self, laws: Sequence[Law]) -> tuple[float, float]:
        """log Z and its standard error.

        The densities of `laws` are control variates.
        """
        log_weight = self.log_density - self.log_q
        top = np.nanmax(log_weight, initial=-np.inf)
        if not np.isfinite(top):
            return -math.inf, math.inf
        weight = np.exp(log_weight - top)
        weight = np.where(np.isfinite(weight), weight, 0.0)
        log_q = self.log_q
        columns = [np.ones(weight.size)]
        columns += [np.exp(law.log_density(self.free) - log_q) - 1 for law in laws]
        design = np.stack(columns, 1)
        coefficients = np.linalg.lstsq(design, weight, None)[0]
        standard_error = (weight - design @ coefficients).std() / math.sqrt(weight.size)
        if coefficients[0] <= 0:
            return log_mean(log_weight), math.inf
        return float(top + math.log(coefficients[0])), float(standard_error / coefficients[0])


def scouts(objective: Objective, seed: int, doing: str) -> list[LowRankNormal]:
    """The normal distributions of paths from random points.

    The list is empty if no random point has a finite density.
    """
    keys = [chain_key(seed, _KEYS - 1 - index) for index in range(SCOUTS)]
    try:
        paths = walk_paths(objective, None, keys, doing)
    except StartError:
        return []
    return [path.best for path in paths if path.best is not None]


def fill(
    objective: Objective,
    laws: Sequence[tuple[LowRankNormal, int]],
    scout_laws: Sequence[LowRankNormal],
    count: int,
    seed: int,
) -> tuple[Pool, PoolWeights]:
    """The pool of an approximation and of other distributions.

    The approximation is a mixture of labelled parts.
    """
    size = max(ROUND, 2 * count, 8 * len(laws))
    pool = Pool(objective, seed)
    share, scout_share = size // len(laws), size // max(1, len(scout_laws))
    first: list[tuple[Law, int, int]] = []
    for law, label in laws:
        wide = LowRankStudent(law, 2 * SPREAD, DEGREES)
        first += [(law, share * 5 // 8, label), (wide, share // 8, OUTSIDE)]
    for law in scout_laws:
        wide = LowRankStudent(law, 2 * SPREAD, DEGREES)
        first += [(law, scout_share // 8, OUTSIDE), (wide, scout_share // 8, OUTSIDE)]
    pool.add(first)
    for round_number in range(FITS + 1):
        weights = pool.weights
        good_enough = weights.k <= GOOD_K and weights.efficiency >= GOOD_EFFICIENCY
        fitted = None if good_enough or round_number == FITS else _fitted(pool.free, weights)
        if fitted is None:
            break
        wide = LowRankStudent(fitted, SPREAD, DEGREES)
        more = [(law, share // 4, label) for law, label in laws]
        pool.add([(fitted, size // 4, OUTSIDE), (wide, size // 2, OUTSIDE), *more])
    if round_number:
        pool = pool.drawn_again()
        weights = pool.weights
    return pool, weights


def _fitted(free: np.ndarray, weights: PoolWeights) -> LowRankNormal | None:
    """A normal distribution with the weighted mean and covariance, or None.

    With few effective draws the numbers are taken as independent. The result is None if a number
    does not vary.
    """
    effective = 1 / np.square(weights.weight).sum()
    good = weights.weight > 0
    free, weight = free[good], weights.weight[good]
    mean = weight @ free
    rows = np.sqrt(weight)[:, None] * (free - mean)
    if effective > _ROWS_A_NUMBER * (1 + mean.size):
        try:
            return LowRankNormal.of_rows(mean, rows)
        except np.linalg.LinAlgError:
            pass
    scale = np.sqrt(np.square(rows).sum(0))
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        return None
    return LowRankNormal.of(mean, scale, np.zeros((mean.size, 0)), np.eye(0))
