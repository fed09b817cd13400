"""Errors in converted code, explained by the lines of the user.

The exception keeps its type. Its text begins with "in user code:" and the lines that led to it,
with `*` behind converted lines and `**` behind lines that were not converted. Frames of the
converter are removed from the traceback.
"""

import linecache
import os
import re
from collections import Counter
from types import CodeType, FrameType, TracebackType

from ..graph.errors import StagingError, SymbolicTruthError
from ..graph.source import PACKAGE, Site, cell_of
from .operators.staging import EscapingException, unwrapped
from .skipped_libraries import GENERATORS
from .transform import is_converted

__all__ = ["explain_in_user_code"]

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


_JAX_REFUSES = re.compile(r"kinetograph\S*'> is not a valid JAX type")
_OF_JAX = (
    "A function of JAX is called on an array of the graph: write the function of kg or NumPy, as "
    "in kg.exp(x) or np.exp(x), or make an operation of the JAX function: kg.lift(jnp.exp)(x)."
)


class _Text(str):
    """A text that is printed with its lines by `repr`, too.

    Some exceptions show the representation of their argument.
    """

    def __repr__(self) -> str:
        return str(self)


def explain_in_user_code(raised: Exception | EscapingException, staging: bool) -> Exception:
    """The exception to raise for one that left converted code.

    Usually it is the same object with another text.
    """
    place = raised.place if isinstance(raised, EscapingException) else ""
    error = unwrapped(raised) if isinstance(raised, EscapingException) else raised
    if _is_own(error.__traceback__):
        place = ""  # kinetograph refuses the statement itself
    frames = _frames(error.__traceback__)
    error.__traceback__ = _without_converter(error.__traceback__)
    if isinstance(error, RecursionError):
        return _recursion(error, frames)
    if not staging or not frames or getattr(error, "_explained", False):
        return error
    text = _explanation(error, frames, place)
    if not _plain_constructor(error):
        return _staging_error(error, text)
    error.args = (_Text(text),)
    error._explained = True  # type: ignore[attr-defined]
    return error


def _plain_constructor(error: Exception) -> bool:
    """Whether an exception takes a text and nothing else."""
    kind = type(error)
    defining_classes = [k for k in kind.__mro__ if "__init__" in vars(k) or "__str__" in vars(k)]
    plain = defining_classes[0].__module__ == "builtins" and not isinstance(
        error, (OSError, UnicodeError)
    )
    return plain and len(error.args) <= 1


def _staging_error(error: Exception, text: str) -> Exception:
    """A `StagingError` that is also of an exception's type.

    It serves exceptions that take other arguments than a text.
    """
    kind = type(error)
    try:
        joint_type = type(
            "StagingError", (StagingError, kind), {"__init__": _init, "__str__": _str}
        )
        explained: Exception = joint_type(text)
    except TypeError:
        explained = StagingError(text)
    for name, value in getattr(error, "__dict__", {}).items():
        setattr(explained, name, value)
    explained._explained = True  # type: ignore[attr-defined]
    explained.__cause__ = error
    return explained


def _init(self: Exception, text: str) -> None:
    self.args = (text,)


def _str(self: Exception) -> str:
    return str(self.args[0])


def _is_own(trace: TracebackType | None) -> bool:
    """Whether kinetograph raised an exception, and not the user's code."""
    filename = ""
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
    return filename.startswith(PACKAGE)


def _frames(trace: TracebackType | None) -> list[tuple[FrameType, int]]:
    """The user's frames, outermost first."""
    frames: list[tuple[FrameType, int]] = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
            frame_and_line = trace.tb_frame, trace.tb_lineno
            if not (frames and _same_line(frames[-1], frame_and_line)):
                frames.append(frame_and_line)
        trace = trace.tb_next
    return frames


def _same_line(first: tuple[FrameType, int], second: tuple[FrameType, int]) -> bool:
    """Whether two frames belong to the same converted line."""
    codes = first[0].f_code, second[0].f_code
    converted = all(map(is_converted, codes))
    return converted and first[1] == second[1] and codes[0].co_filename == codes[1].co_filename


def _without_converter(trace: TracebackType | None) -> TracebackType | None:
    remaining = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_HERE):
            remaining.append(trace)
        trace = trace.tb_next
    shortened: TracebackType | None = None
    for part in reversed(remaining):
        shortened = TracebackType(shortened, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return shortened


def _explanation(error: Exception, frames: list[tuple[FrameType, int]], place: str) -> str:
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
        lines += _reason_unconverted(frames[-1][0].f_code)
    if place:
        lines += ["", f"    It left {place}. All branches are built, whichever is taken."]
    return "\n".join(lines)


def _reason_unconverted(code: CodeType) -> list[str]:
    """The reason why code that needs an array's truth was not converted.

    Empty if the reason is not known.
    """
    if code.co_flags & GENERATORS:
        reason = (
            f"{code.co_name} is a generator, which is not converted: write the `for` statement "
            "where its values are used, or return a list"
        )
    elif not is_converted(code) and code.co_name.isidentifier():
        reason = (
            f"{code.co_name} is called by code that is not converted, such as functools.lru_cache "
            "or a function of a library, and so runs unconverted: call it directly, or write "
            "kg.cond or kg.where in it"
        )
    else:
        return []
    return ["", f"    {reason}."]


def _recursion(error: RecursionError, frames: list[tuple[FrameType, int]]) -> Exception:
    staged = Counter(f.f_code.co_name for f, _ in frames if is_converted(f.f_code))
    if not staged:
        return error
    name, _ = staged.most_common(1)[0]
    starts = [i for i, (f, _) in enumerate(frames) if f.f_code.co_name == name]
    again = next((i for i in starts[1:] if frames[i][0].f_code is frames[starts[0]][0].f_code), 1)
    caller, line = frames[again - 1]  # its last frame may be that of a branch
    called = Site(caller.f_code.co_filename, line)
    return RecursionError(
        f"recursive call of {name} ({called}) never reaches a Python base case during tracing: "
        "both branches of a symbolic condition are built, so the recursion must end by a condition "
        "on Python values, for example on the depth; or write it as a `while`"
    )
