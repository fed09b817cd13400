"""Default priors by the rules of bambi or brms.

A rule is a function of `Unknown`, which says what an unknown is, and returns the unknown with its
prior. `s` is the standard deviation of the response, and `m` its mean, for the families gaussian,
student, skew_normal and asym_laplace; for all other families s = 1 and m = 0. `sd(x)` is the
standard deviation of a column.

The rules of bambi (https://bambinos.github.io/bambi, `priors/scaler.py`), with s' = 1 and slopes of
scale 1 / sd(x) and 1, intercepts of scale 1.5, for bernoulli and binomial with logit and probit:

    Intercept            normal(m, sqrt((2.5 s)^2 + sum_x scale(x)^2 mean(x)^2))
    b of x               normal(0, 2.5 s / sd(x))
    sd of effects        half_normal, with the scale that the same population effect has
    sd of s(x)           half_normal(2.5 s): bambi does not have this term
    formulas of further parameters: normal(0, 1), half_normal(1)

The rules of brms (P.-C. Bürkner, Journal of Statistical Software 80(1), 2017; `get_prior`), with
m the median of the response on the scale of the link, and s = max(2.5, its scaled MAD):

    Intercept            student(3, m, s)
    b                    flat
    sd of effects        half_student(3, s); of s(x), too
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import optimize, stats

from ..distributions import (
    beta,
    dirichlet,
    exponential,
    gamma,
    half_cauchy,
    half_normal,
    half_student,
    inverse_gamma,
    lkj_correlation,
    normal,
    student,
)
from ..distributions.increasing import increasing_like
from ..distributions.support import Ordered
from ..distributions.variable import Variable
from ..graph.array import Array
from ..models.variables import variable
from ..results.deviations import deviations

__all__ = ["RULES", "Scales", "Unknown", "ordered_as"]


@dataclass(frozen=True)
class Scales:
    """Scales of the response that default priors use."""

    mean: float = 0.0
    sd: float = 1.0
    median: float = 0.0  # on the scale of the link
    mad: float = 2.5
    unit: bool = False  # bernoulli or binomial with logit or probit


@dataclass(frozen=True)
class Unknown:
    """An unknown that needs a prior.

    Attributes
    ----------
    kind
        What it is: "Intercept", "b", "sd", "cor", or the name of a parameter.
    name, shape, dims
        As for a distribution.
    main
        Whether it belongs to the first parameter of the family, or to no formula.
    columns
        The columns of numbers that effects multiply, (rows, effects).
    categories
        Whether all these columns are indicators of categories.
    """

    kind: str
    name: str
    scales: Scales
    shape: tuple[int, ...] = ()
    dims: Any = None
    main: bool = True
    columns: np.ndarray | None = None
    categories: bool = False
    slopes: tuple["Unknown", ...] = field(default=(), repr=False)

    @property
    def place(self) -> dict[str, Any]:
        """The shape, the dims and the name."""
        return {"shape": self.shape, "dims": self.dims, "name": self.name}


Rule = Callable[[Unknown], Array]


# bambi --------------------------------------------------------------------------------------------


def slope_scale(u: Unknown) -> Any:
    """The scale of the effects of columns."""
    if not u.main:
        return 1.0
    factor = 1.0 if u.scales.unit else 2.5 * u.scales.sd
    if u.columns is None or (u.scales.unit and u.categories):
        return factor
    sds = deviations(np.asarray(u.columns, float))
    scales = factor / np.where(sds > 0, sds, 1.0)
    return scales.reshape(u.shape) if u.shape else float(scales[0])


def intercept_scale(u: Unknown) -> float:
    """The scale of the intercept, or of its variation between groups."""
    variance = (2.5 * u.scales.sd) ** 2
    for slope in u.slopes:
        assert slope.columns is not None
        variance += float(np.sum(slope_scale(slope) ** 2 * slope.columns.mean(0) ** 2))
    return float(np.sqrt(variance))


def _intercept(u: Unknown) -> Array:
    if not u.main:
        return normal(0.0, 1.0, **u.place)
    return normal(u.scales.mean, 1.5 if u.scales.unit else intercept_scale(u), **u.place)


def _effect_scales(u: Unknown) -> Any:
    """The scales of group effects."""
    if not u.main:
        return 1.0
    assert u.columns is not None
    sds = deviations(u.columns)
    slopes = 2.5 * u.scales.sd / np.where(sds > 0, sds, 1.0)
    scales = np.where(sds > 0, slopes, intercept_scale(u))
    return scales.reshape(u.shape) if u.shape else float(scales[0])


def _bend_scale(u: Unknown) -> float:
    """The scale of the bends of a spline, which may multiply `columns`."""
    if not u.main:
        return 1.0
    size = 1.0 if u.columns is None else float(np.sqrt(np.mean(u.columns**2)))
    return 2.5 * u.scales.sd / (size or 1.0)


def ordered_as(prior: Array, u: Unknown, title: str) -> Array:
    """An unknown of ordered numbers that have a prior."""
    node = prior.node
    assert isinstance(node, Variable)
    if isinstance(node.support, Ordered):
        return prior
    return increasing_like(node, u.shape[0], title, dims=u.dims, name=u.name)


def _thresholds(u: Unknown) -> Array:
    means = np.round(np.linspace(-2, 2, u.shape[0]), 2)
    return ordered_as(normal(means, 1.0), u, "the prior")


BAMBI: dict[str, Rule] = {
    "Intercept": _intercept,
    "b": lambda u: normal(0.0, slope_scale(u), **u.place),
    "sd": lambda u: half_normal(_effect_scales(u), **u.place),
    "cor": lambda u: lkj_correlation(1.0, u.shape[-1], dims=u.dims, name=u.name),
    "thresholds": _thresholds,
    "free_thresholds": lambda u: normal(0.0, 1.0, **u.place),
    "simo": lambda u: dirichlet(np.ones(u.shape), dims=u.dims, name=u.name),
    "sdgp": lambda u: exponential(1.0, **u.place),
    "sds": lambda u: half_normal(_bend_scale(u), **u.place),
    "lscale": lambda u: inverse_gamma(3.0, 2.0, **u.place),
    "sigma": lambda u: half_student(4.0, u.scales.sd, **u.place),
    "nu": lambda u: gamma(2.0, 0.1, **u.place),
    "alpha": lambda u: normal(0.0, 4.0, **u.place),
    "quantile": lambda u: beta(1.0, 1.0, **u.place),
    "shape": lambda u: half_cauchy(1.0, **u.place),
    "phi": lambda u: half_cauchy(1.0, **u.place),
    "kappa": lambda u: half_student(4.0, u.scales.sd, **u.place),
    "zi": lambda u: beta(2.0, 2.0, **u.place),
    "hu": lambda u: beta(2.0, 2.0, **u.place),
}


# brms ---------------------------------------------------------------------------------------------


def _length_prior(u: Unknown) -> Array:
    """An inverse gamma prior of lengths between the distances of points.

    It has 1 % below the smallest distance and 1 % above the largest distance.
    """
    assert u.columns is not None
    points = np.unique(u.columns, axis=0)
    points = points[:: max(1, len(points) // 500)]
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    high = distances.max()
    low = max(distances[distances > 0].min(), 0.01 * high)

    def misfit(logs: np.ndarray) -> list[float]:
        law = stats.invgamma(np.exp(logs[0]), scale=np.exp(logs[1]))
        return [law.logcdf(low) - np.log(0.01), law.logsf(high) - np.log(0.01)]

    solution = optimize.root(misfit, [0.0, 0.0])
    alpha, scale = np.exp(solution.x) if solution.success else (3.0, high)
    return inverse_gamma(float(alpha), float(scale), **u.place)


BRMS: dict[str, Rule] = {
    **BAMBI,
    "Intercept": lambda u: student(
        3.0, u.scales.median if u.main else 0.0, u.scales.mad if u.main else 2.5, **u.place
    ),
    "b": lambda u: variable(shape=u.shape, dims=u.dims, name=u.name),
    "sd": lambda u: half_student(3.0, u.scales.mad if u.main else 2.5, **u.place),
    "thresholds": lambda u: ordered_as(student(3.0, 0.0, 2.5), u, "the prior"),
    "free_thresholds": lambda u: student(3.0, 0.0, 2.5, **u.place),
    "sdgp": lambda u: half_student(3.0, u.scales.mad, **u.place),
    "sds": lambda u: half_student(3.0, u.scales.mad if u.main else 2.5, **u.place),
    "lscale": _length_prior,
    "sigma": lambda u: half_student(3.0, u.scales.mad, **u.place),
    "shape": lambda u: gamma(0.01, 0.01, **u.place),
    "phi": lambda u: gamma(0.01, 0.01, **u.place),
    "kappa": lambda u: gamma(2.0, 0.01, **u.place),
    "zi": lambda u: beta(1.0, 1.0, **u.place),
    "hu": lambda u: beta(1.0, 1.0, **u.place),
}
RULES = {"bambi": BAMBI, "brms": BRMS}
