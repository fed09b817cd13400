"""All that is public answers calls that do not fit, and names that there are not."""

import sys
from functools import partial
from inspect import isclass
from types import FunctionType, ModuleType
from typing import Any

from ..graph.array import Array
from ..graph.source import PACKAGE
from ..graph.suggestions import INSTEAD, read_missing
from .answers import ANSWERED, answered
from .names import instead_of, no_attribute

__all__ = ["open_class", "open_to_users"]

INSTEAD.append(instead_of)
_CONVERTED = ("init", "step")  # methods that users override, and that become a graph


def open_to_users(module: ModuleType) -> None:
    """Have the public functions, classes and names of a module say what is wrong with a use.

    Functions of its `__all__` are replaced by ones that do, methods of classes in the classes.
    Its `dir` has these names alone.
    """
    namespace = vars(module)
    for name in module.__all__:
        value = namespace.get(name)
        if isclass(value):
            open_class(value)
        elif isinstance(value, FunctionType) and not hasattr(value, ANSWERED):
            namespace[name] = made = answered(value, name)
            home = sys.modules.get(value.__module__)
            if getattr(home, name, None) is value:  # where pickle looks for it
                setattr(home, name, made)
    if "__getattr__" not in namespace:
        namespace["__getattr__"] = partial(_missing, module)
    namespace.setdefault("__dir__", partial(_names, module))


def _names(module: ModuleType) -> list[str]:
    """What completion offers: files of a package that have been imported are in it, too."""
    return sorted({*module.__all__, *(name for name in vars(module) if name.startswith("__"))})


def _missing(module: ModuleType, name: str) -> Any:
    raise no_attribute(module.__name__, name, module.__all__)


def open_class(kind: type) -> None:
    """Have the attributes and methods of a class say what is wrong with a use."""
    if issubclass(kind, (BaseException, tuple)):
        return
    if not hasattr(kind, "__getattr__"):
        kind.__getattr__ = read_missing  # type: ignore[attr-defined]
    for base in kind.__mro__:
        file = getattr(sys.modules.get(base.__module__), "__file__", None) or ""
        if not file.startswith(PACKAGE) or ANSWERED in vars(base):
            continue
        setattr(base, ANSWERED, True)
        for name, value in list(vars(base).items()):
            if name.startswith("_") and (name != "__init__" or base is Array):
                continue  # arrays are made by operations, very many of them
            if name in _CONVERTED:
                continue
            title = base.__name__ if name == "__init__" else name
            if isinstance(value, FunctionType):
                setattr(base, name, answered(value, title, bound=True))
            elif isinstance(value, (classmethod, staticmethod)):
                bound = isinstance(value, classmethod)
                setattr(base, name, type(value)(answered(value.__func__, title, bound=bound)))
