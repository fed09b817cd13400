"""Deterministic maps of phase space: what an integrator under a Metropolis test has to be.

A map (q, p) -> (q, p) that is reversible (it undoes itself with the momentum flipped) and keeps
volume leaves the canonical law invariant once it is accepted with min(1, exp(-beta dH)). A map of
order 2 changes the energy by O(h^2) over a fixed time, and by O(h^4) on average at equilibrium.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .estimates import mean_test
from .fits import PowerLaw, order_fit
from .outcomes import LEVEL, MeanTest

__all__ = ["EnergyOrder", "MapTest", "energy_order", "reversibility", "volume"]

Map = Callable[[Any, Any], tuple[Any, Any]]


@dataclass(frozen=True)
class MapTest:
    """By how much a map fails at what it should do, and what rounding allows."""

    what: str
    error: float
    tolerance: float

    def passed(self, tolerance: float | None = None) -> bool:
        """Whether the error is at most the tolerance, the precision's own if none is given."""
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


def reversibility(map: Map, q: Any, p: Any) -> MapTest:
    """There and back: the map, the momentum flipped, and the map again lead to the start.

    Parameters
    ----------
    map
        Gives (q', p') for (q, p): one step of an integrator, or a whole trajectory.
    q, p
        Where to begin; any shape, a batch of points if the map takes one.

    Returns
    -------
    MapTest
        Its error is the largest distance from the start over the largest coordinate; the tolerance
        is 1e-10 for float64 and 1e-4 for float32.

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
    there, momentum = _arrays(map(q, p))
    back, flipped = _arrays(map(there, -momentum))
    if there.shape != q.shape:
        raise ValueError(f"kg.laws.reversibility: the map turns {q.shape} into {there.shape}")
    distance = max(np.abs(back - q).max(), np.abs(flipped + p).max())
    size = max(1e-300, np.abs(q).max(), np.abs(p).max(), np.abs(there).max())
    error = float(distance / size)
    return MapTest("reversibility", np.inf if np.isnan(error) else error, _rounding(there.dtype))


def volume(map: Map, q: Any, p: Any) -> MapTest:
    """Is volume kept? The distance of |det d(q', p') / d(q, p)| from 1 at a point.

    The Jacobian comes from central differences of eighth order, whose error in float64 is about
    1e-12: the map may be any function of arrays.

    Parameters
    ----------
    map
        Gives (q', p') for (q, p), smooth around the point.
    q, p
        One point; take an anharmonic potential and a point that is not special.

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
        moved = _arrays(map(z[:size].reshape(q.shape), z[size:].reshape(q.shape)))
        return np.concatenate([part.ravel() for part in moved])

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


@dataclass(frozen=True)
class EnergyOrder:
    """The orders of the energy error dH, and whether it is that of a reversible map.

    `trajectory` is the order of its root mean square, `mean` that of its mean, `exponential` holds
    for each step size the mean of exp(-dH) against 1.
    """

    trajectory: PowerLaw
    mean: PowerLaw
    exponential: tuple[MeanTest, ...]

    def passed(self, level: float = LEVEL) -> bool:
        """Whether both orders are the expected ones, and each mean of exp(-dH) is 1."""
        orders = self.trajectory.passed(level) and self.mean.passed(level)
        return orders and all(test.passed(level) for test in self.exponential)


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
    """The order of an integrator by its energy errors: dH ~ h^s on a trajectory, <dH> ~ h^(2 s).

    At equilibrium <exp(-dH)> = 1 for any reversible map that keeps volume, at any step size. That
    is tested; and the mean of dH, small against its spread, is estimated with exp(-dH) - 1 as its
    control variate.

    Parameters
    ----------
    trajectory
        Gives (q', p') for (q, p, h): steps of size h over a time that does not depend on h, so the
        step sizes have to divide it.
    energy
        H(q, p) of each point, beta times it if beta is not 1.
    q, p
        Independent points from the law exp(-H), the first axis counting them.
    step_sizes
        Three or more, so small that the first term of the error prevails.
    expected, tolerance
        s, and how far a fitted order may lie from it; twice that for the mean's.

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
