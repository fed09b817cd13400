"""Power laws: the order of a scheme's bias, the errors of averages.

A power law y = c x^s is a straight line of log y over log x. It is fitted by generalised least
squares: each point is weighted by the standard error of its logarithm.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..graph.public import public
from .estimates import as_draws, mean_test
from .outcomes import LEVEL, StatisticalTest

__all__ = ["PowerLaw", "error_law", "order_fit", "step_error_study"]


@public
@dataclass(frozen=True, eq=False)
class PowerLaw(StatisticalTest):
    """A fitted power law, compared with the expected one.

    `slope` is the slope of log |y| over log x. `x`, `y`, `errors` are the points and `coefficient`
    is the c of y = c x^slope. A fit passes if the slope differs from the expected one by at most
    `tolerance`, and its standard error is small enough to decide this. The tolerance allows for the
    next order of the step size.
    """

    slope: float
    error: float
    coefficient: float
    expected: float
    tolerance: float
    x: np.ndarray
    y: np.ndarray
    errors: np.ndarray
    name: str = "slope"

    @property
    def z(self) -> np.ndarray:
        """The score (slope - expected) / error."""
        with np.errstate(all="ignore"):
            return np.array((self.slope - self.expected) / self.error)

    def passed(self, level: float = LEVEL) -> bool:
        """Whether |slope - expected| <= tolerance, with a small enough error.

        The standard error times the normal quantile of `level` (4.9 for 1e-6) must be at most the
        tolerance, too.
        """
        decided = self.error * -ndtri(level / 2) <= self.tolerance
        return bool(decided and abs(self.slope - self.expected) <= self.tolerance)

    def __repr__(self) -> str:
        points = ", ".join(
            f"{x:g}: {y:.3g}" + (f" +- {e:.1g}" if e > 0 else "")
            for x, y, e in zip(self.x, self.y, self.errors, strict=True)
        )
        return (
            f"PowerLaw({self.name} {self.slope:.3f} +- {self.error:.2g}, expected "
            f"{self.expected:g} within {self.tolerance:g}; {points})"
        )


def _line(x: np.ndarray, y: np.ndarray, covariance: np.ndarray) -> tuple[float, float, float]:
    """Fit a line: the slope, its standard error, and the intercept.

    `covariance` is the covariance of y.
    """
    design = np.column_stack([x, np.ones_like(x)])
    weighted = np.linalg.solve(covariance, np.column_stack([design, y]))
    inverse = np.linalg.inv(design.T @ weighted[:, :2])
    slope, intercept = inverse @ (design.T @ weighted[:, 2])
    return float(slope), math.sqrt(inverse[0, 0]), float(intercept)


@public
def order_fit(
    step_sizes: Sequence[float],
    biases: Any,
    errors: Any = 0.0,
    *,
    expected: float,
    tolerance: float = 0.2,
) -> PowerLaw:
    """Fit the order of a scheme from the biases of an average.

    The bias is c h^s with the order s. The fit is by weighted least squares of log |bias| on log h;
    the standard errors give the weights.

    Parameters
    ----------
    step_sizes
        Three or more step sizes h.
    biases, errors
        Signed biases of the average, and their standard errors, which are 0 for exact biases.
    expected, tolerance
        The order, and the largest distance of the fitted order from it, because h is finite.

    Raises
    ------
    ValueError
        If the biases do not have one sign: then they are noise, or cross zero, and no order can be
        fitted.

    Examples
    --------
    >>> from kinetograph import laws
    >>> h = [0.05, 0.1, 0.2, 0.4]
    >>> laws.order_fit(h, [laws.oscillator("BABO", x).q2 - 1 for x in h], expected=2).passed()
    True
    """
    h, y = np.asarray(step_sizes, float), np.asarray(biases, float)
    e = np.broadcast_to(np.asarray(errors, float), y.shape)
    if h.ndim != 1 or h.shape != y.shape or len(h) < 3 or len(set(h.tolist())) != len(h):
        raise ValueError(
            "kg.laws.order_fit: give three or more different step sizes with a bias each, got "
            f"{h.tolist()} and {y.tolist()}"
        )
    if not ((h > 0).all() and np.isfinite(y).all() and (np.isfinite(e) & (e >= 0)).all()):
        raise ValueError(
            "kg.laws.order_fit: step sizes must be positive, biases finite and errors not negative"
        )
    if not ((y > 0).all() or (y < 0).all()):
        shown = ", ".join(f"{b:+.2g} +- {s:.1g}" for b, s in zip(y, e, strict=True))
        raise ValueError(
            f"kg.laws.order_fit: the biases {shown} do not have one sign, so they do not follow a "
            "power of the step size; take more draws, or larger steps"
        )
    x, log = np.log(h), np.log(np.abs(y))
    exact = not (e > 0).any()
    relative = np.ones_like(y) if exact else np.maximum(e / np.abs(y), 1e-12)
    slope, error, intercept = _line(x, log, np.diag(relative**2))
    coefficient = math.copysign(math.exp(intercept), y[0])
    return PowerLaw(
        slope, 0.0 if exact else error, coefficient, expected, tolerance, h, y, e, "order"
    )


@public
def step_error_study(
    draws: Callable[[float], Any] | Sequence[Any],
    step_sizes: Sequence[float],
    exact: float,
    *,
    expected: float,
    tolerance: float = 0.2,
) -> PowerLaw:
    """Fit the order of a scheme from runs at several step sizes.

    Parameters
    ----------
    draws
        A function of the step size that returns draws of the observable, of shape (chain, draw); or
        the draws for each step size.
    step_sizes
        Three or more step sizes, large enough for a visible bias and so small that its first term
        dominates.
    exact
        The observable's mean under the target.
    expected, tolerance
        The order, and the largest distance of the fitted order from it.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetograph import laws
    >>> def sgld(h):
    ...     chain = laws.autoregression(1 - h, chains=64, draws=4000, seed=int(1000 * h))
    ...     return chain**2 / (1 - h / 2)
    >>> laws.step_error_study(sgld, [0.1, 0.2, 0.3, 0.4], 1.0, expected=1).passed(level=0.01)
    True
    """
    runs = [draws(h) for h in step_sizes] if callable(draws) else list(draws)
    tests = [mean_test(run, exact) for run in runs]
    for h, test in zip(step_sizes, tests, strict=True):
        if np.shape(test.z) != ():
            raise ValueError(
                "kg.laws.step_error_study: draws of one observable must have the shape (chain, "
                f"draw), got further axes of shape {np.shape(test.z)} at the step size {h:g}"
            )
    return order_fit(
        step_sizes,
        [float(t.mean - t.expected) for t in tests],
        [float(t.mcse) for t in tests],
        expected=expected,
        tolerance=tolerance,
    )


@public
def error_law(draws: Any, *, tolerance: float = 0.05, min_blocks: int = 64) -> PowerLaw:
    """Test whether the error of an average falls as n^(-1/2).

    The chains are cut into blocks of n draws, and the slope of log sd(block mean) over log n is
    fitted. n begins at twenty autocorrelation times and doubles. For the same draws the logarithms
    of the variances of m and of m' < m block means have the covariance 2 / m, which gives the
    weights.

    Parameters
    ----------
    draws
        Draws of shape (chain, draw).
    tolerance
        The largest distance of the slope from -1/2.
    min_blocks
        The smallest number of blocks for the longest block length.

    Examples
    --------
    >>> from kinetograph import laws
    >>> x = laws.autoregression(0.5, chains=64, draws=40_000, seed=1)
    >>> laws.error_law(x).passed(level=1e-3)
    True
    """
    x = as_draws(draws, "error_law")
    if x.ndim != 2:
        raise ValueError(
            f"kg.laws.error_law: draws must have the shape (chain, draw), got {x.shape}"
        )
    test = mean_test(x, 0.0)
    tau = max(1.0, x.size / float(test.ess))
    x = x - x.mean()
    lengths, variances, counts = [], [], []
    n = 2 ** math.ceil(math.log2(20 * tau))
    while n <= x.shape[1] and x.shape[0] * (x.shape[1] // n) >= min_blocks:
        blocks = x[:, : x.shape[1] // n * n].reshape(len(x), -1, n).mean(-1)
        lengths.append(n)
        variances.append(float((blocks**2).mean()))
        counts.append(blocks.size)
        n *= 2
    if len(lengths) < 3:
        raise ValueError(
            f"kg.laws.error_law: {x.shape[0]} chains of {x.shape[1]} draws with an autocorrelation "
            f"time of {tau:.1f} give {len(lengths)} block lengths, but three are needed"
        )
    m = np.array(counts, float)
    covariance = 0.5 / np.maximum(m[:, None], m)  # of log sd: a quarter of log variance's
    sd = np.sqrt(variances)
    slope, error, intercept = _line(np.log(lengths), np.log(sd), covariance)
    errors = sd * np.sqrt(np.diag(covariance))
    return PowerLaw(
        slope,
        error,
        math.exp(intercept),
        -0.5,
        tolerance,
        np.array(lengths, float),
        sd,
        errors,
        "slope",
    )
