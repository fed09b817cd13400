"""The outcome of a statistical test: score, p-value, and whether it passed."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri

from ..graph.public import public

__all__ = ["MeanTest", "PTest", "StatisticalTest"]

LEVEL = 1e-6  # the probability with which a right sampler fails a test


def _at_most_one(p: float) -> float:
    return 1.0 if p > 1 else p  # NaN stays NaN, which never passes


@public
class StatisticalTest:
    """A test that a right sampler fails with probability `level`.

    The default level is 1e-6. `z` is the score in standard errors, or an equivalent. `p_value` is
    the probability of a score that is as large, with Bonferroni's correction for several elements.
    """

    @property
    def z(self) -> np.ndarray:
        """The score of each element: the deviation in standard errors."""
        raise NotImplementedError

    @property
    def worst(self) -> float:
        """The largest |z|."""
        return float(np.abs(self.z).max())

    @property
    def p_value(self) -> float:
        """The probability of a score as large in any element."""
        return _at_most_one(np.size(self.z) * 2 * math.exp(float(log_ndtr(-self.worst))))

    def passed(self, level: float = LEVEL) -> bool:
        """Whether the p-value is at least `level`, the rate of false alarms."""
        return bool(self.p_value >= level)


@public
@dataclass(frozen=True, eq=False)
class MeanTest(StatisticalTest):
    """The test of means of draws against their exact values.

    `mean` and `expected` are compared. `mcse` is the standard error, including the one of the
    expected value, and `ess` the effective sample size. A test with fewer than `min_ess` effective
    draws does not pass, because its standard error is not reliable.
    """

    mean: np.ndarray
    expected: np.ndarray
    mcse: np.ndarray
    ess: np.ndarray
    min_ess: float = 400.0

    @property
    def z(self) -> np.ndarray:
        """(mean - expected) / mcse; NaN for draws that never change."""
        with np.errstate(all="ignore"):
            return np.where(self.mcse > 0, (self.mean - self.expected) / self.mcse, np.nan)

    def passed(self, level: float = LEVEL) -> bool:
        """Whether the p-value is at least `level` and there are enough draws."""
        return bool(np.min(self.ess) >= self.min_ess) and super().passed(level)

    def __repr__(self) -> str:
        z = np.ravel(self.z)
        i = int(np.argmax(np.where(np.isnan(z), np.inf, np.abs(z))))
        mean, expected, mcse, ess = (
            float(np.ravel(np.broadcast_to(v, np.shape(self.z)))[i])
            for v in (self.mean, self.expected, self.mcse, self.ess)
        )
        where = f" at element {i} of {len(z)}" if len(z) > 1 else ""
        few = f", fewer than {self.min_ess:.0f}" if ess < self.min_ess else ""
        return (
            f"MeanTest(mean {mean:.6g} +- {mcse:.2g}, expected {expected:.6g}, "
            f"z = {z[i]:+.2f}{where}, ess {ess:.0f}{few})"
        )


@public
@dataclass(frozen=True, eq=False)
class PTest(StatisticalTest):
    """A test whose outcome is a p-value for each of several statistics.

    `p_values` and `statistics` are dictionaries by name; `size` is the number of independent rows.
    """

    p_values: dict[str, float]
    statistics: dict[str, float]
    size: int
    kind: str

    @property
    def z(self) -> np.ndarray:
        """The normal scores with the same p-values."""
        p = np.array(list(self.p_values.values()))
        return -ndtri(p / 2)

    @property
    def p_value(self) -> float:
        """The smallest p-value, times the number of statistics."""
        return _at_most_one(len(self.p_values) * float(np.min(list(self.p_values.values()))))

    @property
    def worst_name(self) -> str:
        """The name of the statistic with the smallest p-value."""
        return min(self.p_values, key=lambda name: np.nan_to_num(self.p_values[name], nan=-1.0))

    def __repr__(self) -> str:
        name = self.worst_name
        worst = f" ({name}, the worst of {len(self.p_values)})" if len(self.p_values) > 1 else ""
        return (
            f"{self.kind}(p = {self.p_value:.3g}, statistic {self.statistics[name]:.4g}{worst}, "
            f"{self.size} rows)"
        )
