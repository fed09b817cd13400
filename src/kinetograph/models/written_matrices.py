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
    "added",
    "cholesky",
    "difference",
    "dot",
    "minus",
    "multiplied",
    "outer",
    "plus",
    "product",
    "quotient",
    "scaled",
    "solved",
    "solved_transposed",
    "subtracted",
    "symmetric",
    "times",
    "total",
    "transposed",
]

Vector = Sequence[Any]
Matrix = Sequence[Vector]


def _is(number: Any, value: float) -> bool:
    return isinstance(number, float) and number == value


def product(a: Any, b: Any) -> Any:
    if _is(a, 0.0) or _is(b, 0.0):
        return 0.0
    return b if _is(a, 1.0) else a if _is(b, 1.0) else a * b


def total(a: Any, b: Any) -> Any:
    return b if _is(a, 0.0) else a if _is(b, 0.0) else a + b


def difference(a: Any, b: Any) -> Any:
    return a if _is(b, 0.0) else a - b


def quotient(a: Any, b: Any) -> Any:
    """a / b; 0 where b is 0."""
    return jnp.where(b == 0, 0.0, a / jnp.where(b == 0, 1.0, b))


def dot(a: Vector, b: Vector) -> Any:
    result: Any = 0.0
    for one, other in zip(a, b, strict=True):
        result = total(result, product(one, other))
    return result


def plus(a: Vector, b: Vector) -> list[Any]:
    return [total(*pair) for pair in zip(a, b, strict=True)]


def minus(a: Vector, b: Vector) -> list[Any]:
    return [difference(*pair) for pair in zip(a, b, strict=True)]


def scaled(a: Vector, factor: Any) -> list[Any]:
    return [product(each, factor) for each in a]


def times(a: Matrix, b: Vector) -> list[Any]:
    return [dot(row, b) for row in a]


def transposed(a: Matrix) -> list[list[Any]]:
    return [list(row) for row in zip(*a, strict=True)]


def multiplied(a: Matrix, b: Matrix) -> list[list[Any]]:
    return [[dot(row, column) for column in transposed(b)] for row in a]


def symmetric(a: Matrix, b: Matrix) -> list[list[Any]]:
    """A' B, which is symmetric."""
    left, right = transposed(a), transposed(b)
    lower = [[dot(row, right[j]) for j in range(i + 1)] for i, row in enumerate(left)]
    return [[lower[max(i, j)][min(i, j)] for j in range(len(left))] for i in range(len(left))]


def added(a: Matrix, b: Matrix) -> list[list[Any]]:
    return [plus(*rows) for rows in zip(a, b, strict=True)]


def subtracted(a: Matrix, b: Matrix) -> list[list[Any]]:
    return [minus(*rows) for rows in zip(a, b, strict=True)]


def outer(a: Vector, b: Vector, factor: Any) -> list[list[Any]]:
    return [[product(product(one, factor), other) for other in b] for one in a]


def cholesky(a: Matrix) -> list[list[Any]]:
    """The lower factor, with zeros above the diagonal."""
    root: list[list[Any]] = [[0.0] * len(a) for _ in a]
    for i in range(len(a)):
        for j in range(i + 1):
            rest = difference(a[i][j], dot(root[i][:j], root[j][:j]))
            root[i][j] = jnp.sqrt(rest) if i == j else product(rest, 1.0 / root[j][j])
    return root


def solved(root: Matrix, right: Vector) -> list[Any]:
    x: list[Any] = []
    for row, value in zip(root, right, strict=True):
        x.append(product(difference(value, dot(row[: len(x)], x)), 1.0 / row[len(x)]))
    return x


def solved_transposed(root: Matrix, right: Vector) -> list[Any]:
    turned = [row[::-1] for row in transposed(root)][::-1]
    return solved(turned, right[::-1])[::-1]
