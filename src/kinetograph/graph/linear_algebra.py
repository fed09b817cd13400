"""Products, factorisations and solutions of linear systems, batched over leading axes."""

import functools
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

from .elementwise import Operand, as_node, broadcast, elementwise
from .errors import ShapeError
from .messages import describe, describe_operands
from .node import Apply, Node, Operation
from .precision import float_dtype, x64

__all__ = [
    "CHOLESKY",
    "cholesky",
    "einsum",
    "matmul",
    "small_cholesky",
    "solve",
    "solve_triangular",
    "triangular_solve",
]

# Below this size factorisations and solutions are written out as plain arithmetic: a call of the
# linear algebra library would keep XLA from compiling the loop around it into one function.
SMALL = 6


def small_cholesky(a: Any) -> Any:
    """The lower Cholesky factor, written out for small matrices."""
    n = a.shape[-1]
    if n > SMALL:
        return jnp.linalg.cholesky(a)
    rows: list[list[Any]] = [[None] * n for _ in range(n)]
    zero = jnp.zeros(a.shape[:-2], a.dtype)
    for i in range(n):
        for j in range(i + 1):
            rest = a[..., i, j] - sum((rows[i][k] * rows[j][k] for k in range(j)), start=zero)
            rows[i][j] = jnp.sqrt(rest) if i == j else rest / rows[j][j]
    filled = [jnp.stack([zero if e is None else e for e in row], -1) for row in rows]
    return jnp.stack(filled, -2)


def triangular_solve(a: Any, b: Any) -> Any:
    """The x with a @ x = b for lower triangular a, written out for small matrices."""
    n = a.shape[-1]
    if n > SMALL:
        return _triangular(a, b, lower=True, trans=0, unit_diagonal=False)
    rows: list[Any] = []
    for i in range(n):
        rest = b[..., i, :]
        for k in range(i):
            rest = rest - a[..., i, k, None] * rows[k]
        rows.append(rest / a[..., i, i, None])
    return jnp.stack(rows, -2)


MATMUL = Operation("matmul", jnp.matmul, "@")
CHOLESKY = Operation("cholesky", small_cholesky)
SOLVE = Operation("solve", lambda a, b, *, vector: _solve(jnp.linalg.solve, a, b, vector))
SOLVE_TRIANGULAR = Operation(
    "solve_triangular",
    lambda a, b, *, lower, trans, unit_diagonal, vector: _solve(
        functools.partial(
            _triangular, lower=lower, trans=trans, unit_diagonal=unit_diagonal
        ),
        a,
        b,
        vector,
    ),
)
INVERSE = Operation("inv", jnp.linalg.inv)
DETERMINANT = Operation("det", jnp.linalg.det)
LOG_DETERMINANT = Operation("logdet", lambda a: jnp.linalg.slogdet(a)[1])
SIGN_DETERMINANT = Operation("sign_of_det", lambda a: jnp.linalg.slogdet(a)[0])
TRACE = Operation("trace", lambda a: jnp.trace(a, axis1=-2, axis2=-1))
EINSUM = Operation("einsum", lambda *xs, subscripts: jnp.einsum(subscripts, *xs))
KRON = Operation("kron", jnp.kron)
OUTER = Operation("outer", jnp.outer)
_FACTORS: dict[str, tuple[Operation, ...]] = {
    "eigh": (
        Operation("eigenvalues", lambda a: jnp.linalg.eigh(a)[0]),
        Operation("eigenvectors", lambda a: jnp.linalg.eigh(a)[1]),
    ),
    "qr": (
        Operation("q_factor", lambda a: jnp.linalg.qr(a)[0]),
        Operation("r_factor", lambda a: jnp.linalg.qr(a)[1]),
    ),
    "svd": (
        Operation("left_singular_vectors", lambda a: jnp.linalg.svd(a, full_matrices=False)[0]),
        Operation("singular_values", lambda a: jnp.linalg.svd(a, full_matrices=False)[1]),
        Operation("right_singular_vectors", lambda a: jnp.linalg.svd(a, full_matrices=False)[2]),
    ),
}


def _triangular(a: Any, b: Any, lower: bool, trans: int, unit_diagonal: bool) -> Any:
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = jnp.broadcast_to(a, batch + a.shape[-2:])
    b = jnp.broadcast_to(b, batch + b.shape[-2:])
    return jsl.solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=unit_diagonal)


def _solve(method: Callable[..., Any], a: Any, b: Any, vector: bool) -> Any:
    return method(a, b[..., None])[..., 0] if vector else method(a, b)


def _floating(x: Operand) -> Node:
    node = as_node(x)
    return node if node.dtype.kind == "f" else elementwise("multiply", node, 1.0)


def _square(x: Operand, operation: str) -> Node:
    node = _floating(x)
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(
            f"{operation} of {describe(node)}: needs a square matrix, got shape {node.shape}"
        )
    return node


def matmul(a: Operand, b: Operand) -> Node:
    """The matrix product a @ b, batched over leading axes as in NumPy."""
    x, y = as_node(a), as_node(b)
    if not x.shape or not y.shape:
        raise ShapeError(
            f"matmul needs at least one axis on both sides: {describe_operands(MATMUL, [x, y])}\n"
            "  Use * to multiply by a number."
        )
    inner = y.shape[-2] if len(y.shape) > 1 else y.shape[0]
    if x.shape[-1] != inner:
        raise ShapeError(
            f"matmul: inner sizes {x.shape[-1]} and {inner} differ in "
            f"{describe_operands(MATMUL, [x, y])}"
        )
    left, right = x.shape[:-2], y.shape[:-2]
    stand_ins = [Node((), s, x.dtype) for s in (left, right)]
    batch = broadcast(MATMUL, stand_ins, [left, right])
    rows = x.shape[-2:-1] if len(x.shape) > 1 else ()
    columns = y.shape[-1:] if len(y.shape) > 1 else ()
    dtype = np.result_type(x.dtype, y.dtype)
    if dtype == np.float64:
        dtype = float_dtype()
    attributes = {"casts": (dtype, dtype)}
    return Apply(MATMUL, (x, y), (*batch, *rows, *columns), dtype, attributes)


def cholesky(x: Operand) -> Node:
    """The lower triangular L with L @ L.T = x; NaN where x is not positive definite."""
    node = _square(x, "cholesky")
    # A node whose model is made of its factor (a correlation matrix) is asked for it once.
    known = getattr(node, "_cholesky", None)
    factor = known() if known is not None else None
    if factor is None:
        factor = Apply(CHOLESKY, (node,), node.shape, node.dtype)
        if hasattr(node, "_cholesky"):
            node._cholesky = weakref.ref(factor)
    return factor


def _system(a: Operand, b: Operand, operation: Operation, **attributes: Any) -> Node:
    x, y = _square(a, operation.name), _floating(b)
    # As in NumPy 2: b is a vector only when it has exactly one axis.
    vector = len(y.shape) == 1
    if not y.shape or (y.shape[0] if vector else y.shape[-2]) != x.shape[-1]:
        raise ShapeError(
            f"{operation.name}: the right side does not fit the matrix: "
            f"{describe_operands(operation, [x, y])}"
        )
    if vector:
        shape = x.shape[:-1]
    else:
        shape = np.broadcast_shapes(x.shape[:-2], y.shape[:-2]) + y.shape[-2:]
    dtype = np.result_type(x.dtype, y.dtype)
    attributes.update(vector=vector, casts=(dtype, dtype))
    return Apply(operation, (x, y), shape, dtype, attributes)


def solve(a: Operand, b: Operand) -> Node:
    """The x with a @ x = b."""
    return _system(a, b, SOLVE)


def solve_triangular(
    a: Operand, b: Operand, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> Node:
    """The x with a @ x = b for triangular a, as in scipy.linalg."""
    code = {"N": 0, "T": 1, "C": 1}.get(trans, trans) if isinstance(trans, str) else trans
    return _system(
        a, b, SOLVE_TRIANGULAR, lower=lower, trans=code, unit_diagonal=unit_diagonal
    )


def inv(x: Operand) -> Node:
    """The inverse matrix."""
    node = _square(x, "inv")
    return Apply(INVERSE, (node,), node.shape, node.dtype)


def det(x: Operand) -> Node:
    """The determinant."""
    node = _square(x, "det")
    return Apply(DETERMINANT, (node,), node.shape[:-2], node.dtype)


def slogdet(x: Operand) -> tuple[Node, Node]:
    """The sign of the determinant and the logarithm of its absolute value."""
    node = _square(x, "slogdet")
    sign = Apply(SIGN_DETERMINANT, (node,), node.shape[:-2], node.dtype)
    return sign, Apply(LOG_DETERMINANT, (node,), node.shape[:-2], node.dtype)


def trace(x: Operand) -> Node:
    """The sum of the diagonal of the last two axes."""
    node = as_node(x)
    if len(node.shape) < 2:
        raise ShapeError(f"trace of {describe(node)}: needs a matrix, got shape {node.shape}")
    return Apply(TRACE, (node,), node.shape[:-2], node.dtype)


def factors(name: str, x: Operand) -> tuple[Node, ...]:
    """All factors of a decomposition (eigh, qr or svd)."""
    node = _square(x, name) if name == "eigh" else _floating(x)
    if len(node.shape) < 2:
        raise ShapeError(f"{name} of {describe(node)}: needs a matrix, got shape {node.shape}")
    return tuple(_traced(operation, (node,)) for operation in _FACTORS[name])


@functools.lru_cache(maxsize=1024)
def _abstract(
    operation: Operation, types: tuple[tuple[tuple[int, ...], str], ...], attributes: tuple
) -> tuple[tuple[int, ...], np.dtype]:
    with x64():
        stand_ins = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in types]
        result = jax.eval_shape(
            functools.partial(operation.lower, **dict(attributes)), *stand_ins
        )
    return tuple(result.shape), np.dtype(result.dtype)


def _traced(operation: Operation, nodes: tuple[Node, ...], **attributes: Any) -> Node:
    """Apply an operation whose shape JAX works out (cached by the operands' types)."""
    types = tuple((node.shape, str(node.dtype)) for node in nodes)
    try:
        shape, dtype = _abstract(operation, types, tuple(attributes.items()))
    except (TypeError, ValueError) as error:
        reason = str(error).split("\n")[0]
        raise ShapeError(f"{describe_operands(operation, list(nodes))}\n  {reason}") from None
    return Apply(operation, nodes, shape, dtype, attributes)


def einsum(subscripts: str, *operands: Operand) -> Node:
    """Einstein summation, as numpy.einsum."""
    nodes = [as_node(x) for x in operands]
    dtype = np.result_type(*(n.dtype for n in nodes))
    cast = tuple(n if n.dtype == dtype else elementwise("multiply", n, dtype.type(1)) for n in nodes)
    return _traced(EINSUM, cast, subscripts=subscripts)


def kron(a: Operand, b: Operand) -> Node:
    """The Kronecker product."""
    return _traced(KRON, (as_node(a), as_node(b)))


def outer(a: Operand, b: Operand) -> Node:
    """The product of each element of a with each of b."""
    return _traced(OUTER, (as_node(a), as_node(b)))
