"""Better errors for wrong calls and unknown names of all public objects."""

import sys
from functools import partial
from inspect import isclass
from types import FunctionType, ModuleType
from typing import Any

from ..graph.array import Array
from ..graph.source import PACKAGE
from ..graph.suggestions import read_missing
from .name_errors import no_attribute
from .signature_errors import ANSWERED, answered

__all__ = ["open_class", "open_to_users"]

_CONVERTED = ("init", "step")  # methods that users override, and that are converted to a graph


def open_to_users(module: ModuleType) -> None:
    """Give the functions, classes and names of a module errors that help.

    The functions in its `__all__` are replaced by wrapped ones, and the methods of its classes are
    replaced within the classes. `dir(module)` lists the names of `__all__` only.
    """
    namespace = vars(module)
    for name in module.__all__:
        value = namespace.get(name)
        if isclass(value):
            open_class(value)
        elif isinstance(value, FunctionType) and not hasattr(value, ANSWERED):
            namespace[name] = wrapped = answered(value, name)
            defining_module = sys.modules.get(value.__module__)
            if getattr(defining_module, name, None) is value:  # pickle looks the function up there
                setattr(defining_module, name, wrapped)
    if "__getattr__" not in namespace:
        namespace["__getattr__"] = partial(_missing, module)
    namespace.setdefault("__dir__", partial(_names, module))


def _names(module: ModuleType) -> list[str]:
    """The names for completion.

    Files of a package that have been imported are attributes of it, too, and are left out.
    """
    return sorted({*module.__all__, *(name for name in vars(module) if name.startswith("__"))})


def _missing(module: ModuleType, name: str) -> Any:
    raise no_attribute(module.__name__, name, module.__all__)


def open_class(kind: type) -> None:
    """Give the attributes and methods of a class errors that help."""
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
                continue  # operations create very many arrays; users do not call `Array(...)`
            if name in _CONVERTED:
                continue
            title = base.__name__ if name == "__init__" else name
            if isinstance(value, FunctionType):
                setattr(base, name, answered(value, title, bound=True))
            elif isinstance(value, (classmethod, staticmethod)):
                bound = isinstance(value, classmethod)
                setattr(base, name, type(value)(answered(value.__func__, title, bound=bound)))
