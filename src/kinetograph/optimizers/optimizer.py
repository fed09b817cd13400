"""The interface of optimisers to `kg.opt`, and the test of convergence.

An optimiser makes an `OptimizerSearch` over an objective. A search checks whether points can be
started from, and searches from them until the test of convergence holds, which is the same for all
optimisers:

    |f_k - f_(k-1)| <= tolerance   and   |gradient of f at x_k| <= 10 tolerance

with f the objective (a negative log density) and the Euclidean norm on the free scale. Both bounds
are raised by the rounding error of f, a few epsilons of its size. A search that compares values
cannot improve further when the possible gain is below that rounding error.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..graph.value_texts import shown
from .objective import Objective

__all__ = [
    "ROUNDING",
    "SearchLimits",
    "Optimizer",
    "Reached",
    "OptimizerSearch",
    "fraction",
    "positive",
    "within",
]

ROUNDING = 10.0  # a change of the objective by fewer epsilons of its size is a rounding error


class SearchLimits(NamedTuple):
    """The limits of a search, which are arguments of the compiled programs."""

    iterations: int
    tolerance: float

    @property
    def gradient(self) -> float:
        """The largest norm of the gradient at which a search has converged."""
        return 10.0 * self.tolerance


class Reached(NamedTuple):
    """The end of the search from one point."""

    free: np.ndarray
    value: float
    gradient_norm: float
    change: float  # the change of the objective in the last iteration
    iterations: int
    evaluations: int
    problem: str = ""  # the reason for the end, unless it is the limit of iterations
    resolved: bool = False  # whether the possible gain is below rounding errors


class OptimizerSearch(Protocol):
    """The search of an optimiser over an objective."""

    def fit(self, points: np.ndarray) -> np.ndarray:
        """Whether objective and gradient are finite at each point."""

    def run(self, points: np.ndarray, limits: SearchLimits) -> list[Reached]:
        """Search from each point, with one compiled program for all points."""


@dataclass(frozen=True)
class Optimizer:
    """An optimiser and its settings; made by the functions of `kg.optimizers`."""

    name: str

    def search(self, objective: Objective, starts: int) -> OptimizerSearch:
        """The search over an objective from `starts` points."""
        raise NotImplementedError(type(self).__name__)


def within(value: Any, change: Any, norm: Any, limits: Any, epsilon: float) -> Any:
    """Whether a search has converged, by value, change and gradient norm."""
    noise = ROUNDING * epsilon * abs(value)
    tolerance, gradient = limits
    return (change <= tolerance + noise) & (norm <= gradient + noise)


def positive(optimizer: str, **settings: Any) -> None:
    """Refuse settings that are not positive numbers; schedules are allowed.

    Raises
    ------
    TypeError
        If a setting is neither a number nor a function.
    ValueError
        If a number is not positive, or not finite.
    """
    for name, value in settings.items():
        if callable(value):
            continue
        if not _is_number(value):
            schedule = " or a schedule" if name == "learning_rate" else ""
            raise TypeError(f"{optimizer}: {name} must be a number{schedule}, got {shown(value)}")
        if not 0 < value < np.inf:
            raise ValueError(f"{optimizer}: {name} must be positive and finite, got {shown(value)}")


def fraction(optimizer: str, **settings: Any) -> None:
    """Refuse settings that are not in [0, 1).

    Raises
    ------
    TypeError
        If a setting is not a number.
    ValueError
        If a number is out of range.
    """
    for name, value in settings.items():
        if not _is_number(value):
            raise TypeError(f"{optimizer}: {name} must be a number, got {shown(value)}")
        if not 0 <= value < 1:
            raise ValueError(f"{optimizer}: {name} must be in [0, 1), got {shown(value)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
