"""Exact covariances and autocorrelation times of linear stochastic recursions.

One step maps the slots z to A z + B w with w ~ N(0, I) and records y = C z + D w. The stationary
covariance S of the slots solves the discrete Lyapunov equation S = A S A' + B B'; then
Cov(y) = C S C' + D D' and, s steps apart, Cov(y_{k+s}, y_k) = C A^(s-1) (A S C' + B D').

The matrices are obtained from a step in plain Python, which is run once on linear forms. The step
may add, subtract and multiply by numbers; values can be recorded at every point of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..graph.public import public

__all__ = ["LinearForm", "LinearLaw", "linear_law"]


class LinearForm:
    """A linear combination of symbols: a slot during the analysis."""

    __slots__ = ("terms",)
    __array_ufunc__ = None  # so that NumPy's numbers use the operators of this class

    def __init__(self, terms: Mapping[Any, float]) -> None:
        self.terms = dict(terms)

    def __add__(self, other: Any) -> "LinearForm":
        if not isinstance(other, LinearForm):
            if isinstance(other, (int, float, np.number)) and other == 0:
                return self
            raise TypeError(f"kg.laws: the step adds {other!r}: it is not linear in its slots")
        terms = dict(self.terms)
        for symbol, weight in other.terms.items():
            terms[symbol] = terms.get(symbol, 0.0) + weight
        return LinearForm(terms)

    def __mul__(self, factor: Any) -> "LinearForm":
        if isinstance(factor, LinearForm) or np.ndim(factor) != 0:
            kind = "slot or noise" if isinstance(factor, LinearForm) else type(factor).__name__
            raise TypeError(f"kg.laws: the step multiplies by a {kind}: it is not linear")
        return LinearForm({symbol: weight * factor for symbol, weight in self.terms.items()})

    def __neg__(self) -> "LinearForm":
        return self * -1.0

    def __sub__(self, other: Any) -> "LinearForm":
        return self + -1.0 * other

    def __rsub__(self, other: Any) -> "LinearForm":
        return -self + other

    def __truediv__(self, divisor: Any) -> "LinearForm":
        if isinstance(divisor, LinearForm):
            raise TypeError("kg.laws: the step divides by a slot or noise: it is not linear")
        return self * (1.0 / divisor)

    __radd__ = __add__
    __rmul__ = __mul__

    def __repr__(self) -> str:
        return " + ".join(f"{weight:g} {symbol}" for symbol, weight in self.terms.items()) or "0"


@public
@dataclass(frozen=True)
class LinearLaw:
    """The stationary law of a linear step's records: Gaussian with mean zero.

    `names` are the names of the records, and `covariance` is their covariance in that order. `q2`,
    `p2` and `qp` are the mean squares of position and momentum and their mean product.
    """

    names: tuple[str, ...]
    covariance: np.ndarray
    transition: np.ndarray = field(repr=False)
    readout: np.ndarray = field(repr=False)
    memory: np.ndarray = field(repr=False)  # Cov(slots after the step, records of the step)

    def moment(self, first: str, second: str) -> float:
        """The mean product of two recorded values."""
        return float(self.covariance[self._index(first), self._index(second)])

    @property
    def q2(self) -> float:
        """The mean of q^2."""
        return self.moment("q", "q")

    @property
    def p2(self) -> float:
        """The mean of p^2."""
        return self.moment("p", "p")

    @property
    def qp(self) -> float:
        """The mean of q p."""
        return self.moment("q", "p")

    def lag_covariance(self, lag: int) -> np.ndarray:
        """The matrix Cov(y_{k+lag}, y_k) of the records y; `lag` is not negative."""
        if lag == 0:
            return self.covariance
        power = np.linalg.matrix_power(self.transition, lag - 1)
        return self.readout @ power @ self.memory

    def autocorrelation_time(self, name: str = "q", square: bool = False) -> float:
        """The integrated autocorrelation time, in steps.

        It is 1 + 2 (rho_1 + rho_2 + ...) for the record `name`. With `square` it is the time of its
        square, whose autocorrelations are rho_s^2 because the law is Gaussian.
        """
        i = self._index(name)
        left, right, variance = self.readout[i], self.memory[:, i], self.covariance[i, i]
        transition = self.transition
        if square:
            left, right, variance = np.kron(left, left), np.kron(right, right), variance**2
            transition = np.kron(transition, transition)
        total = left @ np.linalg.solve(np.eye(len(transition)) - transition, right)
        return float(1.0 + 2.0 * total / variance)

    def mcse(self, name: str, draws: int, square: bool = False) -> float:
        """The standard error of the mean of successive records or their squares.

        It is sqrt(variance * autocorrelation time / draws); the variance of a square is 2 <y^2>^2.
        """
        i = self._index(name)
        variance = self.covariance[i, i]
        variance = 2 * variance**2 if square else variance
        return float(np.sqrt(variance * self.autocorrelation_time(name, square) / draws))

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise KeyError(
                f"kg.laws: {name!r} is not recorded; the records are {', '.join(self.names)}"
            )
        return self.names.index(name)


def linear_law(
    step: Callable[[Callable[[], LinearForm], dict[str, LinearForm]], Any],
    slots: Sequence[str],
    title: str,
) -> LinearLaw:
    """The stationary law of a linear step.

    `step(noise, slots)` returns the new slots and the records. `title` names the caller in errors.
    """
    noises: list[LinearForm] = []

    def noise() -> LinearForm:
        noises.append(LinearForm({len(noises): 1.0}))
        return noises[-1]

    start = {name: LinearForm({name: 1.0}) for name in slots}
    after, records = step(noise, start)
    forms = [*after, *records.values()]
    for name, form in zip([*slots, *records], forms, strict=True):
        if not isinstance(form, LinearForm):
            raise TypeError(f"{title}: {name} is {form!r} after the step, which is not linear")

    def matrix(rows: Sequence[LinearForm], columns: Sequence[Any]) -> np.ndarray:
        shape = (len(rows), len(columns))
        return np.array([[r.terms.get(c, 0.0) for c in columns] for r in rows]).reshape(shape)

    symbols = range(len(noises))
    transition, entry = matrix(after, slots), matrix(after, symbols)
    readout, direct = matrix(list(records.values()), slots), matrix(list(records.values()), symbols)
    radius = float(np.abs(np.linalg.eigvals(transition)).max())
    if not radius < 1 - 1e-12:
        raise ValueError(
            f"{title}: the step has no stationary law: it multiplies a direction by {radius:.6g}"
            + ("; take a smaller step size" if radius > 1 + 1e-9 else "; nothing damps it")
        )
    noise_covariance = entry @ entry.T
    size = len(transition)
    lyapunov = np.eye(size * size) - np.kron(transition, transition)
    slot_covariance = np.linalg.solve(lyapunov, noise_covariance.ravel()).reshape(size, size)
    return LinearLaw(
        tuple(records),
        readout @ slot_covariance @ readout.T + direct @ direct.T,
        transition,
        readout,
        transition @ slot_covariance @ readout.T + entry @ direct.T,
    )
