"""The decorator of public functions and classes; names of public packages.

Every function and class of a public `__all__` has the decorator, in the file that defines it:

    @public
    def exp(x): ...

The function is wrapped, so that its errors help: a wrong call says what to write, and an error of a
library names the public function, its arguments and the user's line. `calls/` writes these texts;
it is reached by the hook `ON_ERROR`. The methods of a class are wrapped, too. A wrapper costs some
tenths of a microsecond a call: the call is examined only if the function raises an error.
"""

import sys
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, cast

from .errors import KinetographError
from .flags import check_flags, flags_of
from .hooks import ON_ERROR, ON_UNKNOWN_NAME
from .suggestions import read_missing

__all__ = ["public", "public_package"]

_EXAMINED = (
    *(TypeError, ValueError, AttributeError, LookupError, ArithmeticError),
    *(NotImplementedError, KinetographError, OSError),
)
# Users override `init` and `step`, which are converted to a graph. They do not call `Array(...)`,
# and operations create very many arrays.
_EXCLUDED = {"init", "step", "Array.__init__"}


def public[T: Callable[..., Any]](target: T) -> T:
    """Give a public function or class errors that help; a decorator."""
    if not isinstance(target, type):
        return cast(T, _wrapped(target, target.__name__, bound=False))
    if not hasattr(target, "__getattr__"):
        target.__getattr__ = read_missing  # type: ignore[attr-defined]
    for name, value in list(vars(target).items()):
        if isinstance(value, property) and value.fset is not None:
            setattr(target, name, value.setter(_wrapped(value.fset, name, bound=True)))
        static = isinstance(value, staticmethod)
        method = value.__func__ if static or isinstance(value, classmethod) else value
        if not isinstance(method, FunctionType) or {name, method.__qualname__} & _EXCLUDED:
            continue
        if not name.startswith("_") or name == "__init__":
            title = target.__name__ if name == "__init__" else name
            wrapped = _wrapped(method, title, bound=not static)
            setattr(target, name, wrapped if method is value else type(value)(wrapped))
    return target


def _wrapped(function: Callable[..., Any], title: str, *, bound: bool) -> Callable[..., Any]:
    """The function with errors that help.

    `title` is its name for users. `bound` says that the first value is the object of the method.
    """
    flags = flags_of(function)

    @wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        if flags:
            check_flags(title, flags, values, named)
        try:
            return function(*values, **named)
        except _EXAMINED as error:
            answers = ON_ERROR(error, function, title, bound, values, named) or [error]
            if isinstance(answers[0], BaseException):
                raise cast(Exception, answers.pop())  # noqa: B904  # the error, or its substitute
        raise TypeError(answers.pop())  # the frame keeps no reference to an error

    return call


def public_package(name: str) -> None:
    """Give a public package errors for unknown names.

    The package makes this call at its end. `dir(package)` lists the names of `__all__`, and not the
    files that have been imported.
    """
    namespace = vars(sys.modules[name])
    words = {word.lower() for word in namespace["__all__"]} - {*namespace["__all__"]}
    for word in words & {*namespace}:  # the file `nuts` of `NUTS`, which a user means by `nuts()`
        del namespace[word]

    def missing(word: str) -> Any:
        raise ON_UNKNOWN_NAME(name, word, namespace["__all__"])[0]

    def names() -> list[str]:
        return sorted({*namespace["__all__"], *(word for word in namespace if word[:2] == "__")})

    namespace["__getattr__"], namespace["__dir__"] = missing, names
