"""Python's operators on arrays: arithmetic, comparisons and logic."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .hooks import ON_IN_PLACE
from .node import Node
from .operations import elementwise as ew
from .operations import linear_algebra
from .operations.operands import as_variable
from .operations.rounding import round_to
from .source import place_text
from .value_texts import in_words

if TYPE_CHECKING:
    from .array import Array, ArrayLike

__all__ = ["Operators"]


def _in_place(name: str) -> Callable[["Array", Any], "Array"]:
    def operator(self: "Array", other: Any) -> "Array":
        after: Array = getattr(self, name)(other)
        return next(iter(ON_IN_PLACE(self, after)), after)

    return operator


class Operators:
    """The operators of `Array`, such as `x + y`."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _new(self, node: Node) -> "Array": ...

    # Arithmetic.
    def __add__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("add", *_counted(self, other)))

    def __radd__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("add", *_counted(other, self)))

    def __sub__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("subtract", *_counted(self, other)))

    def __rsub__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("subtract", *_counted(other, self)))

    def __mul__(self, other: "ArrayLike | list[Any] | tuple[Any, ...]") -> "Array":
        if getattr(other, "__array_ufunc__", self) is None:  # as in NumPy, `other` computes it
            return NotImplemented
        return self._new(ew.elementwise("multiply", *_counted(self, other)))

    def __rmul__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("multiply", *_counted(other, self)))

    def __truediv__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("divide", self, other))

    def __rtruediv__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("divide", other, self))

    def __floordiv__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("floor_divide", *_counted(self, other)))

    def __rfloordiv__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("floor_divide", *_counted(other, self)))

    def __mod__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("remainder", *_counted(self, other)))

    def __rmod__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("remainder", *_counted(other, self)))

    def __pow__(self, other: Any, modulus: Any = None) -> "Array":
        power = self._new(ew.power(*_counted(self, other)))
        if modulus is None:
            return power
        raise TypeError(
            f"pow of arrays takes two arguments, got a modulus: {in_words(modulus)}{place_text()}; "
            "write x ** y % m"
        )

    def __rpow__(self, other: Any) -> "Array":
        return self._new(ew.power(*_counted(other, self)))

    def __matmul__(self, other: Any) -> "Array":
        return self._new(linear_algebra.matmul(self, other))

    def __rmatmul__(self, other: Any) -> "Array":
        return self._new(linear_algebra.matmul(other, self))

    def __divmod__(self, other: Any) -> "tuple[Array, Array]":
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> "tuple[Array, Array]":
        return other // self, other % self

    def __neg__(self) -> "Array":
        return self._new(ew.elementwise("negative", *_counted(self)))

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> "Array":
        return self._new(ew.elementwise("absolute", *_counted(self)))

    def __round__(self, ndigits: int | None = None) -> "Array":
        return self._new(round_to(self, ndigits or 0))

    __iadd__, __isub__ = _in_place("__add__"), _in_place("__sub__")
    __imul__, __imatmul__ = _in_place("__mul__"), _in_place("__matmul__")
    __itruediv__, __ifloordiv__ = _in_place("__truediv__"), _in_place("__floordiv__")
    __imod__, __ipow__ = _in_place("__mod__"), _in_place("__pow__")
    __iand__, __ior__, __ixor__ = _in_place("__and__"), _in_place("__or__"), _in_place("__xor__")
    __ilshift__, __irshift__ = _in_place("__lshift__"), _in_place("__rshift__")

    # Comparisons and logic.
    def __eq__(self, other: Any) -> "Array":  # type: ignore[override]
        return self._new(ew.elementwise("equal", self, other))

    def __ne__(self, other: Any) -> "Array":  # type: ignore[override]
        return self._new(ew.elementwise("not_equal", self, other))

    def __lt__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("less", self, other))

    def __le__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("less_equal", self, other))

    def __gt__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("greater", self, other))

    def __ge__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("greater_equal", self, other))

    def __and__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("bitwise_and", self, other))

    def __rand__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("bitwise_and", other, self))

    def __or__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("bitwise_or", self, other))

    def __ror__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("bitwise_or", other, self))

    def __xor__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("bitwise_xor", self, other))

    def __rxor__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("bitwise_xor", other, self))

    def __lshift__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("left_shift", self, other))

    def __rlshift__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("left_shift", other, self))

    def __rshift__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("right_shift", self, other))

    def __rrshift__(self, other: Any) -> "Array":
        return self._new(ew.elementwise("right_shift", other, self))

    def __invert__(self) -> "Array":
        return self._new(ew.elementwise("invert", self))

    __hash__ = object.__hash__


def _counted(*operands: Any) -> tuple[Any, ...]:
    """Convert single booleans to integers if all operands are single booleans.

    Python's operators do the same: True + True is 2.
    """
    for operand in operands:
        node = getattr(operand, "node", operand)
        single = isinstance(node, (bool, np.bool_)) or (
            isinstance(node, Node) and node.dtype.kind == "b" and not node.shape
        )
        if not single:
            return operands
    return tuple(map(_count, operands))


def _count(operand: Any) -> Node:
    node = as_variable(operand)
    count = ew.astype(node, np.int64)
    count.weak = node.weak
    return count
