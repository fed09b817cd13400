"""Errors from the depth of a public call: of Python, NumPy or JAX, about what nobody had looked at.

They are told once more, with the function that was called, what it was given, and the user's line.
What the user's own functions raise, and what a line of ours raises, is left as it is.
"""

import dis
import os
import sysconfig
from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from types import TracebackType
from typing import Any

from ..graph.errors import KinetographError
from ..graph.source import PACKAGE, place_text
from ..graph.text import in_words

__all__ = ["NETTED", "retold"]

NETTED = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
_SHOWN = 6  # arguments


def retold(
    error: Exception,
    function: Callable[..., Any],
    title: str,
    values: tuple[Any, ...],
    named: Mapping[str, Any],
) -> Exception | None:
    """What to raise in place of an error of a call; None if it is to pass."""
    if isinstance(error, KinetographError) or not _from_depth(error.__traceback__):
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


def _from_depth(trace: TracebackType | None) -> bool:
    """Whether an error was raised by a library or by C code that a line of ours had called."""
    inner = None if trace is None else trace.tb_next  # the first is that of the wrapper
    last = None
    while inner is not None:
        file = inner.tb_frame.f_code.co_filename
        if not file.startswith((PACKAGE, *_libraries())) and not file.startswith("<frozen"):
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
