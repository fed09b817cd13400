"""Arguments of a staged function: graph inputs and static values.

Numbers and arrays become inputs, also inside tuples, dictionaries, named tuples, dataclasses and
lists. A regular list of numbers, or of such lists, is one array. All other values are static: they
belong to the signature, and each value gives another graph. Parameters left at a default that is a
whole number, a boolean or a tuple of them are static, too.
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
from ..graph.suggestions import did_you_mean
from .identity import ByIdentity

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
    """The arrays among the arguments, and the signature of the call."""

    arrays: list[Any]  # Python's numbers, NumPy's arrays, or `JaxInput`
    key: Key  # the working precision, and for each parameter its shape and type, or static value
    from_jax: bool = False  # whether there are arrays of JAX


class JaxInput(NamedTuple):
    """An array of JAX, with the shape and type of its input."""

    value: Any
    shape: tuple[int, ...]
    dtype: np.dtype


class _Default(NamedTuple):
    """The static value of a parameter left at its default."""

    value: Any


class Parameters:
    """The parameters of a function.

    Raises
    ------
    ValueError
        If the name of a static parameter is not a parameter of the function.
    """

    def __init__(self, function: Callable[..., Any], name: str, static: Sequence[str]) -> None:
        self.title = name
        self.signature = _signature(function)
        self.names = tuple(self.signature.parameters)
        unknown = [n for n in static if n not in self.names]
        if unknown:
            raise ValueError(
                f"function: static_argnames {', '.join(map(repr, unknown))} are not parameters of "
                f"{name}; its parameters are {', '.join(map(repr, self.names)) or 'none'}"
            )
        self.static = tuple(n in static for n in self.names)
        self._kinds = kinds = {p.kind for p in self.signature.parameters.values()}
        by_position = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        self._plain = kinds <= by_position

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The values of all parameters, in order.

        Raises
        ------
        TypeError
            If the arguments do not fit the signature.
        """
        if self._plain and not kwargs and len(args) == len(self.names):
            return args
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            unknown = next((word for word in kwargs if word not in self.names), None)
            if unknown is not None and inspect.Parameter.VAR_KEYWORD not in self._kinds:
                near = did_you_mean(unknown, self.names, str)
                reason = f"unknown parameter {unknown}{place_text()}{near}"
                parameters = [name for name in self.names if name != "self"]
                takes = f"{'' if near else '.'} It takes {', '.join(parameters) or 'nothing'}"
                raise TypeError(f"{self.title}: {reason}{takes}") from None
            raise TypeError(f"{self.title}(): {error}{place_text()}") from None
        given = set(bound.arguments)
        bound.apply_defaults()
        return tuple(
            value if name in given or not _decides(value) else _Default(value)
            for name, value in bound.arguments.items()
        )

    def read(self, values: tuple[Any, ...], owned: bool = False) -> Arguments | None:
        """The arrays and the signature of a call.

        None if an array of the graph is among the values. With `owned`, the first value is the
        owner of a method, and static.
        """
        floating = float_dtype()
        arrays: list[Any] = []
        key: list[Any] = [floating]
        from_jax = False
        for position, value in enumerate(values):
            if self.static[position] or (owned and not position):
                if isinstance(value, Array):
                    return None
                key.append(_identity(value.value if type(value) is _Default else value))
                continue
            kind = type(value)
            if kind in NUMBERS and fits(value):  # the usual case, on a fast path
                arrays.append(value)
                key.append(((), floating if issubclass(kind, float) else NUMBERS[kind]))
                continue
            if kind is np.ndarray:
                arrays.append(array := _as_input(value, self.names[position], floating))
                key.append((array.shape, array.dtype))  # type: ignore[union-attr]
                continue
            if kind is _Default:
                key.append(_identity(value.value))
                continue
            leaves, paths, structure = flatten(value, self.names[position], _is_table)
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
        """The arguments with placeholders for the arrays, and the placeholders."""
        inputs: list[Node] = []

        def staged(leaf: Any, path: str) -> Any:
            array = _as_input(leaf, path, float_dtype())
            if array is None:
                return leaf
            inputs.append(Placeholder((), array.shape, array.dtype, path))
            return Array(inputs[-1])

        bound = inspect.BoundArguments(self.signature, {})  # type: ignore[arg-type]
        for position, (name, value) in enumerate(zip(self.names, values, strict=True)):
            input_count = len(inputs)
            if type(value) is _Default:
                value = value.value
            elif not (self.static[position] or (owned and not position)):
                leaves, paths, structure = flatten(value, name, _is_table)
                new_value = structure.fill(
                    [staged(*pair) for pair in zip(leaves, paths, strict=True)]
                )
                value = new_value if len(inputs) > input_count else value
            bound.arguments[name] = value
        return bound, inputs

    def difference(self, before: Key, after: Key) -> str:
        """The difference between two signatures, in words."""
        if before[0] != after[0]:
            return f"the precision: {before[0]}, then {after[0]}"
        changes = [
            f"{name}: {_in_words(old)}, then {_in_words(new)}"
            for name, old, new in zip(self.names, before[1:], after[1:], strict=True)
            if old != new
        ]
        return "; ".join(changes)


def _decides(default: Any) -> bool:
    """Whether a default is part of the program, not an input."""
    if isinstance(default, tuple):
        return all(map(_decides, default))
    return isinstance(default, (bool, int, np.bool_, np.integer))


def static_hint(inputs: Sequence[Node], error: Exception) -> str:
    """A hint on `static_argnames` for an error that needs a whole number.

    Building a graph fails if Python needs the value of an input. The hint is empty if the error has
    another cause.
    """
    integers = [n.name for n in inputs if not n.shape and n.dtype.kind in "biu" and n.name]
    if not isinstance(error, RecursionError):
        text = str(error).rpartition("Error: ")[2]
        if not re.search("known|whole number|integer", text):
            return ""
        pattern = (
            r"(?<![\w.]){}(?!\w| [a-z])"  # not followed by a word, as an article is in "a number"
        )
        integers = [n for n in integers if re.search(pattern.format(re.escape(n)), text)]
    roots = list(dict.fromkeys(re.split(r"[.\[]", name)[0] for name in integers))
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
        return _ANY  # their defaults may be values that cannot be given
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # other built-in callables may have no signature
        return _ANY


def _is_table(value: Any) -> bool:
    return type(value) is list and _table_shape(value) is not None


def _table_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a number, or of a regular list of numbers.

    None for other values.
    """
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
    """The array that a value becomes; None if it stays static.

    Raises
    ------
    DataError
        If an integer does not fit into 64 bits, or a value cannot become an array.
    SymbolicError
        If the type of the array cannot be an input.
    """
    kind = type(value)
    if kind is float:
        return np.asarray(value, floating)
    if kind is int:
        try:
            return np.asarray(value, _INT)
        except OverflowError:
            raise DataError(
                f"{path}: {value} does not fit into 64 bits; name it in static_argnames if it "
                "should not become an array"
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
        raise DataError(f"{path}: a {kind.__name__} cannot become an array: {error}") from None
    dtype = array.dtype
    if dtype.kind in BAD_KINDS:
        raise SymbolicError(
            f"{path}: a {kind.__name__} of dtype {dtype} cannot be an input; arrays hold booleans, "
            f"integers or real numbers. Name the parameter in static_argnames if it should not "
            "become an array"
        )
    if dtype.kind == "f":
        dtype = FLOAT32 if dtype == FLOAT32 else floating
    elif not dtype.isnative:
        dtype = dtype.newbyteorder("=")
    return array if array.dtype == dtype else array.astype(dtype)


def _inner_dtype(dtype: Any, path: str, floating: np.dtype) -> np.dtype:
    """The type of the input for an array of JAX.

    Without JAX's 64-bit mode, its arrays have at most 32 bits: float32 then becomes the working
    precision and int32 becomes int64.

    Raises
    ------
    SymbolicError
        If the array does not hold booleans, integers or real numbers.
    """
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
        return value.dtype.kind in "biufc"  # texts and dates are static
    return hasattr(type(value), "__array__")


def _identity(value: Any) -> tuple[Any, ...]:
    """A hashable value that is equal for equivalent static values.

    Unlike in Python, numbers of different types differ here, and so do 0.0 and -0.0.
    """
    kind = type(value)
    if isinstance(value, tuple):
        return (kind, *map(_identity, value))
    if kind is float:
        return (kind, value, value.hex())
    try:
        hash(value)
    except TypeError:
        value = ByIdentity(value)
    return (kind, value)


def _in_words(token: Iterable[Any]) -> str:
    """The text for a part of a signature in messages."""
    first, *parts = token
    if isinstance(first, Structure):
        texts = [_in_words(part) for part in parts]
        return texts[0] if first.make is None and texts else f"{first} ({', '.join(texts)})"
    if isinstance(first, tuple):
        return f"shape {first} {parts[0]}"
    if issubclass(first, tuple):
        return f"{first.__name__} of {len(parts)}"
    value = parts[0].value if isinstance(parts[0], ByIdentity) else parts[0]
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
