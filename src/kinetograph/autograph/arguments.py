"""Arguments of a staged function: which are inputs of its graphs, and which belong to signatures.

Numbers and arrays become inputs, also those in tuples, dictionaries, named tuples, dataclasses and
lists. A list of numbers, or of such lists, is one array if it is regular. All else is static: a
function that is given another value of it has another graph. So are parameters that are left at
defaults which are whole numbers, booleans or tuples of them.
"""

import functools
import inspect
import re
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ..graph.array import Array
from ..graph.compiling.packing import NUMBERS, fits
from ..graph.control.structure import Structure, flatten
from ..graph.errors import DataError, SymbolicError
from ..graph.missing import refuse_masked
from ..graph.node import Node, Placeholder
from ..graph.operations.operands import BAD_KINDS
from ..graph.precision import FLOAT32, float_dtype
from ..graph.source import place_text
from ..graph.suggestions import meant
from .same import Same

__all__ = ["Arguments", "Parameters", "static_hint"]

Key = tuple[Any, ...]

_INT = np.dtype(np.int64)
_ANY = inspect.Signature(
    [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]
)


class Arguments(NamedTuple):
    """The arrays among values for parameters, and the signature they belong to."""

    arrays: list[Any]  # Python's numbers, NumPy's arrays, or `JaxInput`
    key: Key  # the working precision, and for each parameter what its value is without numbers
    from_jax: bool = False  # whether there are arrays of JAX


class JaxInput(NamedTuple):
    """An array of JAX, and the shape and type of the input that it is for."""

    value: Any
    shape: tuple[int, ...]
    dtype: np.dtype


class _Default(NamedTuple):
    """The static value of a parameter that a call leaves at its default."""

    value: Any


class Parameters:
    """The parameters of a function.

    Raises
    ------
    ValueError
        If a static parameter is none of the function's.
    """

    def __init__(self, function: Callable[..., Any], name: str, static: Sequence[str]) -> None:
        self.title = name
        self.signature = _signature(function)
        self.names = tuple(self.signature.parameters)
        unknown = [n for n in static if n not in self.names]
        if unknown:
            raise ValueError(
                f"function: static_argnames {', '.join(map(repr, unknown))} are no parameters of "
                f"{name}, which has {', '.join(map(repr, self.names)) or 'none'}"
            )
        self.static = tuple(n in static for n in self.names)
        self._kinds = kinds = {p.kind for p in self.signature.parameters.values()}
        by_position = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        self._plain = kinds <= by_position

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The values of all parameters, in order."""
        if self._plain and not kwargs and len(args) == len(self.names):
            return args
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            unknown = next((word for word in kwargs if word not in self.names), None)
            if unknown is not None and inspect.Parameter.VAR_KEYWORD not in self._kinds:
                near = meant(unknown, self.names, str)
                said = f"there is no parameter {unknown}{place_text()}{near}"
                own = [name for name in self.names if name != "self"]
                takes = f"{'' if near else '.'} It takes {', '.join(own) or 'nothing'}"
                raise TypeError(f"{self.title}: {said}{takes}") from None
            raise TypeError(f"{self.title}(): {error}{place_text()}") from None
        given = set(bound.arguments)
        bound.apply_defaults()
        return tuple(
            value if name in given or not _decides(value) else _Default(value)
            for name, value in bound.arguments.items()
        )

    def read(self, values: tuple[Any, ...], owned: bool = False) -> Arguments | None:
        """Arrays and signature; None if an array of the graph is among the values.

        The first value of a method is its owner's, and static.
        """
        floating = float_dtype()
        arrays: list[Any] = []
        key: list[Any] = [floating]
        from_jax = False
        for place, value in enumerate(values):
            if self.static[place] or (owned and not place):
                if isinstance(value, Array):
                    return None
                key.append(_identity(value.value if type(value) is _Default else value))
                continue
            kind = type(value)
            if kind in NUMBERS and fits(value):  # the usual case, and faster so
                arrays.append(value)
                key.append(((), floating if issubclass(kind, float) else NUMBERS[kind]))
                continue
            if kind is np.ndarray:
                arrays.append(array := _as_input(value, self.names[place], floating))
                key.append((array.shape, array.dtype))  # type: ignore[union-attr]
                continue
            if kind is _Default:
                key.append(_identity(value.value))
                continue
            leaves, paths, structure = flatten(value, self.names[place], _is_table)
            tokens: list[Any] = []
            for leaf, path in zip(leaves, paths, strict=True):
                if isinstance(leaf, Array):
                    return None
                array = _as_input(leaf, path, floating)
                if array is None:
                    tokens.append(_identity(leaf))
                else:
                    arrays.append(array)
                    tokens.append((array.shape, array.dtype))
                    from_jax = from_jax or type(array) is JaxInput
            key.append(tokens[0] if structure.make is None else (structure, *tokens))
        return Arguments(arrays, tuple(key), from_jax)

    def stage(
        self, values: tuple[Any, ...], owned: bool = False
    ) -> tuple[inspect.BoundArguments, list[Node]]:
        """The arguments with placeholders for the arrays, and these placeholders."""
        inputs: list[Node] = []

        def staged(leaf: Any, path: str) -> Any:
            array = _as_input(leaf, path, float_dtype())
            if array is None:
                return leaf
            inputs.append(Placeholder((), array.shape, array.dtype, path))
            return Array(inputs[-1])

        bound = inspect.BoundArguments(self.signature, {})  # type: ignore[arg-type]
        for place, (name, value) in enumerate(zip(self.names, values, strict=True)):
            before = len(inputs)
            if type(value) is _Default:
                value = value.value
            elif not (self.static[place] or (owned and not place)):
                leaves, paths, structure = flatten(value, name, _is_table)
                filled = structure.fill([staged(*each) for each in zip(leaves, paths, strict=True)])
                value = filled if len(inputs) > before else value
            bound.arguments[name] = value
        return bound, inputs

    def difference(self, before: Key, after: Key) -> str:
        """In words, what differs between two signatures."""
        if before[0] != after[0]:
            return f"the precision: {before[0]}, then {after[0]}"
        changes = [
            f"{name}: {_in_words(old)}, then {_in_words(new)}"
            for name, old, new in zip(self.names, before[1:], after[1:], strict=True)
            if old != new
        ]
        return "; ".join(changes)


def _decides(default: Any) -> bool:
    """Whether a default is rather part of the program than an input."""
    if isinstance(default, tuple):
        return all(map(_decides, default))
    return isinstance(default, (bool, int, np.bool_, np.integer))


def static_hint(inputs: Sequence[Node], error: Exception) -> str:
    """What to write where the building of a graph fails for want of a whole number's value."""
    whole = [n.name for n in inputs if not n.shape and n.dtype.kind in "biu" and n.name]
    if not isinstance(error, RecursionError):
        text = str(error).rpartition("Error: ")[2]
        if not re.search("known|whole number|integer", text):
            return ""
        named = r"(?<![\w.]){}(?!\w| [a-z])"  # and no article: "a number"
        whole = [n for n in whole if re.search(named.format(re.escape(n)), text)]
    roots = list(dict.fromkeys(re.split(r"[.\[]", name)[0] for name in whole))
    if not roots:
        return ""
    names = roots[0] if len(roots) == 1 else tuple(roots)
    return (
        f"; if {' and '.join(roots)} decide{'s' * (len(roots) == 1)} what is built, write "
        f"@kg.function(static_argnames={names!r}), which makes a graph for each value"
    )


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if isinstance(inner, (np.ufunc, types.BuiltinFunctionType)):
        return _ANY  # their defaults need not be values that can be given
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # of some other built-in callables it is not known
        return _ANY


def _is_table(value: Any) -> bool:
    return type(value) is list and _table_shape(value) is not None


def _table_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a list of numbers, or of equally long such lists; None for others."""
    if type(value) is not list:
        return () if type(value) in NUMBERS or _is_numpy_number(value) else None
    if set(map(type, value)) <= NUMBERS.keys():
        return (len(value),) if value else None
    first = _table_shape(value[0])
    if first is None or any(_table_shape(part) != first for part in value[1:]):
        return None
    return (len(value), *first)


def _is_numpy_number(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.kind in "biuf"


def _as_input(value: Any, path: str, floating: np.dtype) -> np.ndarray | JaxInput | None:
    """The array that a value becomes; None if it stays what it is."""
    kind = type(value)
    if kind is float:
        return np.asarray(value, floating)
    if kind is int:
        try:
            return np.asarray(value, _INT)
        except OverflowError:
            raise DataError(
                f"{path}: {value} does not fit into 64 bits; name it in static_argnames if it is "
                "not to be an array"
            ) from None
    if kind is bool:
        return np.asarray(value)
    if kind is not np.ndarray:
        if isinstance(value, jax.Array):
            return JaxInput(value, value.shape, _inner_dtype(value.dtype, path, floating))
        if not (kind is complex or (kind is list and value) or _is_array_like(value)):
            return None
        refuse_masked(value, path)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: a {kind.__name__} makes no array: {error}") from None
    dtype = array.dtype
    if dtype.kind in BAD_KINDS:
        raise SymbolicError(
            f"{path}: a {kind.__name__} of dtype {dtype} cannot be an input; arrays hold booleans, "
            f"integers or real numbers. Name the parameter in static_argnames if it is not to be "
            "an array"
        )
    if dtype.kind == "f":
        dtype = FLOAT32 if dtype == FLOAT32 else floating
    elif not dtype.isnative:
        dtype = dtype.newbyteorder("=")
    return array if array.dtype == dtype else array.astype(dtype)


def _inner_dtype(dtype: Any, path: str, floating: np.dtype) -> np.dtype:
    """The type of an input for an array of JAX, which has no others than 32 bits by default."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":  # such as JAX's random keys
        raise SymbolicError(
            f"{path}: a JAX array of dtype {dtype} cannot be an input; arrays hold booleans, "
            "integers or real numbers"
        )
    wide = jax.config.jax_enable_x64
    if dtype.kind == "f":
        return FLOAT32 if wide and dtype == FLOAT32 else floating
    return _INT if not wide and dtype == np.int32 else dtype


def _is_array_like(value: Any) -> bool:
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufc"  # texts, dates and the like are static
    return hasattr(type(value), "__array__")


def _identity(value: Any) -> tuple[Any, ...]:
    """Something hashable that is equal for static values that are the same to a function.

    Numbers of different types are equal in Python, and so are 0.0 and -0.0; not here.
    """
    kind = type(value)
    if isinstance(value, tuple):
        return (kind, *map(_identity, value))
    if kind is float:
        return (kind, value, value.hex())
    try:
        hash(value)
    except TypeError:
        value = Same(value)
    return (kind, value)


def _in_words(token: Iterable[Any]) -> str:
    """How a message calls a part of a signature."""
    first, *rest = token
    if isinstance(first, Structure):
        inside = [_in_words(part) for part in rest]
        return inside[0] if first.make is None and inside else f"{first} ({', '.join(inside)})"
    if isinstance(first, tuple):
        return f"shape {first} {rest[0]}"
    if issubclass(first, tuple):
        return f"{first.__name__} of {len(rest)}"
    value = rest[0].value if isinstance(rest[0], Same) else rest[0]
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
