"""Moves of particles between two steps of a path to the posterior.

The particles make sweeps until they have forgotten where they were: until no coordinate, and not
the log likelihood, is correlated with its value before the moves. A coordinate that keeps its mode
stays correlated; then the moves end when the correlation no longer falls.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..results.deviations import deviations
from .points import TemperedPoints

__all__ = ["Moved", "Moves"]

FORGOTTEN = 0.1  # the largest correlation,
NOISE = 4.0  # or this number of its standard errors, if that is more
PATIENCE = 5  # sweeps in which a correlation has to fall to FALLEN of its value
FALLEN = 0.9
MOST_SWEEPS = 100
ANGLE = 1.6  # length of a trajectory of HMC in standard deviations: about a quarter of a period
MOST_STEPS = 64
GAIN = 1.0  # change of the logarithm of the step size by the error of the acceptance


class Moved(NamedTuple):
    """Particles after their moves."""

    free: np.ndarray
    log_likelihood: np.ndarray
    sweeps: int
    acceptance: float
    correlation: float  # the largest one that is left
    gradients: int
    divergences: int


@dataclass
class Moves:
    """The moves of particles, and what has been learnt about them.

    Attributes
    ----------
    tunes
        The hyper-parameters that are tuned: the step size from the acceptance, the scale from the
        particles, and the number of steps of HMC from the step size.
    target
        The acceptance to which the step size is tuned.
    step_size
        The present step size.
    """

    points: TemperedPoints
    tunes: frozenset[str]
    target: float
    step_size: float

    def hyper(self, free: np.ndarray) -> dict[str, np.ndarray]:
        """The hyper-parameters of all particles, for particles at free states."""
        values: dict[str, np.ndarray] = {}
        if "scale" in self.tunes:
            values["scale"] = scale_of(free)
        if "step_size" in self.tunes:
            values["step_size"] = np.asarray(self.step_size)
        if "n_steps" in self.tunes:
            values["n_steps"] = np.asarray(steps_of(self.step_size))
        size = len(free)
        return {name: np.broadcast_to(x, (size, *x.shape)) for name, x in values.items()}

    def learn(self, acceptance: np.ndarray) -> float:
        """Update the step size after a sweep; returns the mean acceptance."""
        finite = acceptance[np.isfinite(acceptance)]
        mean = float(finite.mean()) if len(finite) else math.nan
        if "step_size" in self.tunes and len(finite):
            self.step_size *= math.exp(GAIN * (mean - self.target))
        return mean

    def move(
        self, free: np.ndarray, log_likelihood: np.ndarray, settings: Sequence[float]
    ) -> Moved:
        """Move particles with the same settings until they are decorrelated."""
        points, size = self.points, len(free)
        before = np.column_stack([free, log_likelihood])
        enough = max(FORGOTTEN, NOISE / math.sqrt(size))
        worst: list[float] = []
        gradients = divergences = 0
        points.place(free, np.tile(settings, (size, 1)), self.hyper(free))
        while True:
            sweep = points.sweep()
            free = sweep.free
            log_likelihood = points.log_likelihood(free)
            gradients += sweep.gradients
            divergences += int(sweep.diverging.sum())
            acceptance = self.learn(sweep.acceptance)
            *coordinates, of_likelihood = correlations(
                before, np.column_stack([free, log_likelihood])
            )
            worst.append(float(max(*coordinates, of_likelihood)))
            stalled = len(worst) > PATIENCE and worst[-1] > FALLEN * worst[-1 - PATIENCE]
            if worst[-1] <= enough or len(worst) >= MOST_SWEEPS:
                break
            if stalled and of_likelihood <= enough:
                break
            points.change(self.hyper_of_steps(size))
        return Moved(
            free, log_likelihood, len(worst), acceptance, worst[-1], gradients, divergences
        )

    def hyper_of_steps(self, size: int) -> Mapping[str, np.ndarray]:
        """The hyper-parameters that change from sweep to sweep."""
        blank = np.zeros((size, 1))
        return {name: x for name, x in self.hyper(blank).items() if name != "scale"}


def steps_of(step_size: float) -> int:
    """The number of steps of a trajectory of HMC."""
    return int(min(max(math.ceil(ANGLE / step_size), 1), MOST_STEPS))


def scale_of(free: np.ndarray) -> np.ndarray:
    """The standard deviation of each coordinate, or 1 for a constant one."""
    with np.errstate(over="ignore", invalid="ignore"):  # points that diverge
        scale = deviations(free)
    return np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)


def correlations(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The absolute correlation of each column with its values before."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        before, after = before - before.mean(0), after - after.mean(0)
        coefficients = (before * after).sum(0) / np.sqrt((before**2).sum(0) * (after**2).sum(0))
    return np.where(np.isfinite(coefficients), np.abs(coefficients), 0.0)
