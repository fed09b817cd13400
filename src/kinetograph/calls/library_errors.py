"""Errors that leave a public call, with the user's line.

Errors of Python, NumPy or JAX about arguments that kinetograph did not check are replaced by an
error that names the public function, its arguments and the user's line. Errors of files that
cannot be opened name the argument that has the path. Errors of scikit-learn keep their class and
all lines of their text. Errors that kinetograph itself raises have complete texts:
they get the user's line, and the frames of kinetograph are removed from their traceback. Errors
raised by the user's own functions pass unchanged.
"""

import dis
import errno
import os
import re
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import signature, unwrap
from types import CodeType, TracebackType
from typing import Any

from ..graph.errors import KinetographError, MissingFileError
from ..graph.source import PACKAGE, is_own, place_text, plain_numbers
from ..graph.suggestions import absent
from ..graph.value_texts import in_words

__all__ = ["retold", "shortened"]

_SHOWN = 6  # arguments in a message
_OF_CALLBACK = "CpuCallback error"  # XLA's text for an error in a user's function
_PLACE = re.compile(r"(?:\.\w+|[>\]]):\d+")  # model.py:3, <stdin>:1, In[2]:1


def retold(
    error: Exception,
    function: Callable[..., Any],
    title: str,
    values: tuple[Any, ...],
    named: Mapping[str, Any],
) -> Exception | None:
    """The error that replaces a library's error.

    None if the error passes unchanged: an error of kinetograph, or of a function of the user.
    """
    if isinstance(error, KinetographError) or _OF_CALLBACK in str(error):
        return None
    if isinstance(error, OSError):
        return _unopened(error, function, title, values, named)
    if _of_scikit_learn(error):
        return _titled(error, title)
    if not _from_depth(error.__traceback__, _codes((*values, *named.values()))):
        return None
    kind: type[Exception] = TypeError if isinstance(error, AttributeError) else ValueError
    if isinstance(error, (TypeError, IndexError, KeyError)):
        kind = next(k for k in (TypeError, IndexError, KeyError) if isinstance(error, k))
    reason, _, lines = str(error).strip().partition("\n")
    if reason.endswith(":"):
        reason = f"{reason} {lines.strip().partition(chr(10))[0]}"
    reason = reason or type(error).__name__
    if "truth value of an" in reason:  # NumPy's text advises on an `if` that the user did not write
        reason = "an array is given where one number, text, True or False is expected"
    text = f"{title}: {reason:.200}{place_text()}"
    arguments = _argument_texts(function, values, named)
    text = f"{text}; it was given {', '.join(arguments)}" if arguments else text
    replacement = kind(plain_numbers(text))
    replacement.__cause__ = error
    return replacement


def _unopened(
    error: OSError,
    function: Callable[..., Any],
    title: str,
    values: tuple[Any, ...],
    named: Mapping[str, Any],
) -> OSError | None:
    """The error of a file that kinetograph cannot open.

    None if the error has no file, or the user's code raised it.
    """
    trace, user_codes = error.__traceback__, _codes((*values, *named.values()))
    by_us = _from_depth(trace, user_codes) or _raised_by_us(trace)
    if not isinstance(error.filename, (str, bytes)) or not by_us:
        return None
    arguments = _bound(function, values, named)
    argument, path = _path_argument(error, arguments)
    kind, text = type(error), f"{os.path.abspath(path)} cannot be opened{place_text()}: "
    if error.errno == errno.ENOENT:
        kind, text = MissingFileError, absent(path, place_text())
    else:
        text += str(error.strerror)
    subject = f"{title}: {argument}: " if argument not in ("", title) else f"{title}: "
    replacement = kind(f"{subject}{text}")
    replacement.errno = error.errno
    if kind is MissingFileError:  # the text of other errors would change
        replacement.filename = path
    replacement.__cause__ = error
    return replacement


def _path_argument(error: OSError, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """The argument with the path of an error, and the path.

    The name is empty if no argument has it. A temporary file in the folder of an argument belongs
    to this argument. A missing file belongs to no file that exists.
    """
    filename, is_missing = os.fsdecode(error.filename), error.errno == errno.ENOENT
    for options in [value for value in arguments.values() if isinstance(value, dict)]:
        arguments = {**arguments, **options}
    folder = os.path.dirname(os.path.abspath(filename))
    for is_same in (
        lambda path: os.path.abspath(path) == os.path.abspath(filename),
        lambda path: (
            os.path.dirname(os.path.abspath(path)) == folder
            and not (is_missing and os.path.exists(path))
        ),
    ):
        for name, value in arguments.items():
            for path in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(path, (str, os.PathLike)) and is_same(path):
                    return name, os.fspath(path)
    return "", filename


def _of_scikit_learn(error: Exception) -> bool:
    """Whether scikit-learn raised the error, whose classes its users catch."""
    if type(error).__module__.partition(".")[0] == "sklearn":
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = "" if trace is None else trace.tb_frame.f_globals.get("__name__", "")
    return str(name).partition(".")[0] == "sklearn"


def _titled(error: Exception, title: str) -> Exception:
    """The same error with the name and line of the user's call.

    All lines of its text stay. It is unchanged if kinetograph or a library made the call.
    """
    wrapper = error.__traceback__
    caller = None if wrapper is None else wrapper.tb_frame.f_back
    files = (PACKAGE, *_libraries())
    by_user = caller is not None and not caller.f_code.co_filename.startswith(files)
    if by_user and error.args and type(error.args[0]) is str and not hasattr(error, "_title"):
        error.args = (_placed(f"{title}: {error.args[0]}"), *error.args[1:])
        error._title = title  # type: ignore[attr-defined]
    return error


def shortened[E: Exception](error: E) -> E:
    """Return an error of kinetograph with the user's line, without kinetograph's frames.

    Other errors are returned unchanged.
    """
    if not _raised_by_us(error.__traceback__):
        return error
    if error.args and type(error.args[0]) is str:
        text = plain_numbers(error.args[0])
        if not _PLACE.search(text) and not isinstance(error, LookupError):
            text = _placed(text)
        error.args = (text, *error.args[1:])
    return error.with_traceback(None)


def _raised_by_us(trace: TracebackType | None) -> bool:
    """Whether kinetograph raised the error, and all frames are its own."""
    code, instruction = None, 0
    while trace is not None:
        code, instruction = trace.tb_frame.f_code, trace.tb_lasti
        if not is_own(code.co_filename):
            return False
        trace = trace.tb_next
    return code is not None and dis.opname[code.co_code[instruction]] == "RAISE_VARARGS"


def _placed(text: str) -> str:
    """Return a message with the user's line behind the fault.

    The form is `...: got 3 (a.py:4); ...`.
    """
    first_line, newline, lines = text.partition("\n")
    fault, semicolon, way_out = first_line.partition("; ")
    if way_out.startswith("got "):  # this part still belongs to the fault
        got, semicolon, way_out = way_out.partition("; ")
        fault = f"{fault}; {got}"
    stop = fault[-1:] if fault[-1:] in (".", ":") and not semicolon else ""
    return f"{fault.removesuffix(stop)}{place_text()}{stop}{semicolon}{way_out}{newline}{lines}"


def _codes(values: Iterable[Any]) -> set[CodeType]:
    """The code objects of the functions among some values."""
    codes = set()
    for value in values:
        if callable(value):
            function: Any = unwrap(getattr(value, "func", value))  # of a functools.partial
            code = getattr(function, "__code__", getattr(type(function).__call__, "__code__", None))
            codes |= {code} if isinstance(code, CodeType) else set()
    return codes


def _from_depth(trace: TracebackType | None, user_codes: set[CodeType]) -> bool:
    """Whether a library or C code called by kinetograph raised the error.

    `user_codes` are the functions among the arguments: they are the user's, wherever they are
    installed.
    """
    inner = None if trace is None else trace.tb_next  # the first frame is the wrapper's
    last = None
    while inner is not None:
        file = inner.tb_frame.f_code.co_filename
        if not file.startswith((PACKAGE, *_libraries())) and not file.startswith("<frozen"):
            return False
        if inner.tb_frame.f_code in user_codes:
            return False
        last, inner = inner, inner.tb_next
    if last is None:  # the function is C code itself
        return False
    code = last.tb_frame.f_code
    by_kinetograph = code.co_filename.startswith(PACKAGE)
    return not (by_kinetograph and dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS")


@cache
def _libraries() -> tuple[str, ...]:
    """The folders of Python's own modules and of installed ones."""
    paths = sysconfig.get_paths()
    return tuple({os.path.abspath(paths[key]) + os.sep for key in ("stdlib", "purelib", "platlib")})


def _argument_texts(
    function: Callable[..., Any], values: tuple[Any, ...], named: Mapping[str, Any]
) -> list[str]:
    texts = [f"{name}={_words(v)}" for name, v in _bound(function, values, named).items()]
    return [*texts[:_SHOWN], "..."] if len(texts) > _SHOWN else texts


def _bound(
    function: Callable[..., Any], values: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by name.

    The dictionary is empty if the call does not fit the signature.
    """
    try:
        bound = signature(function).bind(*values, **named).arguments
    except (TypeError, ValueError):
        return {}
    return {name: value for name, value in bound.items() if name not in ("self", "cls")}


def _words(value: Any) -> str:
    # A tuple may hold the positional values of a variadic parameter.
    if isinstance(value, tuple) and len(value) <= _SHOWN:
        return f"({', '.join(map(in_words, value))})"
    if isinstance(value, dict) and len(value) <= _SHOWN and all(isinstance(k, str) for k in value):
        return "{" + ", ".join(f"{key}: {in_words(v)}" for key, v in value.items()) + "}"
    return in_words(value)
