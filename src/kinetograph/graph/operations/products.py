"""Products and norms of arrays, and what follows from singular values: expressions of others."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ShapeError, SymbolicError
from ..messages import describe
from ..node import Apply, Node, Operation
from .elementwise import Operand, as_node, astype, elementwise, floating, where
from .indexing import index
from .known import known_number
from .linear_algebra import dot, factors, inv, matmul
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
    """The sum of products over some axes of each: the last of a and first of b, or those given."""
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
    over = []
    for node, given in zip((x, y), pairs, strict=True):
        normalise_axes(node, tuple(given), "tensordot")
        over.append([int(i) % len(node.shape) for i in given])
    sizes = [[n.shape[i] for i in given] for n, given in zip((x, y), over, strict=True)]
    if sizes[0] != sizes[1]:
        raise ShapeError(
            f"tensordot: axes of {describe(x)} of lengths {sizes[0]}, and of {describe(y)} of "
            f"{sizes[1]}"
        )
    free = [[i for i in range(len(n.shape)) if i not in o] for n, o in zip((x, y), over)]
    shapes = [tuple(n.shape[i] for i in f) for n, f in zip((x, y), free)]
    inner = int(np.prod(sizes[0]))
    rows = reshape(transpose(x, (*free[0], *over[0])), (int(np.prod(shapes[0])), inner))
    columns = reshape(transpose(y, (*over[1], *free[1])), (inner, int(np.prod(shapes[1]))))
    return reshape(matmul(rows, columns), (*shapes[0], *shapes[1]))


def vdot(a: Operand, b: Operand) -> Node:
    """The sum of the products of all elements."""
    return dot(reshape(a, (-1,)), reshape(b, (-1,)))


def vecdot(a: Operand, b: Operand, axis: int = -1) -> Node:
    """The sum of products along an axis, which both have."""
    products = elementwise("multiply", a, b)
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
        return elementwise("subtract", elementwise("multiply", p, q), elementwise("multiply", r, s))

    found = [minor(a1, b2, a2, b1), minor(a2, b0, a0, b2), minor(a0, b1, a1, b0)]
    return stack(found, axis)


def matrix_power(a: Operand, n: int) -> Node:
    """The product of a matrix with itself, n times; of its inverse for n < 0."""
    node = as_node(a, "matrix_power")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise SymbolicError(f"matrix_power: the exponent must be a whole number, got {n!r}")
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(f"matrix_power of {describe(node)}: needs square matrices, {node.shape}")
    if n < 0:
        return matrix_power(inv(node), -int(n))
    square, left = node, int(n)
    found: Node | None = None
    while left:
        if left & 1:
            found = square if found is None else matmul(found, square)
        left >>= 1
        if left:
            square = matmul(square, square)
    if found is None:
        eye = np.broadcast_to(np.eye(node.shape[-1], dtype=node.dtype), node.shape)
        return elementwise("add", eye, elementwise("multiply", 0, node))
    return found


def multi_dot(arrays: Sequence[Operand]) -> Node:
    """The product of matrices, from the left to the right."""
    found, *rest = [as_node(a, "multi_dot") for a in arrays]
    for node in rest:
        found = dot(found, node)
    return found


def svdvals(x: Operand) -> Node:
    """The singular values, in descending order."""
    found: Node = factors("svd", x)[1]
    return found


def pinv(a: Operand, rcond: float | None = None, *, rtol: float | None = None) -> Node:
    """The pseudo-inverse; singular values up to rcond times the largest count as 0.

    Derivatives are those at a fixed rank (Golub and Pereyra, 1973).
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
    """The shortest x with the least sum of squares of b - a @ x, that sum, rank, singular values.

    As in NumPy there is no sum where a has no more rows than columns; of a matrix of low rank there
    is one here.
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
    found = matmul(pinv(x, limit), y)
    apart = elementwise("subtract", y, matmul(x, found))
    squares = reshape(reduce("sum", elementwise("square", apart), 0), (-1,))
    if rows <= columns:
        squares = index(squares, slice(0, 0))
    values = svdvals(x)
    large = elementwise("greater", values, elementwise("multiply", limit, index(values, 0)))
    return found, squares, reduce("sum", large), values


def vector_norm(x: Operand, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Node:
    """The norm of order `ord`: (sum of abs(x) ** ord) ** (1 / ord), the largest for infinity."""
    node = floating(x, "norm")
    size = elementwise("absolute", node)
    if ord == 2:
        squares = reduce("sum", elementwise("square", node), axis, keepdims)
        return elementwise("root", squares)
    if ord in (np.inf, -np.inf):
        return reduce("max" if ord > 0 else "min", size, axis, keepdims)
    if ord == 0:
        return reduce("sum", where(elementwise("not_equal", node, 0), 1.0, 0.0), axis, keepdims)
    if ord == 1:
        return reduce("sum", size, axis, keepdims)
    if not isinstance(ord, (int, float, np.number)):
        raise SymbolicError(f"np.linalg.norm: there is no norm of the order {ord!r}")
    total = reduce("sum", elementwise("power", size, float(ord)), axis, keepdims)
    return elementwise("power", total, 1 / float(ord))


def norm(x: Operand, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Node:
    """The norm of vectors along an axis, or of matrices over two, as numpy.linalg.norm."""
    node = floating(x, "norm")
    axes = normalise_axes(node, axis, "norm")
    if ord is None or (ord == "fro" and len(axes) == 2):
        return vector_norm(node, axis, keepdims)
    if len(axes) == 1:
        return vector_norm(node, axis, keepdims, ord)
    if len(axes) != 2 or not (ord in (1, -1, 2, -2, np.inf, -np.inf) or ord == "nuc"):
        raise SymbolicError(f"np.linalg.norm: ord={ord!r} is not available over {len(axes)} axes")
    given = axes if axis is None else tuple(int(i) % len(node.shape) for i in axis)  # type: ignore[union-attr]
    rest = tuple(i for i in range(len(node.shape)) if i not in axes)
    found = _matrix_norm(transpose(node, (*rest, *given)), ord)
    if keepdims:
        for i in axes:
            found = expand_dims(found, i)
    return found


def _matrix_norm(node: Node, ord: Any) -> Node:
    if ord in (2, -2, "nuc"):
        how = {2: "max", -2: "min", "nuc": "sum"}[ord]
        return reduce(how, svdvals(node), -1)
    sums = reduce("sum", elementwise("absolute", node), -2 if abs(ord) == 1 else -1)
    return reduce("max" if ord > 0 else "min", sums, -1)
