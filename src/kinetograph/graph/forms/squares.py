"""Squares of roots, absolute values and maxima, computed without the root.

A root is not differentiable at 0, but its square may be. The second derivative of |x|^2 at 0 is 2
I, and cannot be computed by way of |x|. So the square is a form of such a value; see
`representations`.

The maximum of two equal numbers has the mean of both slopes. The second derivative of its square is
then the mean of the squares of the slopes, and not the square of the mean.
"""

from collections.abc import Callable

import jax.numpy as jnp

from ..hooks import ON_SQUARE
from ..node import Apply, Data, FormOf, Inner, Node, Operation
from ..operations import reductions
from ..operations.elementwise import CAST, ELEMENTWISE, astype, elementwise, plus, times, where
from ..operations.indexing import WRITES
from .moves import MOVED
from .representations import Form, Rule, operand, register, represent

__all__ = ["SQUARE_OF_SQRT"]

# The result is NaN for x < 0, as the root is.
SQUARE_OF_SQRT = Operation(
    "square_of_sqrt", lambda x: jnp.where(x < 0, jnp.nan, x), elementwise=True
)
_WITH_RULE: set[Operation | None] = {CAST, *WRITES, *MOVED}


def _of(operation: Operation) -> Callable[[Rule], Rule]:
    _WITH_RULE.add(operation)
    return register(operation, "square")


@_of(ELEMENTWISE["root"])
def _of_root(node: Apply, form: Form) -> Node | None:
    return operand(node)


@_of(ELEMENTWISE["sqrt"])
def _of_sqrt(node: Apply, form: Form) -> Node | None:
    return Apply(SQUARE_OF_SQRT, (operand(node),), node.shape, node.dtype)


@_of(ELEMENTWISE["absolute"])
@_of(ELEMENTWISE["fabs"])
def _of_absolute(node: Apply, form: Form) -> Node | None:
    return elementwise("square", operand(node))


@_of(ELEMENTWISE["hypot"])
def _of_hypot(node: Apply, form: Form) -> Node | None:
    x, y = (elementwise("square", astype(parent, node.dtype)) for parent in node.parents)
    return plus(x, y)


@_of(ELEMENTWISE["maximum"])
@_of(ELEMENTWISE["minimum"])
def _of_chosen(node: Apply, form: Form) -> Node | None:
    x, y = (astype(parent, node.dtype) for parent in node.parents)
    first, second = elementwise("square", x), elementwise("square", y)
    larger, smaller = (x, y) if node.operation is ELEMENTWISE["maximum"] else (y, x)
    mean = plus(times(0.5, first), times(0.5, second))
    otherwise = where(elementwise("less", larger, smaller), second, mean)  # NaN if x or y is NaN
    return where(elementwise("greater", larger, smaller), first, otherwise)


@_of(reductions.REDUCTIONS["std"][0])
def _of_std(node: Apply, form: Form) -> Node | None:
    variance, _ = reductions.REDUCTIONS["var"]
    return Apply(variance, node.parents, node.shape, node.dtype, node.attributes)


@_of(ELEMENTWISE["negative"])
def _of_negative(node: Apply, form: Form) -> Node | None:
    return form(node.parents[0], "square")


@_of(ELEMENTWISE["multiply"])
@_of(ELEMENTWISE["divide"])
def _of_product(node: Apply, form: Form) -> Node | None:
    squares = [None if isinstance(p, Data) else form(p, "square") for p in node.parents]
    if squares == [None, None]:
        return None
    pairs = zip(squares, node.parents, strict=True)
    parts = (elementwise("square", p) if s is None else s for s, p in pairs)
    return elementwise(node.operation.name, *parts)


@ON_SQUARE.fill
def _known_square(node: Node) -> Node | None:
    """The square of a node, if a rule gives it.

    Each power calls this function, so that most nodes are excluded by their operation at once.
    """
    operation = getattr(node, "operation", None)
    has_rule = isinstance(node, (Inner, FormOf)) or operation in _WITH_RULE
    return represent(node, "square") if has_rule else None
