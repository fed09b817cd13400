"""The content of Python objects that a program can change.

For the user's modules, classes, functions and objects the content is their attributes; for
containers it is their elements. Iterators, files, random generators and objects of other libraries
are not followed.
"""

import operator
from array import array
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterable, Iterator
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from ..skipped_libraries import is_library
from .lists import List
from .undefined import Undefined

__all__ = ["Content", "cells", "is_special", "is_users", "parts"]

_SEQUENCES = (list, deque)
_BYTES = (bytearray, array)
_CONTAINERS = (*_SEQUENCES, *_BYTES, dict, set)
_OPEN = (SimpleNamespace, UserDict, UserList, ChainMap, List)  # library classes that are followed
_TRACKED_TYPES = (*_CONTAINERS, *_OPEN)
_DESCRIPTORS = (property, staticmethod, classmethod)
_WRAPPED = (
    *("__wrapped__", "python_function", "func", "args", "keywords"),
    *("fget", "fset", "fdel", "__func__"),
)


class Content:
    """The elements and attributes of an object at one moment."""

    __slots__ = ("attributes", "elements", "owner")

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.elements = _elements(owner)
        self.attributes = _attributes(owner)

    @property
    def may_change(self) -> bool:
        """Whether the content of the object is known and can change."""
        return (
            bool(self.attributes) or isinstance(self.owner, _TRACKED_TYPES) or is_users(self.owner)
        )

    def changed(self) -> bool:
        """Whether the object has another content now."""
        equal_elements = _alike(self.elements, _elements(self.owner))
        return not (equal_elements and _alike(self.attributes, _attributes(self.owner)))

    def __len__(self) -> int:
        return len(self.elements) + len(self.attributes)


def is_users(value: Any) -> bool:
    """Whether a module, function, class or object belongs to the user.

    Otherwise it belongs to a library.
    """
    if isinstance(value, ModuleType):
        return not is_library(value.__name__)
    if isinstance(value, FunctionType):
        return not is_library(value.__globals__.get("__name__"))
    kind = value if isinstance(value, type) else type(value)
    return not is_library(kind.__module__)


def _elements(value: Any) -> Any:
    if not isinstance(value, _CONTAINERS):
        return ()
    if isinstance(value, dict):
        return dict(value.items())
    if isinstance(value, _SEQUENCES):
        return list(value)
    if isinstance(value, set):
        return set(value)
    return bytes(value)


def _attributes(value: Any) -> dict[str, Any]:
    if not (isinstance(value, _OPEN) or is_users(value)):
        return {}
    attributes = dict(getattr(value, "__dict__", ()))
    if isinstance(value, FunctionType):
        if value.__defaults__ or value.__kwdefaults__:
            attributes["its defaults"] = value.__defaults__
            attributes["its keyword defaults"] = value.__kwdefaults__
    elif not isinstance(value, (type, ModuleType)):
        attributes.update(_slots(value))
    return {name: attribute for name, attribute in attributes.items() if _counts(name, attribute)}


def _counts(name: str, attribute: Any) -> bool:
    """Whether an attribute counts as content.

    Special attributes and undefined values do not.
    """
    return not (is_special(name) or isinstance(attribute, Undefined))


def is_special(name: str) -> bool:
    """Whether a name is special in Python, such as `__warningregistry__`."""
    return name.startswith("__") and name.endswith("__")


def _slots(value: Any) -> Iterator[tuple[str, Any]]:
    for kind in type(value).__mro__:
        for name, slot in vars(kind).items():
            if isinstance(slot, MemberDescriptorType):
                try:
                    yield f"{kind.__name__}.{name}", slot.__get__(value)
                except AttributeError:  # not set
                    continue


def _alike(first: Any, second: Any) -> bool:
    """Whether two records hold the same objects."""
    if isinstance(first, dict):
        missing = object()
        after = dict(second)
        return all(after.pop(k, missing) is v for k, v in first.items()) and all(
            isinstance(v, ModuleType)
            for v in after.values()  # importing a module adds it to its package
        )
    if isinstance(first, list):
        return len(first) == len(second) and all(map(operator.is_, first, second))
    return bool(first == second)


def parts(value: Any, content: Content) -> Iterable[tuple[str, Any]]:
    """The objects that an object refers to, with their names.

    A name is empty if there is none. Modules give no objects: only the names that code uses are
    examined.
    """
    if isinstance(value, ModuleType):
        return
    yield from (("", part) for part in content.attributes.values())
    if isinstance(value, FunctionType):
        yield from ((name, cell_value) for name, _, cell_value in cells(value))
        yield "", value.__dict__.get("__wrapped__")
    elif isinstance(value, type):
        if is_users(value):
            special = vars(value).items()
            yield from (("", part) for name, part in special if is_special(name))
            yield from (("", base) for base in value.__bases__)
    elif isinstance(value, (tuple, frozenset, *_CONTAINERS)):
        yield from (("", part) for part in value)
        if isinstance(value, dict):
            yield from (("", part) for part in value.values())
    elif isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            yield from (("", part) for part in value.flat)
    elif isinstance(value, MethodType):
        yield "", value.__self__
        yield "", value.__func__
    elif isinstance(value, BuiltinMethodType):
        yield "", value.__self__
    elif isinstance(value, _DESCRIPTORS) or (callable(value) and not is_users(value)):
        yield from (("", getattr(value, name, None)) for name in _WRAPPED)
    if is_users(type(value)):
        yield "", type(value)


def cells(function: FunctionType) -> Iterator[tuple[str, CellType, Any]]:
    """The variables of enclosing functions that a function uses."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell, cell.cell_contents
        except ValueError:  # not bound yet
            continue
