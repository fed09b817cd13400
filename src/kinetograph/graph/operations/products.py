"""Products and norms of arrays, and functions of singular values."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ShapeError, SymbolicError
from ..messages import describe
from ..node import Apply, Node, Operation
from .build_time_values import known_number
from .elementwise import astype, elementwise, floating, minus, plus, times, where
from .indexing import index
from .linear_algebra import dot, factors, inv, matmul
from .operands import Operand, as_node
from .reductions import Axis, normalise_axes, reduce
from .shaping import broadcast_to, expand_dims, reshape, stack, transpose

__all__ = [
    "cross",
    "lstsq",
    "matrix_power",
    "multi_dot",
    "norm",
    "pinv",
    "svdvals",
    "tensordot",
    "vdot",
    "vecdot",
    "vector_norm",
]

PINV = Operation("pinv", lambda a, *, rcond: jnp.linalg.pinv(a, rtol=rcond))


def tensordot(a: Operand, b: Operand, axes: Any = 2) -> Node:
    """The sum of products over axes of both arrays, as numpy.tensordot.

    An integer `axes` selects the last axes of a and the first axes of b.
    """
    x, y = as_node(a, "tensordot"), as_node(b, "tensordot")
    if isinstance(axes, (int, np.integer)):
        count = int(axes)
        if not 0 <= count <= min(len(x.shape), len(y.shape)):
            raise ShapeError(
                f"tensordot: {count} axes of {describe(x)}, shape {x.shape}, and {describe(y)}, "
                f"shape {y.shape}"
            )
        pairs = [list(range(len(x.shape) - count, len(x.shape))), list(range(count))]
    else:
        pairs = [list(p) if isinstance(p, Sequence) else [p] for p in axes]
    summed_axes = []
    for node, node_axes in zip((x, y), pairs, strict=True):
        normalise_axes(node, tuple(node_axes), "tensordot")
        summed_axes.append([int(i) % len(node.shape) for i in node_axes])
    sizes = [
        [n.shape[i] for i in node_axes] for n, node_axes in zip((x, y), summed_axes, strict=True)
    ]
    if sizes[0] != sizes[1]:
        raise ShapeError(
            f"tensordot: axes of {describe(x)} of lengths {sizes[0]}, and of {describe(y)} of "
            f"{sizes[1]}"
        )
    free_axes = [
        [i for i in range(len(n.shape)) if i not in o] for n, o in zip((x, y), summed_axes)
    ]
    shapes = [tuple(n.shape[i] for i in f) for n, f in zip((x, y), free_axes)]
    inner = int(np.prod(sizes[0]))
    rows = reshape(transpose(x, (*free_axes[0], *summed_axes[0])), (int(np.prod(shapes[0])), inner))
    columns = reshape(
        transpose(y, (*summed_axes[1], *free_axes[1])), (inner, int(np.prod(shapes[1])))
    )
    return reshape(matmul(rows, columns), (*shapes[0], *shapes[1]))


def vdot(a: Operand, b: Operand) -> Node:
    """The sum of the products of all elements."""
    return dot(reshape(a, (-1,)), reshape(b, (-1,)))


def vecdot(a: Operand, b: Operand, axis: int = -1) -> Node:
    """The sum of products along an axis of both arrays."""
    products = times(a, b)
    return astype(reduce("sum", products, axis), products.dtype)


def cross(a: Operand, b: Operand, axis: int = -1) -> Node:
    """The vector product of vectors of three numbers along an axis."""
    x, y = as_node(a, "cross"), as_node(b, "cross")
    parts = []
    for node in (x, y):
        (i,) = normalise_axes(node, axis, "cross")
        if node.shape[i] != 3:
            raise ShapeError(f"cross of {describe(node)}, shape {node.shape}: needs 3 numbers")
        parts.append([index(node, (*(slice(None),) * i, k)) for k in range(3)])
    (a0, a1, a2), (b0, b1, b2) = parts

    def minor(p: Node, q: Node, r: Node, s: Node) -> Node:
        return minus(times(p, q), times(r, s))

    components = [minor(a1, b2, a2, b1), minor(a2, b0, a0, b2), minor(a0, b1, a1, b0)]
    return stack(components, axis)


def matrix_power(a: Operand, n: int) -> Node:
    """The n-th power of a matrix.

    For n < 0, it is a power of the inverse matrix.
    """
    node = as_node(a, "matrix_power")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise SymbolicError(f"matrix_power: the exponent must be a whole number, got {n!r}")
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(f"matrix_power of {describe(node)}: needs square matrices, {node.shape}")
    if n < 0:
        return matrix_power(inv(node), -int(n))
    square, remaining_power = node, int(n)
    result: Node | None = None
    while remaining_power:
        if remaining_power & 1:
            result = square if result is None else matmul(result, square)
        remaining_power >>= 1
        if remaining_power:
            square = matmul(square, square)
    if result is None:
        eye = np.broadcast_to(np.eye(node.shape[-1], dtype=node.dtype), node.shape)
        return plus(eye, times(0, node))
    return result


def multi_dot(arrays: Sequence[Operand]) -> Node:
    """The product of matrices, computed from left to right."""
    product, *factors_left = [as_node(a, "multi_dot") for a in arrays]
    for node in factors_left:
        product = dot(product, node)
    return product


def svdvals(x: Operand) -> Node:
    """The singular values, in descending order."""
    values: Node = factors("svd", x)[1]
    return values


def pinv(a: Operand, rcond: float | None = None, *, rtol: float | None = None) -> Node:
    """The pseudo-inverse of a matrix.

    Singular values up to rcond times the largest count as 0. Derivatives are taken at a fixed rank
    (Golub and Pereyra, 1973).
    """
    node = floating(a, "pinv")
    if len(node.shape) < 2:
        raise ShapeError(f"pinv of {describe(node)}: needs a matrix, got shape {node.shape}")
    limit = rcond if rtol is None else rtol
    *batch, rows, columns = node.shape
    shape = (*batch, columns, rows)
    if not node.size:
        return broadcast_to(astype(0.0, node.dtype), shape)
    usual = max(rows, columns) * float(np.finfo(node.dtype).eps)
    attributes = {"rcond": usual if limit is None else known_number(limit, "pinv: rcond")}
    return Apply(PINV, (node,), shape, node.dtype, attributes)


def lstsq(a: Operand, b: Operand, rcond: float | None = None) -> tuple[Node, Node, Node, Node]:
    """Least squares: the solution, sum of squares, rank and singular values.

    The solution is the shortest x that minimises the sum of squares of b - a @ x. As in NumPy, the
    sum is empty if a does not have more rows than columns. For a matrix of low rank, where NumPy
    returns no sum, the sum is returned here.
    """
    x, y = floating(a, "lstsq"), floating(b, "lstsq")
    if len(x.shape) != 2 or len(y.shape) not in (1, 2) or y.shape[0] != x.shape[0]:
        raise ShapeError(
            f"lstsq: needs a matrix and a right side with as many rows, got {describe(x)} of shape "
            f"{x.shape} and {describe(y)} of shape {y.shape}"
        )
    rows, columns = x.shape
    eps = float(np.finfo(x.dtype).eps)
    limit = eps * max(rows, columns) if rcond is None else known_number(rcond, "lstsq: rcond")
    limit = limit if limit >= 0 else eps
    solution = matmul(pinv(x, limit), y)
    residuals = minus(y, matmul(x, solution))
    squares = reshape(reduce("sum", elementwise("square", residuals), 0), (-1,))
    if rows <= columns:
        squares = index(squares, slice(0, 0))
    values = svdvals(x)
    is_large = elementwise("greater", values, times(limit, index(values, 0)))
    return solution, squares, reduce("sum", is_large), values


def vector_norm(x: Operand, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Node:
    """The norm of order `ord`.

    It is (sum of abs(x) ** ord) ** (1 / ord).

    For infinity it is the largest absolute value.
    """
    node = floating(x, "norm")
    magnitude = elementwise("absolute", node)
    if ord == 2:
        squares = reduce("sum", elementwise("square", node), axis, keepdims)
        return elementwise("root", squares)
    if ord in (np.inf, -np.inf):
        return reduce("max" if ord > 0 else "min", magnitude, axis, keepdims)
    if ord == 0:
        return reduce("sum", where(elementwise("not_equal", node, 0), 1.0, 0.0), axis, keepdims)
    if ord == 1:
        return reduce("sum", magnitude, axis, keepdims)
    if not isinstance(ord, (int, float, np.number)):
        raise SymbolicError(f"np.linalg.norm: there is no norm of order {ord!r}")
    total = reduce("sum", elementwise("power", magnitude, float(ord)), axis, keepdims)
    return elementwise("power", total, 1 / float(ord))


def norm(x: Operand, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Node:
    """The norm of vectors or matrices, as numpy.linalg.norm.

    Vectors lie along one axis, and matrices along two axes.
    """
    node = floating(x, "norm")
    axes = normalise_axes(node, axis, "norm")
    if ord is None or (ord == "fro" and len(axes) == 2):
        return vector_norm(node, axis, keepdims)
    if len(axes) == 1:
        return vector_norm(node, axis, keepdims, ord)
    if len(axes) != 2 or not (ord in (1, -1, 2, -2, np.inf, -np.inf) or ord == "nuc"):
        raise SymbolicError(f"np.linalg.norm: ord={ord!r} is not available over {len(axes)} axes")
    matrix_axes = axes if axis is None else tuple(int(i) % len(node.shape) for i in axis)  # type: ignore[union-attr]
    other_axes = tuple(i for i in range(len(node.shape)) if i not in axes)
    result = _matrix_norm(transpose(node, (*other_axes, *matrix_axes)), ord)
    if keepdims:
        for i in axes:
            result = expand_dims(result, i)
    return result


def _matrix_norm(node: Node, ord: Any) -> Node:
    if ord in (2, -2, "nuc"):
        reduction = {2: "max", -2: "min", "nuc": "sum"}[ord]
        return reduce(reduction, svdvals(node), -1)
    sums = reduce("sum", elementwise("absolute", node), -2 if abs(ord) == 1 else -1)
    return reduce("max" if ord > 0 else "min", sums, -1)
