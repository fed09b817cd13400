"""NumPy's functions of matrices, and its products."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import SymbolicError
from ..messages import describe
from ..node import Node
from ..operations import linear_algebra, products, reductions, shaping
from ..operations.elementwise import astype, elementwise, times
from ..operations.linear_algebra import inv, matmul, outer, solve
from ..operations.operands import Operand, as_node

__all__ = ["MATRICES"]


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    node = as_node(a)
    parts = linear_algebra.factors("svd", node)
    if not compute_uv:
        return parts[1]
    if full_matrices and node.shape[-1] != node.shape[-2]:
        raise SymbolicError(
            f"np.linalg.svd of {describe(node)}, shape {node.shape}: "
            "pass full_matrices=False, because the full matrices are not available"
        )
    return parts


def _cond(x: Operand, p: Any = None) -> Node:
    node = as_node(x)
    if p in (None, 2, -2):
        values = products.svdvals(node)
        high, low = (reductions.reduce(how, values, -1) for how in ("max", "min"))
        return elementwise("divide", *((low, high) if p == -2 else (high, low)))
    inverse = inv(node)
    norms = [products.norm(v, p, (-2, -1)) for v in (node, inverse)]
    return times(*norms)


def _matrix_rank(A: Operand, tol: Any = None, rtol: Any = None) -> Node:
    node = as_node(A)
    if len(node.shape) < 2:
        return astype(reductions.reduce("any", elementwise("not_equal", node, 0)), np.int64)
    values = products.svdvals(node)
    tolerance = max(node.shape[-2:]) * float(np.finfo(values.dtype).eps) if rtol is None else rtol
    limit = times(reductions.reduce("max", values, -1, True), tolerance)
    is_large = elementwise("greater", values, limit if tol is None else tol)
    return reductions.reduce("sum", is_large, -1)


def _tensorinv(a: Operand, ind: int = 2) -> Node:
    node = as_node(a)
    rows, columns = node.shape[:ind], node.shape[ind:]
    matrix = shaping.reshape(node, (int(np.prod(rows)), -1))
    return shaping.reshape(inv(matrix), (*columns, *rows))


def _tensorsolve(a: Operand, b: Operand) -> Node:
    x, y = as_node(a), as_node(b)
    shape = x.shape[len(y.shape) :]
    matrix = shaping.reshape(x, (y.size, -1))
    return shaping.reshape(solve(matrix, shaping.reshape(y, (-1,))), shape)


def _last(function: Callable[..., Node]) -> Callable[..., Node]:
    return lambda x, offset=0: function(x, offset, -2, -1)


MATRICES: dict[Callable[..., Any], Callable[..., Any]] = {
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: shaping.diagonal(a, offset, axis1, axis2),
    np.trace: lambda a, offset=0, axis1=0, axis2=1: shaping.trace(a, offset, axis1, axis2),
    np.dot: linear_algebra.dot,
    np.inner: lambda a, b: linear_algebra.dot(a, b, inner=True),
    np.outer: linear_algebra.outer,
    np.kron: linear_algebra.kron,
    np.einsum: lambda subscripts, *operands, optimize=False: linear_algebra.einsum(
        subscripts, *operands
    ),
    np.linalg.cholesky: lambda a: linear_algebra.cholesky(a),
    np.linalg.solve: lambda a, b: linear_algebra.solve(a, b),
    np.linalg.inv: lambda a: linear_algebra.inv(a),
    np.linalg.det: lambda a: linear_algebra.det(a),
    np.linalg.slogdet: lambda a: linear_algebra.slogdet(a),
    np.linalg.eigh: lambda a: linear_algebra.factors("eigh", a),
    np.linalg.eigvalsh: lambda a: linear_algebra.factors("eigh", a)[0],
    np.linalg.svd: _svd,
    np.linalg.qr: lambda a: linear_algebra.factors("qr", a),
    np.matrix_transpose: lambda x: shaping.swapaxes(x, -1, -2),
    np.tensordot: lambda a, b, axes=2: products.tensordot(a, b, axes),
    np.vdot: lambda a, b: products.vdot(a, b),
    np.cross: lambda a, b, axis=-1: products.cross(a, b, axis),
    np.linalg.cross: lambda x1, x2, axis=-1: products.cross(x1, x2, axis),
    np.linalg.matrix_power: lambda a, n: products.matrix_power(a, n),
    np.linalg.multi_dot: lambda arrays: products.multi_dot(arrays),
    np.linalg.lstsq: lambda a, b, rcond=None: products.lstsq(a, b, rcond),
    np.linalg.pinv: lambda a, rcond=None, rtol=None: products.pinv(a, rcond, rtol=rtol),
    np.linalg.svdvals: lambda x: products.svdvals(x),
    np.linalg.norm: lambda x, ord=None, axis=None, keepdims=False: products.norm(
        x, ord, axis, keepdims
    ),
    np.linalg.vector_norm: lambda x, axis=None, keepdims=False, ord=2: products.vector_norm(
        x, axis, keepdims, ord
    ),
    np.linalg.matrix_norm: lambda x, keepdims=False, ord="fro": products.norm(
        x, ord, (-2, -1), keepdims
    ),
    np.linalg.cond: _cond,
    np.linalg.matrix_rank: _matrix_rank,
    np.linalg.tensorinv: _tensorinv,
    np.linalg.tensorsolve: _tensorsolve,
    np.linalg.trace: _last(shaping.trace),
    np.linalg.diagonal: _last(shaping.diagonal),
    np.linalg.outer: lambda x1, x2: outer(x1, x2),
    np.linalg.tensordot: lambda x1, x2, axes=2: products.tensordot(x1, x2, axes),
    np.linalg.matmul: lambda x1, x2: matmul(x1, x2),
    np.linalg.matrix_transpose: lambda x: shaping.swapaxes(x, -1, -2),
    np.linalg.vecdot: lambda x1, x2, axis=-1: products.vecdot(x1, x2, axis),
}
