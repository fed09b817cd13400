"""Functions composed of other operations: links and functions of matrices."""

import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Node
from .elementwise import elementwise, floating, minus, times, where
from .indexing import index
from .linear_algebra import matmul, solve_triangular
from .operands import Operand, as_node
from .reductions import reduce, softmax
from .shaping import broadcast_to, concatenate, diagonal, expand_dims, swapaxes

__all__ = [
    "chol_inverse",
    "chol_outer",
    "cov2cor",
    "imultilogit",
    "pairwise_distance",
]


def imultilogit(x: Operand) -> Node:
    """Probabilities of m + 1 classes, from m values.

    The result is the softmax of the last axis with a 0 appended.
    """
    node = floating(x, "imultilogit")
    if not node.shape:
        raise ShapeError(f"imultilogit of {describe(node)}: needs at least one axis")
    zero = broadcast_to(np.zeros((), node.dtype), (*node.shape[:-1], 1))
    return softmax(concatenate([node, zero], -1), -1)


def chol_outer(factor: Operand) -> Node:
    """L @ L.T: the matrix whose lower Cholesky factor is given."""
    return matmul(factor, swapaxes(factor, -1, -2))


def chol_inverse(factor: Operand) -> Node:
    """The inverse of L @ L.T, given its lower Cholesky factor L."""
    node = as_node(factor, "chol_inverse")
    if len(node.shape) < 2:
        raise ShapeError(f"chol_inverse of {describe(node)}: needs a matrix, got {node.shape}")
    half = solve_triangular(node, np.eye(node.shape[-1]), lower=True)
    return matmul(swapaxes(half, -1, -2), half)


def cov2cor(covariance: Operand) -> Node:
    """The correlations of a covariance matrix."""
    node = as_node(covariance, "cov2cor")
    sd = elementwise("sqrt", diagonal(node, 0, -2, -1))
    return elementwise("divide", node, times(expand_dims(sd, -1), expand_dims(sd, -2)))


def pairwise_distance(x: Operand, y: Operand | None = None) -> Node:
    """The Euclidean distances between the rows of two matrices.

    `y` is `x` by default. The gradient is 0 where rows are equal.
    """
    rows = floating(x, "pairwise_distance")
    other_rows = rows if y is None else floating(y, "pairwise_distance")
    if len(rows.shape) != 2 or len(other_rows.shape) != 2 or rows.shape[1] != other_rows.shape[1]:
        raise ShapeError(
            "pairwise_distance: needs two matrices with equally many columns, got "
            f"{describe(rows)} {rows.shape} and {describe(other_rows)} {other_rows.shape}"
        )
    all_columns = slice(None)
    difference = minus(
        index(rows, (all_columns, None, all_columns)),
        index(other_rows, (None, all_columns, all_columns)),
    )
    squares = reduce("sum", elementwise("square", difference), -1)
    if y is not None:
        return elementwise("root", squares)
    # The distance of a row from itself is constant 0, so all its derivatives are 0.
    is_same_row = np.eye(rows.shape[0], dtype=bool)
    return where(is_same_row, 0.0, elementwise("root", where(is_same_row, 1.0, squares)))
