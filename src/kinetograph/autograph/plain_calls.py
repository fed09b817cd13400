"""Detection of calls without symbolic values, which run the original function.

A call is plain if all arguments are plain values, and if everything that the function and its
callees read from outside is a plain value, a function of Python, or a library that does not know
graphs. These dependencies are collected once; a call then only checks that the names still refer to
the same objects.
"""

import builtins
import dis
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .skipped_libraries import GENERATORS, is_library

__all__ = ["plain_check"]

_SCALARS = frozenset(
    [bool, int, float, complex, str, bytes, type(None), range, slice, type(Ellipsis)]
    + [t for t in vars(np).values() if isinstance(t, type) and issubclass(t, np.generic)]
)
_FEW = 16  # the largest number of elements of a container that is examined
_REVEALING = {"eval", "exec", "globals", "locals", "vars", "__import__", "compile", "getattr"}
# Attributes of modules and distributions that draw random numbers, which a graph must not do.
_ATTRIBUTES, _DRAWING = {"LOAD_ATTR", "LOAD_METHOD"}, {"random", "rvs"}
_MISSING = object()
Dependencies = list[tuple[Any, str, Any]]  # for each outer name: its namespace, name and value


def plain_check(function: FunctionType) -> Callable[[Any, Any], bool] | None:
    """A function that tests whether a call is plain.

    It takes the positional and the keyword arguments of the call. None if no call can be plain.
    """
    dependencies: Dependencies = []
    if not _collect(function, dependencies, set()):
        return None
    names = [(namespace, name, value) for namespace, name, value in dependencies if name]
    cells = [(namespace, value) for namespace, name, value in dependencies if not name]

    def is_plain(arguments: Any, keywords: Any) -> bool:
        for value in arguments:
            if type(value) not in _SCALARS and not _plain_container(value):
                return False
        for value in keywords.values():
            if type(value) not in _SCALARS and not _plain_container(value):
                return False
        for namespace, name, value in names:
            if namespace.get(name, _MISSING) is not value:
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


def _collect(function: FunctionType, dependencies: Dependencies, visited: set[int]) -> bool:
    """Collect everything that a function reads from outside.

    False if some of it is not plain.
    """
    if id(function) in visited:
        return True
    visited.add(id(function))
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    if not all(type(v) in _SCALARS or _plain_container(v) for v in defaults):
        return False
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:
            return False
        dependencies.append((cell, "", value))
        if isinstance(cell, CellType) and not _is_plain_outer(value, dependencies, visited):
            return False
    return _code(function.__code__, function.__globals__, dependencies, visited)


def _code(
    code: CodeType, module: dict[str, Any], dependencies: Dependencies, visited: set[int]
) -> bool:
    """Collect the outer names that a code object reads.

    False if some of them are not plain.
    """
    if code.co_flags & GENERATORS:
        return False
    for instruction in dis.get_instructions(code):
        if instruction.opname in (
            "IMPORT_NAME",
            "LOAD_BUILD_CLASS",
            "STORE_GLOBAL",
            "LOAD_SUPER_ATTR",
        ):
            return False
        if instruction.opname in _ATTRIBUTES and instruction.argval in _DRAWING:
            return False
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name = instruction.argval
            namespace = module if name in module else vars(builtins)
            value = namespace.get(name, _MISSING)
            if value is _MISSING:
                return False
            dependencies.append((namespace, name, value))
            if namespace is not module:
                dependencies.append((module, name, _MISSING))  # no global hides the built-in name
            if not _is_plain_outer(value, dependencies, visited):
                return False
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return all(_code(const, module, dependencies, visited) for const in inner)


def _is_plain_outer(value: Any, dependencies: Dependencies, visited: set[int]) -> bool:
    """Whether an object that is read from outside is plain."""
    if type(value) in _SCALARS or type(value) is np.ndarray:
        return type(value) is not np.ndarray or value.dtype.kind != "O"
    if isinstance(value, ModuleType):
        drawing = value.__name__ in ("random", "numpy.random")
        return is_library(value.__name__) and not _is_kinetograph(value.__name__) and not drawing
    if isinstance(value, np.ufunc):
        return True
    module = getattr(value, "__module__", None)
    if isinstance(value, (type, BuiltinFunctionType)):
        if module == "builtins":
            return value.__name__ not in _REVEALING
        return is_library(module) and not _is_kinetograph(module)
    if isinstance(value, FunctionType):
        if is_library(value.__globals__.get("__name__")):
            return not _is_kinetograph(value.__globals__["__name__"])
        return not hasattr(value, "__wrapped__") and _collect(value, dependencies, visited)
    return False


def _is_kinetograph(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "kinetograph"
