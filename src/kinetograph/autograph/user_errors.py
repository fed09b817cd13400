"""Errors in user code that is being turned into graph, told in the user's lines.

The exception keeps its type; its text begins with "in user code:" and the lines that led to it,
`*` behind those that were converted and `**` behind those that were not. Frames of the converter
are taken out of the traceback.
"""

import linecache
import os
import re
from collections import Counter
from types import CodeType, FrameType, TracebackType

from ..graph.errors import StagingError, SymbolicTruthError
from ..graph.source import PACKAGE, cell_of
from .operators.staging import Left, unwrapped
from .skipped import GENERATORS
from .transform import is_converted

__all__ = ["explain_in_user_code"]

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


_JAX_REFUSES = re.compile(r"kinetograph\S*'> is not a valid JAX type")
_OF_JAX = (
    "A function of JAX is called on an array of the graph: write kg's or NumPy's function of the "
    "name, as in kg.exp(x) or np.exp(x), or make an operation of the other: kg.lift(jnp.exp)(x)."
)


class _Text(str):
    """A text that shows its lines also where an exception shows its representation."""

    def __repr__(self) -> str:
        return str(self)


def explain_in_user_code(raised: Exception | Left, staging: bool) -> Exception:
    """The exception to raise in place of one that left converted code; mostly the same object."""
    place = raised.place if isinstance(raised, Left) else ""
    error = unwrapped(raised) if isinstance(raised, Left) else raised
    if _is_own(error.__traceback__):
        place = ""  # a complaint about the statement itself
    frames = _frames(error.__traceback__)
    error.__traceback__ = _without_converter(error.__traceback__)
    if isinstance(error, RecursionError):
        return _recursion(error, frames)
    if not staging or not frames or getattr(error, "_explained", False):
        return error
    text = _told(error, frames, place)
    if not _plain_constructor(error):
        return _staging_error(error, text)
    error.args = (_Text(text),)
    error._explained = True  # type: ignore[attr-defined]
    return error


def _plain_constructor(error: Exception) -> bool:
    """Whether an exception is made of a text alone."""
    kind = type(error)
    own = [k for k in kind.__mro__ if "__init__" in vars(k) or "__str__" in vars(k)]
    plain = own[0].__module__ == "builtins" and not isinstance(error, (OSError, UnicodeError))
    return plain and len(error.args) <= 1


def _staging_error(error: Exception, text: str) -> Exception:
    """A `StagingError` that is also of the type of an exception that takes other arguments."""
    kind = type(error)
    try:
        both = type("StagingError", (StagingError, kind), {"__init__": _init, "__str__": _str})
        made: Exception = both(text)
    except TypeError:
        made = StagingError(text)
    for name, value in getattr(error, "__dict__", {}).items():
        setattr(made, name, value)
    made._explained = True  # type: ignore[attr-defined]
    made.__cause__ = error
    return made


def _init(self: Exception, text: str) -> None:
    self.args = (text,)


def _str(self: Exception) -> str:
    return str(self.args[0])


def _is_own(trace: TracebackType | None) -> bool:
    """Whether an exception was raised by kinetograph, and not by the user's code."""
    filename = ""
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
    return filename.startswith(PACKAGE)


def _frames(trace: TracebackType | None) -> list[tuple[FrameType, int]]:
    """The user's frames, the outermost first."""
    found: list[tuple[FrameType, int]] = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
            step = trace.tb_frame, trace.tb_lineno
            if not (found and _same_line(found[-1], step)):
                found.append(step)
        trace = trace.tb_next
    return found


def _same_line(first: tuple[FrameType, int], second: tuple[FrameType, int]) -> bool:
    """Whether two frames are parts of one converted line."""
    codes = first[0].f_code, second[0].f_code
    converted = all(map(is_converted, codes))
    return converted and first[1] == second[1] and codes[0].co_filename == codes[1].co_filename


def _without_converter(trace: TracebackType | None) -> TracebackType | None:
    kept = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_HERE):
            kept.append(trace)
        trace = trace.tb_next
    made: TracebackType | None = None
    for part in reversed(kept):
        made = TracebackType(made, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return made


def _told(error: Exception, frames: list[tuple[FrameType, int]], place: str) -> str:
    lines = ["in user code:", ""]
    for frame, number in frames[-20:]:
        code = frame.f_code
        mark = "*" if is_converted(code) else "**"
        file = cell_of(code.co_filename) or code.co_filename
        lines.append(f"    {file}:{number} {code.co_name}  {mark}")
        source = linecache.getline(code.co_filename, number).strip()
        if source:
            lines.append(f"        {source}")
    original = str(error)
    lines += ["", f"    {type(error).__name__}: {original}"]
    if isinstance(error, TypeError) and _JAX_REFUSES.search(original):
        lines += ["", f"    {_OF_JAX}"]
    if isinstance(error, SymbolicTruthError) and frames and "cannot be converted" not in lines[-1]:
        lines += _as_it_is(frames[-1][0].f_code)
    if place:
        lines += ["", f"    It left {place}, of which all ways are built, whichever is taken."]
    return "\n".join(lines)


def _as_it_is(code: CodeType) -> list[str]:
    """Why code that needs the truth of an array was not converted, where that is known."""
    if code.co_flags & GENERATORS:
        what = (
            f"{code.co_name} is a generator, which Python runs as it is: write the `for` statement "
            "where its values are used, or give back a list"
        )
    elif not is_converted(code) and code.co_name.isidentifier():
        what = (
            f"{code.co_name} is called by what is not converted, such as functools.lru_cache or a "
            "function of a library, and so runs as it is: call it without, or write kg.cond or "
            "kg.where in it"
        )
    else:
        return []
    return ["", f"    {what}."]


def _recursion(error: RecursionError, frames: list[tuple[FrameType, int]]) -> Exception:
    staged = Counter(f.f_code.co_name for f, _ in frames if is_converted(f.f_code))
    if not staged:
        return error
    name, _ = staged.most_common(1)[0]
    return RecursionError(
        f"recursive call of {name} never reaches a Python base case during tracing: both branches "
        "of a symbolic condition are built, so the recursion has to end by a condition that is "
        "Python's, on the depth say; or write it as a `while`"
    )
