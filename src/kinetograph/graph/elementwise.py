"""Operations on each element alone: arithmetic, comparisons, transcendental and special functions.

Shapes and dtypes follow NumPy's own rules (`numpy.ufunc.resolve_dtypes`), settled without JAX, and
operands are cast to the types NumPy would compute in, so JAX's promotion rules never apply.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from .errors import ShapeError, SymbolicError
from .node import Apply, Data, Node, Operation
from .precision import float_dtype

__all__ = ["ELEMENTWISE", "Operand", "as_node", "elementwise", "literal", "power"]

Operand = Any
_WEAK = (bool, int, float)
_BAD_KINDS = "cOSUVmM"


def _log1mexp(x):
    """log(1 - exp(-x)) for x > 0, accurate at both ends (Mächler 2012)."""
    small = x < 0.6931471805599453
    return jnp.where(
        small,
        jnp.log(-jnp.expm1(-jnp.where(small, x, 1.0))),
        jnp.log1p(-jnp.exp(-jnp.where(small, 1.0, x))),
    )


_FLOAT_ONLY: dict[str, Callable[..., Any]] = {
    "expit": jax.nn.sigmoid,
    "logit": jsp.logit,
    "log_expit": jax.nn.log_sigmoid,
    "softplus": jax.nn.softplus,
    "log1mexp": _log1mexp,
    "icloglog": lambda x: -jnp.expm1(-jnp.exp(x)),
    "icauchit": lambda x: 0.5 + jnp.arctan(x) / np.pi,
    "gammaln": jsp.gammaln,
    "gamma": jsp.gamma,
    "psi": jsp.digamma,
    "digamma": jsp.digamma,
    "trigamma": lambda x: jsp.polygamma(1, x),
    "polygamma": jsp.polygamma,
    "betaln": jsp.betaln,
    "erf": jsp.erf,
    "erfc": jsp.erfc,
    "erfinv": jsp.erfinv,
    "ndtr": jsp.ndtr,
    "log_ndtr": jsp.log_ndtr,
    "ndtri": jsp.ndtri,
    "xlogy": jsp.xlogy,
    "xlog1py": jsp.xlog1py,
}
_ARITY = {"polygamma": 2, "betaln": 2, "xlogy": 2, "xlog1py": 2}

# NumPy's ufuncs whose JAX namesakes compute the same function.
_UFUNCS = """
add subtract multiply divide floor_divide remainder power negative positive absolute fabs sign
rint floor ceil trunc exp exp2 expm1 log log2 log10 log1p sqrt cbrt square reciprocal
sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh deg2rad rad2deg
maximum minimum fmax fmin logaddexp logaddexp2 hypot arctan2 copysign heaviside
equal not_equal less less_equal greater greater_equal
logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert
isnan isfinite isinf signbit
""".split()
_SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "power": "**",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "negative": "-",
    "invert": "~",
}


def _operation(name: str, lower: Callable[..., Any]) -> Operation:
    return Operation(name, lower, _SYMBOLS.get(name), elementwise=True)


ELEMENTWISE: dict[str, Operation] = {
    **{name: _operation(name, getattr(jnp, name)) for name in _UFUNCS},
    **{name: _operation(name, lower) for name, lower in _FLOAT_ONLY.items()},
}
WHERE = Operation("where", jnp.where, elementwise=True)
CAST = Operation("astype", lambda x, *, dtype: x.astype(dtype), elementwise=True)
INTEGER_POWER = Operation("power", jax.lax.integer_pow, "**", elementwise=True)


def literal(value: Any, dtype: np.dtype | None = None) -> Data:
    """A constant written in the program: part of the compiled program, not an argument of it."""
    array = np.asarray(value, dtype)
    if array.dtype.kind in _BAD_KINDS:
        raise SymbolicError(
            f"{type(value).__name__} of dtype {array.dtype} cannot be part of a graph; "
            "arrays hold booleans, integers or real numbers"
        )
    if array.dtype.kind == "f" and dtype is None and type(value) is float:
        array = array.astype(float_dtype())
    return Data(array, literal=True)


def as_node(value: Operand) -> Node:
    """The node of an array, or a constant made of a number or NumPy array."""
    node = getattr(value, "node", value)
    if isinstance(node, Node):
        return node
    return literal(value)


@lru_cache(maxsize=4096)
def _resolve(name: str, types: tuple[Any, ...]) -> tuple[tuple[np.dtype, ...], np.dtype]:
    """The types in which the operands enter and the type of the result."""
    if name in _FLOAT_ONLY:
        known = [t for t in types if isinstance(t, np.dtype)]
        result = np.result_type(*known, np.float32) if known else np.dtype(np.float64)
        if any(t.kind in "iub" for t in known):
            result = np.dtype(np.float64)
        return (result,) * len(types), result
    ufunc = getattr(np, name)
    weak = tuple(np.dtype(bool) if t is bool else t for t in types)
    *inputs, output = ufunc.resolve_dtypes((*weak, None))
    return tuple(inputs), output


def elementwise(name: str, *operands: Operand) -> Node:
    """Apply the named function to nodes, numbers and NumPy arrays under NumPy's rules."""
    operation = ELEMENTWISE[name]
    types: list[Any] = []
    nodes: list[Any] = []
    for operand in operands:
        node = getattr(operand, "node", operand)
        if isinstance(node, Node):
            types.append(node.dtype)
        elif type(node) in _WEAK:
            types.append(type(node))
        else:
            node = literal(node)
            types.append(node.dtype)
        nodes.append(node)
    try:
        inputs, output = _resolve(name, tuple(types))
    except TypeError:
        raise SymbolicError(
            f"{name} does not take operands of types {', '.join(map(_type_name, types))}"
        ) from None
    if output == np.float64 and float_dtype() == np.float32:
        output = float_dtype()
        inputs = tuple(output if t == np.float64 else t for t in inputs)
    for i, node in enumerate(nodes):
        if not isinstance(node, Node):
            nodes[i] = literal(node, inputs[i])
    shapes = [node.shape for node in nodes]
    return Apply(
        operation, tuple(nodes), broadcast(operation, nodes, shapes), output, _casts(nodes, inputs)
    )


def _type_name(t: Any) -> str:
    return t.__name__ if isinstance(t, type) else str(t)


def _casts(nodes: list[Node], inputs: tuple[np.dtype, ...]) -> dict[str, Any] | None:
    if all(node.dtype == wanted for node, wanted in zip(nodes, inputs, strict=True)):
        return None
    return {"casts": inputs}


def broadcast(
    operation: Operation, nodes: list[Node], shapes: list[tuple[int, ...]]
) -> tuple[int, ...]:
    """The common shape of the operands, or a ShapeError that names them."""
    first = shapes[0]
    for shape in shapes:
        if shape != first:
            break
    else:
        return first
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        from .messages import describe_operands

        raise ShapeError(
            f"cannot broadcast {' with '.join(str(s) for s in shapes)} in "
            f"{describe_operands(operation, nodes)}\n"
            "  Shapes are aligned from the right; each pair must be equal or one of them 1."
        ) from None


def power(base: Operand, exponent: Operand) -> Node:
    """base ** exponent; small whole exponents become products, 0.5 a square root."""
    node = getattr(base, "node", base)
    if isinstance(node, Node) and node.dtype.kind == "f" and type(exponent) in (int, float):
        if exponent == 0.5:
            return elementwise("sqrt", node)
        if float(exponent).is_integer() and abs(exponent) <= 8:
            return Apply(INTEGER_POWER, (node,), node.shape, node.dtype, {"y": int(exponent)})
    return elementwise("power", base, exponent)


def where(condition: Operand, x: Operand, y: Operand) -> Node:
    """x where the condition holds, else y; the side not taken never reaches a gradient."""
    c = as_node(condition)
    types = [
        type(v) if type(v) in _WEAK else as_node(v).dtype for v in (x, y)
    ]
    _, output = _resolve("add", tuple(types)) if types != [bool, bool] else (None, np.dtype(bool))
    if all(t in (bool, np.dtype(bool)) for t in types):
        output = np.dtype(bool)
    if output == np.float64 and float_dtype() == np.float32:
        output = float_dtype()
    nodes = [c] + [literal(v, output) if type(v) in _WEAK else as_node(v) for v in (x, y)]
    shape = broadcast(WHERE, nodes, [n.shape for n in nodes])
    casts = _casts(nodes, (np.dtype(bool), output, output))
    return Apply(WHERE, tuple(nodes), shape, output, casts)


def clip(x: Operand, lower: Operand = None, upper: Operand = None) -> Node:
    """x limited to the interval [lower, upper]; None leaves a side open."""
    node = as_node(x)
    if lower is not None:
        node = elementwise("maximum", node, lower)
    if upper is not None:
        node = elementwise("minimum", node, upper)
    return node


def astype(x: Operand, dtype: Any) -> Node:
    """x converted to another dtype."""
    node, wanted = as_node(x), np.dtype(dtype)
    if wanted.kind in _BAD_KINDS:
        raise SymbolicError(f"arrays cannot have dtype {wanted}")
    if wanted == node.dtype:
        return node
    return Apply(CAST, (node,), node.shape, wanted, {"dtype": wanted})
