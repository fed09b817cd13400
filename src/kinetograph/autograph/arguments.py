"""Arguments of a staged function: which are inputs of its graphs, and which belong to signatures.

Numbers and arrays become inputs, also those in tuples, dictionaries, named tuples, dataclasses and
lists. A list of numbers, or of such lists, is one array if it is regular. All else is static: a
function that is given another value of it has another graph.
"""

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.control.structure import Pattern, flatten
from ..graph.elementwise import BAD_KINDS
from ..graph.errors import DataError, SymbolicError
from ..graph.node import Node, Placeholder
from ..graph.precision import FLOAT32, float_dtype

__all__ = ["Arguments", "Parameters"]

Key = tuple[Any, ...]

_INT = np.dtype(np.int64)
_NUMBERS = frozenset((bool, int, float))
_PLAIN = _NUMBERS | {np.ndarray}
_LEAF = flatten(0)[2]
_ANY = inspect.Signature(
    [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]
)


class Arguments(NamedTuple):
    """The arrays among values for parameters, and the signature they belong to."""

    arrays: list[np.ndarray]
    key: Key  # the working precision, and for each parameter what its value is without numbers


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
        kinds = {p.kind for p in self.signature.parameters.values()}
        by_position = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        self._plain = kinds <= by_position

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The values of all parameters, in order."""
        if self._plain and not kwargs and len(args) == len(self.names):
            return args
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.title}(): {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def read(self, values: tuple[Any, ...], owned: bool = False) -> Arguments | None:
        """Arrays and signature; None if an array of the graph is among the values.

        The first value of a method is its owner's, and static.
        """
        floating = float_dtype()
        arrays: list[np.ndarray] = []
        key: list[Any] = [floating]
        for place, value in enumerate(values):
            if self.static[place] or (owned and not place):
                if isinstance(value, Array):
                    return None
                key.append(_identity(value))
                continue
            if type(value) in _PLAIN:  # the usual case, and faster so
                array = _as_input(value, self.names[place], floating)
                assert array is not None
                arrays.append(array)
                key.append((_LEAF, (array.shape, array.dtype)))
                continue
            leaves, paths, pattern = flatten(value, self.names[place], _is_table)
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
            key.append((pattern, *tokens))
        return Arguments(arrays, tuple(key))

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
            if not (self.static[place] or (owned and not place)):
                leaves, paths, pattern = flatten(value, name, _is_table)
                filled = pattern.fill([staged(*each) for each in zip(leaves, paths, strict=True)])
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
        return () if type(value) in _NUMBERS or _is_numpy_number(value) else None
    if set(map(type, value)) <= _NUMBERS:
        return (len(value),) if value else None
    first = _table_shape(value[0])
    if first is None or any(_table_shape(part) != first for part in value[1:]):
        return None
    return (len(value), *first)


def _is_numpy_number(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.kind in "biuf"


def _as_input(value: Any, path: str, floating: np.dtype) -> np.ndarray | None:
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
        if not (kind is complex or (kind is list and value) or _is_array_like(value)):
            return None
        if np.ma.is_masked(value):
            raise DataError(f"{path}: values are masked; fill them first")
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


def _is_array_like(value: Any) -> bool:
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufc"  # texts, dates and the like are static
    return hasattr(type(value), "__array__")


class _Same:
    """Equal only to itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


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
        value = _Same(value)
    return (kind, value)


def _in_words(token: Iterable[Any]) -> str:
    """How a message calls a part of a signature."""
    first, *rest = token
    if isinstance(first, Pattern):
        inside = [_in_words(part) for part in rest]
        return inside[0] if first.make is None and inside else f"{first} ({', '.join(inside)})"
    if isinstance(first, tuple):
        return f"shape {first} {rest[0]}"
    if issubclass(first, tuple):
        return f"{first.__name__} of {len(rest)}"
    value = rest[0].value if isinstance(rest[0], _Same) else rest[0]
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
