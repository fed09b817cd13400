"""Exact energy errors of reversible integrators on the harmonic oscillator.

In the units omega = sqrt(k/m), x = sqrt(k) q, y = p / sqrt(m), a palindromic composition of kicks
and drifts of step h is the matrix

    [ cos t        c sin t ]
    [ -sin t / c   cos t   ]

which rotates an ellipse of axes 1 and 1/c by the angle t. So x^2 + c^2 y^2 is conserved exactly,
and L steps from the canonical law change the energy by

    E[beta dH] = sin^2(L t) (c - 1/c)^2 / 2 = mu,    Var(beta dH) = 2 mu + 2 mu^2.

Source: S. Blanes, F. Casas, J. M. Sanz-Serna, Numerical integrators for the hybrid Monte Carlo
method, SIAM J. Sci. Comput. 36 (2014) A1556-A1580.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import ndtr

from ..graph.public import public

__all__ = ["LEAPFROG", "HMCLaw", "hmc_oscillator", "largest_energy_error", "stability_limit"]

LEAPFROG = (0.5, 1.0, 0.5)  # kick, drift, kick


@public
@dataclass(frozen=True)
class HMCLaw:
    """The energy errors of trajectories on an oscillator at equilibrium.

    `angle` and `distortion` are t and c of the step's matrix. `mean_energy_error` and
    `energy_error_variance` are moments of beta dH, and `acceptance` is the mean of
    min(1, exp(-beta dH)).
    """

    angle: float
    distortion: float
    mean_energy_error: float
    stiffness: float = field(repr=False)
    mass: float = field(repr=False)

    @property
    def energy_error_variance(self) -> float:
        """The variance of beta dH: 2 mu + 2 mu^2."""
        return 2 * self.mean_energy_error * (1 + self.mean_energy_error)

    @property
    def acceptance(self) -> float:
        """The stationary acceptance in one dimension: 1 - (2/pi) arctan(sqrt(mu/2))."""
        return 1 - 2 / math.pi * math.atan(math.sqrt(self.mean_energy_error / 2))

    def acceptance_in(self, dimensions: int) -> float:
        """The acceptance in many independent, equal dimensions.

        It is 2 Phi(-sqrt(N mu / 2)) for large N.
        """
        return float(2 * ndtr(-math.sqrt(dimensions * self.mean_energy_error / 2)))

    def shadow_energy(self, q: Any, p: Any) -> Any:
        """The energy that the integrator conserves exactly.

        It is p^2 / 2m + k q^2 / (2 c^2); for leapfrog c^-2 = 1 - h^2 k / 4m.
        """
        return p**2 / (2 * self.mass) + self.stiffness * q**2 / (2 * self.distortion**2)


@public
def hmc_oscillator(
    step_size: float,
    steps: int,
    *,
    stiffness: float = 1.0,
    mass: float = 1.0,
    coefficients: Sequence[float] = LEAPFROG,
) -> HMCLaw:
    """The energy error and acceptance of HMC on the oscillator.

    The potential is U(q) = k q^2 / 2. The results do not depend on the temperature if the momentum
    is drawn at the temperature of the position.

    Parameters
    ----------
    step_size, steps
        h and L: a trajectory has L steps of size h.
    stiffness, mass
        k and m.
    coefficients
        The integrator's coefficients: kick, drift, kick, ..., kick, as fractions of the step. They
        are a palindrome, and kicks and drifts each sum to 1. The default is leapfrog, (1/2, 1,
        1/2).

    Raises
    ------
    ValueError
        If the coefficients are not such an integrator, or it is unstable at the step size.

    Examples
    --------
    >>> from kinetograph import laws
    >>> law = laws.hmc_oscillator(0.8, 3)
    >>> print(f"{law.mean_energy_error:.7f} {law.acceptance:.6f}")
    0.0059132 0.965418
    """
    if not (step_size > 0 and stiffness > 0 and mass > 0 and steps >= 1):
        raise ValueError(
            "kg.laws.hmc_oscillator: step_size, stiffness, mass and steps must be positive, got "
            f"{step_size}, {stiffness}, {mass}, {steps}"
        )
    scaled = step_size * math.sqrt(stiffness / mass)
    diagonal, upper, lower = (f(scaled) for f in _matrix(coefficients))
    if not (abs(diagonal) < 1 and upper * lower < 0):
        limit = stability_limit(coefficients) * math.sqrt(mass / stiffness)
        raise ValueError(
            f"kg.laws.hmc_oscillator: the integrator is unstable at step_size={step_size:g}; it is "
            f"stable below {limit:.6g}"
        )
    angle, distortion = math.acos(diagonal), math.sqrt(-upper / lower)
    mean = 0.5 * math.sin(steps * angle) ** 2 * (distortion - 1 / distortion) ** 2
    return HMCLaw(angle, distortion, mean, stiffness, mass)


@public
def largest_energy_error(step_size: float, coefficients: Sequence[float] = LEAPFROG) -> float:
    """The largest mean energy error over all trajectory lengths.

    It is rho(h) = (c - 1/c)^2 / 2, the largest E[beta dH] for omega = 1. Compare integrators at
    equal cost, which means at step sizes proportional to their numbers of gradients per step.

    Examples
    --------
    >>> from kinetograph import laws
    >>> round(laws.largest_energy_error(1.0), 4)
    0.0417
    """
    _, upper, lower = (f(step_size) for f in _matrix(coefficients))
    if not step_size < stability_limit(coefficients):
        return math.inf
    squared = -upper / lower
    return float(0.5 * (squared + 1 / squared - 2))


@public
def stability_limit(coefficients: Sequence[float] = LEAPFROG) -> float:
    """The step size below which an integrator is stable on the oscillator.

    The oscillator has frequency 1. The limit is the step size at which |cos t| passes 1. If |cos t|
    only touches 1, within the rounding of published coefficients (1e-4), the integrator counts as
    stable.

    Examples
    --------
    >>> from kinetograph import laws
    >>> round(laws.stability_limit(), 6)
    2.0
    """
    diagonal, _, _ = _matrix(coefficients)
    top = 4.0 * len(coefficients)
    grid = np.linspace(0, top, 200_001)[1:]
    outside = np.flatnonzero(np.abs(diagonal(grid)) > 1 + 1e-4)
    if not len(outside):
        return math.inf
    # The exact point at which it left the interval [-1, 1], between two points of the grid.
    sign = float(np.sign(diagonal(grid[outside[0]])))
    roots = (diagonal - sign).roots()
    real = roots.real[np.abs(roots.imag) < 1e-6]
    return float(real[(real > 0) & (real <= grid[outside[0]])].max())


def _matrix(coefficients: Sequence[float]) -> tuple[Polynomial, Polynomial, Polynomial]:
    """The diagonal, upper and lower element of a step's matrix.

    They are polynomials in h omega.
    """
    c = [float(value) for value in coefficients]
    if (
        len(c) % 2 == 0
        or not np.allclose(c, c[::-1], rtol=0, atol=1e-9)
        or abs(sum(c[::2]) - 1) > 1e-9
        or abs(sum(c[1::2]) - 1) > 1e-9
    ):
        raise ValueError(
            f"kg.laws: coefficients={tuple(c)}: an integrator must be a palindrome kick, drift, "
            f"..., kick, with kicks that sum to 1 and drifts that sum to 1; these sum to "
            f"{sum(c[::2]):g} and {sum(c[1::2]):g}"
        )
    one, zero = Polynomial([1.0]), Polynomial([0.0])
    x, y = (one, zero), (zero, one)  # each is a pair of coefficients of the initial x and y
    for i, value in enumerate(c):
        t = Polynomial([0.0, value])
        if i % 2 == 0:
            y = (y[0] - t * x[0], y[1] - t * x[1])
        else:
            x = (x[0] + t * y[0], x[1] + t * y[1])
    return x[0], x[1], y[0]
