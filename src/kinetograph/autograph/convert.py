"""`kg.autograph.convert`, `to_code` and `do_not_convert`."""

import ast
import functools
import inspect
import warnings
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, overload

from ..graph.array import Array
from ..graph.errors import AutographWarning, ConversionError, SymbolicTruthError
from ..graph.public import public
from ..graph.source import PACKAGE, Site
from .calling import CALLING
from .operators.shared_objects import forget_names
from .operators.staging import EscapingException
from .plain_calls import plain_check
from .skipped_libraries import GENERATORS, is_library
from .transform import NoSource, Unsupported, is_converted, rewritten, transform
from .user_errors import explain_in_user_code
from .verbosity import say, verbosity

__all__ = ["convert", "converted_callee", "do_not_convert", "to_code"]

_DONE = "__kinetograph_converted__"
_UNCONVERTED = "__kinetograph_unconverted__"
_CALLEE = "__kinetograph_callee__"


@overload
def convert(
    function: Callable[..., Any], *, strict: bool = False, fast: bool = True
) -> Callable[..., Any]: ...
@overload
def convert(
    function: None = None, *, strict: bool = False, fast: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
@public
def convert(function: Any = None, *, strict: bool = False, fast: bool = True) -> Any:
    """Convert control flow on arrays to control flow of the graph.

    An `if`, `while`, `for`, `match`, `and`, `or` or `assert` that depends on a `kg.Array` is built
    into the graph, with all its branches; everything else runs as Python. The functions that it
    calls are converted, too, when they are called.

    Parameters
    ----------
    function
        A function, lambda, method, partial or callable object. Without it, a decorator.
    strict
        Whether code that cannot be converted is an error, instead of a warning.
    fast
        Whether a call without symbolic values runs the original function.

    Returns
    -------
    Callable
        A function with the same signature, name and docstring; `__wrapped__` is the original.

    Raises
    ------
    TypeError
        If `function` cannot be called.
    ConversionError
        For generators and coroutines; with `strict`, for any code that cannot be converted.

    Examples
    --------
    >>> import kinetograph as kg
    >>> @kg.autograph.convert
    ... def relu(x):
    ...     if x > 0:
    ...         return x
    ...     return 0.0
    >>> relu(-3)
    0.0
    >>> x = kg.placeholder(name="x")
    >>> f = kg.compile([x], relu(x))
    >>> float(f(2.5))
    2.5

    References
    ----------
    Moldovan et al. (2019), AutoGraph: imperative-style coding with graph-based performance, MLSys.
    """
    if function is None:
        return functools.partial(convert, strict=strict, fast=fast)
    if isinstance(function, MethodType):
        return MethodType(convert(function.__func__, strict=strict, fast=fast), function.__self__)
    if isinstance(function, functools.partial):
        inner = convert(function.func, strict=strict, fast=fast)
        return functools.partial(inner, *function.args, **function.keywords)
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(convert(function.__func__, strict=strict, fast=fast))
    if not callable(function):
        raise TypeError(f"convert: expected a function, got {type(function).__name__}")
    if not isinstance(function, FunctionType):
        call = type(function).__call__
        if isinstance(function, type) or not isinstance(call, FunctionType):
            return function  # classes and built-in functions are called as they are
        return MethodType(convert(call, strict=strict, fast=fast), function)
    if getattr(function, _DONE, False) or getattr(function, _UNCONVERTED, False):
        return function
    if function.__code__.co_flags & GENERATORS:
        raise ConversionError(f"convert: {_title(function)}: {_refusal(function)}")
    return _entry(function, strict, fast)


def _refusal(function: FunctionType) -> str:
    flags = function.__code__.co_flags
    if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return "async functions are not supported"
    return "generators are not supported: collect the values in a list and return it"


def _title(function: FunctionType) -> str:
    code = function.__code__
    return f"{function.__qualname__} ({Site(code.co_filename, code.co_firstlineno)})"


def _entry(function: FunctionType, strict: bool, fast: bool) -> Callable[..., Any]:
    """The converted function as users call it."""
    converted = function if is_converted(function.__code__) else _converted(function, strict)
    # Determined at the first call, because the functions it calls may be defined below it.
    is_plain: Callable[[Any, Any], bool] | None = None
    undetermined = fast and converted is not function

    @functools.wraps(function)
    def entry(*args: Any, **kwargs: Any) -> Any:
        nonlocal is_plain, undetermined
        if undetermined:
            is_plain, undetermined = plain_check(function), False
        if is_plain is not None and is_plain(args, kwargs):
            return function(*args, **kwargs)
        if CALLING.depth:
            return converted(*args, **kwargs)
        outer_strict = CALLING.strict
        CALLING.depth, CALLING.strict, CALLING.fast = 1, strict, fast
        try:
            # Arrays are passed by value: assignments to their items do not reach the caller.
            keywords = {name: _by_value(value) for name, value in kwargs.items()}
            return converted(*map(_by_value, args), **keywords)
        except (Exception, EscapingException) as error:
            staging = isinstance(error, EscapingException) or any(
                map(_is_symbolic, (*args, *kwargs.values()))
            )
            explained = explain_in_user_code(error, staging)
        finally:
            CALLING.depth, CALLING.strict = 0, outer_strict
            forget_names()
        raise explained

    setattr(entry, _DONE, True)
    return entry


def _by_value(value: Any) -> Any:
    return Array(value.node) if isinstance(value, Array) else value


def _is_symbolic(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_is_symbolic, value))
    if isinstance(value, dict):
        return any(map(_is_symbolic, value.values()))
    return isinstance(value, Array)


def converted_callee(function: FunctionType) -> Callable[..., Any]:
    """The function that converted code calls in place of a function."""
    if CALLING.paused:
        return function
    # Cached in the function itself, to live as long; decorators may copy the entry elsewhere.
    cached = function.__dict__.get(_CALLEE)
    if cached is not None and cached[0] is function and cached[1] is CALLING.strict:
        return cached[2]  # type: ignore[no-any-return]
    callee = _callee(function)
    if callee is not function:
        function.__dict__[_CALLEE] = function, CALLING.strict, callee
    return callee


def _callee(function: FunctionType) -> Callable[..., Any]:
    if getattr(function, _DONE, False) or getattr(function, _UNCONVERTED, False):
        return function
    if is_converted(function.__code__) or is_library(function.__globals__.get("__name__")):
        return function
    if function.__code__.co_flags & GENERATORS:
        return function
    converted = _converted(function, CALLING.strict)
    is_plain = plain_check(function)
    if is_plain is None:
        return converted

    @functools.wraps(function)
    def callee(*args: Any, **kwargs: Any) -> Any:
        if CALLING.fast and is_plain(args, kwargs):
            return function(*args, **kwargs)
        return converted(*args, **kwargs)

    setattr(callee, _DONE, True)
    return callee


def _converted(function: FunctionType, strict: bool) -> Callable[..., Any]:
    """The converted function, or the original if it cannot be converted."""
    try:
        converted = transform(function)
    except (NoSource, Unsupported) as error:
        place = f", line {error.line}" if isinstance(error, Unsupported) and error.line else ""
        reason = f"{_title(function)} cannot be converted{place}: {error}"
        if strict:
            raise ConversionError(reason) from None
        return _unconverted(function, reason)
    if verbosity() >= 3:
        say(f"{_title(function)} is converted to\n{to_code(function)}")
    return converted


def _unconverted(function: FunctionType, reason: str) -> Callable[..., Any]:
    warnings.warn(
        f"{reason}. It runs unconverted; decorate it with kg.autograph.do_not_convert if that is "
        "intended",
        AutographWarning,
        skip_file_prefixes=(PACKAGE, functools.__file__),
    )

    @functools.wraps(function)
    def unconverted(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except SymbolicTruthError as error:
            hint = f"{reason}; its source code may not be visible"
            error.args = (f"{error.args[0]}\n{hint}",)
            raise

    setattr(unconverted, _UNCONVERTED, True)
    return unconverted


class _Pause:
    """A `with` block without conversions; also a decorator."""

    def __enter__(self) -> None:
        CALLING.paused += 1

    def __exit__(self, *_: object) -> None:
        CALLING.paused -= 1

    def __call__(self, function: Any) -> Any:
        return do_not_convert(function)


@overload
def do_not_convert[F: Callable[..., Any]](function: F) -> F: ...
@overload
def do_not_convert(function: None = None) -> "_Pause": ...
@public
def do_not_convert(function: Any = None) -> Any:
    """Exclude a function from conversion when converted code calls it.

    Without a function it is a decorator, and the context of a `with` block in which called
    functions are not converted.

    Raises
    ------
    TypeError
        If `function` cannot be called.

    Examples
    --------
    >>> import kinetograph as kg
    >>> @kg.autograph.do_not_convert
    ... def shape_of(x):
    ...     return x.shape if len(x.shape) > 0 else (1,)
    """
    if function is None:
        return _Pause()
    if isinstance(function, MethodType):
        return MethodType(do_not_convert(function.__func__), function.__self__)
    if not callable(function):
        raise TypeError(f"do_not_convert: expected a function, got {type(function).__name__}")
    if isinstance(function, FunctionType):
        setattr(function, _UNCONVERTED, True)
        return function
    return functools.wraps(function)(do_not_convert(lambda *a, **k: function(*a, **k)))


@public
def to_code(function: Any) -> str:
    """The converted code of a function, as Python text.

    Parameters
    ----------
    function
        A function, lambda or method, converted or not.

    Raises
    ------
    TypeError
        If the function is not written in Python.
    ConversionError
        If the function cannot be converted.

    Examples
    --------
    >>> import kinetograph as kg
    >>> def halve(x):
    ...     return x / 2 if x > 1 else x
    >>> print(kg.autograph.to_code(halve))
    def halve(x):
        return ag__.if_exp(x > 1, lambda: x / 2, lambda: x)
    """
    if hasattr(function, "python_function"):
        raise TypeError(
            "to_code: kg.function made this function, which is compiled; try passing "
            "f.python_function"
        )
    if isinstance(function, MethodType):
        function = function.__func__
    while getattr(function, _DONE, False) or isinstance(function, functools.partial):
        function = (
            function.func if isinstance(function, functools.partial) else function.__wrapped__
        )
    if not isinstance(function, FunctionType):
        raise TypeError(f"to_code: expected a Python function, got {type(function).__name__}")
    if function.__code__.co_flags & GENERATORS:
        raise ConversionError(f"to_code: {_title(function)}: {_refusal(function)}")
    try:
        return ast.unparse(rewritten(function).tree)
    except (NoSource, Unsupported) as error:
        raise ConversionError(f"to_code: {_title(function)}: {error}") from None
