"""The class `kg.Array`: a handle on a node of the graph.

It behaves like a NumPy array whose values may not be known yet.
"""

import sys
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .array_methods import Methods
from .dims import check_dims
from .errors import (
    KinetographWarning,
    NoAttributeError,
    StagingError,
    SymbolicError,
    SymbolicTruthError,
)
from .forms import logarithms as logarithms  # this import and the next one register rules
from .forms import squares as squares
from .messages import describe
from .node import PART, Apply, Data, Handle, Node
from .numpy.library_calls import instead as answer
from .numpy.library_calls import library_call
from .numpy.protocol import VIEWS, apply_function, apply_ufunc
from .operations import elementwise as ew
from .operations import indexing, shaping
from .operations.indexing import MOVING_SLICE
from .operators import Operators
from .public import public
from .source import assigned_here, called_here, draws_by_numpy, place_text, warn_user
from .subscripts import subscript_here
from .suggestions import read_missing
from .updates import At
from .value_texts import array_text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .control.loop_handle import LoopHandle
else:
    ArrayLike = Any  # only type checkers import it, because the import is slow

__all__ = ["Array", "ArrayLike", "Computed", "check_dims"]

_AN_ITEM = (
    "write a = kg.data(a).at[i].set(x), or collect a list and call kg.stack(list) at the end; in a "
    "function decorated with @kg.function a[i] = x works"
)
_ITSELF = (
    "compute with the array itself (kg.exp in place of math.exp), or compile it with kg.compile"
)


@public
class Array(Operators, Methods, Handle):
    """A value in the graph: data, an unknown, or a computed value.

    Arrays support Python's operators, NumPy's functions (`np.exp(x)`, `np.linalg.cholesky(x)`),
    indexing and `@`. Shape and dtype are known at once; values are known only after compilation.

    `kg.data`, `kg.variable`, `kg.placeholder`, the distributions and computations with arrays make
    arrays. Users do not call the class itself.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.data([1.0, 2.0, 3.0], name="x")
    >>> (2 * x + 1).shape
    (3,)
    """

    __slots__ = ("__weakref__", "_base", "_parts")
    __array_priority__ = 1000
    __pandas_priority__ = 5000  # above Series and DataFrame, which would read values
    fixed = ""  # why items cannot be assigned, and the alternative; empty if they can be

    _base: "tuple[weakref.ref[Array], ...]"
    _parts: "list[weakref.ref[Array]]"

    def __init__(self, node: Node) -> None:
        self.node = node

    def _new(self, node: Node) -> "Array":
        return Array(node)

    # Views: in NumPy they share the elements of another array.
    def _view(self, node: Node) -> "Array":
        """A view: an array with the same elements, or some of them."""
        base = self._of()
        base = self if base is None else base
        view = Array(node)
        view._becomes_view_of(base)
        return view

    def _becomes_view_of(self, base: "Array") -> None:
        parts = getattr(base, "_parts", ())
        base._parts = [*(part for part in parts if part() is not None), weakref.ref(self)]
        self._base = (weakref.ref(base),)

    def _of(self) -> "Array | None":
        """The array that this one may be a view of, if any."""
        bases = (base() for base in getattr(self, "_base", ()))
        return next((base for base in bases if base is not None), None)

    def _living_parts(self) -> "list[Array]":
        parts = (part() for part in getattr(self, "_parts", ()))
        return [part for part in parts if part is not None]

    def __deepcopy__(self, memo: Any) -> "Array":
        # A new handle on the same node, because other nodes refer to that node.
        return Array(self.node) if type(self) is Array else self

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{describe(self.node)} cannot be pickled alone: an array is part of a graph in which "
            "other arrays refer to it. Pickle the model or the compiled function it belongs to, or "
            "write all arrays that belong together with one kg.save_graph(path, arrays)"
        )

    # Properties that are known without running a program.
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
        """The names of the axes; None if no names were given."""
        return self.node.dims

    @property
    def name(self) -> str | None:
        """The name given with `name=`."""
        return self.node.name

    @property
    def loop(self) -> "LoopHandle":
        """The while loop that gave this array: its `trips` and `truncated`."""
        node = self.node
        part = isinstance(node, Apply) and node.operation is PART
        handle: LoopHandle | None = getattr(node.parents[0], "loop", None) if part else None
        if handle is None:
            raise NoAttributeError(f"{describe(node)} is not the result of a while loop")
        return handle

    @property
    def rng(self) -> Any:
        """The stream of a random draw.

        `fn.state[array.rng]` is the state of this stream in a compiled function.
        """
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
        """The transposed matrices in the last two axes."""
        if self.ndim < 2:
            raise NoAttributeError(
                f"{describe(self.node)} has shape {self.shape} and no matrices to transpose"
            )
        return self._view(shaping.swapaxes(self, -1, -2))

    @property
    def at(self) -> At:
        """Functional updates: `x.at[i].set(v)` is a copy of x with x[i] = v."""
        return At(self)

    # Containers.
    def __getitem__(self, key: Any) -> "Array":
        node = indexing.index(self, key)
        return self._view(node) if node.shape and _is_basic(key) else Array(node)

    def __setitem__(self, key: Any, value: Any) -> None:
        name = describe(self.node)
        name = name if name.isidentifier() else "x"
        at = key if isinstance(key, (int, np.integer)) else "index"
        raise SymbolicError(
            f"{describe(self.node)}: arrays cannot be changed in place{place_text()}; "
            f"write {name} = {name}.at[{at}].set(value)"
        )

    def __delitem__(self, key: Any) -> None:
        raise SymbolicError(
            f"{describe(self.node)}: arrays cannot be changed in place{place_text()}; "
            "kg.concatenate([x[:i], x[i + 1:]]) gives a copy without x[i]"
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(
                f"{describe(self.node)} is a single number and has no length{place_text()}; "
                "shape= makes an unknown with several elements"
            )
        return self.shape[0]

    def __iter__(self) -> Iterator["Array"]:
        if not self.shape:
            raise TypeError(
                f"iterating over a 0-d array: {describe(self.node)} is a single number"
                f"{place_text()}; shape= makes an unknown with several elements"
            )
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, Array) and isinstance(value.node, Data):
            value = value.node.value
        if isinstance(self.node, Data) and not isinstance(value, Array):
            return bool((self.node.value == value).any())
        raise self._no_truth("bool", "`in`", "write (x == value).any(), which is an array itself")

    # Uses that need a value.
    def _no_value(self, use: str, instead: str) -> SymbolicError:
        return SymbolicError(
            f"the value of {describe(self.node)} is not known while the graph is built, "
            f"so {use} is not possible{place_text()}; {instead}"
        )

    def _no_truth(self, kind: str, use: str, instead: str) -> SymbolicTruthError:
        called = library_call()
        if called is not None:
            text = answer(called, describe(self.node))
            if called.name.startswith("polars."):  # polars raises an error of its own instead
                warn_user(text, KinetographWarning)
            return SymbolicTruthError(text)
        return SymbolicTruthError(
            f"using a symbolic array as a Python {kind} is not allowed: the value of "
            f"{describe(self.node)} is not known while the graph is built, so {use} is not "
            f"possible{place_text()}; {instead}"
        )

    def __bool__(self) -> bool:
        if isinstance(self.node, Data):
            return bool(self.node.value)
        node, advice = self.node, ""
        equal = isinstance(node, Apply) and node.operation is ew.ELEMENTWISE["equal"]
        if equal and not any(isinstance(parent, Data) for parent in node.parents):
            x, y = map(describe, node.parents)
            advice = (
                f"; to test whether {x} and {y} are the same array write `is`; in place of "
                f"`{y} in ...` write any(x is {y} for x in ...)"
            )
        if called_here():
            raise self._no_truth(
                "bool",
                "a Python function that needs it, such as max, sorted, any or bool,",
                f"use kg.maximum, kg.minimum, kg.sort, kg.any, kg.all or kg.where{advice}",
            )
        raise self._no_truth(
            "bool",
            "`if`, `while`, `and`, `or` or `not` on it",
            "in a function decorated with @kg.function they become part of the graph; elsewhere "
            "use kg.cond, kg.while_loop or kg.where, and & | ~ between conditions" + advice,
        )

    if not TYPE_CHECKING:  # type checkers would then accept every attribute name

        def __getattr__(self, name: str) -> Any:
            if name in _PROTOCOLS:
                self._refuse_protocol()
            instead = _ELSEWHERE.get(name)
            called = None if instead or name.startswith("_") else library_call()
            words = describe(self.node) if instead or called else ""
            if called is not None and called.name.startswith("pandas."):
                raise NoAttributeError(answer(called, words))
            if instead is None:
                return read_missing(self, name)
            advice = instead.format(words, self._as_distribution())
            raise NoAttributeError(f"{words}: arrays have no {name!r}{place_text()}; {advice}")

    def _as_distribution(self) -> str:
        """The distribution of an unknown, as an argument."""
        distribution = getattr(self.node, "distribution", None)
        if distribution is None:
            return "distribution"
        words = describe(self.node)
        return f"kg.{distribution.expression()}" if words == distribution.label() else words

    def _refuse_protocol(self) -> None:
        """Raise an error if JAX or polars asks for a conversion.

        Operators of JAX's arrays ask as well, and then leave the operation to the other operand.
        """
        called, caller = library_call(), sys._getframe(2)
        if called is None or caller.f_globals.get("__name__") == _JAX_OPERATORS:
            return
        if caller.f_code.co_name != "bind":  # C code that ignores errors, and asks again
            # JAX and `hasattr` would replace a TypeError or an AttributeError.
            raise StagingError(answer(called, describe(self.node)))

    def _number(self, kind: str, use: str, instead: str = _ITSELF) -> Any:
        if not isinstance(self.node, Data):
            if assigned_here():
                use, instead = "an item of a NumPy array", _AN_ITEM
            raise self._no_truth(kind, use, instead)
        if self.shape:
            raise TypeError(
                f"{describe(self.node)} has shape {self.shape}, but a Python {kind} is one number"
                f"{place_text()}; take one of its elements, or {instead}"
            )
        return self.node.value

    def __float__(self) -> float:
        return float(self._number("float", "float(...)"))

    def __int__(self) -> int:
        instead = f"write {describe(self.node)}.astype(int), which is an array"
        return int(self._number("int", "int(...)", instead))

    def __index__(self) -> int:
        if (here := subscript_here()) is not None and here.is_slice:
            raise self._no_truth("int", "a slice with such an end", MOVING_SLICE)
        use = "an index of a list, or range(...),"
        instead = (
            "turn the list into an array, as in kg.stack(values)[k] or kg.data(values)[k], and "
            "write a loop with kg.range in a function decorated with @kg.function"
        )
        number: int = self._number("int", use, instead).__index__()
        return number

    # With this type of objects, type checkers do not take `numbers * x` for an array of numbers.
    def __array__(
        self, dtype: Any = None, copy: Any = None
    ) -> np.ndarray[Any, np.dtype[np.object_]]:
        if isinstance(self.node, Data):
            return np.array(self.node.value, dtype=dtype)
        if draws_by_numpy():
            raise self._no_value(
                "drawing with it by numpy.random",
                "make a random quantity of a model an unknown, as in x = kg.normal(mean, sd); "
                "kg.simulate and kg.predict draw data",
            )
        called = library_call()
        if called is not None:
            raise SymbolicError(answer(called, describe(self.node)))
        if (here := subscript_here()) is not None and not assigned_here():
            way = f"write kg.data({here.array})[{here.key}]"
            if self.dtype.kind == "b":
                way = f"write kg.where({here.key}, {here.array}, 0), which keeps the length"
            raise self._no_value("an index of a NumPy array", way)
        raise self._no_value(
            "a NumPy array of it",
            "compute with the array itself (kg.stack joins arrays), or compile it with kg.compile",
        )

    # NumPy's protocols.
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _wrap(apply_ufunc(ufunc, method, inputs, kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = apply_function(func, args, kwargs)
        if func in VIEWS and isinstance(args[0], Array) and isinstance(result, Node):
            return args[0]._view(result)
        return _wrap(result)

    def __repr__(self) -> str:
        return array_text(self.node)

    def __format__(self, spec: str) -> str:
        if spec and not isinstance(self.node, Data):
            raise self._no_value(
                f"formatting it as {spec!r}",
                "print it with kg.print, or return it and format the result",
            )
        if spec and self.shape:
            raise TypeError(
                f"{describe(self.node)} has shape {self.shape}, but {spec!r} formats one number"
                f"{place_text()}; numpy.array2string(numpy.asarray(x), precision=2) writes an array"
            )
        return format(self.node.value.item() if spec else repr(self), spec)  # type: ignore[attr-defined]


# For type checkers NumPy's functions and operators return NumPy arrays, and sum may return 0.
if TYPE_CHECKING:
    Computed = Array | np.ndarray | Literal[0]
else:
    Computed = Array

_JAX_OPERATORS = "jax._src.numpy.array_methods"
_PROTOCOLS = ("__jax_array__", "__arrow_c_stream__")
_VALUES = "kg.calculate({0}, values=...) computes its value from given values or from results"
_DRAWS = "kg.calculate({1}, draws=1000) draws from its distribution"
_DENSITY = "kg.log_density({1}, value) computes a log density"
_QUANTILE = "kg.quantile({1}, probability) is the quantile"
_MOMENTS = "kg.expectation({1}) and kg.variance({1}) are the moments of a distribution"
_DISTRIBUTION = (
    "{1} is a distribution itself until it is used as an unknown: kg.observe(data, {1}), "
    "kg.log_density({1}, value)"
)
# Attributes of other libraries' arrays and distributions, and kinetograph's replacement for each.
_ELSEWHERE = {
    **dict.fromkeys(("eval", "item", "tolist", "numpy", "value", "values"), _VALUES),
    **dict.fromkeys(
        ("draw", "draws", "random", "rsample", "rvs", "sample", "sample_n", "samples", "simulate"),
        _DRAWS,
    ),
    **dict.fromkeys(
        (
            *("density", "lnprob", "log_density", "log_prob", "logp", "logpdf", "logpmf"),
            *("logprob", "lpdf", "lpmf", "pdf", "pmf", "prob"),
        ),
        _DENSITY,
    ),
    **dict.fromkeys(("dist", "distribution"), _DISTRIBUTION),
    **dict.fromkeys(("icdf", "ppf", "quantile"), _QUANTILE),
    **dict.fromkeys(("stddev", "variance"), _MOMENTS),
    **dict.fromkeys(
        ("append", "extend", "insert"), "kg.concatenate([{0}, values]) makes a longer array"
    ),
    **dict.fromkeys(
        ("as_integer_ratio", "numerator"), "kg.mean, kg.median, kg.std, ... take arrays"
    ),
    "expand": "shape= or dims= of a distribution make copies",
    "set_value": "model.set_data({0}=...) changes the data of a model",
    "get_value": _VALUES,
    "cdf": "kg.cdf({1}, value) is the distribution function",
    **dict.fromkeys(
        ("log_cdf", "logcdf"), "kg.log_cdf({1}, value) is the log distribution function"
    ),
    **dict.fromkeys(
        ("log_survival", "logsf", "sf", "survival"),
        "kg.log_survival({1}, value) is the log of the probability above",
    ),
    "to_numpy": _VALUES,
    **dict.fromkeys(("iloc", "loc"), "select elements by {0}[i]; labels are used in results"),
}


def _is_basic(key: Any) -> bool:
    """Whether NumPy returns a view for an index: numbers and slices."""
    parts = key if isinstance(key, tuple) else (key,)
    return not any(isinstance(part, (list, bool)) or np.ndim(part) for part in parts)


def _wrap(result: Any) -> Any:
    """Replace nodes by arrays, in tuples and lists, too."""
    if isinstance(result, Node):
        return Array(result)
    if isinstance(result, (tuple, list)):
        parts = map(_wrap, result)
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result
