"""Vectors with missing elements: the log density of the observed elements.

    log p(x_seen | parameters) = log integral p(x_seen, x_missing | parameters) dx_missing

The observed elements of a normal vector are normal, with the corresponding rows and columns of the
covariance. The observed elements of Student's t have the same degrees of freedom. The model has the
density of the whole vectors, as a factor for the missing elements; the functions here serve
`kg.log_likelihood`.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..distributions.cauchy import LOG_PI
from ..distributions.multivariate_normal import log_diagonal
from ..distributions.normal import HALF_LOG_2PI
from ..graph.node import Apply, Data, Node, Operation, ancestors
from ..graph.numerics.gammas import log_rising
from ..graph.numerics.small_matrices import triangular_solve

__all__ = ["observed_alone", "with_observed"]


def with_observed(density: Apply, observed: np.ndarray, label: str | None) -> Apply:
    """The log density of vectors, with a mask of the observed elements."""
    attributes = {**density.attributes, "observed": observed, "label": label}
    return Apply(density.operation, density.parents, density.shape, density.dtype, attributes)


def observed_alone(factor: Node) -> Apply | None:
    """The log densities of vectors with observed elements only.

    There is one for each vector that has an observed element. None if the factor is not of such
    vectors, or if its family has no such density.
    """
    if not isinstance(factor, Apply) or "observed" not in factor.attributes:
        return None
    family, observed = factor.attributes["family"], factor.attributes["observed"]
    if family not in _OBSERVED:
        return None
    rows = np.flatnonzero(observed.any(-1))
    parameters = factor.parents[1 : len(factor.parents) - len(factor.attributes["forms"])]
    values = [n for n in ancestors(factor.parents[:1]) if isinstance(n, Data) and not n.literal]
    node = Apply(
        _OBSERVED[family],
        (*values, *parameters),
        (len(rows),),
        factor.dtype,
        {"observed": observed, "rows": rows},
    )
    label = factor.attributes["label"]
    if label is not None:
        node.name, node.dims = f"{label}_seen_in_part", (f"{label}_seen_in_part_row",)
    return node


def _normal(values: Any, mean: Any, chol: Any, *, observed: np.ndarray, rows: np.ndarray) -> Any:
    squares, log_scale = _of_observed(values, mean, chol @ jnp.swapaxes(chol, -1, -2), observed)
    return (-0.5 * squares - log_scale - observed.sum(-1) * HALF_LOG_2PI)[rows]


def _by_precision(
    values: Any, mean: Any, chol: Any, *, observed: np.ndarray, rows: np.ndarray
) -> Any:
    inverse = triangular_solve(chol, jnp.broadcast_to(np.eye(chol.shape[-1]), chol.shape))
    squares, log_scale = _of_observed(
        values, mean, jnp.swapaxes(inverse, -1, -2) @ inverse, observed
    )
    return (-0.5 * squares - log_scale - observed.sum(-1) * HALF_LOG_2PI)[rows]


def _student(
    values: Any, df: Any, mean: Any, chol: Any, *, observed: np.ndarray, rows: np.ndarray
) -> Any:
    squares, log_scale = _of_observed(values, mean, chol @ jnp.swapaxes(chol, -1, -2), observed)
    df = jnp.broadcast_to(df, squares.shape)
    half = 0.5 * observed.sum(-1)
    constant = log_rising(0.5 * df, half) - half * (jnp.log(df) + LOG_PI)
    return (constant - (0.5 * df + half) * jnp.log1p(squares / df) - log_scale)[rows]


def _of_observed(values: Any, mean: Any, cov: Any, observed: np.ndarray) -> tuple[Any, Any]:
    """The squared distance, and the log determinant, of observed elements.

    These are (x - m)' C^-1 (x - m) and log |C| / 2, over the observed elements.

    Missing elements have a variance of 1.
    """
    x = jnp.zeros(observed.shape).at[observed].set(values)
    both = observed[:, :, None] & observed[:, None, :]
    chol = jnp.linalg.cholesky(jnp.where(both, cov, np.eye(observed.shape[-1])))
    z = triangular_solve(chol, jnp.where(observed, x - mean, 0.0)[..., None])[..., 0]
    return jnp.sum(z * z, -1), log_diagonal(chol)


_LOWER: dict[str, Callable[..., Any]] = {
    "multivariate_normal": _normal,
    "multivariate_normal_precision": _by_precision,
    "multivariate_student": _student,
}
_OBSERVED = {family: Operation(f"{family}_seen", lower) for family, lower in _LOWER.items()}
