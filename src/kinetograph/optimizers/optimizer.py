"""What every optimiser is to `kg.opt`: a way from starting points to where they lead.

An optimiser is asked for a `Search` over an objective. The search can look whether points are fit
to start from, and go from them until the test of convergence holds, the same for all optimisers:

    |f_k - f_(k-1)| <= tolerance   and   |gradient of f at x_k| <= 10 tolerance

with f the objective (a negative log density) and the Euclidean norm on the free scale. What
rounding alone can do to f, some epsilons of its size, is allowed for in both. A search that
compares values can come no further than where such a change of f is all that is left to gain.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from .objective import Objective

__all__ = [
    "ROUNDING",
    "Limits",
    "Optimizer",
    "Reached",
    "Search",
    "fraction",
    "positive",
    "within",
]

ROUNDING = 10.0  # epsilons of the objective's size that count as no change


class Limits(NamedTuple):
    """When to stop: numbers that the compiled programs take, and are not made for."""

    iterations: int
    tolerance: float

    @property
    def gradient(self) -> float:
        """The largest norm of the gradient at which a search has converged."""
        return 10.0 * self.tolerance


class Reached(NamedTuple):
    """Where the search from one point has led."""

    free: np.ndarray
    value: float
    gradient_norm: float
    change: float  # of the objective in the last iteration
    iterations: int
    evaluations: int
    problem: str = ""  # why it came no further, where that is not the limit of iterations
    resolved: bool = False  # whether what can still be gained is less than what rounding does


class Search(Protocol):
    """An optimiser at work on an objective."""

    def fit(self, points: np.ndarray) -> np.ndarray:
        """Whether objective and gradient are finite at each point."""

    def run(self, points: np.ndarray, limits: Limits) -> list[Reached]:
        """Go from each point, with a program compiled once for all."""


@dataclass(frozen=True)
class Optimizer:
    """An optimiser and its settings; made by the functions of `kg.optimizers`."""

    name: str

    def search(self, objective: Objective, starts: int) -> Search:
        """The search over an objective from so many points."""
        raise NotImplementedError(type(self).__name__)


def within(value: Any, change: Any, norm: Any, limits: Any, epsilon: float) -> Any:
    """Whether a search has converged, from the last value, change and gradient norm."""
    noise = ROUNDING * epsilon * abs(value)
    tolerance, gradient = limits
    return (change <= tolerance + noise) & (norm <= gradient + noise)


def positive(optimizer: str, **settings: Any) -> None:
    """Refuse settings that are not positive numbers; schedules, which are functions, pass.

    Raises
    ------
    TypeError
        If a setting is no number and no function.
    ValueError
        If a number is not positive, or not finite.
    """
    for name, value in settings.items():
        if callable(value):
            continue
        if not _is_number(value):
            schedule = " or a schedule" if name == "learning_rate" else ""
            raise TypeError(f"{optimizer}: {name} must be a number{schedule}, got {value!r:.60}")
        if not 0 < value < np.inf:
            raise ValueError(f"{optimizer}: {name} must be positive and finite, got {value!r}")


def fraction(optimizer: str, **settings: Any) -> None:
    """Refuse settings that are not in [0, 1).

    Raises
    ------
    TypeError
        If a setting is no number.
    ValueError
        If a number is out of range.
    """
    for name, value in settings.items():
        if not _is_number(value):
            raise TypeError(f"{optimizer}: {name} must be a number, got {value!r:.60}")
        if not 0 <= value < 1:
            raise ValueError(f"{optimizer}: {name} must be in [0, 1), got {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
