"""The types of stored objects' fields, which are checked on loading."""

from collections.abc import Mapping
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from ..value_texts import in_words

__all__ = [
    "DictOf",
    "ListOf",
    "SetOf",
    "TupleOf",
    "anything",
    "check_fields",
    "either",
    "fields",
    "numbers",
    "optional",
    "size",
]


class TupleOf(NamedTuple):
    """Tuples of elements of one type."""

    part: Any


class ListOf(NamedTuple):
    """Lists of elements of one type."""

    part: Any


class SetOf(NamedTuple):
    """Sets of elements of one type."""

    part: Any


class DictOf(NamedTuple):
    """Dictionaries with keys of one type and values of one type."""

    key: Any
    value: Any


_FIELDS: dict[type, Mapping[str, Any]] = {}
_EXACT = (bool, int, float, str)  # compared exactly, so that True is not an int
_SEQUENCES: dict[type, type] = {TupleOf: tuple, ListOf: list, SetOf: set}


def fields(kind: type, **types: Any) -> None:
    """Declare the fields of a class, without the fields of its bases.

    A type is a class, `TupleOf`, `ListOf`, `SetOf`, `DictOf`, `either`, or a function that returns
    whether a value is allowed.
    """
    _FIELDS[kind] = types


def check_fields(obj: Any) -> None:
    """Check an object that was read from a file.

    Raises
    ------
    ValueError
        If a field is missing, or is not of its type.
    """
    for base in type(obj).__mro__:
        for name, expected in _FIELDS.get(base, {}).items():
            if not hasattr(obj, name):
                raise ValueError(f"{type(obj).__name__} without {name}")
            value = getattr(obj, name)
            if not _fits(value, expected):
                raise ValueError(f"{type(obj).__name__}.{name} is {in_words(value)}")


def _fits(value: Any, expected: Any) -> bool:
    if isinstance(expected, frozenset):
        return any(_fits(value, each) for each in expected)
    if isinstance(expected, (TupleOf, ListOf, SetOf)):
        parts: Any = value
        right_type = type(value) is _SEQUENCES[type(expected)]
        return right_type and all(_fits(part, expected.part) for part in parts)
    if isinstance(expected, DictOf):
        return isinstance(value, Mapping) and all(
            _fits(k, expected.key) and _fits(v, expected.value) for k, v in value.items()
        )
    if expected in _EXACT:
        return type(value) is expected
    return isinstance(value, expected) if isinstance(expected, type) else bool(expected(value))


def either(*types: Any) -> frozenset[Any]:
    """The type of values that have one of the given types."""
    return frozenset(types)


def optional(*types: Any) -> frozenset[Any]:
    """The type of values that have a given type or are None."""
    return either(NoneType, *types)


def size(value: Any) -> bool:
    """Whether a value is a non-negative integer."""
    is_integer = isinstance(value, (int, np.integer)) and type(value) is not bool
    return is_integer and int(value) >= 0


def numbers(value: Any) -> bool:
    """Whether a value is a NumPy array or scalar, numeric or boolean."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf"


def anything(value: Any) -> bool:
    """Accept any value."""
    return True
