"""Operations on each element, as nodes; `elementwise_table` has the functions.

Shapes and dtypes follow NumPy's own rules (`numpy.ufunc.resolve_dtypes`). They are found without
JAX, and operands are cast to the types in which NumPy would compute, so JAX's promotion rules never
apply. There is one exception: where NumPy would convert small integers to half or single precision,
the working precision is used.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import DataError, ShapeError, SymbolicError
from ..hooks import ON_NARROWED, ON_PARTIAL, ON_SQUARE
from ..messages import describe, describe_operands
from ..node import CURRENT, Apply, Inner, Node, Operation
from ..numerics import gammas, integers
from ..precision import FLOAT32, FLOAT64, float_dtype
from ..source import place_text
from .elementwise_table import ELEMENTWISE, FLOAT_ONLY, OPERATORS, ORDERINGS, PARTIAL
from .operands import (
    BAD_KINDS,
    PYTHON_TYPES,
    WEAK,
    Operand,
    as_node,
    checked_dtype,
    literal,
    type_of,
)
from .recorded_draws import refuse_draws

__all__ = ["ELEMENTWISE", "elementwise", "power"]

BOOL = np.dtype(bool)

WHERE = Operation("where", jnp.where, elementwise=True)
CAST = Operation("astype", integers.cast, elementwise=True)
STOP_GRADIENT = Operation("stop_gradient", jax.lax.stop_gradient, elementwise=True)
POLYGAMMA = Operation("polygamma", lambda x, *, n: gammas.polygamma(n, x), elementwise=True)
INTEGER_POWER = Operation("power", jax.lax.integer_pow, "**", elementwise=True)


class _Types(NamedTuple):
    """The result of NumPy's type rules for operands of given types."""

    inputs: tuple[np.dtype, ...]  # the types to which the operands are cast
    output: np.dtype
    attributes: Mapping[str, Any]  # the casts of the node, if any


@lru_cache(maxsize=4096)
def _resolve(name: str, types: tuple[Any, ...], working: np.dtype) -> _Types:
    if name in FLOAT_ONLY:
        dtypes = [t for t in types if isinstance(t, np.dtype)]
        has_integers = not dtypes or any(t.kind in "iub" for t in dtypes)
        output = FLOAT64 if has_integers else np.result_type(*dtypes, FLOAT32)
        inputs = (output,) * len(types)
    else:
        weak = tuple(np.dtype(bool) if t is bool else t for t in types)
        *resolved, output = getattr(np, name).resolve_dtypes((*weak, None))
        inputs = tuple(resolved)
        halved = FLOAT64 if output.kind == "f" and output.itemsize < 8 else output
        if halved is not output and not any(
            t is float or getattr(t, "kind", "") == "f" for t in types
        ):
            # NumPy uses half precision for small integers, but exp(True) in 16 bits is useless.
            inputs = tuple(FLOAT64 if t == output else t for t in inputs)
            output = FLOAT64
    if output == FLOAT64 and working is not FLOAT64:
        inputs = tuple(working if t == FLOAT64 else t for t in inputs)
        output = working
    unchanged = all(
        isinstance(t, type) or t == dtype for t, dtype in zip(types, inputs, strict=True)
    )
    return _Types(inputs, output, MappingProxyType({} if unchanged else {"casts": inputs}))


def elementwise(name: str, *operands: Operand) -> Node:
    """Apply the named function to nodes, numbers and arrays by NumPy's rules."""
    nodes: list[Any] = []
    types: list[Any] = []
    complete, weak = True, False
    for operand in operands:
        node = getattr(operand, "node", operand)
        if isinstance(node, Node):
            if node.weak:
                weak = True
                types.append(PYTHON_TYPES[node.dtype.kind])
            else:
                types.append(node.dtype)
        elif type(node) in WEAK:
            types.append(type(node))
            complete = False
        else:
            refuse_draws(name, operand, operands)
            node = literal(operand, operation=name)
            types.append(node.dtype)
        nodes.append(node)
    if weak and name in ORDERINGS and not any(t is float or _kind(t) == "f" for t in types):
        # Integers are compared in their own types.
        types = [node.dtype if isinstance(node, Node) else t for node, t in zip(nodes, types)]
    try:
        inputs, output, attributes = _resolve(name, tuple(types), float_dtype())
    except TypeError:
        raise _wrong_types(name, types) from None
    if weak:
        attributes = _adapted(name, nodes, inputs, output)
    if not complete:
        try:
            nodes = [n if isinstance(n, Node) else literal(n, t) for n, t in zip(nodes, inputs)]
        except OverflowError:
            if name not in ORDERINGS:
                raise _too_large(name, nodes, inputs) from None
            wide = [x if isinstance(n, Node) else np.array(n) for x, n in zip(operands, nodes)]
            return elementwise(name, *wide)  # compares in a type that holds both numbers
    if output.kind == "f" and (name == "square" or (name == "multiply" and nodes[0] is nodes[1])):
        square = _known_square(nodes[0])
        if square is not None:
            return square
    operation = ELEMENTWISE[name]
    shape = broadcast(operation, nodes)
    if output.kind in "iu" and name in PARTIAL:
        ON_PARTIAL(operation, nodes)
    node_made = Apply(operation, tuple(nodes), shape, output, attributes)
    if weak and name in OPERATORS:
        node_made.weak = all(isinstance(t, type) for t in map(type_of, operands))
    return node_made


def _known_square(node: Node) -> Node | None:
    """The square of a square root without the root, or None.

    The derivative of the root at 0 is infinite, so the root is avoided. Products of roots are
    recognised, too.
    """
    if node.weak or not isinstance(node, (Apply, Inner)):
        return None
    return next((square for square in ON_SQUARE(node) if square is not None), None)


def _kind(kind: Any) -> str:
    return kind.kind if isinstance(kind, np.dtype) else ""


def _adapted(
    name: str, nodes: Sequence[Any], inputs: Sequence[np.dtype], output: np.dtype
) -> Mapping[str, Any]:
    """The casts of operands if there are weak ones."""
    strong = tuple(n.dtype if isinstance(n, Node) else type(n) for n in nodes)
    try:
        usual = _resolve(name, strong, float_dtype())
        CURRENT.adapted += usual.inputs != tuple(inputs) or usual.output != output
    except TypeError:
        CURRENT.adapted += 1
    unchanged = True
    for node, dtype in zip(nodes, inputs, strict=True):
        if isinstance(node, Node) and node.dtype != dtype:
            unchanged = False
            if node.weak and node.dtype.kind == "i" and dtype.kind in "iu":
                ON_NARROWED(node, dtype)
    return {} if unchanged else {"casts": tuple(inputs)}


def _too_large(name: str, nodes: Sequence[Any], inputs: Sequence[np.dtype]) -> DataError:
    """The error for a number that does not fit the other type."""
    arrays = [describe(n) for n in nodes if isinstance(n, Node)]
    number = next(n for n in nodes if not isinstance(n, Node))
    if not arrays:
        return DataError(f"{name}: {number} does not fit {inputs[0]}{place_text()}")
    return DataError(
        f"{name}: {number} does not fit the type of {arrays[0]}, {inputs[0]}{place_text()}; use a "
        "larger type, as in x.astype(int)"
    )


_BOTH = ", as in (x > 0) & (y < 1)"


def _wrong_types(name: str, types: list[Any]) -> SymbolicError:
    given = ", ".join(t.__name__ if isinstance(t, type) else str(t) for t in types)
    hints = {
        "subtract": "; for booleans use != or ^, or multiply by 1 first",
        "negative": "; for booleans use ~",
        "bitwise_xor": "; powers are written x ** y",
        **dict.fromkeys(("bitwise_and", "bitwise_or"), "; put comparisons in brackets" + _BOTH),
        "invert": "; it negates conditions, as in ~(x > 0); x != 0 makes a condition of a number",
    }
    return SymbolicError(
        f"{name} does not take operands of types {given}{place_text()}{hints.get(name, '')}"
    )


_common_shape = lru_cache(maxsize=4096)(np.broadcast_shapes)


def broadcast(operation: Operation, nodes: Sequence[Node]) -> tuple[int, ...]:
    """The common shape of the operands, or a ShapeError that names them."""
    first = nodes[0].shape
    for node in nodes:
        if node.shape != first:
            break
    else:
        return first
    shapes = [node.shape for node in nodes]
    try:
        return _common_shape(*shapes)
    except ValueError:
        raise ShapeError(
            f"cannot broadcast {' with '.join(str(s) for s in shapes)} in "
            f"{describe_operands(operation, nodes)}\n"
            "  Shapes are aligned from the right; each pair must be equal or one of them 1."
        ) from None


def plus(a: Operand, b: Operand) -> Node:
    """The sum a + b."""
    return elementwise("add", a, b)


def minus(a: Operand, b: Operand) -> Node:
    """The difference a - b."""
    return elementwise("subtract", a, b)


def times(a: Operand, b: Operand) -> Node:
    """The product a * b."""
    return elementwise("multiply", a, b)


def power(base: Operand, exponent: Operand) -> Node:
    """base ** exponent.

    A small integer exponent becomes products, the exponent 0.5 a square root.
    """
    node = getattr(base, "node", base)
    if isinstance(node, Node) and type(exponent) in (int, float):
        if node.dtype.kind == "f":
            if exponent == 0.5:
                return _as_weak(elementwise("sqrt", node), node.weak)
            if abs(exponent) <= 8 and float(exponent).is_integer():
                square = _known_square(node) if exponent and exponent % 2 == 0 else None
                if square is not None:
                    return square if exponent == 2 else power(square, int(exponent) // 2)
                power_node = Apply(
                    INTEGER_POWER, (node,), node.shape, node.dtype, {"y": int(exponent)}
                )
                return _as_weak(power_node, node.weak)
        elif type(exponent) is int and exponent < 0:
            raise SymbolicError(
                f"{describe(node)} ** {exponent}: integers have no negative integer powers"
                f"{place_text()}; write {describe(node)} ** {exponent}.0"
            )
    return elementwise("power", base, exponent)


def _as_weak(node: Node, weak: bool) -> Node:
    node.weak = weak
    return node


def promoted(*types: Any) -> np.dtype:
    """The common type of values of several dtypes or Python types."""
    if all(t in (bool, BOOL) for t in types):
        return BOOL
    return _resolve("add", types, float_dtype()).output


def where(condition: Operand, x: Operand, y: Operand) -> Node:
    """x where the condition is true, else y.

    `sides` keeps the derivatives of the two values separate.
    """
    sides = [v if type(v) in WEAK else as_node(v, "where") for v in (x, y)]
    output = promoted(*map(type_of, sides))
    CURRENT.adapted += any(isinstance(v, Node) and v.weak and v.dtype != output for v in sides)
    nodes = [as_node(condition, "where")]
    nodes += [v if isinstance(v, Node) else literal(v, output) for v in sides]
    casts = (BOOL, output, output)
    unchanged = all(node.dtype == dtype for node, dtype in zip(nodes, casts))
    return Apply(
        WHERE, tuple(nodes), broadcast(WHERE, nodes), output, {} if unchanged else {"casts": casts}
    )


def polygamma(n: int, x: Operand) -> Node:
    """The derivative of order n of digamma."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
        raise SymbolicError(f"polygamma: the order must be a whole number, not below 0; got {n!r}")
    if n == 0:
        return elementwise("digamma", x)
    node = floating(x, "polygamma")
    return Apply(POLYGAMMA, (node,), node.shape, node.dtype, {"n": int(n)})


def clip(x: Operand, lower: Operand = None, upper: Operand = None) -> Node:
    """x limited to the interval [lower, upper]; None means no limit."""
    node = as_node(x, "clip")
    if lower is not None:
        node = elementwise("maximum", node, lower)
    if upper is not None:
        node = elementwise("minimum", node, upper)
    return node


def stop_gradient(x: Operand) -> Node:
    """x as a constant for derivatives."""
    node = as_node(x, "stop_gradient")
    return Apply(STOP_GRADIENT, (node,), node.shape, node.dtype)


def floating(x: Operand, operation: str = "") -> Node:
    """x, converted to the working precision if it has integers or booleans."""
    node = as_node(x, operation)
    return node if node.dtype.kind == "f" else astype(node, float_dtype())


def copy(x: Operand) -> Node:
    """The same values as another node."""
    node = as_node(x, "copy")
    return Apply(CAST, (node,), node.shape, node.dtype, {"dtype": node.dtype})


def astype(x: Operand, dtype: Any) -> Node:
    """x converted to another dtype."""
    node, target = as_node(x, "astype"), checked_dtype(dtype, "astype")
    if target.kind in BAD_KINDS:
        raise SymbolicError(f"arrays cannot have dtype {target}")
    if target == node.dtype and not node.weak:
        return node
    return Apply(CAST, (node,), node.shape, target, {"dtype": target})
