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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .resampling import next_power

__all__ = ["LevelPath", "TemperingPath", "PowerPath", "Settings"]

Settings = tuple[float, ...]

OF_POWERS = 0.85  # efficiency of the weights of a step
AROUND = (0.1, 0.3, 0.5)  # quantiles of log likelihoods; the level is the second one
WIDTH = 0.5  # of a level, as a part of the smaller range between two of them
LEAST_WIDTH = 1e-6
DIGITS = 32  # least width in units of the last digit of log likelihoods
MOST_GROWTH = 1.3  # of the width in a step
LEAST_EFFICIENCY = 0.5  # of the weights of a step to a wider level


class TemperingPath(Protocol):
    """A path from the prior to the posterior.

    Attributes
    ----------
    names
        The names of the settings.
    begin
        The settings that give the prior.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def begin(self) -> Settings: ...

    def step(self, log_likelihood: np.ndarray, before: Settings, count: int) -> Settings:
        """The settings after `before`; `count` is the number of steps before."""
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
        """The next level, a quantile of the log likelihoods.

        Far below a level the density is a power of the likelihood, by 1 / width, which jumps over
        narrow maxima. So the width is narrow for the particles on both sides of the level.
        """
        possible = log_likelihood[log_likelihood > -np.inf]
        low, level, high = map(float, np.quantile(possible, AROUND))
        least = LEAST_WIDTH + DIGITS * float(np.spacing(np.abs(possible).max()))
        width = max(WIDTH * min(level - low, high - level), least)
        if count:
            width = min(width, MOST_GROWTH * before[1])
        # A plateau, where a quantile does not rise, is left in steps of a width.
        rise = width if level <= before[0] + width / 10 else 0.0
        settings = (max(level, before[0] + rise), width)
        if count and self._efficiency(log_likelihood, before, settings) < LEAST_EFFICIENCY:
            width = min(width, before[1])
            settings = (max(level, before[0] + width / 10), width)
        return settings

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
        log_weights = log_weights[log_weights > -np.inf]
        weights = np.exp(log_weights - log_weights.max())
        return float(weights.sum() ** 2 / (weights**2).sum() / len(weights))
