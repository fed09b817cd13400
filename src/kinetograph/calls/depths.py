"""Errors on their way out of a public call.

Those from its depth, of Python, NumPy or JAX, about what nobody had looked at, are told once more,
with the function that was called, what it was given, and the user's line. Those that a line of ours
raises leave without our frames, as their words say all, and with the user's line. What the user's
own functions raise is left as it is.
"""

import dis
import os
import re
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import signature, unwrap
from types import CodeType, TracebackType
from typing import Any

from ..graph.errors import KinetographError
from ..graph.source import PACKAGE, is_own, place_text
from ..graph.text import in_words

__all__ = ["NETTED", "retold", "shortened"]

NETTED = (
    *(TypeError, ValueError, AttributeError, LookupError, ArithmeticError),
    *(NotImplementedError, KinetographError),
)
_SHOWN = 6  # arguments
_OF_CALLBACK = "CpuCallback error"  # with what the user's function has raised, as XLA tells it
_PLACE = re.compile(r"(?:\.\w+|[>\]]):\d+")  # model.py:3, <stdin>:1, In[2]:1


def retold(
    error: Exception,
    function: Callable[..., Any],
    title: str,
    values: tuple[Any, ...],
    named: Mapping[str, Any],
) -> Exception | None:
    """What to raise in place of an error of a call; None if it is to pass."""
    if isinstance(error, KinetographError) or _OF_CALLBACK in str(error):
        return None
    if not _from_depth(error.__traceback__, _codes((*values, *named.values()))):
        return None
    kind: type[Exception] = TypeError if isinstance(error, AttributeError) else ValueError
    if isinstance(error, (TypeError, IndexError, KeyError)):
        kind = next(k for k in (TypeError, IndexError, KeyError) if isinstance(error, k))
    said = str(error).strip().partition("\n")[0] or type(error).__name__
    if "truth value of an" in said:  # NumPy's words are about `if` in a program of the user
        said = "an array stands where there is to be one number, text, True or False"
    text = f"{title}: {said:.200}{place_text()}"
    given = _given(function, values, named)
    return kind(f"{text}; it was given {', '.join(given)}" if given else text)


def shortened[E: Exception](error: E) -> E:
    """The error: if a line of ours raised it, with the user's line, and without the way there."""
    if not _raised_by_us(error.__traceback__):
        return error
    if error.args and type(error.args[0]) is str and not isinstance(error, LookupError):
        text = error.args[0]
        if not _PLACE.search(text):
            error.args = (_placed(text), *error.args[1:])
    return error.with_traceback(None)


def _raised_by_us(trace: TracebackType | None) -> bool:
    """Whether all that was called, and raised the error at last, is kinetograph's."""
    code, at = None, 0
    while trace is not None:
        code, at = trace.tb_frame.f_code, trace.tb_lasti
        if not is_own(code.co_filename):
            return False
        trace = trace.tb_next
    return code is not None and dis.opname[code.co_code[at]] == "RAISE_VARARGS"


def _placed(text: str) -> str:
    """A message with the user's line behind what is wrong: `...: got 3 (a.py:4); ...`."""
    first, newline, rest = text.partition("\n")
    said, semicolon, way_out = first.partition("; ")
    if way_out.startswith("got "):  # which is no way out
        got, semicolon, way_out = way_out.partition("; ")
        said = f"{said}; {got}"
    stop = said[-1:] if said[-1:] in (".", ":") and not semicolon else ""
    return f"{said.removesuffix(stop)}{place_text()}{stop}{semicolon}{way_out}{newline}{rest}"


def _codes(values: Iterable[Any]) -> set[CodeType]:
    """What runs when one of the functions among values is called."""
    found = set()
    for value in values:
        if callable(value):
            inner: Any = unwrap(getattr(value, "func", value))  # of a functools.partial
            code = getattr(inner, "__code__", getattr(type(inner).__call__, "__code__", None))
            found |= {code} if isinstance(code, CodeType) else set()
    return found


def _from_depth(trace: TracebackType | None, given: set[CodeType]) -> bool:
    """Whether an error was raised by a library or by C code that a line of ours had called.

    Functions that were `given` are the user's, wherever they are installed.
    """
    inner = None if trace is None else trace.tb_next  # the first is that of the wrapper
    last = None
    while inner is not None:
        file = inner.tb_frame.f_code.co_filename
        if not file.startswith((PACKAGE, *_libraries())) and not file.startswith("<frozen"):
            return False
        if inner.tb_frame.f_code in given:
            return False
        last, inner = inner, inner.tb_next
    if last is None:  # the function is C code itself
        return False
    code = last.tb_frame.f_code
    ours = code.co_filename.startswith(PACKAGE)
    return not (ours and dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS")


@cache
def _libraries() -> tuple[str, ...]:
    """The folders of Python's own modules and of installed ones."""
    paths = sysconfig.get_paths()
    return tuple({os.path.abspath(paths[key]) + os.sep for key in ("stdlib", "purelib", "platlib")})


def _given(
    function: Callable[..., Any], values: tuple[Any, ...], named: Mapping[str, Any]
) -> list[str]:
    try:
        bound = signature(function).bind(*values, **named).arguments
    except (TypeError, ValueError):
        return []
    found = [
        f"{name}={_words(value)}" for name, value in bound.items() if name not in ("self", "cls")
    ]
    return [*found[:_SHOWN], "..."] if len(found) > _SHOWN else found


def _words(value: Any) -> str:
    if isinstance(value, tuple) and len(value) <= _SHOWN:  # what came by *
        return f"({', '.join(map(in_words, value))})"
    if isinstance(value, dict) and len(value) <= _SHOWN and all(isinstance(k, str) for k in value):
        return "{" + ", ".join(f"{key}: {in_words(v)}" for key, v in value.items()) + "}"
    return in_words(value)
