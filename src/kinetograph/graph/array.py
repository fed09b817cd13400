"""`kg.Array`: a handle on a node that behaves like a NumPy array whose values may not be known."""

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import elementwise as ew
from . import indexing, linear_algebra, reductions, shaping
from .dims import check_dims
from .errors import NoAttributeError, SymbolicError, SymbolicTruthError
from .messages import describe
from .node import Apply, Data, Node
from .numpy_protocol import VIEWS, apply_function, apply_ufunc
from .source import here, site_of
from .text import array_text

if TYPE_CHECKING:
    from .control.loop_handle import LoopHandle

__all__ = ["IN_PLACE", "Array", "check_dims"]

# What `x += v` does with x and x + v; empty, it is x = x + v, as there is nothing to change.
IN_PLACE: list[Callable[["Array", "Array"], "Array"]] = []


def _in_place(name: str) -> Callable[["Array", Any], "Array"]:
    def operator(self: "Array", other: Any) -> "Array":
        after: Array = getattr(self, name)(other)
        for change in IN_PLACE:
            after = change(self, after)
        return after

    return operator


class Array:
    """A value in the graph: data, an unknown, or something computed from them.

    Supports Python's operators, NumPy's functions (`np.exp(x)`, `np.linalg.cholesky(x)`), indexing
    and `@`. Shape and dtype are known at once; values are not until something is compiled.

    Arrays are made by `kg.data`, `kg.variable`, `kg.placeholder` and the distributions, and by
    computing with arrays; the class itself is not called by users.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.data([1.0, 2.0, 3.0], name="x")
    >>> (2 * x + 1).shape
    (3,)
    """

    __slots__ = ("__weakref__", "_base", "_parts", "node")
    __array_priority__ = 1000
    __pandas_priority__ = 5000  # above Series and DataFrame, which would ask for values

    _base: "tuple[weakref.ref[Array], ...]"
    _parts: "list[weakref.ref[Array]]"

    def __init__(self, node: Node) -> None:
        self.node = node

    # Views, which share the elements of an array in NumPy.
    def _view(self, node: Node) -> "Array":
        """An array of the same elements, or of some of them."""
        base = self._of()
        base = self if base is None else base
        view = Array(node)
        view._base = (weakref.ref(base),)
        known = getattr(base, "_parts", ())
        base._parts = [*(part for part in known if part() is not None), weakref.ref(view)]
        return view

    def _of(self) -> "Array | None":
        """The array that this one is a view of, or may be, as long as somebody has it."""
        bases = (base() for base in getattr(self, "_base", ()))
        return next((base for base in bases if base is not None), None)

    def _living_parts(self) -> "list[Array]":
        parts = (part() for part in getattr(self, "_parts", ()))
        return [part for part in parts if part is not None]

    def __deepcopy__(self, memo: Any) -> "Array":
        # Another handle on the same node, by which the rest of the graph knows it.
        return Array(self.node) if type(self) is Array else self

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{describe(self.node)} cannot be pickled alone: an array is a place in a graph, which "
            "others know it by. Pickle the model or the compiled function that it belongs to, or "
            "write all arrays that belong together by one kg.save_graph(path, arrays)"
        )

    # What is known without running anything.
    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.node.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.node.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.node.size

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return self.node.dtype

    @property
    def dims(self) -> tuple[str | None, ...] | None:
        """The names of the axes, where they were given."""
        return self.node.dims

    @property
    def name(self) -> str | None:
        """The name given with `name=`."""
        return self.node.name

    @property
    def loop(self) -> "LoopHandle":
        """What is known of the while loop that gave this array: its `trips` and `truncated`."""
        from .control.loop_handle import handle

        return handle(self.node)

    @property
    def rng(self) -> Any:
        """The stream of a random draw; `fn.state[array.rng]` is its state in a function."""
        stream = getattr(self.node, "stream", None)
        if stream is None:
            raise NoAttributeError(
                f"{describe(self.node)} is not a random draw and has no stream; draws are made by "
                "kg.random or kg.RandomStreams"
            )
        return stream

    @property
    def T(self) -> "Array":
        """The transpose: all axes in reverse order."""
        return self._view(shaping.transpose(self))

    @property
    def mT(self) -> "Array":
        """The transposes of the matrices in the last two axes."""
        if self.ndim < 2:
            raise NoAttributeError(
                f"{describe(self.node)} has shape {self.shape} and no matrices to transpose"
            )
        return self._view(shaping.swapaxes(self, -1, -2))

    @property
    def at(self) -> "_At":
        """Functional updates: `x.at[i].set(v)` is a copy of x with x[i] = v."""
        return _At(self)

    # Arithmetic.
    def __add__(self, other: Any) -> "Array":
        return Array(ew.elementwise("add", *_counted(self, other)))

    def __radd__(self, other: Any) -> "Array":
        return Array(ew.elementwise("add", *_counted(other, self)))

    def __sub__(self, other: Any) -> "Array":
        return Array(ew.elementwise("subtract", *_counted(self, other)))

    def __rsub__(self, other: Any) -> "Array":
        return Array(ew.elementwise("subtract", *_counted(other, self)))

    def __mul__(self, other: Any) -> "Array":
        return Array(ew.elementwise("multiply", *_counted(self, other)))

    def __rmul__(self, other: Any) -> "Array":
        return Array(ew.elementwise("multiply", *_counted(other, self)))

    def __truediv__(self, other: Any) -> "Array":
        return Array(ew.elementwise("divide", self, other))

    def __rtruediv__(self, other: Any) -> "Array":
        return Array(ew.elementwise("divide", other, self))

    def __floordiv__(self, other: Any) -> "Array":
        return Array(ew.elementwise("floor_divide", *_counted(self, other)))

    def __rfloordiv__(self, other: Any) -> "Array":
        return Array(ew.elementwise("floor_divide", *_counted(other, self)))

    def __mod__(self, other: Any) -> "Array":
        return Array(ew.elementwise("remainder", *_counted(self, other)))

    def __rmod__(self, other: Any) -> "Array":
        return Array(ew.elementwise("remainder", *_counted(other, self)))

    def __pow__(self, other: Any) -> "Array":
        return Array(ew.power(*_counted(self, other)))

    def __rpow__(self, other: Any) -> "Array":
        return Array(ew.power(*_counted(other, self)))

    def __matmul__(self, other: Any) -> "Array":
        return Array(linear_algebra.matmul(self, other))

    def __rmatmul__(self, other: Any) -> "Array":
        return Array(linear_algebra.matmul(other, self))

    def __divmod__(self, other: Any) -> "tuple[Array, Array]":
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> "tuple[Array, Array]":
        return other // self, other % self

    def __neg__(self) -> "Array":
        return Array(ew.elementwise("negative", *_counted(self)))

    def __pos__(self) -> "Array":
        return self

    def __abs__(self) -> "Array":
        return Array(ew.elementwise("absolute", *_counted(self)))

    def __round__(self, ndigits: int | None = None) -> "Array":
        return Array(ew.round_to(self, ndigits or 0))

    __iadd__, __isub__ = _in_place("__add__"), _in_place("__sub__")
    __imul__, __imatmul__ = _in_place("__mul__"), _in_place("__matmul__")
    __itruediv__, __ifloordiv__ = _in_place("__truediv__"), _in_place("__floordiv__")
    __imod__, __ipow__ = _in_place("__mod__"), _in_place("__pow__")
    __iand__, __ior__, __ixor__ = _in_place("__and__"), _in_place("__or__"), _in_place("__xor__")
    __ilshift__, __irshift__ = _in_place("__lshift__"), _in_place("__rshift__")

    # Comparisons and logic.
    def __eq__(self, other: Any) -> "Array":  # type: ignore[override]
        return Array(ew.elementwise("equal", self, other))

    def __ne__(self, other: Any) -> "Array":  # type: ignore[override]
        return Array(ew.elementwise("not_equal", self, other))

    def __lt__(self, other: Any) -> "Array":
        return Array(ew.elementwise("less", self, other))

    def __le__(self, other: Any) -> "Array":
        return Array(ew.elementwise("less_equal", self, other))

    def __gt__(self, other: Any) -> "Array":
        return Array(ew.elementwise("greater", self, other))

    def __ge__(self, other: Any) -> "Array":
        return Array(ew.elementwise("greater_equal", self, other))

    def __and__(self, other: Any) -> "Array":
        return Array(ew.elementwise("bitwise_and", self, other))

    def __rand__(self, other: Any) -> "Array":
        return Array(ew.elementwise("bitwise_and", other, self))

    def __or__(self, other: Any) -> "Array":
        return Array(ew.elementwise("bitwise_or", self, other))

    def __ror__(self, other: Any) -> "Array":
        return Array(ew.elementwise("bitwise_or", other, self))

    def __xor__(self, other: Any) -> "Array":
        return Array(ew.elementwise("bitwise_xor", self, other))

    def __rxor__(self, other: Any) -> "Array":
        return Array(ew.elementwise("bitwise_xor", other, self))

    def __lshift__(self, other: Any) -> "Array":
        return Array(ew.elementwise("left_shift", self, other))

    def __rlshift__(self, other: Any) -> "Array":
        return Array(ew.elementwise("left_shift", other, self))

    def __rshift__(self, other: Any) -> "Array":
        return Array(ew.elementwise("right_shift", self, other))

    def __rrshift__(self, other: Any) -> "Array":
        return Array(ew.elementwise("right_shift", other, self))

    def __invert__(self) -> "Array":
        return Array(ew.elementwise("invert", self))

    __hash__ = object.__hash__

    # Containers.
    def __getitem__(self, key: Any) -> "Array":
        node = indexing.index(self, key)
        return self._view(node) if node.shape and _is_basic(key) else Array(node)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise SymbolicError(
            f"{describe(self.node)}: arrays cannot be changed in place; "
            "write x = x.at[index].set(value)"
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{describe(self.node)} is a single number and has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator["Array"]:
        if not self.shape:
            raise TypeError(f"iterating over a 0-d array: {describe(self.node)} is a single number")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, Array) and isinstance(value.node, Data):
            value = value.node.value
        if isinstance(self.node, Data) and not isinstance(value, Array):
            return bool((self.node.value == value).any())
        raise self._no_truth("bool", "`in`", "write (x == value).any(), which is an array itself")

    # What needs a value.
    def _no_value(self, wanted: str, instead: str) -> SymbolicError:
        return SymbolicError(
            f"the value of {describe(self.node)} is not known while the graph is built, "
            f"so {wanted} is not possible; {instead}"
        )

    def _no_truth(self, kind: str, wanted: str, instead: str) -> SymbolicTruthError:
        place = site_of(here())
        return SymbolicTruthError(
            f"using a symbolic array as a Python {kind} is not allowed: the value of "
            f"{describe(self.node)} is not known while the graph is built, so {wanted} is not "
            f"possible{f' ({place})' if place else ''}; {instead}"
        )

    def __bool__(self) -> bool:
        if isinstance(self.node, Data):
            return bool(self.node.value)
        node, found = self.node, ""
        equal = isinstance(node, Apply) and node.operation is ew.ELEMENTWISE["equal"]
        if equal and not any(isinstance(parent, Data) for parent in node.parents):
            x, y = map(describe, node.parents)
            found = (
                f"; for whether {x} and {y} are one and the same array write `is`, as in "
                f"any(x is {y} for x in ...) for `{y} in ...`"
            )
        raise self._no_truth(
            "bool",
            "`if`, `while`, `and`, `or` or `not` on it",
            "in a function decorated with @kg.function they become part of the graph; elsewhere "
            f"use kg.cond, kg.while_loop or kg.where{found}",
        )

    def _number(self, kind: str, wanted: str) -> Any:
        if isinstance(self.node, Data):
            return self.node.value
        raise self._no_truth(
            kind,
            wanted,
            "compute with the array itself (by kg.exp in place of math.exp), or compile it with "
            "kg.compile",
        )

    def __float__(self) -> float:
        return float(self._number("float", "float(...)"))

    def __int__(self) -> int:
        return int(self._number("int", "int(...)"))

    def __index__(self) -> int:
        wanted = "an index of a list, or range(...),"
        number: int = self._number("int", wanted).__index__()
        return number

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if isinstance(self.node, Data):
            return np.array(self.node.value, dtype=dtype)
        raise self._no_value(
            "a NumPy array of it",
            "compute with the array itself (kg.stack joins arrays), or compile it with kg.compile",
        )

    # NumPy's protocols.
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return Array(apply_ufunc(ufunc, method, inputs, kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = apply_function(func, args, kwargs)
        if func in VIEWS and isinstance(args[0], Array) and isinstance(result, Node):
            return args[0]._view(result)
        return _wrap(result)

    # The methods NumPy users reach for.
    def sum(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The sum over axes."""
        return Array(reductions.reduce("sum", self, axis, keepdims))

    def prod(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The product over axes."""
        return Array(reductions.reduce("prod", self, axis, keepdims))

    def mean(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The mean over axes."""
        return Array(reductions.reduce("mean", self, axis, keepdims))

    def var(self, axis: reductions.Axis = None, ddof: int = 0, keepdims: bool = False) -> "Array":
        """The variance over axes, with divisor n - ddof."""
        return Array(reductions.reduce("var", self, axis, keepdims, ddof=ddof))

    def std(self, axis: reductions.Axis = None, ddof: int = 0, keepdims: bool = False) -> "Array":
        """The standard deviation over axes, with divisor n - ddof."""
        return Array(reductions.reduce("std", self, axis, keepdims, ddof=ddof))

    def max(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The largest element over axes; tied elements share the gradient."""
        return Array(reductions.reduce("max", self, axis, keepdims))

    def min(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The smallest element over axes; tied elements share the gradient."""
        return Array(reductions.reduce("min", self, axis, keepdims))

    def any(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """Whether any element over axes is true."""
        return Array(reductions.reduce("any", self, axis, keepdims))

    def all(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """Whether all elements over axes are true."""
        return Array(reductions.reduce("all", self, axis, keepdims))

    def argmax(self, axis: int | None = None) -> "Array":
        """The place of the largest element."""
        return Array(reductions.reduce("argmax", self, axis))

    def argmin(self, axis: int | None = None) -> "Array":
        """The place of the smallest element."""
        return Array(reductions.reduce("argmin", self, axis))

    def cumsum(self, axis: int | None = None) -> "Array":
        """The running sum along an axis."""
        return Array(reductions.cumulative("cumsum", self, axis))

    def cumprod(self, axis: int | None = None) -> "Array":
        """The running product along an axis."""
        return Array(reductions.cumulative("cumprod", self, axis))

    def reshape(self, *shape: Any) -> "Array":
        """The same elements in another shape; one size may be -1."""
        return self._view(shaping.reshape(self, shape[0] if len(shape) == 1 else shape))

    def ravel(self) -> "Array":
        """The elements as a vector."""
        return self._view(indexing.ravel(self))

    def flatten(self) -> "Array":
        """A copy of the elements as a vector."""
        return Array(indexing.ravel(self))

    def copy(self) -> "Array":
        """An array of the same values that is no other name of this one."""
        return Array(ew.copy(self))

    __copy__ = copy

    def transpose(self, *axes: Any) -> "Array":
        """The axes in another order, reversed when none is given."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return self._view(shaping.transpose(self, order))

    def swapaxes(self, axis1: int, axis2: int) -> "Array":
        """Exchange two axes."""
        return self._view(shaping.swapaxes(self, axis1, axis2))

    def squeeze(self, axis: Any = None) -> "Array":
        """Drop axes of length one."""
        return self._view(shaping.squeeze(self, axis))

    def astype(self, dtype: Any) -> "Array":
        """The elements converted to another type."""
        return Array(ew.astype(self, dtype))

    def round(self, decimals: int = 0) -> "Array":
        """The elements rounded to a number of decimals, halves to even."""
        return Array(ew.round_to(self, decimals))

    def clip(self, min: Any = None, max: Any = None) -> "Array":
        """The elements limited to the interval [min, max]."""
        return Array(ew.clip(self, min, max))

    def take(self, indices: Any, axis: int | None = None, mode: str = "raise") -> "Array":
        """Elements along an axis (of the flattened array for None)."""
        return Array(indexing.take(self, indices, axis, mode))

    def repeat(self, repeats: Any, axis: int | None = None) -> "Array":
        """Each element several times, along an axis (flattened for None)."""
        return Array(shaping.repeat(self, repeats, axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "Array":
        """The diagonal over two axes, as the last axis."""
        return Array(shaping.diagonal(self, offset, axis1, axis2))

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "Array":
        """The sum of the diagonal over two axes."""
        return Array(shaping.trace(self, offset, axis1, axis2))

    def dot(self, other: Any) -> "Array":
        """The matrix product; with a number, the product."""
        return Array(linear_algebra.dot(self, other))

    def __repr__(self) -> str:
        return array_text(self.node)

    def __format__(self, spec: str) -> str:
        if spec and not isinstance(self.node, Data):
            raise self._no_value(
                f"formatting it as {spec!r}", "print it by kg.print, or return it and format that"
            )
        return format(self.node.value.item() if spec else repr(self), spec)  # type: ignore[attr-defined]


def _counted(*operands: Any) -> tuple[Any, ...]:
    """Single truth values as whole numbers, as Python's operators take them: True + True is 2."""
    for operand in operands:
        node = getattr(operand, "node", operand)
        single = isinstance(node, (bool, np.bool_)) or (
            isinstance(node, Node) and node.dtype.kind == "b" and not node.shape
        )
        if not single:
            return operands
    return tuple(map(_count, operands))


def _count(operand: Any) -> Node:
    node = ew.as_variable(operand)
    count = ew.astype(node, np.int64)
    count.weak = node.weak
    return count


def _is_basic(key: Any) -> bool:
    """Whether an index takes a view in NumPy: numbers and slices."""
    parts = key if isinstance(key, tuple) else (key,)
    return not any(isinstance(part, (list, bool)) or np.ndim(part) for part in parts)


def _wrap(result: Any) -> Any:
    """Arrays in place of nodes, in whatever structure they came."""
    if isinstance(result, Node):
        return Array(result)
    if isinstance(result, (tuple, list)):
        parts = map(_wrap, result)
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


class _At:
    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> "_AtIndex":
        return _AtIndex(self._array, key)


class _AtIndex:
    """The elements at an index, about to be replaced in a copy."""

    __slots__ = ("_array", "_key")

    def __init__(self, array: Array, key: Any) -> None:
        self._array, self._key = array, key

    def set(self, value: Any) -> Array:
        """The copy with these elements replaced."""
        return Array(indexing.update(self._array, self._key, value, "set"))

    def add(self, value: Any) -> Array:
        """The copy with `value` added to these elements."""
        return Array(indexing.update(self._array, self._key, value, "add"))

    def multiply(self, value: Any) -> Array:
        """The copy with these elements multiplied by `value`."""
        return Array(indexing.update(self._array, self._key, value, "multiply"))
