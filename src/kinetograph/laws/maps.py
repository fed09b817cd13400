"""Tests of integrators as deterministic maps of phase space.

A map (q, p) -> (q', p') is reversible if it undoes itself after the momentum is flipped. A map that
is reversible and preserves volume leaves the canonical law invariant if it is accepted with
probability min(1, exp(-beta dH)). A map of order 2 changes the energy by O(h^2) over a fixed time,
and by O(h^4) on average at equilibrium.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.public import public
from .estimates import mean_test
from .fits import PowerLaw, order_fit
from .outcomes import LEVEL, MeanTest

__all__ = ["EnergyOrder", "MapTest", "energy_order", "reversibility", "volume"]

Map = Callable[[Any, Any], tuple[Any, Any]]


@public
@dataclass(frozen=True)
class MapTest:
    """The error of a map's property, and the tolerance for rounding errors."""

    what: str
    error: float
    tolerance: float

    def passed(self, tolerance: float | None = None) -> bool:
        """Whether the error is at most the tolerance.

        By default the tolerance is the one of the precision.
        """
        return bool(self.error <= (self.tolerance if tolerance is None else tolerance))

    def __repr__(self) -> str:
        return f"MapTest({self.what}: error {self.error:.2g}, tolerance {self.tolerance:.2g})"


def _point(q: Any, p: Any) -> tuple[np.ndarray, np.ndarray]:
    q, p = np.asarray(q), np.asarray(p)
    if q.shape != p.shape:
        raise ValueError(f"kg.laws: q has the shape {q.shape} and p {p.shape}")
    if not np.issubdtype(q.dtype, np.floating):
        q = q.astype(float)
    return q, p.astype(q.dtype)


def _arrays(point: Any) -> tuple[np.ndarray, np.ndarray]:
    q, p = point
    return np.asarray(q), np.asarray(p)


@public
def reversibility(map: Map, q: Any, p: Any) -> MapTest:
    """Test whether a map is reversible.

    The map, a flip of the momentum, and the map again must lead back to the start.

    Parameters
    ----------
    map
        A function that returns (q', p') for (q, p): one step of an integrator, or a trajectory.
    q, p
        The starting point, of any shape; a batch of points if the map takes one.

    Returns
    -------
    MapTest
        The error is the largest distance from the start divided by the largest coordinate. The
        tolerance is 1e-10 for float64 and 1e-4 for float32.

    Examples
    --------
    >>> from kinetograph import laws
    >>> def leapfrog(q, p, h=0.1, steps=10):
    ...     for _ in range(steps):
    ...         p = p - 0.5 * h * q**3
    ...         q = q + h * p
    ...         p = p - 0.5 * h * q**3
    ...     return q, p
    >>> laws.reversibility(leapfrog, [0.3, 1.0], [1.0, -0.5]).passed()
    True
    """
    q, p = _point(q, p)
    image, momentum = _arrays(map(q, p))
    returned, returned_momentum = _arrays(map(image, -momentum))
    if image.shape != q.shape:
        raise ValueError(f"kg.laws.reversibility: the map turns {q.shape} into {image.shape}")
    distance = max(np.abs(returned - q).max(), np.abs(returned_momentum + p).max())
    size = max(1e-300, np.abs(q).max(), np.abs(p).max(), np.abs(image).max())
    error = float(distance / size)
    return MapTest("reversibility", np.inf if np.isnan(error) else error, _rounding(image.dtype))


@public
def volume(map: Map, q: Any, p: Any) -> MapTest:
    """Test whether a map preserves volume at a point.

    The error is the distance of |det d(q', p') / d(q, p)| from 1. The Jacobian comes from central
    differences of eighth order, whose error in float64 is about 1e-12, so the map may be any
    function of arrays.

    Parameters
    ----------
    map
        A function that returns (q', p') for (q, p) and is smooth near the point.
    q, p
        One point; take an anharmonic potential and a generic point.

    Returns
    -------
    MapTest
        The tolerance is 1e-8 for float64 and 1e-3 for float32.

    Examples
    --------
    >>> from kinetograph import laws
    >>> kick_drift = lambda q, p: (q + 0.1 * (p - 0.1 * q**3), p - 0.1 * q**3)
    >>> laws.volume(kick_drift, [0.3, 1.0], [1.0, -0.5]).passed()
    True
    >>> laws.volume(lambda q, p: (q + 0.1 * p, p - 0.1 * q**3), [0.3, 1.0], [1.0, -0.5]).passed()
    False
    """
    q, p = _point(q, p)
    start = np.concatenate([q.ravel(), p.ravel()])
    size = q.size

    def shifted(i: int, by: float) -> np.ndarray:
        z = start.copy()
        z[i] += by
        image = _arrays(map(z[:size].reshape(q.shape), z[size:].reshape(q.shape)))
        return np.concatenate([part.ravel() for part in image])

    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    step = float(np.finfo(q.dtype).eps) ** (1 / 9) / 3
    columns = [
        sum(w * (shifted(i, n * step) - shifted(i, -n * step)) for n, w in weights.items()) / step
        for i in range(len(start))
    ]
    determinant = float(np.linalg.det(np.array(columns, float)))
    error = abs(abs(determinant) - 1)
    exact = _rounding(q.dtype) == 1e-10
    return MapTest("volume", np.inf if np.isnan(error) else error, 1e-8 if exact else 1e-3)


def _rounding(dtype: Any) -> float:
    return 1e-10 if np.finfo(dtype).eps < 1e-12 else 1e-4


@public
@dataclass(frozen=True)
class EnergyOrder:
    """The orders of the energy error dH, and tests of reversibility.

    `trajectory` is the order of the root mean square of dH, `mean` the order of its mean.
    `exponential` has for each step size a test of the mean of exp(-dH) against 1.
    """

    trajectory: PowerLaw
    mean: PowerLaw
    exponential: tuple[MeanTest, ...]

    def passed(self, level: float = LEVEL) -> bool:
        """Whether both orders and all means of exp(-dH) are as expected."""
        orders = self.trajectory.passed(level) and self.mean.passed(level)
        return orders and all(test.passed(level) for test in self.exponential)


@public
def energy_order(
    trajectory: Callable[[Any, Any, float], tuple[Any, Any]],
    energy: Callable[[Any, Any], Any],
    q: Any,
    p: Any,
    step_sizes: Sequence[float],
    *,
    expected: float = 2.0,
    tolerance: float = 0.1,
) -> EnergyOrder:
    """Fit the order of an integrator by its energy errors.

    An integrator of order s has dH ~ h^s on a trajectory and <dH> ~ h^(2 s) at equilibrium. At
    equilibrium <exp(-dH)> = 1 for any reversible map that preserves volume, at any step size; this
    is tested, too. The mean of dH is small compared with its spread, so it is estimated with
    exp(-dH) - 1 as control variate.

    Parameters
    ----------
    trajectory
        A function that returns (q', p') for (q, p, h): steps of size h over a time that does not
        depend on h, so the step sizes must divide that time.
    energy
        A function that returns H(q, p) for each point, or beta H if beta is not 1.
    q, p
        Independent points from the law exp(-H); the first axis counts the points.
    step_sizes
        Three or more step sizes, so small that the first term of the error dominates.
    expected, tolerance
        s, and the largest distance of the fitted order from s; for the order of the mean twice that
        distance.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetograph import laws
    >>> def leapfrog(q, p, h):
    ...     for _ in range(round(2.0 / h)):
    ...         p = p - 0.5 * h * np.sin(q)
    ...         q = q + h * p
    ...         p = p - 0.5 * h * np.sin(q)
    ...     return q, p
    >>> energy = lambda q, p: 0.5 * p**2 - np.cos(q)
    >>> rng = np.random.default_rng(1)
    >>> q, p = rng.vonmises(0, 1, 20_000), rng.normal(size=20_000)
    >>> laws.energy_order(leapfrog, energy, q, p, [0.05, 0.1, 0.2]).passed()
    True
    """
    q, p = _point(q, p)
    before = np.asarray(energy(q, p), float)
    if before.shape != q.shape[:1]:
        raise ValueError(
            f"kg.laws.energy_order: {len(q)} points have energies of the shape {before.shape}"
        )
    squares, means, exponential = [], [], []
    for h in step_sizes:
        change = np.asarray(energy(*trajectory(q, p, h)), float) - before
        squares.append(_mean_and_error(change**2))
        means.append(_mean_and_error(change + np.expm1(-change)))
        exponential.append(mean_test(np.exp(-change), 1.0))
    rms = [m**0.5 for m, _ in squares]
    rms_errors = [0.5 * e / m**0.5 for m, e in squares]
    mean, mean_errors = zip(*means, strict=True)
    return EnergyOrder(
        order_fit(step_sizes, rms, rms_errors, expected=expected, tolerance=tolerance),
        order_fit(step_sizes, mean, mean_errors, expected=2 * expected, tolerance=2 * tolerance),
        tuple(exponential),
    )


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))
