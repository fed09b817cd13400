"""The value of a matrix for arbitrary values of its unknowns.

A matrix that is symmetric, or lower triangular, for all values of its unknowns is so for arbitrary
values inside of their supports. So one evaluation shows that a product such as `kg.diag(s) @ R` is
not a covariance. Matrices of branches, loops and streams, and large matrices, are not evaluated.
"""

from typing import Any

import jax
import numpy as np

from ..graph.forms.representations import represent
from ..graph.lower import Scope, evaluate
from ..graph.node import Apply, Bundle, Data, Node, ancestors
from ..graph.operations.shaping import DIAG
from ..graph.precision import x64
from .support import (
    CholeskyCorrelation,
    CholeskyCovariance,
    CorrelationMatrix,
    CovarianceMatrix,
    Interval,
    Ordered,
    Simplex,
    Support,
    ZeroSum,
)
from .variable import Variable

__all__ = ["differs", "surely_symmetric", "trial_value"]

MOST_NODES = 300
MOST_ELEMENTS = 1_000_000  # of all nodes together
TOLERANCE = 0.05  # of the largest element
_SYMMETRIC = (CorrelationMatrix, CovarianceMatrix)


def surely_symmetric(node: Node) -> bool:
    """Whether the form of an expression shows that the matrix is symmetric."""
    if isinstance(node, Data):
        return not differs(node.value, np.swapaxes(node.value, -1, -2)).any()
    if isinstance(node, Variable):
        return isinstance(node.support, _SYMMETRIC)
    if not isinstance(node, Apply):
        return False
    if node.operation is DIAG and len(node.parents[0].shape) == 1:
        return bool(node.attributes["k"] == 0)
    if represent(node, "cholesky") is not None:
        return True
    return node.operation.elementwise and all(
        set(parent.shape[-2:]) <= {1}
        or (parent.shape[-2:] == node.shape[-2:] and surely_symmetric(parent))
        for parent in node.parents
    )


def trial_value(node: Node) -> np.ndarray | None:
    """The value for arbitrary values of the unknowns.

    None if the matrix is not evaluated.
    """
    nodes = ancestors([node])
    if len(nodes) > MOST_NODES or sum(n.size for n in nodes) > MOST_ELEMENTS:
        return None
    rng = np.random.default_rng(0)
    values: dict[Node, Any] = {}
    for each in nodes:
        if isinstance(each, Variable):
            value = None if each.dtype.kind != "f" else _inside(each.support, each.shape, rng)
            if value is None:
                return None
            values[each] = value.astype(each.dtype)
        elif each.context is not None or not _is_plain(each):
            return None
    with jax.ensure_compile_time_eval(), x64():
        return np.asarray(evaluate([node], values, scope=Scope(eager=True))[node])


def differs(value: np.ndarray, other: np.ndarray) -> np.ndarray:
    """A mask of the elements that differ by more than rounding errors.

    The inverse of a matrix that is nearly singular has rounding errors of several percent.
    """
    with np.errstate(invalid="ignore"):
        size = np.where(np.isfinite(value), np.abs(value), 0.0)
        size = size.max((-2, -1), keepdims=True, initial=0.0)
        return np.abs(value - other) > TOLERANCE * size  # False for NaN


def _is_plain(node: Node) -> bool:
    if isinstance(node, Apply):
        return not node.operation.ambient
    return type(node) is Bundle or isinstance(node, Data)


def _inside(support: Support, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """An arbitrary value inside a support; None for rare supports."""
    u = rng.uniform(0.5, 1.5, shape)
    match support:
        case Interval(lower=lower, upper=upper):
            if isinstance(lower, Node) or isinstance(upper, Node):
                return None
            with np.errstate(invalid="ignore"):
                between = lower + (np.asarray(upper) - lower) * u / 2
            return np.select(
                [np.isfinite(between), np.isfinite(lower), np.isfinite(upper)],
                [between, lower + u, upper - u],
                u,
            )
        case Simplex():
            return u / u.sum(-1, keepdims=True)
        case Ordered():
            return np.cumsum(u, -1)
        case ZeroSum():
            return u - u.mean(-1, keepdims=True)
        case CholeskyCovariance() | CovarianceMatrix():
            factor = np.tril(u)
        case CholeskyCorrelation() | CorrelationMatrix():
            factor = np.tril(u)
            factor /= np.sqrt((factor**2).sum(-1, keepdims=True))
        case _:
            return None
    return factor @ np.swapaxes(factor, -1, -2) if isinstance(support, _SYMMETRIC) else factor
