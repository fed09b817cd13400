"""Integrators of Hamilton's equations: palindromic sequences of kicks and drifts.

    b_1 a_1 b_2 a_2 ... b_1     kick by b h, drift by a h, one gradient per drift

They are symmetric and preserve volume, so a Metropolis test after any number of steps is exact.

Source   S. Blanes, F. Casas, J. Sanz-Serna, Numerical integrators for the hybrid Monte Carlo
         method, SIAM Journal on Scientific Computing 36 (2014) A1556-A1580; I. Omelyan, I. Mryglod,
         R. Folk, Computer Physics Communications 151 (2003) 272-314.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograph.lazily import convert_lazily
from ..graph.public import public
from ..graph.ranges import range
from ..graph.source import place_text
from ..graph.value_texts import in_words
from .hyper import Hyper
from .sampler import Point, Sampler

__all__ = ["BCSS2", "BCSS3", "Integrator", "LEAPFROG", "MINIMUM_NORM"]


@public
class Integrator:
    """A palindromic sequence of kicks and drifts, given by its coefficients.

    Parameters
    ----------
    coefficients
        b_1, a_1, b_2, ..., b_1: the fractions of a step for alternating kicks and drifts. The kicks
        add up to 1, and so do the drifts.
    name
        The name in texts.

    Raises
    ------
    ValueError
        If kicks or drifts do not add up to 1, or the sequence is not a palindrome.

    Examples
    --------
    >>> import kinetograph as kg
    >>> leapfrog = kg.samplers.Integrator([0.5, 1.0, 0.5])
    >>> leapfrog.stages
    1
    """

    def __init__(self, coefficients: Sequence[float], name: str = "") -> None:
        try:
            given = np.asarray(coefficients, float)
        except (TypeError, ValueError):
            raise TypeError(
                f"Integrator: coefficients must be numbers, got {in_words(coefficients)}"
                f"{place_text()}"
            ) from None
        if given.ndim != 1 or given.size < 3 or given.size % 2 == 0:
            raise ValueError(
                "Integrator: kicks and drifts alternate, with a kick at both ends, so there are "
                f"3, 5, 7, ... coefficients; got {coefficients!r}"
            )
        if not np.allclose(given, given[::-1], rtol=0, atol=1e-12):
            raise ValueError(f"Integrator: {coefficients!r} does not read the same backwards")
        self.kicks, self.drifts = given[::2], given[1::2]
        for kind, part in (("kicks", self.kicks), ("drifts", self.drifts)):
            if not abs(part.sum() - 1) < 1e-12:
                raise ValueError(f"Integrator: the {kind} add up to {part.sum():.15g}, not to 1")
        self.name = name
        self.stable_text = f"{name} {given.tolist()}"

    @property
    def stages(self) -> int:
        """The number of gradients per step."""
        return self.drifts.size

    def coefficients(self, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        """The fractions of kicks and of drifts as arrays of a dtype."""
        return self.kicks.astype(dtype), self.drifts.astype(dtype)

    def step(self, sampler: Sampler, at: Point, p: Any, h: Any) -> tuple[Point, Any]:
        """Make one step of length h, inside of a sampler's step."""
        return self.motion(sampler, at, p, h, lambda p, gradient, t: p - t * gradient, lambda p: p)

    def motion(
        self,
        sampler: Sampler,
        at: Point,
        moving: Any,
        h: Any,
        kick: Callable[[Any, Any, Any], Any],
        velocity: Callable[[Any], Any],
    ) -> tuple[Point, Any]:
        """Make one step of a motion other than Hamilton's.

        The motion is given by `kick(moving, gradient, t)`, which changes the state `moving`, and by
        `velocity(moving)`. `moving` is an array or a tuple of arrays.
        """
        kicks, drifts = self.coefficients(at.q.dtype)
        moving = kick(moving, at.gradient, kicks[0] * h)
        if self.stages == 1:
            at = sampler.evaluate(at.q + h * velocity(moving))
            return at, kick(moving, at.gradient, kicks[1] * h)
        return _stages(sampler, at, moving, h, drifts, kicks[1:], kick, velocity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Integrator) and other.stable_text == self.stable_text

    def __hash__(self) -> int:
        return hash(self.stable_text)

    def __repr__(self) -> str:
        return self.name or f"Integrator({self.stable_text.strip()})"


@convert_lazily
def _stages(
    sampler: Any, at: Any, moving: Any, h: Any, drifts: Any, kicks: Any, kick: Any, velocity: Any
) -> Any:
    """The stages as a loop, so that the program has one gradient."""
    for i in range(len(drifts)):
        at = sampler.evaluate(at.q + drifts[i] * h * velocity(moving))
        moving = kick(moving, at.gradient, kicks[i] * h)
    return at, moving


_MINIMUM = 0.1931833275037836
_BCSS2 = 0.21178
_B, _A = 0.11888010966548, 0.29619504261126

LEAPFROG = Integrator([0.5, 1.0, 0.5], "leapfrog")
MINIMUM_NORM = Integrator([_MINIMUM, 0.5, 1 - 2 * _MINIMUM, 0.5, _MINIMUM], "minimum_norm")
BCSS2 = Integrator([_BCSS2, 0.5, 1 - 2 * _BCSS2, 0.5, _BCSS2], "bcss2")
BCSS3 = Integrator([_B, _A, 0.5 - _B, 1 - 2 * _A, 0.5 - _B, _A, _B], "bcss3")
NAMED = {i.name: i for i in (LEAPFROG, MINIMUM_NORM, BCSS2, BCSS3)}


class IntegratorHyper(Hyper):
    """A hyper-parameter whose values are integrators, which may be given by name."""

    def check(self, value: Any, owner: str) -> Integrator:
        """Return the integrator; raise ValueError for values that are not one."""
        if isinstance(value, Integrator):
            return value
        if not isinstance(value, str) or value not in NAMED:
            raise ValueError(
                f"{owner}: integrator must be {', '.join(map(repr, NAMED))} or an Integrator, "
                f"got {value!r}"
            )
        return NAMED[value]


def integrator_hyper() -> Any:
    """Declare the hyper-parameter `integrator` of a sampler."""
    return IntegratorHyper(LEAPFROG, static=True, bounds={}, choices=())
