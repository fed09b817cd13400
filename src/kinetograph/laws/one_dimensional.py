"""One-dimensional laws by quadrature: canonical laws, and Markov chains' stationary laws.

For smooth densities that vanish at both ends the trapezoidal rule converges faster than any power
of its spacing, so a thousand points give about twelve digits.

Source: L. N. Trefethen, J. A. C. Weideman, The exponentially convergent trapezoidal rule, SIAM
Review 56 (2014) 385-458.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..graph.public import public

__all__ = [
    "Law1D",
    "Potential1D",
    "canonical_law",
    "cosine",
    "double_well",
    "harmonic",
    "quartic",
    "stationary_law",
]

Function = Callable[[Any], Any]


@public
@dataclass(frozen=True)
class Potential1D:
    """A potential U(q) of one variable, and its derivative.

    `U(q)` and `U.gradient(q)` take arrays of NumPy or kinetograph and work on each element. The
    potential of a vector of independent coordinates is the sum over its elements.
    """

    name: str
    value: Function = field(repr=False)
    gradient: Function = field(repr=False)

    def __call__(self, q: Any) -> Any:
        return self.value(q)


@public
def harmonic(stiffness: float = 1.0) -> Potential1D:
    """The potential U = k q^2 / 2.

    Examples
    --------
    >>> from kinetograph import laws
    >>> laws.harmonic(2.0)(3.0)
    9.0
    """
    return Potential1D("harmonic", lambda q: 0.5 * stiffness * q * q, lambda q: stiffness * q)


quartic = Potential1D("quartic", lambda q: 0.25 * q**4, lambda q: q**3)
"""The potential U = q^4 / 4."""
double_well = Potential1D("double well", lambda q: (q * q - 1) ** 2, lambda q: 4 * q * (q * q - 1))
"""The potential U = (q^2 - 1)^2."""
cosine = Potential1D(
    "cosine", lambda q: 0.5 * q * q + np.cos(2 * q), lambda q: q - 2 * np.sin(2 * q)
)
"""The potential U = q^2 / 2 + cos(2 q)."""


@public
@dataclass(frozen=True, eq=False)
class Law1D:
    """A law on the line, by equidistant points and their probabilities."""

    points: np.ndarray
    weights: np.ndarray

    def expectation(self, function: Function) -> float:
        """The mean of a function, which takes an array of points."""
        return float(self.weights @ np.asarray(function(self.points), float))

    def cdf(self, x: Any) -> np.ndarray:
        """The distribution function: the integral of a spline of the density."""
        from scipy.interpolate import CubicSpline

        spacing = self.points[1] - self.points[0]
        integral = CubicSpline(self.points, self.weights / spacing).antiderivative()
        return np.clip(integral(np.clip(x, self.points[0], self.points[-1])), 0.0, 1.0)

    def __repr__(self) -> str:
        mean = self.expectation(lambda q: q)
        sd = math.sqrt(self.expectation(lambda q: (q - mean) ** 2))
        return f"Law1D(mean {mean:.6g}, sd {sd:.6g})"


@public
def canonical_law(potential: Function, inverse_temperature: float = 1.0) -> Law1D:
    """The law with density exp(-beta U(q)) / Z.

    Parameters
    ----------
    potential
        U, a smooth function of an array that tends to infinity at both ends.
    inverse_temperature
        beta.

    Raises
    ------
    ValueError
        If the density does not fall to 1e-26 of its largest value within |q| <= 10,000.

    Examples
    --------
    >>> from kinetograph import laws
    >>> law = laws.canonical_law(laws.double_well)
    >>> print(f"{law.expectation(lambda q: q**2):.6f} {law.expectation(lambda q: q**4):.6f}")
    0.832745 1.082745
    """
    if not 0 < inverse_temperature < math.inf:
        raise ValueError(
            "kg.laws.canonical_law: inverse_temperature must be positive, got "
            f"{inverse_temperature}"
        )

    def exponent(points: np.ndarray) -> np.ndarray:
        return -inverse_temperature * np.asarray(potential(points), float)

    reach = 10_000.0
    inner = np.concatenate([[0.0], np.geomspace(1e-4, reach, 4001)])
    scan = np.concatenate([-inner[:0:-1], inner])
    logs = exponent(scan)
    if np.isnan(logs).any():
        at = scan[np.flatnonzero(np.isnan(logs))[0]]
        raise ValueError(f"kg.laws.canonical_law: the potential is NaN at q = {at:g}")
    inside = np.flatnonzero(logs > logs.max() - 60.0)
    if inside[0] == 0 or inside[-1] == len(scan) - 1:
        raise ValueError(
            "kg.laws.canonical_law: the density exp(-beta U) does not vanish by |q| = 10,000; the "
            "potential must grow at both ends"
        )
    points = np.linspace(scan[inside[0] - 1], scan[inside[-1] + 1], 8193)
    logs = exponent(points)
    weights = np.exp(logs - logs.max())
    return Law1D(points, weights / weights.sum())


@public
def stationary_law(
    mean: Function,
    sd: Function | float,
    limits: tuple[float, float] = (-10.0, 10.0),
    points: int = 1000,
) -> Law1D:
    """The stationary law of a Markov chain with normal steps.

    The chain is q' = mean(q) + sd(q) r with r ~ N(0, 1). On a grid the density p satisfies p = K p,
    with the transition density K(q', q) times the spacing; linear algebra gives the positive
    solution. Overdamped schemes are such chains for any potential: the Euler-Maruyama scheme (SGLD)
    has mean(q) = q - h U'(q), sd = sqrt(2 h / beta).

    Parameters
    ----------
    mean, sd
        Functions of an array; sd may be a number.
    limits, points
        The grid. The density must vanish at its ends, and the spacing must be at most half of the
        smallest sd.

    Raises
    ------
    ValueError
        If the grid is too narrow or too coarse.

    Examples
    --------
    >>> from kinetograph import laws
    >>> h, U = 0.1, laws.cosine
    >>> law = laws.stationary_law(lambda q: q - h * U.gradient(q), (2 * h) ** 0.5)
    >>> print(f"{law.expectation(lambda q: q**2):.6f}")
    1.558039
    """
    grid = np.linspace(*limits, points)
    spacing = grid[1] - grid[0]
    centre = np.asarray(mean(grid), float)
    width = np.broadcast_to(np.asarray(sd(grid) if callable(sd) else sd, float), grid.shape)
    if not (width > 0).all() or spacing > 0.5 * width.min():
        raise ValueError(
            f"kg.laws.stationary_law: the smallest sd is {width.min():.3g}, but the points of the "
            f"grid are {spacing:.3g} apart, which must be at most half of the sd"
        )
    kernel = np.exp(-0.5 * ((grid[:, None] - centre) / width) ** 2) / width
    kernel *= spacing / math.sqrt(2 * math.pi)
    # The equations p = K p are linearly dependent; the last one is replaced by sum p = 1.
    system = np.eye(points) - kernel
    system[-1] = 1.0
    weights = np.linalg.solve(system, np.eye(points)[-1])
    edge = max(abs(weights[0]), abs(weights[-2]))
    escaping = float(abs(1 - kernel.sum(0)) @ np.abs(weights))
    if not (edge < 1e-12 * weights.max() and escaping < 1e-10):
        raise ValueError(
            f"kg.laws.stationary_law: the law does not vanish at the limits {limits}, or the chain "
            "leaves them; give wider ones, or a smaller step"
        )
    return Law1D(grid, weights / weights.sum())
