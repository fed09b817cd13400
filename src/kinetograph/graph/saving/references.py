"""What a stored graph names and does not hold: kinetograph's own objects, and users' functions.

Kinetograph's own come from a closed table, so that a name can mean nothing else. A user's function
is named by module and path, and looked up only where the reader has said that it may be.
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
# Where all functions are numerical and act on tensors alone.
_NUMERICAL = ("kinetograph.bits.", "kinetograph.distributions.", "kinetograph.streams.")
_HELPERS = {("kinetograph.graph.lift", "with_structures")}  # that call what is given to them


def own_reference(value: Any) -> list[Any] | None:
    """The name of one of kinetograph's own objects; None for all else."""
    if isinstance(value, type):
        return [value.__module__, value.__name__] if _is_own_error(value) else None
    if isinstance(value, types.FunctionType):
        found = _numerical(value.__module__, value.__name__)
        return [value.__module__, value.__name__] if found is value else None
    found = _constants()[0].get(id(value))
    if found is None and isinstance(value, Operation):  # of a module that came as another one went
        _constants_of.cache_clear()
        found = _constants()[0].get(id(value))
    return found


def own_object(reference: list[Any]) -> Any:
    """The object that `own_reference` named.

    Raises
    ------
    LookupError
        If there is none of this name.
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
    """Import a module of kinetograph's, as nobody may have needed it before."""
    own = isinstance(module, str) and module.startswith("kinetograph.")
    if own and module not in sys.modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


def _is_own_error(kind: type) -> bool:
    return _error(kind.__module__, kind.__name__) is kind


def _error(module: Any, name: Any) -> type[Exception] | None:
    """A kind of error of Python's or of kinetograph's own; to make one does nothing else."""
    own = isinstance(module, str) and module.startswith("kinetograph.")
    home = builtins if module == "builtins" else sys.modules.get(module) if own else None
    found = getattr(home, str(name), None)
    mine = isinstance(found, type) and issubclass(found, Exception) and found.__module__ == module
    return found if mine else None


def _numerical(module: Any, name: Any) -> Any:
    if not isinstance(module, str) or not module.startswith("kinetograph."):
        return None
    found = getattr(sys.modules.get(module), str(name), None)
    lifted = getattr(found, LIFTED, None)  # an operation of ours, which stands for what it lifts
    if lifted is None and not module.startswith(_NUMERICAL) and (module, name) not in _HELPERS:
        return None
    found = found if lifted is None else lifted
    mine = isinstance(found, types.FunctionType) and found.__module__ == module
    return found if mine else None


def _named() -> Iterator[tuple[list[Any], Any]]:
    """The operations, families and singletons that modules of kinetograph hold."""
    for module_name, module in list(sys.modules.items()):
        if module_name.split(".")[0] != "kinetograph":
            continue
        for name, value in list(vars(module).items()):
            if name in _SINGLETONS:
                yield [module_name, name], value
            elif not name.startswith("__"):
                for path, found in _within(value):
                    yield [module_name, name, *path], found


def _within(value: Any, depth: int = 3) -> Iterator[tuple[list[Any], Any]]:
    """The operations and families in tables, with the keys and places at which they stand."""
    if isinstance(value, Operation) or type(value).__name__ == "Family":
        yield [], value
    elif isinstance(value, (dict, tuple)) and depth:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, (str, int)):
                for path, found in _within(inner, depth - 1):
                    yield [key, *path], found


@functools.lru_cache(maxsize=2)
def _constants_of(modules: int) -> tuple[dict[int, list[Any]], dict[tuple[Any, ...], Any]]:
    names: dict[int, list[Any]] = {}
    objects = {}
    for reference, value in _named():
        names.setdefault(id(value), reference)
        objects[tuple(reference)] = value
    return names, objects


def _constants() -> tuple[dict[int, list[Any]], dict[tuple[Any, ...], Any]]:
    return _constants_of(len(sys.modules))  # modules are imported late, and never go


def name_of_function(function: Callable[..., Any]) -> str:
    """The name under which anybody can import a function.

    Raises
    ------
    KinetographError
        If there is none: a lambda, a function inside another, one of the program that runs.
    """
    path = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    module = getattr(function, "__module__", None)
    if path and module == "__main__":
        raise KinetographError(
            f"the function {path} is defined in the program that runs, where a reader of the file "
            "cannot find it; move it into a module and import it from there"
        )
    # Libraries show functions under other names than those of the modules that define them.
    last = str(path).rpartition(".")[2]
    family = str(module).partition(".")[0]
    homes = [name for name in sys.modules if name.partition(".")[0] == family]
    for home in sorted(homes, key=lambda name: ("._" in name, len(name), name)):
        for steps in dict.fromkeys((last, str(path))):
            found = _at(sys.modules[home], steps)
            if found is function:
                return f"{home}.{steps}"
            if getattr(found, LIFTED, None) is function:  # the name is that of the operation
                return f"{home}.{steps}.{LIFTED}"
    if isinstance(function, _JITTED):  # made where it was used: what it computes has the name
        return name_of_function(function.__wrapped__)  # type: ignore[attr-defined]
    raise KinetographError(
        f"{path or function!r}{written_at(function)} cannot be found by its name: functions given "
        "to kg.lift must be importable, defined at the top of a module; lambdas and functions "
        "inside others are not"
    )


def find_function(name: str) -> Any:
    """The function of this name; its module is imported.

    Raises
    ------
    KinetographError
        If there is no such module, or no such function in it.
    """
    module, _, path = name.rpartition(".")
    while module:
        try:
            found = _at(importlib.import_module(module), path)
        except ImportError:
            found = None
        if found is not None:
            return found
        module, _, step = module.rpartition(".")
        path = f"{step}.{path}"
    raise KinetographError(
        f"the graph calls {name}, which cannot be imported here; install or put on the path the "
        "module that defines it"
    )


def _at(module: Any, path: str) -> Any:
    found = module
    for step in path.split("."):
        found = getattr(found, step, None)
    return found
