"""Whether nothing symbolic can turn up in a call, so that the original function may run.

It is so when all arguments are plain values, and all that the function, and those it calls, read
from outside are plain values, Python's own functions or libraries that know nothing of graphs. What
was found is kept; a call only looks whether names still stand for the same objects.
"""

import builtins
import dis
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .skipped import GENERATORS, is_library

__all__ = ["plain_check"]

_SCALARS = frozenset(
    [bool, int, float, complex, str, bytes, type(None), range, slice, type(Ellipsis)]
    + [t for t in vars(np).values() if isinstance(t, type) and issubclass(t, np.generic)]
)
_FEW = 16  # elements of a container that are looked at
_REVEALING = {"eval", "exec", "globals", "locals", "vars", "__import__", "compile", "getattr"}
# Attributes of modules and distributions that draw random numbers, and may not do so in a graph.
_ATTRIBUTES, _DRAWING = {"LOAD_ATTR", "LOAD_METHOD"}, {"random", "rvs"}
_MISSING = object()
Dependencies = list[tuple[Any, str, Any]]  # the names a function reads, where, and what they are


def plain_check(function: FunctionType) -> Callable[[Any, Any], bool] | None:
    """Tells of the arguments of a call whether it is plain; None if no call can be."""
    found: Dependencies = []
    if not _collect(function, found, set()):
        return None
    names = [(place, name, value) for place, name, value in found if name]
    cells = [(place, value) for place, name, value in found if not name]

    def is_plain(arguments: Any, keywords: Any) -> bool:
        for value in arguments:
            if type(value) not in _SCALARS and not _plain_container(value):
                return False
        for value in keywords.values():
            if type(value) not in _SCALARS and not _plain_container(value):
                return False
        for place, name, value in names:
            if place.get(name, _MISSING) is not value:
                return False
        return all(cell.cell_contents is value for cell, value in cells)

    return is_plain


def _plain_container(value: Any) -> bool:
    kind = type(value)
    if kind is np.ndarray:
        return bool(value.dtype.kind != "O")
    if kind in (list, tuple, set, frozenset):
        return len(value) <= _FEW and all(type(part) in _SCALARS for part in value)
    if kind is dict:
        return len(value) <= _FEW and all(type(part) in _SCALARS for part in value.values())
    return False


def _collect(function: FunctionType, found: Dependencies, seen: set[int]) -> bool:
    """Note all that a function reads from outside; False if some of it is not plain."""
    if id(function) in seen:
        return True
    seen.add(id(function))
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    if not all(type(v) in _SCALARS or _plain_container(v) for v in defaults):
        return False
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:
            return False
        found.append((cell, "", value))
        if isinstance(cell, CellType) and not _outside(value, found, seen):
            return False
    return _code(function.__code__, function.__globals__, found, seen)


def _code(code: CodeType, module: dict[str, Any], found: Dependencies, seen: set[int]) -> bool:
    if code.co_flags & GENERATORS:
        return False
    for step in dis.get_instructions(code):
        if step.opname in ("IMPORT_NAME", "LOAD_BUILD_CLASS", "STORE_GLOBAL", "LOAD_SUPER_ATTR"):
            return False
        if step.opname in _ATTRIBUTES and step.argval in _DRAWING:
            return False
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name = step.argval
            place = module if name in module else vars(builtins)
            value = place.get(name, _MISSING)
            if value is _MISSING:
                return False
            found.append((place, name, value))
            if place is not module:
                found.append((module, name, _MISSING))  # nobody has put another in front
            if not _outside(value, found, seen):
                return False
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return all(_code(const, module, found, seen) for const in inner)


def _outside(value: Any, found: Dependencies, seen: set[int]) -> bool:
    """Whether an object that is read from outside is plain."""
    if type(value) in _SCALARS or type(value) is np.ndarray:
        return type(value) is not np.ndarray or value.dtype.kind != "O"
    if isinstance(value, ModuleType):
        drawing = value.__name__ in ("random", "numpy.random")
        return is_library(value.__name__) and not _own(value.__name__) and not drawing
    if isinstance(value, np.ufunc):
        return True
    module = getattr(value, "__module__", None)
    if isinstance(value, (type, BuiltinFunctionType)):
        if module == "builtins":
            return value.__name__ not in _REVEALING
        return is_library(module) and not _own(module)
    if isinstance(value, FunctionType):
        if is_library(value.__globals__.get("__name__")):
            return not _own(value.__globals__["__name__"])
        return not hasattr(value, "__wrapped__") and _collect(value, found, seen)
    return False


def _own(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "kinetograph"
