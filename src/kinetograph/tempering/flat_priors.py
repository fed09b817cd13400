"""Unknowns with a flat prior, and priors that may take its place."""

import numpy as np

from ..distributions.support import (
    CholeskyCorrelation,
    CholeskyCovariance,
    CorrelationMatrix,
    CovarianceMatrix,
    Interval,
    Ordered,
    Simplex,
)
from ..distributions.variable import Variable
from ..graph.messages import describe, site_text
from ..graph.node import Data, Node
from ..models.model import Model

__all__ = ["fault_of_flat"]

_MAKERS = {
    Simplex: "simplex_variable",
    Ordered: "ordered_variable",
    CholeskyCorrelation: "cholesky_variable",
    CholeskyCovariance: "cholesky_variable",
    CorrelationMatrix: "correlation_variable",
    CovarianceMatrix: "covariance_variable",
}


def fault_of_flat(model: Model, unknown: Variable) -> str:
    """The fault of a flat prior, with a distribution of its support."""
    name, maker = model.name(unknown), _MAKERS.get(type(unknown.support), "variable")
    start = f"{name}{site_text(unknown)} is a kg.{maker}, whose "
    advice = model._prior_hint(name, _example(unknown))
    if maker != "ordered_variable":
        return (
            f"{start}prior is flat: it has no draws from which particles could start, and no "
            f"evidence. {advice}"
        )
    return (
        f"{start}own prior is flat: it has no draws from which particles could start, and a "
        f"density by kg.factor has none either. {advice}, with the mean and sd of your prior, and "
        "without that factor"
    )


def _example(unknown: Variable) -> str:
    """A distribution with the support of an unknown."""
    support, shape = unknown.support, unknown.shape
    match support:
        case Ordered():
            numbers = "half_normal(10" if support.positive else "normal(0, 10"
            sizes = shape[0] if len(shape) == 1 else shape
            return f"kg.sort(kg.{numbers}, shape={sizes}))"
        case Simplex():
            return f"kg.dirichlet(np.ones({shape[-1]}))"
        case CholeskyCorrelation():
            return f"kg.lkj_cholesky(2, {shape[-1]})"
        case CorrelationMatrix():
            return f"kg.lkj_correlation(2, {shape[-1]})"
        case CholeskyCovariance() | CovarianceMatrix():
            n, factor = shape[-1], isinstance(support, CholeskyCovariance)
            rest = "kg.lkj_cholesky" if factor else "sd * kg.lkj_correlation"
            return f"sd[:, None] * {rest}(2, {n}) with sd = kg.half_normal(10, shape={n})"
        case Interval():
            return _between(_bound(support.lower), _bound(support.upper))
    return "kg.normal(0, 10)"


def _between(low: str, high: str) -> str:
    if low == high == "None":
        return "kg.normal(0, 10)"
    if low == "0" and high == "None":
        return "kg.half_normal(10)"
    if "None" in (low, high):
        return f"kg.normal(0, 10, truncation=({low}, {high}))"
    return f"kg.uniform({low}, {high})"


def _bound(bound: object) -> str:
    """A bound in an expression."""
    value = bound.value if isinstance(bound, Data) else bound
    if isinstance(value, Node):
        return describe(value)
    array = np.asarray(value)
    if np.isinf(array).all():
        return "None"
    return f"{array.flat[0]:g}" if (array == array.flat[0]).all() else "..."
