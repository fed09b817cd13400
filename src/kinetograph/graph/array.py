"""`kg.Array`: a handle on a node that behaves like a NumPy array whose values may not be known."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import elementwise as ew
from . import indexing, linear_algebra, reductions, shaping
from .errors import DataError, DimsError, SymbolicError
from .messages import describe
from .node import Data, Node, Placeholder

__all__ = ["Array", "data", "placeholder"]


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

    __slots__ = ("__weakref__", "node")
    __array_priority__ = 1000

    def __init__(self, node: Node) -> None:
        self.node = node

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
    def T(self) -> "Array":
        """The transpose: all axes in reverse order."""
        return Array(shaping.transpose(self))

    @property
    def at(self) -> "_At":
        """Functional updates: `x.at[i].set(v)` is a copy of x with x[i] = v."""
        return _At(self)

    # Arithmetic.
    def __add__(self, other: Any) -> "Array":
        return Array(ew.elementwise("add", self, other))

    def __radd__(self, other: Any) -> "Array":
        return Array(ew.elementwise("add", other, self))

    def __sub__(self, other: Any) -> "Array":
        return Array(ew.elementwise("subtract", self, other))

    def __rsub__(self, other: Any) -> "Array":
        return Array(ew.elementwise("subtract", other, self))

    def __mul__(self, other: Any) -> "Array":
        return Array(ew.elementwise("multiply", self, other))

    def __rmul__(self, other: Any) -> "Array":
        return Array(ew.elementwise("multiply", other, self))

    def __truediv__(self, other: Any) -> "Array":
        return Array(ew.elementwise("divide", self, other))

    def __rtruediv__(self, other: Any) -> "Array":
        return Array(ew.elementwise("divide", other, self))

    def __floordiv__(self, other: Any) -> "Array":
        return Array(ew.elementwise("floor_divide", self, other))

    def __rfloordiv__(self, other: Any) -> "Array":
        return Array(ew.elementwise("floor_divide", other, self))

    def __mod__(self, other: Any) -> "Array":
        return Array(ew.elementwise("remainder", self, other))

    def __rmod__(self, other: Any) -> "Array":
        return Array(ew.elementwise("remainder", other, self))

    def __pow__(self, other: Any) -> "Array":
        return Array(ew.power(self, other))

    def __rpow__(self, other: Any) -> "Array":
        return Array(ew.power(other, self))

    def __matmul__(self, other: Any) -> "Array":
        return Array(linear_algebra.matmul(self, other))

    def __rmatmul__(self, other: Any) -> "Array":
        return Array(linear_algebra.matmul(other, self))

    def __neg__(self) -> "Array":
        return Array(ew.elementwise("negative", self))

    def __pos__(self) -> "Array":
        return self

    def __abs__(self) -> "Array":
        return Array(ew.elementwise("absolute", self))

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

    def __invert__(self) -> "Array":
        return Array(ew.elementwise("invert", self))

    __hash__ = object.__hash__

    # Containers.
    def __getitem__(self, key: Any) -> "Array":
        return Array(indexing.index(self, key))

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
        for i in range(len(self)):
            yield self[i]

    # What needs a value.
    def _no_value(self, wanted: str, instead: str) -> SymbolicError:
        return SymbolicError(
            f"the value of {describe(self.node)} is not known while the graph is built, "
            f"so {wanted} is not possible; {instead}"
        )

    def __bool__(self) -> bool:
        if isinstance(self.node, Data):
            return bool(self.node.value)
        raise self._no_value("`if`, `while`, `and`, `or` or `not` on it", "use kg.where(...)")

    def _number(self, kind: str) -> Any:
        if isinstance(self.node, Data):
            return self.node.value
        raise self._no_value(
            f"{kind}(...)", "compute with the array itself, or compile it with kg.compile"
        )

    def __float__(self) -> float:
        return float(self._number("float"))

    def __int__(self) -> int:
        return int(self._number("int"))

    def __index__(self) -> int:
        return self._number("index").__index__()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self._number("numpy.array"), dtype=dtype)

    # NumPy's protocols.
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .numpy_protocol import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .numpy_protocol import apply_function

        return apply_function(func, args, kwargs)

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
        return Array(shaping.reshape(self, shape[0] if len(shape) == 1 else shape))

    def ravel(self) -> "Array":
        """The elements as a vector."""
        return Array(shaping.reshape(self, -1))

    flatten = ravel

    def transpose(self, *axes: Any) -> "Array":
        """The axes in another order, reversed when none is given."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return Array(shaping.transpose(self, order))

    def swapaxes(self, axis1: int, axis2: int) -> "Array":
        """Exchange two axes."""
        return Array(shaping.swapaxes(self, axis1, axis2))

    def squeeze(self, axis: Any = None) -> "Array":
        """Drop axes of length one."""
        return Array(shaping.squeeze(self, axis))

    def astype(self, dtype: Any) -> "Array":
        """The elements converted to another type."""
        return Array(ew.astype(self, dtype))

    def dot(self, other: Any) -> "Array":
        """The matrix product."""
        return self @ other if self.ndim and np.ndim(other) else self * other

    def __repr__(self) -> str:
        from .text import array_text

        return array_text(self.node)


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


def check_dims(
    dims: Any, shape: tuple[int, ...], what: str
) -> tuple[str | None, ...] | None:
    """The dims as a tuple, checked against the number of axes."""
    if dims is None:
        return None
    names = (dims,) if isinstance(dims, str) else tuple(dims)
    if len(names) != len(shape):
        raise DimsError(
            f"{what}: dims {names} name {len(names)} axes, the shape {shape} has {len(shape)}"
        )
    given = [n for n in names if n is not None]
    if len(set(given)) < len(given):
        raise DimsError(f"{what}: dims {names} name a dimension twice")
    return names


def data(value: Any, name: str | None = None, dims: Any = None) -> Array:
    """Known values: numbers, NumPy arrays, pandas or xarray objects.

    Compiled functions take data as arguments, so other values of the same shape need no new
    compilation. Integers, booleans and floating-point numbers keep their kind; float64 becomes
    float32 under `kg.precision("float32")`.

    Parameters
    ----------
    value
        Anything NumPy makes a numeric array of. An xarray `DataArray` brings its dims and
        coordinates, a pandas `Series` or `DataFrame` its index and columns as coordinates.
    name
        How results and messages call it; else the variable that holds it.
    dims
        The names of the axes.

    Raises
    ------
    DataError
        If values are not numeric, or missing or infinite (the message gives the first position).
    DimsError
        If `dims` do not fit the shape.

    Examples
    --------
    >>> import kinetograph as kg
    >>> y = kg.data([28.0, 8.0, -3.0], dims="school")
    >>> y.dims
    ('school',)
    """
    from .source import here

    what = f"data{f' {name!r}' if name else ''} at {here()}"
    if isinstance(value, Array):
        raise DataError(f"{what}: the value is already a kinetograph array; use it as it is")
    coords, own_dims = _labels(value)
    array = np.asarray(value)
    if array.dtype.kind in "OSUVmMc":
        raise DataError(
            f"{what}: values of dtype {array.dtype} are not numbers; "
            "encode categories as integers and dates as numbers first"
        )
    if array.dtype.kind == "f":
        _check_finite(array, what)
        if array.dtype != np.float32:
            array = array.astype(ew.float_dtype())
    names = check_dims(dims if dims is not None else own_dims, array.shape, what)
    if dims is not None and own_dims is not None and names is not None:
        coords = {
            new: coords[old]
            for old, new in zip(own_dims, names, strict=True)
            if new is not None and old in coords
        }
    frozen = np.array(array)
    frozen.setflags(write=False)
    return Array(Data(frozen, name, names, coords=coords))


def _labels(value: Any) -> tuple[dict[str, np.ndarray], tuple[str, ...] | None]:
    """Coordinates and dims that xarray and pandas objects bring along."""
    dims = getattr(value, "dims", None)
    coords = getattr(value, "coords", None)
    if dims is not None and coords is not None and not isinstance(dims, dict):
        return {d: np.asarray(coords[d]) for d in dims if d in coords}, tuple(map(str, dims))
    index = getattr(value, "index", None)
    axes = getattr(value, "axes", None)
    if index is not None and isinstance(axes, list):
        names = [getattr(axis, "name", None) for axis in axes]
        if all(isinstance(n, str) for n in names):
            return {n: np.asarray(a) for n, a in zip(names, axes, strict=True)}, tuple(names)
    return {}, None


def _check_finite(array: np.ndarray, what: str) -> None:
    bad = ~np.isfinite(array)
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        count = int(bad.sum())
        where = f"at index {place[0] if len(place) == 1 else place}" if place else ""
        raise DataError(
            f"{what}: {array[place]} {where}".rstrip()
            + (f" and {count - 1} more missing or infinite values" if count > 1 else "")
            + "; drop or fill missing values first"
        )


def placeholder(shape: Any = (), dtype: Any = None, name: str | None = None) -> Array:
    """A value that a compiled function takes as an argument.

    Parameters
    ----------
    shape
        The lengths of the axes.
    dtype
        The type of the elements; by default the working precision.
    name
        How messages call it.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((3,), name="x")
    >>> f = kg.compile([x], (x * x).sum())
    >>> float(f([1.0, 2.0, 3.0]))
    14.0
    """
    sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(map(int, shape))
    wanted = ew.float_dtype() if dtype is None else np.dtype(dtype)
    return Array(Placeholder((), sizes, wanted, name))
