"""References by name, from a stored graph to objects outside it.

Kinetograph's own objects are looked up in a closed table, so that a name cannot refer to anything
else. A user's function is named by its module and path. It is looked up only if the reader of the
file allows it.
"""

import builtins
import contextlib
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax

from ..errors import KinetographError
from ..lift import LIFTED
from ..node import Operation
from ..source import written_at

__all__ = ["find_function", "name_of_function", "own_object", "own_reference"]

_JITTED = type(jax.jit(lambda: None))
_SINGLETONS = {"SLOT", "EFFECTS"}
# In these modules all functions are numerical and act only on tensors.
_NUMERICAL = ("kinetograph.bits.", "kinetograph.distributions.", "kinetograph.streams.")
_HELPERS = {("kinetograph.graph.lift", "with_structures")}  # functions that call their argument


def own_reference(value: Any) -> list[Any] | None:
    """The reference to one of kinetograph's own objects; None for other objects."""
    if isinstance(value, type):
        return [value.__module__, value.__name__] if _is_own_error(value) else None
    if isinstance(value, types.FunctionType):
        function = _numerical(value.__module__, value.__name__)
        return [value.__module__, value.__name__] if function is value else None
    reference = _constants()[0].get(id(value))
    if reference is None and isinstance(value, Operation):  # its module may be new, the table old
        _constants_of.cache_clear()
        reference = _constants()[0].get(id(value))
    return reference


def own_object(reference: list[Any]) -> Any:
    """The object of a reference made by `own_reference`.

    Raises
    ------
    LookupError
        If kinetograph has no object of this name.
    """
    module, name, *key = reference
    _load(module)
    if (error := _error(module, name)) is not None:
        return error
    if (function := _numerical(module, name)) is not None:
        return function
    named = _constants()[1]
    if (module, name, *key) in named:
        return named[module, name, *key]
    raise LookupError(f"kinetograph has no {module}.{name}")


def _load(module: Any) -> None:
    """Import a module of kinetograph that was not imported before."""
    is_ours = isinstance(module, str) and module.startswith("kinetograph.")
    if is_ours and module not in sys.modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


def _is_own_error(kind: type) -> bool:
    return _error(kind.__module__, kind.__name__) is kind


def _error(module: Any, name: Any) -> type[Exception] | None:
    """An exception class of Python or kinetograph, which is safe to construct."""
    is_ours = isinstance(module, str) and module.startswith("kinetograph.")
    home = builtins if module == "builtins" else sys.modules.get(module) if is_ours else None
    candidate = getattr(home, str(name), None)
    is_error = (
        isinstance(candidate, type)
        and issubclass(candidate, Exception)
        and candidate.__module__ == module
    )
    return candidate if is_error else None


def _numerical(module: Any, name: Any) -> Any:
    if not isinstance(module, str) or not module.startswith("kinetograph."):
        return None
    candidate = getattr(sys.modules.get(module), str(name), None)
    lifted = getattr(candidate, LIFTED, None)  # a lifted operation refers to the function
    if lifted is None and not module.startswith(_NUMERICAL) and (module, name) not in _HELPERS:
        return None
    candidate = candidate if lifted is None else lifted
    is_ours = isinstance(candidate, types.FunctionType) and candidate.__module__ == module
    return candidate if is_ours else None


def _named() -> Iterator[tuple[list[Any], Any]]:
    """The operations, families and singletons that modules of kinetograph hold."""
    for module_name, module in list(sys.modules.items()):
        if module_name.split(".")[0] != "kinetograph":
            continue
        for name, value in list(vars(module).items()):
            if name in _SINGLETONS:
                yield [module_name, name], value
            elif not name.startswith("__"):
                for path, operation in _within(value):
                    yield [module_name, name, *path], operation


def _within(value: Any, depth: int = 3) -> Iterator[tuple[list[Any], Any]]:
    """The operations and families in a table, with their paths of keys."""
    if isinstance(value, Operation) or type(value).__name__ == "Family":
        yield [], value
    elif isinstance(value, (dict, tuple)) and depth:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, (str, int)):
                for path, operation in _within(inner, depth - 1):
                    yield [key, *path], operation


@functools.lru_cache(maxsize=2)
def _constants_of(modules: int) -> tuple[dict[int, list[Any]], dict[tuple[Any, ...], Any]]:
    names: dict[int, list[Any]] = {}
    objects = {}
    for reference, value in _named():
        names.setdefault(id(value), reference)
        objects[tuple(reference)] = value
    return names, objects


def _constants() -> tuple[dict[int, list[Any]], dict[tuple[Any, ...], Any]]:
    return _constants_of(len(sys.modules))  # modules are imported late, and never removed


def name_of_function(function: Callable[..., Any]) -> str:
    """The name by which a function can be imported.

    Raises
    ------
    KinetographError
        If there is no such name: for a lambda, a function inside a function, or a function of the
        main program.
    """
    path = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    module = getattr(function, "__module__", None)
    if path and module == "__main__":
        raise KinetographError(
            f"the function {path} is defined in the main program, where a reader of the file "
            "cannot find it; move it into a module and import it from there"
        )
    # Libraries export functions under other names than the defining modules' names.
    last = str(path).rpartition(".")[2]
    family = str(module).partition(".")[0]
    homes = [name for name in sys.modules if name.partition(".")[0] == family]
    for home in sorted(homes, key=lambda name: ("._" in name, len(name), name)):
        for steps in dict.fromkeys((last, str(path))):
            candidate = _at(sys.modules[home], steps)
            if candidate is function:
                return f"{home}.{steps}"
            if getattr(candidate, LIFTED, None) is function:  # the name belongs to the operation
                return f"{home}.{steps}.{LIFTED}"
    if isinstance(function, _JITTED):  # jitted where it was used: the wrapped function has the name
        return name_of_function(function.__wrapped__)  # type: ignore[attr-defined]
    raise KinetographError(
        f"{path or function!r}{written_at(function)} cannot be found by its name: functions given "
        "to kg.lift must be importable, defined at the top of a module; lambdas and nested "
        "functions are not"
    )


def find_function(name: str) -> Any:
    """Import the module of a function, and return the function.

    Raises
    ------
    KinetographError
        If the module or the function does not exist.
    """
    module, _, path = name.rpartition(".")
    while module:
        try:
            function = _at(importlib.import_module(module), path)
        except ImportError:
            function = None
        if function is not None:
            return function
        module, _, step = module.rpartition(".")
        path = f"{step}.{path}"
    raise KinetographError(
        f"the graph calls {name}, which cannot be imported here; install the module that defines "
        "it, or add it to the path"
    )


def _at(module: Any, path: str) -> Any:
    obj = module
    for step in path.split("."):
        obj = getattr(obj, step, None)
    return obj
