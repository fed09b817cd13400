"""SciPy's minimisers over a compiled objective: L-BFGS, BFGS, Newton, Nelder-Mead.

SciPy's own tests of convergence are switched off where they can be: after each iteration the same
test is made as for every other optimiser, and ends the search. Where the objective is not finite
it counts as infinite, from which line searches and trust regions step back.

Sources: Byrd, Lu, Nocedal, Zhu (1995) for L-BFGS-B; Nocedal, Wright (2006) for BFGS and the nearly
exact trust-region steps of Newton's method; Gao, Han (2012) for Nelder-Mead in many dimensions.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.blas import one_thread
from .objective import Objective
from .optimizer import ROUNDING, Limits, Optimizer, Reached, within

__all__ = ["ByScipy", "Walk", "bfgs", "lbfgs", "nelder_mead", "newton"]


# What comes out of SciPy's minimisers where they fail: it has an unbound variable, too.
_SCIPY = (np.linalg.LinAlgError, ArithmeticError, UnboundLocalError)


@dataclass(frozen=True, repr=False)
class ByScipy(Optimizer):
    """One of SciPy's minimisers, by its name there, and its options."""

    method: str
    options: tuple[tuple[str, Any], ...] = ()

    def search(self, objective: Objective, starts: int) -> "Minimization":
        """Runs one after the other, over one compiled objective."""
        return Minimization(self, objective)

    def __repr__(self) -> str:
        return f"<optimizer {self.name}>"


class _NotFinite(Exception):
    """The Hessian at a point that Newton's method stands on."""


class Minimization:
    """A minimiser of SciPy's at work on an objective."""

    def __init__(self, optimizer: ByScipy, objective: Objective) -> None:
        self.optimizer, self.objective = optimizer, objective

    def fit(self, points: np.ndarray) -> np.ndarray:
        """Whether objective and gradient are finite at each point."""
        found = (self.objective.value_and_gradient(point) for point in points)
        return np.array([np.isfinite(v) and bool(np.isfinite(g).all()) for v, g in found])

    def run(self, points: np.ndarray, limits: Limits) -> list[Reached]:
        """Go from one point after the other."""
        return [Walk(self.optimizer, self.objective, point, limits).reached() for point in points]


class Walk:
    """One minimisation, watched after each iteration."""

    def __init__(
        self, optimizer: ByScipy, objective: Objective, point: np.ndarray, limits: Limits
    ) -> None:
        self.optimizer, self.objective, self.limits = optimizer, objective, limits
        self.before = objective.evaluations
        self.change, self.iterations = 0.0, 0
        self.last: tuple[np.ndarray, float, np.ndarray] | None = None
        self._stand(np.asarray(point, float))

    def _stand(self, free: np.ndarray) -> None:
        self.free = np.array(free)
        self.value, gradient = self._evaluate(free)
        self.norm = float(np.linalg.norm(gradient))
        self.arrived(gradient)

    def arrived(self, gradient: np.ndarray) -> None:
        """Called where the walk begins and after each iteration, at `free`."""

    def _evaluate(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient, which are mostly asked for again where the last step led."""
        if self.last is None or not np.array_equal(self.last[0], free):
            self.last = (np.array(free), *self.objective.value_and_gradient(free))
        return self.last[1:]

    def _done(self) -> bool:
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
        """Called by SciPy after an iteration."""
        value = self.value
        self.iterations += 1
        self._stand(intermediate_result.x)
        self.change = abs(value - self.value)
        if self._done():
            raise StopIteration

    def reached(self) -> Reached:
        """Where the minimisation ends, and why there."""
        problem = ""
        try:
            if not self._done():  # SciPy's Newton fails at a point without a slope
                problem = self._simplices() if self._is_simplex else self._minimize(self._options())
        except _NotFinite:
            problem = "the Hessian is not finite"
        except _SCIPY as error:
            problem = f"SciPy's {self.optimizer.method} failed ({error})"
        if self.iterations < self.limits.iterations and not self._done():
            self.change = 0.0  # SciPy found nothing lower
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
        """Whether a step down the gradient gains no more than rounding does to the objective.

        The gain is |g|^2 / (2 c), with c the curvature along g, from a second gradient.
        """
        value, gradient = self._evaluate(self.free)
        epsilon, norm = self.objective.epsilon, self.norm
        if not (np.isfinite(norm) and norm > 0 and self.iterations):
            return False
        size = float(np.linalg.norm(self.free))
        step = epsilon ** (1 / 3) * (1 + size) / norm
        _, other = self.objective.value_and_gradient(self.free - step * gradient)
        curvature = float(gradient @ (gradient - other)) / (step * norm**2)
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
        from scipy.optimize import minimize

        method = self.optimizer.method
        slopes: dict[str, Any] = {} if self._is_simplex else {"jac": True}
        if method == "trust-exact":
            slopes["hess"] = self._hessian
        function: Any = self._value if self._is_simplex else self._function
        # Infinite values are met in line searches.
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
        """A simplex that has shrunk to a point that is no minimum is replaced by a fresh one."""
        problem, fresh = "", True
        while fresh and self.iterations < self.limits.iterations:
            value = self.value
            options = {
                "xatol": self.limits.tolerance,
                "fatol": self.limits.tolerance**2,
                "maxiter": self.limits.iterations - self.iterations + 1,  # it counts from 1
                "adaptive": True,
            }
            problem = self._minimize(options)
            fresh = not self._done() and self.value < value
        return problem


def lbfgs(memory: int = 10) -> ByScipy:
    """The BFGS method with limited memory, with a line search.

    Parameters
    ----------
    memory
        The number of last steps from which curvature is known.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(3, 1)
    >>> found = kg.opt(kg.model(x), kg.optimizers.lbfgs(memory=5), seed=1)
    >>> print(f"{found.values['x']:.3f}")
    3.000
    """
    if isinstance(memory, bool) or not isinstance(memory, (int, np.integer)) or memory < 1:
        raise ValueError(f"lbfgs: memory must be a whole number of at least 1, got {memory!r}")
    return ByScipy("lbfgs", "L-BFGS-B", (("maxcor", int(memory)), ("maxls", 50)))


def bfgs() -> ByScipy:
    """The method of Broyden, Fletcher, Goldfarb and Shanno, with a line search."""
    return ByScipy("bfgs", "BFGS")


def newton() -> ByScipy:
    """Newton's method in a trust region, with the exact Hessian: for few unknowns."""
    return ByScipy("newton", "trust-exact", (("max_trust_radius", 1e3),))


def nelder_mead() -> ByScipy:
    """The simplex method of Nelder and Mead: needs no gradient to move, for very few unknowns."""
    return ByScipy("nelder_mead", "Nelder-Mead")
