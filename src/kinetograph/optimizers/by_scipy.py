"""SciPy's minimisers over a compiled objective: L-BFGS, BFGS, Newton, Nelder-Mead.

SciPy's tests of convergence are switched off where that is possible. Instead, the test of all other
optimisers is made after each iteration and ends the search. An objective that is not finite counts
as infinite, so line searches and trust regions step back from it.

Sources: Byrd, Lu, Nocedal, Zhu (1995) for L-BFGS-B; Nocedal, Wright (2006) for BFGS and the nearly
exact trust-region steps of Newton's method; Gao, Han (2012) for Nelder-Mead in many dimensions.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.public import public
from ..kernels.blas import one_thread
from .objective import Objective
from .optimizer import ROUNDING, Optimizer, Reached, SearchLimits, within

__all__ = ["ByScipy", "ScipyRun", "bfgs", "lbfgs", "nelder_mead", "newton"]


# Errors that SciPy's minimisers raise when they fail; one of them reads an unbound variable.
_SCIPY = (np.linalg.LinAlgError, ArithmeticError, UnboundLocalError)


@dataclass(frozen=True, repr=False)
class ByScipy(Optimizer):
    """A minimiser of SciPy, by its name in SciPy, with its options."""

    method: str
    options: tuple[tuple[str, Any], ...] = ()

    def search(self, objective: Objective, starts: int) -> "Minimization":
        """A search from one point after the other, over one compiled objective."""
        return Minimization(self, objective)

    def __repr__(self) -> str:
        return f"<optimizer {self.name}>"


class _NotFinite(Exception):
    """The Hessian at the present point of Newton's method is not finite."""


class Minimization:
    """The search of a SciPy minimiser over an objective."""

    def __init__(self, optimizer: ByScipy, objective: Objective) -> None:
        self.optimizer, self.objective = optimizer, objective

    def fit(self, points: np.ndarray) -> np.ndarray:
        """Whether objective and gradient are finite at each point."""
        results = (self.objective.value_and_gradient(point) for point in points)
        return np.array([np.isfinite(v) and bool(np.isfinite(g).all()) for v, g in results])

    def run(self, points: np.ndarray, limits: SearchLimits) -> list[Reached]:
        """Search from one point after the other."""
        return [
            ScipyRun(self.optimizer, self.objective, point, limits).reached() for point in points
        ]


class ScipyRun:
    """One minimisation, with a test of convergence after each iteration."""

    def __init__(
        self, optimizer: ByScipy, objective: Objective, point: np.ndarray, limits: SearchLimits
    ) -> None:
        self.optimizer, self.objective, self.limits = optimizer, objective, limits
        self.before = objective.evaluations
        self.change, self.iterations = 0.0, 0
        self.last: tuple[np.ndarray, float, np.ndarray] | None = None
        self._move_to(np.asarray(point, float))

    def _move_to(self, free: np.ndarray) -> None:
        """Make a free state the present point."""
        self.free = np.array(free)
        self.value, gradient = self._evaluate(free)
        self.norm = float(np.linalg.norm(gradient))
        self.arrived(gradient)

    def arrived(self, gradient: np.ndarray) -> None:
        """A hook for subclasses, called at the start and after each iteration."""

    def _evaluate(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient; the latest evaluation is cached.

        SciPy and the test of convergence both need the point to which the last step led.
        """
        if self.last is None or not np.array_equal(self.last[0], free):
            self.last = (np.array(free), *self.objective.value_and_gradient(free))
        return self.last[1:]

    def _done(self) -> bool:
        """Whether the search has converged."""
        limits = (self.limits.tolerance, self.limits.gradient)
        return within(self.value, self.change, self.norm, limits, self.objective.epsilon)

    def _function(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self._evaluate(free)
        good = np.isfinite(value) and np.isfinite(gradient).all()
        return (value, gradient) if good else (np.inf, np.zeros_like(gradient))

    def _hessian(self, free: np.ndarray) -> np.ndarray:
        hessian = self.objective.hessian(free)
        if not np.isfinite(hessian).all():
            raise _NotFinite
        return hessian

    def _after(self, intermediate_result: Any) -> None:
        """Update the present point; SciPy calls this after each iteration."""
        value = self.value
        self.iterations += 1
        self._move_to(intermediate_result.x)
        self.change = abs(value - self.value)
        if self._done():
            raise StopIteration

    def reached(self) -> Reached:
        """Run the minimisation; its end, and the reason for it."""
        problem = ""
        try:
            if not self._done():  # SciPy's Newton fails at a point whose gradient is 0
                problem = self._simplices() if self._is_simplex else self._minimize(self._options())
        except _NotFinite:
            problem = "the Hessian is not finite"
        except _SCIPY as error:
            problem = f"SciPy's {self.optimizer.method} failed ({error})"
        if self.iterations < self.limits.iterations and not self._done():
            self.change = 0.0  # SciPy found no lower value
        stopped = self.iterations >= self.limits.iterations or self._done()
        resolved = not stopped and self._resolved()
        return Reached(
            self.free,
            self.value,
            self.norm,
            self.change,
            self.iterations,
            self.objective.evaluations - self.before,
            "" if stopped or resolved else problem,
            resolved,
        )

    def _resolved(self) -> bool:
        """Whether the possible gain is below the rounding errors of the objective.

        The gain of a step along the gradient g is |g|^2 / (2 c), with c the curvature along g,
        which a second gradient gives.
        """
        value, gradient = self._evaluate(self.free)
        epsilon, norm = self.objective.epsilon, self.norm
        if not (np.isfinite(norm) and norm > 0 and self.iterations):
            return False
        size = float(np.linalg.norm(self.free))
        step = epsilon ** (1 / 3) * (1 + size) / norm
        _, shifted_gradient = self.objective.value_and_gradient(self.free - step * gradient)
        curvature = float(gradient @ (gradient - shifted_gradient)) / (step * norm**2)
        return curvature > 0 and norm**2 / (2 * curvature) <= ROUNDING * epsilon * abs(value)

    @property
    def _is_simplex(self) -> bool:
        return self.optimizer.method == "Nelder-Mead"

    def _options(self) -> dict[str, Any]:
        options = dict(self.optimizer.options) | {"maxiter": self.limits.iterations, "gtol": 0.0}
        if self.optimizer.method == "L-BFGS-B":
            options |= {"ftol": 0.0, "maxfun": 2**31 - 1}
        return options

    def _minimize(self, options: dict[str, Any]) -> str:
        """Run SciPy's minimiser from the present point; returns its message."""
        from scipy.optimize import minimize

        method = self.optimizer.method
        slopes: dict[str, Any] = {} if self._is_simplex else {"jac": True}
        if method == "trust-exact":
            slopes["hess"] = self._hessian
        function: Any = self._value if self._is_simplex else self._function
        # Line searches may meet infinite values.
        with np.errstate(all="ignore"), one_thread():
            result = minimize(
                function,
                self.free,
                method=method,
                callback=self._after,
                options=options,
                **slopes,
            )
        return str(result.message)

    def _value(self, free: np.ndarray) -> float:
        return self._function(free)[0]

    def _simplices(self) -> str:
        """Run the simplex method.

        If the simplex has shrunk to a point without convergence, a new simplex starts there.
        """
        problem, restarts = "", True
        while restarts and self.iterations < self.limits.iterations:
            value = self.value
            options = {
                "xatol": self.limits.tolerance,
                "fatol": self.limits.tolerance**2,
                "maxiter": self.limits.iterations - self.iterations + 1,  # SciPy counts from 1
                "adaptive": True,
            }
            problem = self._minimize(options)
            restarts = not self._done() and self.value < value
        return problem


@public
def lbfgs(memory: int = 10) -> ByScipy:
    """The limited-memory BFGS method, with a line search.

    Parameters
    ----------
    memory
        The number of latest steps that are used to estimate the curvature.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(3, 1)
    >>> mode = kg.opt(kg.model(x), kg.optimizers.lbfgs(memory=5), seed=1)
    >>> print(f"{mode.values['x']:.3f}")
    3.000
    """
    if isinstance(memory, bool) or not isinstance(memory, (int, np.integer)) or memory < 1:
        raise ValueError(f"lbfgs: memory must be a whole number of at least 1, got {memory!r}")
    return ByScipy("lbfgs", "L-BFGS-B", (("maxcor", int(memory)), ("maxls", 50)))


@public
def bfgs() -> ByScipy:
    """The method of Broyden, Fletcher, Goldfarb and Shanno, with a line search."""
    return ByScipy("bfgs", "BFGS")


@public
def newton() -> ByScipy:
    """Newton's method in a trust region with the exact Hessian.

    It is suitable for few unknowns.
    """
    return ByScipy("newton", "trust-exact", (("max_trust_radius", 1e3),))


@public
def nelder_mead() -> ByScipy:
    """The simplex method of Nelder and Mead, which moves without gradients.

    It is suitable for very few unknowns.
    """
    return ByScipy("nelder_mead", "Nelder-Mead")
