"""Places in the user's program, and names of the user's variables.

`here()` is called once for every node, so it stores only the code object and the offset in it.
Lines and names are looked up when a message needs them.
"""

import contextlib
import functools
import inspect
import os
import re
import sys
import warnings
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any, NamedTuple

from .frame_variables import local_variables

__all__ = [
    "LIBRARIES",
    "PACKAGE",
    "Place",
    "Site",
    "asserted",
    "assigned_here",
    "called_here",
    "cell_of",
    "draws_by_numpy",
    "here",
    "is_own",
    "place_text",
    "plain_numbers",
    "site_of",
    "used_in_call",
    "user_frame",
    "variable_here",
    "variable_name",
    "warn_user",
    "written_at",
]

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# Libraries written in Python whose functions may call kinetograph for the user.
LIBRARIES = frozenset({"jax", "numpy", "pandas", "polars", "scipy", "sklearn", "xarray"})

COMMAND = "click.core"  # the module that calls the functions of the command line

_NUMBER = re.compile(r"\bnp\.(?:str_|u?int\d+|float\d+)\(([^()]*)\)")
_TRUTH = re.compile(r"\bnp\.(True|False)_\b")
_BETWEEN = {functools.__file__, contextlib.__file__}  # kinetograph calls itself through these

Place = tuple[CodeType, int]  # a code object and the offset of the instruction being executed


class Site(NamedTuple):
    """A line of the user's program."""

    filename: str
    line: int

    def __str__(self) -> str:
        return f"{cell_of(self.filename) or os.path.basename(self.filename)}:{self.line}"


def cell_of(filename: str) -> str:
    """The name of a notebook cell, `In[3]`; empty for other files."""
    session = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    format_name = getattr(getattr(session, "compile", None), "format_code_name", None)
    result = None if format_name is None else format_name(filename)
    return "" if result is None else str(result[1])


def user_frame() -> FrameType | None:
    """The innermost frame outside kinetograph and the libraries that called it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    inner = frame
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] in LIBRARIES:
        frame = frame.f_back
    return frame or inner


def is_own(filename: str) -> bool:
    """Whether a file belongs to kinetograph or lies between its calls."""
    return filename.startswith(PACKAGE) or filename in _BETWEEN


def here() -> Place | None:
    """The instruction of the user's program that runs now."""
    frame: FrameType | None = sys._getframe(2)  # the caller is in kinetograph
    while frame is not None:
        code = frame.f_code
        filename = code.co_filename
        # This is `is_own`, written here for speed.
        if not filename.startswith(PACKAGE) and filename not in _BETWEEN:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def site_of(place: "Place | Site | None") -> Site | None:
    """The file and line of an instruction.

    A Site is returned unchanged; the places in a loaded graph are Sites.
    """
    if place is None or isinstance(place, Site):
        return place
    code, offset = place
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return Site(code.co_filename, line)
    return Site(code.co_filename, code.co_firstlineno)


def place_text() -> str:
    """The text ` (file:line)` of the user's present statement.

    It is empty in a command of the command line.
    """
    frame = user_frame()
    if frame is not None and frame.f_globals.get("__name__") == COMMAND:
        return ""
    site = None if frame is None else site_of((frame.f_code, frame.f_lasti))
    return f" ({site})" if site else ""


def plain_numbers(text: str) -> str:
    """A text with `3` in place of `np.int64(3)`."""
    return _TRUTH.sub(r"\1", _NUMBER.sub(r"\1", text)) if "np." in text else text


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that points to the user's present statement."""
    warnings.warn(
        plain_numbers(message), category, stacklevel=2, skip_file_prefixes=(PACKAGE, *_BETWEEN)
    )


def asserted() -> str:
    """The source text of the condition in the user's present `assert`."""
    import ast
    import linecache

    site = site_of(here())
    line = "" if site is None else linecache.getline(site.filename, site.line).strip()
    try:
        tree = ast.parse(line)
    except SyntaxError:  # the statement continues on the next line
        return ""
    statement = tree.body[0] if tree.body else None
    text = (
        ast.get_source_segment(line, statement.test) if isinstance(statement, ast.Assert) else None
    )
    return text or ""


def called_here() -> bool:
    """Whether the user's present instruction is a function call."""
    import dis

    frame = user_frame()
    if frame is None:
        return False
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("CALL")


def assigned_here() -> bool:
    """Whether the user's present instruction assigns to an item of an array."""
    import dis

    frame = user_frame()
    if frame is None:
        return False
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("STORE_S")


def used_in_call() -> dict[str, Any]:
    """The variables in the lines of the user's present call."""
    frame = user_frame()
    if frame is None:
        return {}
    loaded = _loaded_in_call(frame)
    visible = {**frame.f_globals, **local_variables(frame)}
    return {name: visible[name] for name in sorted({*loaded}) if name in visible}


def _loaded_in_call(frame: FrameType) -> list[str]:
    """The names and attributes loaded by the present call's lines, in order."""
    import dis  # only messages need it, and the import is slow

    places = list(frame.f_code.co_positions())
    start, end = places[frame.f_lasti // 2][:2]
    if start is None or end is None:
        return []
    names: list[str] = []
    for step in dis.get_instructions(frame.f_code):
        line = places[step.offset // 2][0]
        if step.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):  # texts are not names
            continue
        if step.opname.startswith("LOAD_") and line is not None and start <= line <= end:
            names += map(str, step.argval if isinstance(step.argval, tuple) else [step.argval])
    return names


def draws_by_numpy() -> bool:
    """Whether the user's present call uses a random generator of NumPy."""
    from numpy import random

    frame = user_frame()
    if frame is None:
        return False
    used = used_in_call().values()
    if any(isinstance(v, (random.Generator, random.RandomState)) or v is random for v in used):
        return True
    loaded, visible = _loaded_in_call(frame), {**frame.f_globals, **local_variables(frame)}
    pairs = pairwise(loaded)
    return any(
        after == "random" and getattr(visible.get(name), "random", None) is random
        for name, after in pairs
    )


def written_at(function: Any) -> str:
    """The text ` (file:line)` of a function; empty if not known."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if not isinstance(code, CodeType):
        return ""
    return f" ({Site(code.co_filename, code.co_firstlineno)})"


def variable_here(value: object) -> str | None:
    """The variable that the user's present function reads for a value."""
    frame = user_frame()
    if frame is None:
        return None
    code, visible = frame.f_code, frame.f_globals
    local = local_variables(frame) if code.co_flags & inspect.CO_OPTIMIZED else {}
    names = [name for name, local_value in local.items() if local_value is value]
    names += [name for name in code.co_names if visible.get(name) is value]
    return next((name for name in names if not name.startswith("_")), None)


def variable_name(obj: object, frame: FrameType | None = None) -> str | None:
    """The variable of the user's frame or its callers for an object.

    None if no variable holds the object. A name that starts with an underscore is returned only if
    the frame has no other name for the object, because IPython keeps results in such names.
    """
    frame = user_frame() if frame is None else frame
    while frame is not None:
        hidden = None
        for scope in (local_variables(frame), frame.f_globals):
            for name, value in scope.items():
                if value is obj:
                    if not name.startswith("_"):
                        return name
                    hidden = name
        if hidden is not None:
            return hidden
        frame = frame.f_back
    return None
