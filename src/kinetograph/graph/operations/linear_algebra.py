"""Products, factorisations and solutions of linear systems, batched over leading axes."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

from ..errors import ShapeError
from ..forms.representations import Form, register, represent
from ..messages import describe, describe_operands
from ..node import FORM, Apply, Data, Node, Operation
from ..numerics.determinants import determinant
from ..numerics.small_matrices import small_cholesky
from ..precision import common_dtype, x64
from .elementwise import ELEMENTWISE, astype, floating, times
from .indexing import RAVEL, SLICE, ravel
from .operands import Operand, as_node
from .shaping import RESHAPE, TRANSPOSE, reshape, transpose

__all__ = [
    "CHOLESKY",
    "cholesky",
    "einsum",
    "matmul",
    "solve",
    "solve_triangular",
]

MATMUL = Operation("matmul", jnp.matmul, "@")
CHOLESKY = Operation("cholesky", small_cholesky)
SOLVE = Operation("solve", lambda a, b, *, vector: _solve(jnp.linalg.solve, a, b, vector))
SOLVE_TRIANGULAR = Operation(
    "solve_triangular",
    lambda a, b, *, lower, trans, unit_diagonal, vector: _solve(
        functools.partial(_triangular, lower=lower, trans=trans, unit_diagonal=unit_diagonal),
        a,
        b,
        vector,
    ),
)
INVERSE = Operation("inv", jnp.linalg.inv)
DETERMINANT = Operation("det", determinant)
LOG_DETERMINANT = Operation("logdet", lambda a: jnp.linalg.slogdet(a)[1])
SIGN_DETERMINANT = Operation("sign_of_det", lambda a: jnp.linalg.slogdet(a)[0])
EINSUM = Operation("einsum", lambda *xs, subscripts: jnp.einsum(subscripts, *xs))
KRON = Operation("kron", jnp.kron)


class SlogdetTensors(NamedTuple):
    sign: Any
    logabsdet: Any


class EighTensors(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class QR(NamedTuple):
    Q: Any
    R: Any


class SVD(NamedTuple):
    U: Any
    S: Any
    Vh: Any


def _svd(a: Any) -> Any:
    return jnp.linalg.svd(a, full_matrices=False)


_FACTORS: dict[str, tuple[type, tuple[Operation, ...]]] = {
    "eigh": (
        EighTensors,
        (
            Operation("eigenvalues", lambda a: jnp.linalg.eigh(a)[0]),
            Operation("eigenvectors", lambda a: jnp.linalg.eigh(a)[1]),
        ),
    ),
    "qr": (
        QR,
        (
            Operation("q_factor", lambda a: jnp.linalg.qr(a)[0]),
            Operation("r_factor", lambda a: jnp.linalg.qr(a)[1]),
        ),
    ),
    "svd": (
        SVD,
        (
            Operation("left_singular_vectors", lambda a: _svd(a)[0]),
            Operation("singular_values", lambda a: jnp.linalg.svd(a, compute_uv=False)),
            Operation("right_singular_vectors", lambda a: _svd(a)[2]),
        ),
    ),
}


def _triangular(a: Any, b: Any, lower: bool, trans: int, unit_diagonal: bool) -> Any:
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = jnp.broadcast_to(a, batch + a.shape[-2:])
    b = jnp.broadcast_to(b, batch + b.shape[-2:])
    return jsl.solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=unit_diagonal)


def _solve(method: Callable[..., Any], a: Any, b: Any, vector: bool) -> Any:
    return method(a, b[..., None])[..., 0] if vector else method(a, b)


def _square(x: Operand, operation: str) -> Node:
    node = floating(x, operation)
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(
            f"{operation} of {describe(node)}: needs a square matrix, got shape {node.shape}"
        )
    return node


def matmul(a: Operand, b: Operand) -> Node:
    """The matrix product a @ b.

    Leading axes are batched as in NumPy.
    """
    x, y = as_node(a, "matmul"), as_node(b, "matmul")
    if not x.shape or not y.shape:
        raise ShapeError(
            f"matmul needs at least one axis on both sides: {describe_operands(MATMUL, [x, y])}\n"
            "  Use * to multiply by a number."
        )
    inner = y.shape[-2] if len(y.shape) > 1 else y.shape[0]
    if x.shape[-1] != inner:
        raise ShapeError(
            f"matmul: inner sizes {x.shape[-1]} and {inner} differ in "
            f"{describe_operands(MATMUL, [x, y])}\n"
            "  The last axis of the first has to be as long as the "
            f"{'last but one' if len(y.shape) > 1 else 'axis'} of the second."
        )
    batch = _batch(MATMUL, x, y)
    rows = x.shape[-2:-1] if len(x.shape) > 1 else ()
    columns = y.shape[-1:] if len(y.shape) > 1 else ()
    dtype = common_dtype(x.dtype, y.dtype)
    return Apply(MATMUL, (x, y), (*batch, *rows, *columns), dtype, {"casts": (dtype, dtype)})


def _batch(operation: Operation, x: Node, y: Node) -> tuple[int, ...]:
    """The common leading axes of two stacks of matrices."""
    left, right = x.shape[:-2], y.shape[:-2]
    try:
        return left if left == right else np.broadcast_shapes(left, right)
    except ValueError:
        raise ShapeError(
            f"{operation.name}: the leading axes {left} and {right} do not fit in "
            f"{describe_operands(operation, [x, y])}"
        ) from None


def dot(a: Operand, b: Operand, *, inner: bool = False) -> Node:
    """The product of numpy.dot or, with `inner`, of numpy.inner.

    It sums over the last axis of a, and over the last but one axis of b (the last with `inner`).
    """
    x, y = as_node(a, "dot"), as_node(b, "dot")
    if not x.shape or not y.shape:
        return times(x, y)
    if inner and len(y.shape) > 1:
        y = transpose(y, (*range(len(y.shape) - 2), len(y.shape) - 1, len(y.shape) - 2))
    if len(y.shape) <= 2:
        return matmul(x, y)
    # For arrays with more axes, numpy.dot is an outer product over the other axes.
    last = len(y.shape) - 2
    columns = transpose(y, (last, *(i for i in range(len(y.shape)) if i != last)))
    other_sizes = y.shape[:last] + y.shape[last + 1 :]
    product = matmul(x, reshape(columns, (y.shape[last], math.prod(other_sizes))))
    return reshape(product, x.shape[:-1] + other_sizes)


def cholesky(x: Operand) -> Node:
    """The lower triangular L with L @ L.T = x.

    It is NaN where x is not positive definite.
    """
    node = _square(x, "cholesky")
    factor = represent(node, "cholesky")
    return Apply(CHOLESKY, (node,), node.shape, node.dtype) if factor is None else factor


@register(MATMUL, "cholesky")
def _factor_of_outer(node: Apply, form: Form) -> Node | None:
    """The Cholesky factor L of a product L @ L.T.

    Returns None if L may not be a Cholesky factor.
    """
    factor, transposed = node.parents
    ndim = len(factor.shape)
    swapped = (*range(ndim - 2), ndim - 1, ndim - 2)
    if (
        isinstance(transposed, Apply)
        and transposed.operation is TRANSPOSE
        and transposed.parents[0] is factor
        and transposed.attributes["axes"] == swapped
        and _is_factor(factor, form)
    ):
        return factor
    return None


@register(ELEMENTWISE["multiply"], "cholesky")
def _factor_of_scaled(node: Apply, form: Form) -> Node | None:
    """The Cholesky factor of a scaled matrix, or None.

    The scaled matrix is s_i R_ij s_j for positive s, and R has the known factor L. The result is
    s_i L_ij.
    """
    factors: list[Node] = []
    stack: list[Node] = [node]
    while stack and len(factors) <= 3:
        part = stack.pop()
        if isinstance(part, Apply) and part.operation is ELEMENTWISE["multiply"]:
            stack += part.parents
        else:
            factors.append(part)
    size = node.shape[-1]
    columns = [f for f in factors if f.shape == (size, 1)]
    rows = [f for f in factors if f.shape in ((size,), (1, size))]
    matrices = [f for f in factors if f.shape == (size, size)]
    if len(factors) != 3 or not (columns and rows and matrices):
        return None
    if _scale(columns[0]) is not _scale(rows[0]) or form(_scale(rows[0]), "log") is None:
        return None
    factor = form(matrices[0], "cholesky")
    return None if factor is None else times(columns[0], factor)


def _scale(node: Node) -> Node:
    """The vector from which a row or column was made by reshaping."""
    while isinstance(node, Apply) and node.operation in (RESHAPE, RAVEL, SLICE):
        template = node.attributes.get("template", ())
        if any(part not in (None, Ellipsis, slice(None)) for part in template):
            break
        node = node.parents[0]
    return node


def _is_factor(node: Node, form: Form) -> bool:
    """Whether a matrix is certainly lower triangular with a positive diagonal."""
    if isinstance(node, Data):
        lower = node.literal and not np.any(np.triu(node.value, 1))
        return bool(lower) and bool(np.all(np.diagonal(node.value, axis1=-2, axis2=-1) > 0))
    if not isinstance(node, Apply):
        return node.triangular
    if node.operation is FORM:
        return _is_factor(node.parents[0], form)
    if node.operation is ELEMENTWISE["multiply"]:
        a, b = node.parents
        return any(
            x.shape == node.shape and _is_factor(x, form) and form(scale, "log") is not None
            for x, scale in ((a, b), (b, a))
        )
    return node.operation is CHOLESKY


def _system(a: Operand, b: Operand, operation: Operation, **attributes: Any) -> Node:
    x, y = _square(a, operation.name), floating(b, operation.name)
    # As in NumPy 2: b is a vector only when it has exactly one axis.
    vector = len(y.shape) == 1
    if not y.shape or (y.shape[0] if vector else y.shape[-2]) != x.shape[-1]:
        raise ShapeError(
            f"{operation.name}: the right side does not fit the matrix: "
            f"{describe_operands(operation, [x, y])}"
        )
    shape = x.shape[:-1] if vector else _batch(operation, x, y) + y.shape[-2:]
    dtype = common_dtype(x.dtype, y.dtype)
    attributes.update(vector=vector, casts=(dtype, dtype))
    return Apply(operation, (x, y), shape, dtype, attributes)


def solve(a: Operand, b: Operand) -> Node:
    """Solve a @ x = b for x."""
    return _system(a, b, SOLVE)


def solve_triangular(
    a: Operand, b: Operand, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> Node:
    """Solve a @ x = b for triangular a, as in scipy.linalg."""
    code = {"N": 0, "T": 1, "C": 1}.get(trans, trans) if isinstance(trans, str) else trans
    return _system(a, b, SOLVE_TRIANGULAR, lower=lower, trans=code, unit_diagonal=unit_diagonal)


def inv(x: Operand) -> Node:
    """The inverse matrix."""
    node = _square(x, "inv")
    return Apply(INVERSE, (node,), node.shape, node.dtype)


def det(x: Operand) -> Node:
    """The determinant."""
    node = _square(x, "det")
    return Apply(DETERMINANT, (node,), node.shape[:-2], node.dtype)


def slogdet(x: Operand) -> SlogdetTensors:
    """The sign of the determinant and the logarithm of its absolute value."""
    node = _square(x, "slogdet")
    sign, logabsdet = (
        Apply(operation, (node,), node.shape[:-2], node.dtype)
        for operation in (SIGN_DETERMINANT, LOG_DETERMINANT)
    )
    return SlogdetTensors(sign, logabsdet)


def factors(name: str, x: Operand) -> Any:
    """All factors of a decomposition (eigh, qr or svd), with NumPy's names."""
    node = _square(x, name) if name == "eigh" else floating(x, name)
    if len(node.shape) < 2:
        raise ShapeError(f"{name} of {describe(node)}: needs a matrix, got shape {node.shape}")
    structure, operations = _FACTORS[name]
    return structure(*(_traced(operation, (node,)) for operation in operations))


@functools.lru_cache(maxsize=1024)
def _abstract(
    operation: Operation, types: tuple[tuple[tuple[int, ...], str], ...], attributes: tuple
) -> tuple[tuple[int, ...], np.dtype]:
    with x64():
        stand_ins = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in types]
        result = jax.eval_shape(functools.partial(operation.lower, **dict(attributes)), *stand_ins)
    return tuple(result.shape), np.dtype(result.dtype)


def _traced(operation: Operation, operands: Sequence[Operand], **attributes: Any) -> Node:
    """Apply an operation whose result shape JAX finds.

    The shape is cached by the operands' types.
    """
    nodes = [as_node(x, operation.name) for x in operands]
    dtype = common_dtype(*(node.dtype for node in nodes))
    nodes = [astype(node, dtype) for node in nodes]
    types = tuple((node.shape, str(dtype)) for node in nodes)
    try:
        shape, dtype = _abstract(operation, types, tuple(attributes.items()))
    except (TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ShapeError(f"{describe_operands(operation, nodes)}\n  {reason}") from None
    return Apply(operation, tuple(nodes), shape, dtype, attributes)


def einsum(subscripts: str, *operands: Operand) -> Node:
    """Einstein summation, as numpy.einsum."""
    return _traced(EINSUM, operands, subscripts=subscripts)


def kron(a: Operand, b: Operand) -> Node:
    """The Kronecker product."""
    return _traced(KRON, (a, b))


def outer(a: Operand, b: Operand) -> Node:
    """The product of each element of a with each element of b."""
    return times(reshape(a, (-1, 1)), ravel(b))
