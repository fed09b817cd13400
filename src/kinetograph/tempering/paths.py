"""Paths from the prior to the posterior.

    powers    p_b(x) proportional to p(x) L(x)^b,                              b from 0 to 1
    levels    p_l(x) proportional to p(x) / (1 + exp((l - log L(x)) / w)),     l rises

A path finds the next settings, the power or the level and its width w, from the log likelihoods of
particles. Powers jump over states that no power favours: a narrow maximum that has most of the mass
and a small volume (a first-order phase transition). Levels order the states by their likelihood
alone, as nested sampling does, and pass through all of them. The width makes p_l smooth, so that
moves by gradients keep it.

Sources: J. Skilling, Nested sampling for general Bayesian computation, Bayesian Analysis 1 (2006);
R. Salomone et al., Unbiased and consistent nested sampling via sequential Monte Carlo, JRSS B
(2024).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .resampling import next_power

__all__ = ["LevelPath", "Path", "PowerPath", "Settings"]

Settings = tuple[float, ...]

OF_POWERS = 0.85  # efficiency of the weights of a step
OF_LEVELS = 0.7
WIDTH = 0.25  # of a level, as a part of the range of half of the log likelihoods
LEAST_WIDTH = 1e-6
BISECTIONS = 60


class Path(Protocol):
    """How particles go from the prior to the posterior.

    Attributes
    ----------
    names
        The names of the settings.
    begin
        The settings that give the prior.
    """

    names: tuple[str, ...]
    begin: Settings

    def step(self, log_likelihood: np.ndarray, before: Settings, count: int) -> Settings:
        """The settings after `before`, which are those of the step `count`, from 0 on."""
        ...

    def log_weights(
        self, log_likelihood: np.ndarray, before: Settings, after: Settings
    ) -> np.ndarray:
        """The logarithms of the weights of a step."""
        ...


@dataclass(frozen=True)
class PowerPath:
    """Rising powers of the likelihood; `ladder` gives them."""

    ladder: np.ndarray | None = None
    names: tuple[str, ...] = ("power",)
    begin: Settings = (0.0,)

    def step(self, log_likelihood: np.ndarray, before: Settings, count: int) -> Settings:
        """The next power."""
        if self.ladder is not None:
            return (float(self.ladder[count]),)
        return (next_power(log_likelihood, before[0], OF_POWERS),)

    def log_weights(
        self, log_likelihood: np.ndarray, before: Settings, after: Settings
    ) -> np.ndarray:
        """The logarithms of the weights of a step."""
        return (after[0] - before[0]) * log_likelihood


@dataclass(frozen=True)
class LevelPath:
    """Rising levels of the log likelihood."""

    names: tuple[str, ...] = ("level", "width")
    begin: Settings = (-np.inf, 1.0)

    def step(self, log_likelihood: np.ndarray, before: Settings, count: int) -> Settings:
        """The highest level at which the weights keep the efficiency."""
        finite = log_likelihood[log_likelihood > -np.inf]
        level, width = before
        low, high = np.quantile(finite, [0.25, 0.75])
        wanted = max(WIDTH * float(high - low), LEAST_WIDTH)
        if not count:
            level = float(finite.min()) - 50 * wanted  # the factor is 1 at all particles
        for _ in range(BISECTIONS):  # a new width alone must keep the efficiency
            if self._efficiency(finite, before, (level, wanted)) >= OF_LEVELS:
                break
            wanted = math.sqrt(wanted * width)
        efficient = _bisected(
            lambda x: self._efficiency(finite, before, (x, wanted)) >= OF_LEVELS,
            level,
            float(finite.max()),
        )
        return (efficient, wanted)

    def log_weights(
        self, log_likelihood: np.ndarray, before: Settings, after: Settings
    ) -> np.ndarray:
        """The logarithms of the weights of a step."""
        new = self.log_factor(log_likelihood, after)
        with np.errstate(invalid="ignore"):
            change = new - self.log_factor(log_likelihood, before)
        return np.where(new == -np.inf, -np.inf, change)

    def log_factor(self, log_likelihood: np.ndarray, settings: Sequence[float]) -> np.ndarray:
        """The logarithm of p_l / p, without the constant."""
        level, width = settings
        if level == -np.inf:
            return np.zeros_like(log_likelihood)
        return -np.logaddexp(0.0, (level - log_likelihood) / width)

    def _efficiency(self, log_likelihood: np.ndarray, before: Settings, after: Settings) -> float:
        log_weights = self.log_weights(log_likelihood, before, after)
        weights = np.exp(log_weights - log_weights.max())
        return float(weights.sum() ** 2 / (weights**2).sum() / len(weights))


def _bisected(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest number up to which a condition holds, if it holds at `low`."""
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
