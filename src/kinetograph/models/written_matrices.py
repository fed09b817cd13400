"""Matrices whose elements are written out.

A matrix is a list of rows, whose elements are numbers or arrays. Products with the numbers 0.0 and
1.0 are left out.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

__all__ = [
    "Matrix",
    "Vector",
    "cholesky",
    "dot",
    "matrix_difference",
    "matrix_product",
    "matrix_sum",
    "matrix_vector",
    "number_difference",
    "number_product",
    "number_quotient",
    "number_sum",
    "outer_product",
    "scaled_vector",
    "solve_lower",
    "solve_upper",
    "symmetric_product",
    "transposed",
    "vector_difference",
    "vector_sum",
]

Vector = Sequence[Any]
Matrix = Sequence[Vector]


def _is(number: Any, value: float) -> bool:
    return isinstance(number, float) and number == value


def number_product(a: Any, b: Any) -> Any:
    """The product a b of numbers."""
    if _is(a, 0.0) or _is(b, 0.0):
        return 0.0
    return b if _is(a, 1.0) else a if _is(b, 1.0) else a * b


def number_sum(a: Any, b: Any) -> Any:
    """The sum a + b of numbers."""
    return b if _is(a, 0.0) else a if _is(b, 0.0) else a + b


def number_difference(a: Any, b: Any) -> Any:
    """The difference a - b of numbers."""
    return a if _is(b, 0.0) else a - b


def number_quotient(a: Any, b: Any) -> Any:
    """a / b; 0 where b is 0."""
    return jnp.where(b == 0, 0.0, a / jnp.where(b == 0, 1.0, b))


def dot(a: Vector, b: Vector) -> Any:
    """The product a' b of vectors."""
    result: Any = 0.0
    for one, other in zip(a, b, strict=True):
        result = number_sum(result, number_product(one, other))
    return result


def vector_sum(a: Vector, b: Vector) -> list[Any]:
    """The sum a + b of vectors."""
    return [number_sum(*pair) for pair in zip(a, b, strict=True)]


def vector_difference(a: Vector, b: Vector) -> list[Any]:
    """The difference a - b of vectors."""
    return [number_difference(*pair) for pair in zip(a, b, strict=True)]


def scaled_vector(a: Vector, factor: Any) -> list[Any]:
    """The product of a vector and a number."""
    return [number_product(each, factor) for each in a]


def matrix_vector(a: Matrix, b: Vector) -> list[Any]:
    """The product A b of a matrix and a vector."""
    return [dot(row, b) for row in a]


def transposed(a: Matrix) -> list[list[Any]]:
    """The transposed matrix A'."""
    return [list(row) for row in zip(*a, strict=True)]


def matrix_product(a: Matrix, b: Matrix) -> list[list[Any]]:
    """The product A B of matrices."""
    return [[dot(row, column) for column in transposed(b)] for row in a]


def symmetric_product(a: Matrix, b: Matrix) -> list[list[Any]]:
    """A' B, which is symmetric."""
    left, right = transposed(a), transposed(b)
    lower = [[dot(row, right[j]) for j in range(i + 1)] for i, row in enumerate(left)]
    return [[lower[max(i, j)][min(i, j)] for j in range(len(left))] for i in range(len(left))]


def matrix_sum(a: Matrix, b: Matrix) -> list[list[Any]]:
    """The sum A + B of matrices."""
    return [vector_sum(*rows) for rows in zip(a, b, strict=True)]


def matrix_difference(a: Matrix, b: Matrix) -> list[list[Any]]:
    """The difference A - B of matrices."""
    return [vector_difference(*rows) for rows in zip(a, b, strict=True)]


def outer_product(a: Vector, b: Vector, factor: Any) -> list[list[Any]]:
    """The matrix a b' times a number."""
    return [[number_product(number_product(one, factor), other) for other in b] for one in a]


def cholesky(a: Matrix) -> list[list[Any]]:
    """The lower factor, with zeros above the diagonal."""
    root: list[list[Any]] = [[0.0] * len(a) for _ in a]
    for i in range(len(a)):
        for j in range(i + 1):
            rest = number_difference(a[i][j], dot(root[i][:j], root[j][:j]))
            root[i][j] = jnp.sqrt(rest) if i == j else number_product(rest, 1.0 / root[j][j])
    return root


def solve_lower(root: Matrix, right: Vector) -> list[Any]:
    """The solution of L x = b, where L is `root`."""
    x: list[Any] = []
    for row, value in zip(root, right, strict=True):
        x.append(number_product(number_difference(value, dot(row[: len(x)], x)), 1.0 / row[len(x)]))
    return x


def solve_upper(root: Matrix, right: Vector) -> list[Any]:
    """The solution of L' x = b, where L is `root`."""
    turned = [row[::-1] for row in transposed(root)][::-1]
    return solve_lower(turned, right[::-1])[::-1]
