"""A step of an embedded Runge-Kutta method; the first step's size."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..autograph.lazily import convert_lazily
from ..graph.array import Array
from ..graph.functions.mathematics import abs, maximum, minimum, stop_gradient
from .arguments import Tolerance
from .right_hand_side import Leaves, Right
from .tableaus import Tableau

__all__ = ["Method", "RungeKuttaStep", "Trial", "choose_first_step", "combined", "scaled_square"]


class RungeKuttaStep(NamedTuple):
    """The result of a step."""

    new: Leaves  # the value at the end of the step
    slopes: Leaves  # the slopes at the end
    bends: tuple[Leaves, ...]  # the bends of the solution in between; see `tableaus`
    square: Any  # the square of the scaled error; the step is accepted if it is at most 1


class Trial(Protocol):
    """A method, with its right-hand side and the tolerance of a step."""

    @property
    def right(self) -> Right: ...
    @property
    def tolerance(self) -> Tolerance: ...
    @property
    def order(self) -> int:
        """The order of the estimated error of a step."""
        ...

    def step(self, t: Array, y: Leaves, slopes: Leaves, size: Array, until: Any) -> RungeKuttaStep:
        """Take a step of a given size from a given state.

        `until` is the time with which f is called at the end of the step.
        """
        ...


class Method(NamedTuple):
    """An explicit Runge-Kutta method, with its right-hand side and the tolerance."""

    right: Right
    tableau: Tableau
    tolerance: Tolerance

    @property
    def order(self) -> int:
        """The order of the estimated error of a step."""
        return self.tableau.order

    def step(self, t: Array, y: Leaves, slopes: Leaves, size: Array, until: Any) -> RungeKuttaStep:
        """Take a step of a given size from a given state.

        `until` is the time with which f is called at the end of the step.
        """
        stages = [slopes]
        new = y
        for row, c in zip(self.tableau.a, self.tableau.c, strict=True):
            change = _combined(row, stages)
            new = [a + size * b for a, b in zip(y, change, strict=True)]
            stages.append(self.right(until if c == 1 else t + c * size, new))
        errors = [size * e for e in _combined(self.tableau.error, stages)]
        sizes = [maximum(abs(a), abs(b)) for a, b in zip(y, new, strict=True)]
        square = scaled_square(errors, self.tolerance.scales(sizes))
        bends = tuple([size * b for b in _combined(row, stages)] for row in self.tableau.bends)
        return RungeKuttaStep(new, stages[-1], bends, square)


def _combined(weights: Sequence[float], stages: Sequence[Leaves]) -> Leaves:
    """The weighted sum of the stages, leaf by leaf."""
    terms = [(w, stage) for w, stage in zip(weights, stages, strict=True) if w]
    sums = []
    for place in range(len(stages[0])):
        total = terms[0][0] * terms[0][1][place]
        for weight, stage in terms[1:]:
            total = total + weight * stage[place]
        sums.append(total)
    return sums


def combined(weights: Sequence[float], stages: Sequence[Array]) -> Array:
    """The weighted sum of the stages."""
    return _combined(weights, [[stage] for stage in stages])[0]


def scaled_square(errors: Leaves, scales: Leaves) -> Array:
    """The square of the scaled error, without derivatives.

    The error is tolerated if it is at most 1.
    """
    return stop_gradient(_mean_square(errors, scales))


def _mean_square(values: Leaves, scales: Leaves) -> Array:
    """The mean over all elements of (value / scale)^2."""
    squares = [(v / s) ** 2 for v, s in zip(values, scales, strict=True)]
    total = squares[0].sum()
    for square in squares[1:]:
        total = total + square.sum()
    return total / sum(max(square.size, 1) for square in squares)


@convert_lazily
def choose_first_step(method: Trial, t: Array, y: Leaves, slopes: Leaves, span: Any) -> Array:
    """Estimate a step whose error is well below the tolerance.

    The algorithm is that of Hairer, Nørsett, Wanner, p. 169, with the length of the interval as the
    unit of time.
    """
    if not span > 0:
        span = 1.0
    scales = method.tolerance.scales([abs(leaf) for leaf in y])
    d0 = _mean_square(y, scales) ** 0.5
    changes = [span * slope for slope in slopes]
    d1 = _mean_square(changes, scales) ** 0.5
    trial: Any = 1e-6
    if d0 >= 1e-5 and d1 >= 1e-5:
        trial = minimum(0.01 * d0 / d1, 1.0)
    ahead = [leaf + trial * change for leaf, change in zip(y, changes, strict=True)]
    later = method.right(t + trial * span, ahead)
    bends = [span * (a - b) for a, b in zip(later, slopes, strict=True)]
    curvature = maximum(d1, _mean_square(bends, scales) ** 0.5 / trial)
    if curvature <= 1e-15:
        step = maximum(1e-6, trial * 1e-3)
    else:
        step = (0.01 / curvature) ** (1 / method.order)
    step = minimum(100 * trial, step)
    if not np.isfinite(step):  # for example if f is not finite a little ahead
        step = trial
    return stop_gradient(step * span)
